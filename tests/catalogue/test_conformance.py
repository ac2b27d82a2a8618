"""Every pattern and every claim declares what its page, its measuring and its judging need."""

from __future__ import annotations

import ast
import runpy
import sys
from functools import reduce
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

from coldwarm.catalogue.spec import (
    Bench,
    Calls,
    ClaimSpec,
    PatternSpec,
    called,
    claim_of,
    claims,
    patterns,
)
from coldwarm.errors import PluginError

if TYPE_CHECKING:
    from pathlib import Path

MEASURES = {
    *("first_result_s", "first_call_s", "warm_call_s"),
    *("programs", "equations", "instructions", "peak_rss_bytes", "kernels", "signatures"),
    "facts",
}
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
    assert spec.measures in MEASURES
    assert spec.title.endswith(".")
    assert spec.mechanism.count(". ") + spec.mechanism.endswith(".") >= 2, "two sentences"
    assert spec.exception.endswith(".")
    assert spec.symptom
    assert spec.docs
    assert all(address.startswith(SITES) for address in spec.docs)
    assert all(one.article in ARTICLES and one.place for one in spec.articles)
    for side in ("do", "dont"):
        assert ast.get_docstring(ast.parse(spec.code[side]).body[0])  # type: ignore[arg-type]
    if spec.measures == "facts":
        assert spec.holds is not None
        assert spec.stated
    assert _imports(spec.source.path) <= sys.stdlib_module_names


@pytest.mark.parametrize("spec", CLAIMS, ids=lambda spec: spec.id)
def test_a_claim_says_what_is_measured_and_what_decides(spec: ClaimSpec) -> None:
    assert spec.title.endswith(".")
    assert spec.article.article in ARTICLES
    assert spec.article.place
    assert all(text.endswith(".") for text in (spec.quantity, spec.protocol, spec.rule))
    assert spec.benches or spec.calls or spec.patterns
    assert set(spec.patterns) <= set(patterns())
    asked: list[Bench | Calls] = [*spec.benches, *spec.calls]
    for one in asked:
        defined = runpy.run_path(str(spec.file_of(one)))
        names = one.candidates if isinstance(one, Bench) else one.functions
        assert len(set(map(called, names))) == len(names)
        for first, *rest in (name.split(".") for name in names):
            assert callable(reduce(getattr, rest, defined[first]))
    for file in (spec.source.path, *spec.source.shared):
        assert _imports(file) <= sys.stdlib_module_names


def test_what_claims_share_lies_beside_them_and_is_no_claim() -> None:
    shared = {file for spec in CLAIMS for file in spec.source.shared}
    assert all(file.name.startswith("_") for file in shared)
    folders = {spec.source.path.parent for spec in CLAIMS}
    beside = {file for folder in folders for file in folder.glob("_*.py")}
    assert {file for file in beside if file.name != "__init__.py"} == shared


def _with_a_shared_file(folder: Path) -> tuple[ModuleType, Path]:
    """Return a claim whose functions lie in a file beside it, and that file."""
    shared = folder / "_shared.py"
    shared.write_text("def fact():\n    return {}\n", "utf-8")
    path = folder / "a_claim.py"
    path.write_text("", "utf-8")
    module = ModuleType("a_claim", "It is so.")
    module.__file__ = str(path)
    texts = dict.fromkeys(("QUANTITY", "PROTOCOL", "RULE"), "Some.")
    facts = ({"functions": ("fact",), "file": shared.name},)
    article = {"article": "001", "place": "Here"}
    vars(module).update(texts, ARTICLE=article, judge=lambda _: "confirmed", FACTS=facts)
    return module, shared


def test_a_claim_is_another_one_when_the_file_that_it_shares_changes(tmp_path: Path) -> None:
    module, shared = _with_a_shared_file(tmp_path)
    before = claim_of(module).sha256
    shared.write_text(shared.read_text("utf-8") + "# changed\n", "utf-8")
    assert claim_of(module).sha256 != before


def test_a_claim_is_shown_with_the_file_that_it_shares(tmp_path: Path) -> None:
    module, shared = _with_a_shared_file(tmp_path)
    text = claim_of(module).code()
    assert shared.name in text
    assert shared.read_text("utf-8").strip() in text


def test_a_shared_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    module, shared = _with_a_shared_file(tmp_path)
    shared.unlink()
    with pytest.raises(
        PluginError, match=r"a_claim names _shared\.py, which is not there"
    ) as error:
        claim_of(module)
    assert "\n" not in str(error.value)


def test_ids_are_those_of_patterns_or_of_claims() -> None:
    assert not set(patterns()) & set(claims())


def test_nothing_is_measured_for_two_of_them() -> None:
    """Two verdicts on one subject would contradict each other by chance alone."""
    every = [(one, spec.file_of(one)) for spec in PATTERNS for one in spec.benches]
    every += [(one, spec.file_of(one)) for spec in CLAIMS for one in spec.benches]
    measured = [
        (file, one.candidates, tuple(one.given.items()), tuple(one.variables.items()))
        for one, file in every
    ]
    assert len(set(measured)) == len(measured)
