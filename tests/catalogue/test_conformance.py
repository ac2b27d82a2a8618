"""Every pattern and every claim declares what its page, its measuring and its judging need."""

from __future__ import annotations

import ast
import sys
from typing import TYPE_CHECKING

import pytest

from coldwarm.catalogue.claims import ClaimSpec, claims
from coldwarm.catalogue.patterns import COUNTED, FACTS, SIDES, TIMED, PatternSpec, patterns

if TYPE_CHECKING:
    from pathlib import Path

ARTICLES = {"000", "001", "002"}
PATTERNS, CLAIMS = list(patterns().values()), list(claims().values())
SITES = (
    "https://docs.jax.dev/",
    "https://docs.pytorch.org/",
    "https://numba.readthedocs.io/",
    "https://numpy.org/",
    "https://github.com/",
    "https://openxla.org/",
)


def _imports(path: Path) -> set[str]:
    """Return what a file imports at module level."""
    found = set()
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        if isinstance(node, ast.ImportFrom):
            found.add((node.module or "").partition(".")[0])
    return found


@pytest.mark.parametrize("spec", PATTERNS, ids=lambda spec: spec.id)
def test_a_pattern_says_all_that_its_page_needs(spec: PatternSpec) -> None:
    assert spec.measures in {*TIMED, *COUNTED, FACTS}
    assert spec.title.endswith(".")
    assert spec.mechanism.count(". ") + spec.mechanism.endswith(".") >= 2, "two sentences"
    assert spec.exception.endswith(".")
    assert spec.symptom
    assert spec.docs
    assert all(address.startswith(SITES) for address in spec.docs)
    assert all(one.article in ARTICLES and one.place for one in spec.articles)
    for side in SIDES:
        assert ast.get_docstring(ast.parse(spec.code[side]).body[0])  # type: ignore[arg-type]
    if spec.measures == FACTS:
        assert spec.holds is not None
        assert spec.stated
    assert _imports(spec.source.path) <= sys.stdlib_module_names


@pytest.mark.parametrize("spec", CLAIMS, ids=lambda spec: spec.id)
def test_a_claim_says_what_is_measured_and_what_decides(spec: ClaimSpec) -> None:
    assert spec.title.endswith(".")
    assert spec.article.article in ARTICLES
    assert spec.article.place
    assert all(text.endswith(".") for text in (spec.quantity, spec.protocol, spec.rule))
    assert spec.benches or spec.facts or spec.patterns
    assert set(spec.patterns) <= set(patterns())
    defined = {
        node.name
        for node in ast.parse(spec.source.path.read_text("utf-8")).body
        if isinstance(node, ast.FunctionDef)
    }
    named = {name for one in spec.facts for name in one.functions}
    named |= {name for one in spec.benches for name in one.candidates}
    assert named <= defined
    assert _imports(spec.source.path) <= sys.stdlib_module_names


def test_ids_are_those_of_patterns_or_of_claims() -> None:
    assert not set(patterns()) & set(claims())
