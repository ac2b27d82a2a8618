"""The gates of a case together, and the processes that count for nothing."""

from __future__ import annotations

from tests.contracts import samples

from coldwarm.contracts.observation import Gate, Judgement
from coldwarm.contracts.reasons import because
from coldwarm.stats.outcome import gates
from coldwarm.stats.selection import rejects

EMPTY = "cold_process_cold_cache"
PROVED = Judgement(proved=True, reason=because("stated", text="made so"))
REFUTED = Judgement(proved=False, reason=because("stated", text="a file was there"))


def gate(*, passed: bool = True, error: float | None = 1e-7) -> Gate:
    reason = None if passed else because("stated", text="it is wrong")
    return Gate(
        passed=passed,
        max_abs_error=error,
        max_relative_error=error,
        tolerance=1e-5,
        checked=["first_call"],
        reason=reason,
    )


def test_the_worst_of_all_processes_is_told() -> None:
    seen = [
        samples.observation(gate=gate()),
        samples.observation(gate=gate(passed=False, error=0.5)),
        samples.observation(gate=gate(error=None)),
        samples.observation(gate=None),
    ]
    found = gates(seen)
    assert found is not None
    assert (found.n_checked, found.n_passed, found.worst) == (3, 2, 0.5)
    assert found.reason == because("stated", text="it is wrong")
    assert gates([samples.observation(gate=None)]) is None


def test_an_error_that_nobody_measured_is_not_zero() -> None:
    found = gates([samples.observation(gate=gate(error=None))])
    assert found is not None
    assert found.worst is None


def test_each_mode_that_a_process_claims_in_vain_is_told() -> None:
    fine = samples.observation(judgements={EMPTY: PROVED})
    refuted = samples.observation(
        status="rejected",
        also_modes=["warm_process"],
        judgements={EMPTY: REFUTED, "warm_process": PROVED},
    )
    half = samples.observation(
        also_modes=["warm_process"], judgements={EMPTY: PROVED, "warm_process": REFUTED}
    )
    failed = samples.observation(status="failed", reason=because("stated", text="it crashed"))
    unjudged = samples.observation(judgements={})
    found = [
        (one.observation, one.mode, one.reason)
        for one in rejects([fine, refuted, half, failed, unjudged])
    ]
    assert found == [
        (refuted, EMPTY, REFUTED.reason),
        (refuted, "warm_process", because("unstated")),
        (half, "warm_process", REFUTED.reason),
        (failed, EMPTY, because("stated", text="it crashed")),
        (unjudged, EMPTY, because("not_judged", cache_mode=EMPTY)),
    ]
