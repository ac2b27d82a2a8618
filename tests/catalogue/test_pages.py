"""Each pattern and each claim has a page, with what was measured of it and no figure besides."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import _generate
import coldwarm
from _generate import claims as claim_pages
from _generate import evidence, sources
from _generate import patterns as pattern_pages
from coldwarm.catalogue.spec import claims, defined, patterns
from coldwarm.contracts import codec
from coldwarm.contracts.catalogue import (
    INDEXES,
    Bound,
    ClaimResult,
    ClaimResults,
    FactSheet,
    PatternResult,
    PatternResults,
    Raised,
)
from coldwarm.contracts.reasons import because

PACKAGE = Path(coldwarm.__file__).parent
TIMED, FACTS = "jit-outermost", "key-reuse"
TESTED = "first-call-small-mlp"
KEPT: dict[str, Any] = {
    "started_at": "2026-11-01T10:00:00+00:00",
    "finished_at": None,
    "complete": False,
    "harness_version": "0.1.0",
    "harness_sha256": "0" * 64,
    "wall_s": 1.0,
}


def timed(jax: str, sha: str) -> PatternResult:
    return PatternResult(
        id=TIMED,
        sha256=sha,
        measures="warm_call_s",
        verdict="as_stated",
        reason=because("facts_as_stated"),
        do=0.001,
        dont=0.003,
        ratio=3.0,
        low=2.5,
        high=3.5,
        confidence=0.97,
        n_rounds=7,
        measured_at="2026-11-01T10:00:00+00:00",
        versions={"jax": jax},
    )


def seen(jax: str) -> PatternResult:
    def sheet(function: str, *, equal: bool, raised: Raised | None = None) -> FactSheet:
        facts: dict[str, bool | int | float | str | None] = {"equal": equal}
        return FactSheet(
            function=function, facts=facts, raised=raised, call_s=1.0, programs=2, versions={}
        )

    return PatternResult(
        id=FACTS,
        sha256=patterns()[FACTS].sha256,
        measures="facts",
        verdict="opposite",
        reason=because("facts_otherwise"),
        sheets=[
            sheet("do", equal=False),
            sheet("dont", equal=True, raised=Raised(error="OddError", text="it is odd")),
        ],
        measured_at="2026-11-01T10:00:00+00:00",
        versions={"jax": jax},
    )


def of_claim(jax: str) -> ClaimResult:
    bound = Bound(name="first_call: first_s, of 6 processes", value=0.9, low=0.8, high=1.2)
    return ClaimResult(
        id=TESTED,
        sha256=claims()[TESTED].sha256,
        verdict="inconclusive",
        figures=[bound],
        measured_at="2026-11-01T10:00:00+00:00",
        versions={"jax": jax},
    )


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A checkout with evidence of two versions of JAX; its package is empty."""
    folder = tmp_path / "docs" / "results" / "evidence"
    now = patterns()[TIMED].sha256
    for name, jax, sha in ((evidence.MAIN, "0.10.2", now), ("a-jax", "0.6.2", "1" * 64)):
        (folder / name).mkdir(parents=True)
        kept = PatternResults(results=[timed(jax, sha), seen(jax)], **KEPT)
        (folder / name / INDEXES["patterns"]).write_bytes(codec.encode(kept))
        claimed = ClaimResults(results=[of_claim(jax)], **KEPT)
        (folder / name / INDEXES["claims"]).write_bytes(codec.encode(claimed))
    return tmp_path / "src" / "coldwarm"


def test_every_pattern_and_every_claim_has_a_page(tmp_path: Path) -> None:
    pages = {
        page.relative_to(tmp_path).as_posix() for page in _generate.generate(PACKAGE, tmp_path)
    }
    assert {f"patterns/{name}.rst" for name in patterns()} <= pages
    assert {f"claims/{name}.rst" for name in claims()} <= pages


def test_what_was_not_measured_has_a_page_without_a_figure(tmp_path: Path) -> None:
    package = tmp_path / "src" / "coldwarm"
    for text in (pattern_pages.pages(package)[TIMED], claim_pages.pages(package)[TESTED]):
        assert "Not measured yet." in text
        assert "<svg" not in text
    assert "not measured yet" in pattern_pages.pages(package)["index"]


def test_a_page_has_both_sides_and_two_versions_side_by_side(package: Path) -> None:
    pytest.importorskip("vl_convert")
    page = pattern_pages.pages(package)[TIMED]
    for side in ("do", "dont"):
        assert f".. rst-class:: {side}\n" in page
    assert page.index("JAX 0.10.2") < page.index("JAX 0.6.2"), "the main one stands first"
    assert page.count("3.0× (2.5–3.5× at\N{NO-BREAK SPACE}97\N{NO-BREAK SPACE}%)") >= 2
    assert 'class="measured only-dark"' in page
    assert "edited since it was measured" in page, "of the second, whose hash is another"


def test_what_is_seen_stands_side_by_side_with_the_error(package: Path) -> None:
    page = pattern_pages.pages(package)[FACTS]
    assert "OddError: it is odd" in page
    assert ":verdict-bad:`opposite`" in page
    assert "edited since" not in page
    assert "<svg" not in page, "what is equal is no figure"


def test_a_claim_has_its_figures_with_their_bounds(package: Path) -> None:
    pytest.importorskip("vl_convert")
    pages = claim_pages.pages(package)
    assert "900 ms (800 ms–1.20 s)" in pages[TESTED]
    assert ":verdict-open:`inconclusive`" in pages[TESTED]
    assert "900 ms (800 ms–1.20 s)" in pages["index"]
    assert "def judge(seen):" in pages[TESTED]


def test_committed_evidence_has_the_main_environment() -> None:
    names = [one.name for one in evidence.stored(PACKAGE)]
    assert not names or names[0] == evidence.MAIN


def test_every_item_of_the_sources_is_covered_by_what_exists() -> None:
    known = {*patterns(), *claims()}
    missing = [item for item in sources.items() if set(item.covered) - known]
    assert missing == []


def test_no_pattern_and_no_claim_is_left_out_of_the_table_of_the_sources() -> None:
    named = {name for item in sources.items() for name in item.covered}
    assert sorted({*patterns(), *claims()} - named) == []


def test_only_what_a_shared_file_is_asked_for_is_shown(tmp_path: Path) -> None:
    shared = tmp_path / "_shared.py"
    shared.write_text(
        '"""Shared."""\n\nSIZE = 3\n\n\ndef _inner():\n    return SIZE\n\n\n'
        "def wanted():\n    return _inner()\n\n\ndef other():\n    return 0\n",
        encoding="utf-8",
    )
    shown = defined(shared, {"wanted"})
    assert "SIZE = 3" in shown
    assert "def _inner" in shown
    assert "def other" not in shown
    assert '"""Shared."""' not in shown
