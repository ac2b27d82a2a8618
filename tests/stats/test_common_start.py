"""Starts that two candidates have in common say nothing of which of them is faster."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import msgspec
import numpy as np
import pytest
from tests.stats import results
from tests.stats.results import EMPTY, NAME

from coldwarm.contracts.observation import Phase
from coldwarm.contracts.result import OwnCandidate
from coldwarm.stats.breakeven import dearer
from coldwarm.stats.common_start import levelled
from coldwarm.stats.costs import gather
from coldwarm.stats.outcome import with_comparisons
from coldwarm.stats.summarise import compare_case

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.contracts.answer import Comparison
    from coldwarm.contracts.observation import Observation
    from coldwarm.contracts.result import CaseResult

IMPORT, CALL = 0.15, 0.03
"""Standard deviations of the logarithms: as they were of JAX, on a machine that others use too."""


def started(rng: np.random.Generator, place: int, call_s: float) -> Observation:
    """Return a process whose import scatters far more than what comes after it."""
    import_s = math.exp(IMPORT * rng.standard_normal())
    first_s = call_s * math.exp(CALL * rng.standard_normal())
    return results.observed(
        rng,
        place,
        1.0,
        0.0,
        ttfr_s=import_s + first_s,
        ttfr_process_s=0.1 + import_s + first_s,
        phases=[
            Phase(name="import", start_s=0.05, duration_s=import_s),
            Phase(name="setup", start_s=0.05 + import_s, duration_s=0.05),
            Phase(name="first_call", start_s=0.1 + import_s, duration_s=first_s),
            Phase(name="second_call", start_s=0.1 + import_s + first_s, duration_s=0.001),
        ],
    )


def side(seed: int, call_s: float, n: int = 8) -> list[Observation]:
    rng = np.random.default_rng(seed)
    return [started(rng, place, call_s) for place in range(n)]


def judged(ours: Sequence[Observation], theirs: Sequence[Observation]) -> Comparison:
    return compare_case("A", theirs, ours, [EMPTY], alike=True, tested=False)[0]


def test_a_slower_call_is_told_through_imports_that_scatter() -> None:
    ours, theirs = side(1, 1.2), side(2, 1.0)
    (apart,) = compare_case("A", theirs, ours, [EMPTY])
    together = judged(ours, theirs)
    assert apart.verdict == "undecided"
    assert together.verdict == "slower"
    assert together.low is not None
    assert together.high is not None
    assert together.low < 1.1 < together.high
    assert "common_start" in {part.code for part in together.reason.parts}


@pytest.mark.parametrize("call_s", [1.0, 1.2, 3.0])
def test_the_interval_holds_the_truth(call_s: float) -> None:
    rng = np.random.default_rng(3)
    seeds = rng.integers(1 << 30, size=(150, 2)).tolist()
    truth = (1.0 + call_s) / 2.0
    found = [judged(side(one, call_s), side(two, 1.0)) for one, two in seeds]
    held = sum(one.low <= truth <= one.high for one in found if one.low and one.high)
    assert held >= 0.93 * len(found)
    if call_s == 1.0:
        assert all(one.verdict not in {"faster", "slower"} for one in found)


def test_each_round_keeps_its_mean_and_lone_ones_are_as_they_were() -> None:
    ours, theirs = side(4, 1.2, 5), side(5, 1.0, 3)
    first, second = levelled((ours, theirs))
    for place in range(3):
        before = [one[place].ttfr_process_s or 0.0 for one in (ours, theirs)]
        after = [one[place].ttfr_process_s or 0.0 for one in (first, second)]
        assert sum(after) == pytest.approx(sum(before))
        calls = [one[place].phase_s("first_call") or 0.0 for one in (ours, theirs)]
        assert after[0] - after[1] == pytest.approx(calls[0] - calls[1])
    assert first[3:] == ours[3:]


def test_a_process_that_failed_levels_nothing() -> None:
    failed = [msgspec.structs.replace(one, status="failed") for one in side(6, 1.0)]
    ours = side(7, 1.2)
    assert levelled((ours, failed)) == [ours, failed]


def case(name: str, seen: list[Observation], starts_as: str | None) -> CaseResult:
    own = OwnCandidate(
        target=f"a.py:{name}",
        kind="function",
        python="python",
        starts_as=starts_as,
        placement="numpy",
        arguments=[],
        outputs=[],
        renewed=False,
        checked="",
        last_checked=True,
    )
    made = results.case(case=NAME, protocol_cache_modes=[EMPTY], protocol_own=own)
    return msgspec.structs.replace(
        made, case=name, candidate=name, baseline=name == "A", observations=seen
    )


@pytest.mark.parametrize("starts_as", ["A", None])
def test_verdicts_and_answers_level_the_same_starts(starts_as: str | None) -> None:
    cases = [case("A", side(2, 1.0), starts_as), case("B", side(1, 1.2), starts_as)]
    (verdict,) = with_comparisons(cases)[1].comparisons
    assert (verdict.verdict == "slower") is (starts_as is not None)
    theirs, ours = gather("group", cases).known
    first = dearer(ours, theirs, ("empty.first", "empty.two", "empty.call"))
    low, high = (float(one[0]) for one in first.extent(np.array([1.0])))
    assert (high - low < 0.15) is (starts_as is not None)
