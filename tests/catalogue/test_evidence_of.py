"""A run is evidence only of the functions that a pattern asks for, with its variables."""

from __future__ import annotations

from dataclasses import replace as as_declared
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace
from tests.stats import results

from coldwarm.catalogue import verdict
from coldwarm.catalogue.spec import claims, patterns
from coldwarm.contracts.catalogue import ClaimResult, PatternResult
from coldwarm.contracts.reasons import because
from coldwarm.contracts.result import Measured, OwnCandidate

if TYPE_CHECKING:
    from coldwarm.contracts.result import CaseResult

SPEC = as_declared(patterns()["first-call-in-timing"], grid={})
(BENCH,) = SPEC.benches
BARE = PatternResult(
    id=SPEC.id,
    sha256=SPEC.sha256,
    measures=SPEC.measures,
    verdict="not_tested",
    reason=because("gpu_unavailable"),
    measured_at="2026-01-01T00:00:00Z",
)


def case(
    name: str,
    function: str,
    variables: dict[str, str] | None = None,
    given: dict[str, int | float] | None = None,
) -> CaseResult:
    own = OwnCandidate(
        target=f"elsewhere.py:{function}",
        kind="factory",
        python=None,
        variables=variables or {},
        placement=None,
        arguments=[],
        outputs=[],
        given=given or {},
        renewed=False,
        checked="",
        last_checked=True,
        null_reasons={"python": because("not_asked"), "placement": because("not_asked")},
    )
    found = results.case(1, case=name, candidate=name)
    protocol = replace(found.protocol, own=own, workload_sha256=SPEC.sha256)
    return replace(found, protocol=protocol)


def run(*cases: CaseResult) -> Measured:
    return Measured("run", None, {one.case: one for one in cases}, {}, "0" * 64, None)


def test_a_run_of_both_sides_counts() -> None:
    found = verdict.of_bench(run(case("do", "do"), case("dont", "dont")), SPEC, BENCH)
    assert [*found] == ["do", "dont"]


@pytest.mark.parametrize(
    ("cases", "why"),
    [
        ((case("do", "dont"), case("dont", "do")), "another function"),
        ((case("do", "do"),), "is of do, not of do, dont"),
        ((case("do", "do", {"XLA_FLAGS": "-"}), case("dont", "dont")), "other variables"),
        ((case("do", "do", None, {"n": 8}), case("dont", "dont")), "another point"),
    ],
)
def test_a_run_of_anything_else_does_not(cases: tuple[CaseResult, ...], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        verdict.of_bench(run(*cases), SPEC, BENCH)


def started(seed: int, speed: float) -> CaseResult:
    """Return a case with three starts by themselves, and five in turns with the other side's."""
    made = results.case(seed, speed, n=8)
    starts = [
        one if place < 3 else replace(one, turns=60, blocks=[])
        for place, one in enumerate(made.observations)
    ]
    return replace(made, observations=starts)


@pytest.mark.parametrize(("speed", "verdict_of_it"), [(1.5, "as_stated"), (1.0, "same")])
def test_starts_in_turns_count_for_first_calls(speed: float, verdict_of_it: str) -> None:
    sides = {"do": started(1, 1.0), "dont": started(2, speed)}
    found = verdict.judged(SPEC, BARE, {BENCH.name: sides})
    assert isinstance(found, PatternResult)
    assert (found.verdict, found.n_rounds) == (verdict_of_it, 8)


def test_what_was_not_tested_has_no_figures_and_a_reason_of_its_own() -> None:
    assert verdict.is_bare(BARE)
    of_gpu = as_declared(SPEC, needs="gpu")
    verdict.check_bare(BARE, of_gpu)
    with pytest.raises(ValueError, match="a reason that it does not have"):
        verdict.check_bare(BARE, SPEC)
    with pytest.raises(ValueError, match="has figures"):
        verdict.check_bare(replace(BARE, ratio=15.0), of_gpu)


def test_nobody_but_its_author_withdraws_a_rule() -> None:
    spec = claims()["rule-split-keys"]
    bare = ClaimResult(
        id=spec.id,
        sha256=spec.sha256,
        verdict="withdrawn",
        reason=because("rule_withdrawn"),
        measured_at="2026-01-01T00:00:00Z",
    )
    assert verdict.is_bare(bare)
    with pytest.raises(ValueError, match="its rule is not withdrawn"):
        verdict.check_bare(bare, spec)
    verdict.check_bare(bare, as_declared(spec, withdrawn="It asks for something else."))
