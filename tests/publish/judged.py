"""Small results of patterns and claims: facts that nobody has to measure, judged as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace
from tests.contracts import samples

from coldwarm.catalogue.spec import claims, patterns
from coldwarm.contracts.catalogue import (
    INDEXES,
    ClaimResult,
    ClaimResults,
    FactSheet,
    PatternResult,
    PatternResults,
    Raised,
)
from coldwarm.contracts.codec import encode
from coldwarm.contracts.reasons import because
from coldwarm.runner.harness import harness_sha256

if TYPE_CHECKING:
    from pathlib import Path

    from coldwarm.contracts.base import Record
    from coldwarm.contracts.catalogue import Fact

VERSIONS = {"jax": "0.9.0", "numpy": "2.4.6"}
PATTERN, CLAIM = "key-reuse", "rule-split-keys"
DATE = "2026-01-02T03:04:05+00:00"


def sheet(function: str, facts: dict[str, Fact], raised: Raised | None = None) -> FactSheet:
    return FactSheet(
        function=function, facts=facts, raised=raised, call_s=0.5, programs=2, versions=VERSIONS
    )


def pattern(**changes: Any) -> PatternResult:
    """A pattern of facts, as its evidence says."""
    made = PatternResult(
        id=PATTERN,
        sha256=patterns()[PATTERN].sha256,
        measures="facts",
        verdict="as_stated",
        reason=because("facts_as_stated"),
        sheets=[sheet("do", {"equal": False}), sheet("dont", {"equal": True})],
        measured_at=DATE,
        versions=VERSIONS,
    )
    return replace(made, **changes)


def claim(raised: Raised | None = None, **changes: Any) -> ClaimResult:
    """A claim that rests on a pattern, and on facts that its own rule does not ask for."""
    made = ClaimResult(
        id=CLAIM,
        sha256=claims()[CLAIM].sha256,
        verdict="inconclusive",
        reason=because("not_seen", what="key-not-split-in-loop"),
        sheets=[sheet("beside", {"calls": 3}, raised)],
        patterns=[pattern()],
        measured_at=DATE,
        versions=VERSIONS,
    )
    return replace(made, **changes)


def write_patterns(folder: Path, *results: PatternResult, **changes: Any) -> Path:
    """Leave results of patterns in a folder, with where they were measured."""
    made = PatternResults(**_index(), results=list(results) or [pattern()])
    return _write(folder, INDEXES["patterns"], replace(made, **changes))


def write_claims(folder: Path, *results: ClaimResult, **changes: Any) -> Path:
    """Leave results of claims in a folder, with where they were measured."""
    made = ClaimResults(**_index(), results=list(results) or [claim()])
    return _write(folder, INDEXES["claims"], replace(made, **changes))


def _index() -> dict[str, Any]:
    return {
        "started_at": DATE,
        "finished_at": DATE,
        "complete": True,
        "harness_version": "0.1.0",
        "harness_sha256": harness_sha256(),
        "wall_s": 2.0,
    }


def _write(folder: Path, name: str, index: Record) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(encode(index))
    (folder / "environment.json").write_bytes(encode(samples.environment()))
    return folder
