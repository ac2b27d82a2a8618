"""What is stored of a pattern or a claim stands under its page in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from coldwarm.catalogue import stored
from coldwarm.cli.main import cli
from coldwarm.contracts import codec
from coldwarm.contracts.catalogue import (
    INDEXES,
    Bound,
    ClaimResult,
    ClaimResults,
    FactSheet,
    PatternResult,
    PatternResults,
)
from coldwarm.contracts.reasons import because
from coldwarm.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

AT = "2026-11-01T10:00:00+00:00"


def sheet(function: str, *, equal: bool) -> FactSheet:
    return FactSheet(
        function=function, facts={"equal": equal}, call_s=1.0, programs=2, versions={"jax": "0.9"}
    )


@pytest.fixture
def results(tmp_path: Path) -> Path:
    pattern = PatternResult(
        id="key-reuse",
        sha256="0" * 64,
        measures="facts",
        verdict="as_stated",
        reason=because("facts_as_stated"),
        sheets=[sheet("do", equal=False), sheet("dont", equal=True)],
        measured_at=AT,
        versions={"jax": "0.9"},
    )
    claim = ClaimResult(
        id="first-call-small-mlp",
        sha256="0" * 64,
        verdict="refuted",
        figures=[Bound(name="first_call: first_s", value=1.5, low=1.4, high=1.6)],
        measured_at=AT,
        versions={"jax": "0.9"},
    )
    kept: dict[str, Any] = {
        "started_at": AT,
        "finished_at": AT,
        "complete": True,
        "harness_version": "0.1.0",
        "harness_sha256": "0" * 64,
        "wall_s": 1.0,
    }
    patterns = PatternResults(results=[pattern], **kept)
    claims = ClaimResults(results=[claim], **kept)
    (tmp_path / INDEXES["patterns"]).write_bytes(codec.encode(patterns))
    (tmp_path / INDEXES["claims"]).write_bytes(codec.encode(claims))
    return tmp_path


def shown(*arguments: str) -> str:
    done = CliRunner().invoke(cli, arguments, standalone_mode=False)
    assert done.exception is None, done.exception
    return done.output


def test_a_pattern_has_what_both_sides_have_shown_under_its_page(results: Path) -> None:
    text = shown("patterns", "show", "key-reuse", "--results", str(results))
    assert "Measured: as stated" in text
    assert ["equal", "False", "True"] in [line.split() for line in text.splitlines()]
    assert "2026-11-01 with jax 0.9" in text
    assert "Measured" not in shown("patterns", "show", "key-reuse")


def test_a_claim_has_its_verdict_and_figures_under_its_page(results: Path) -> None:
    text = shown("claims", "show", "first-call-small-mlp", "--results", str(results))
    assert "Verdict: refuted" in text
    assert "1.4–1.6" in text
    assert "Verdict" not in shown("claims", "show", "first-call-small-mlp")


def test_a_folder_without_that_result_is_refused_in_one_line(results: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="none of jit-in-loop"):
        stored.result_of(results, "patterns", "jit-in-loop")
    with pytest.raises(UsageError, match="none of typical-speedup"):
        stored.result_of(results, "claims", "typical-speedup")
    with pytest.raises(UsageError, match=r"holds no patterns\.json; .* coldwarm patterns run"):
        stored.result_of(tmp_path / "nothing", "patterns", "jit-in-loop")


def test_verdicts_alone_have_a_page(results: Path, tmp_path: Path) -> None:
    page = tmp_path / "verdicts.html"
    shown("report", str(results), "--out", str(page))
    assert "key-reuse" in page.read_text(encoding="utf-8")
