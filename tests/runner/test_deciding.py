"""Which candidates of a bench are measured again: those whose verdict is open."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.contracts import samples

from coldwarm.contracts.observation import Judgement
from coldwarm.contracts.reasons import because
from coldwarm.runner.schedule import budget, suites
from coldwarm.runner.schedule.budget import Budget
from coldwarm.runner.schedule.ledger import Ledger
from coldwarm.runner.schedule.options import Options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.observation import Observation
    from coldwarm.runner.schedule.case import Case

COLD: CacheMode = "cold_process_cold_cache"
FILLED: CacheMode = "cold_process_warm_cache"


@pytest.fixture
def cases() -> list[Case]:
    """Return a baseline and two others."""
    found = suites.choose(Options(cases=("matmul_512_f32",)))
    baseline = next(case for case in found if case.is_baseline)
    return [baseline, *(case for case in found if case is not baseline)][:3]


def measured(case: Case, ttfr_s: Sequence[float], mode: CacheMode = COLD) -> list[Observation]:
    proof = {mode: Judgement(proved=True, reason=because("start_not_judged"))}
    return [
        samples.observation(mode, case=case.id, round=n, ttfr_s=value, judgements=proof)
        for n, value in enumerate(ttfr_s)
    ]


def options(**changes: object) -> Options:
    usual = {"cache_modes": (COLD,), "min_runs": 3, "max_runs": 12, "decide": 0.02}
    return Options(**{**usual, **changes})  # type: ignore[arg-type]  # of one test each


def again(
    cases: Sequence[Case], seen: list[Observation], round_: int, **changes: object
) -> list[Case]:
    return list(budget.wanting(cases, round_, options(**changes), Ledger(seen))[COLD])


EQUAL = [1.0, 1.001, 0.999, 1.0, 1.001, 0.999]
TWICE = [2.0, 2.001, 1.999, 2.0, 2.001, 1.999]
NOISY = [1.0, 1.6, 0.7, 1.2, 0.8, 1.5]
NOISY_TOO = [1.5, 0.8, 1.2, 0.7, 1.6, 1.0]


def test_the_fewest_are_measured_of_all_and_nothing_after_the_most(cases: list[Case]) -> None:
    assert again(cases, [], 2) == cases
    assert again(cases, [], 12) == []
    noisy = [one for case in cases[1:] for one in measured(case, NOISY)]
    assert again(cases, [*measured(cases[0], NOISY_TOO), *noisy], 11) == cases


def test_the_baseline_is_measured_beside_what_is_open(cases: list[Case]) -> None:
    base, clear, unclear = cases
    seen = [*measured(base, EQUAL), *measured(clear, TWICE), *measured(unclear, NOISY)]
    assert again(cases, seen, 6) == [base, unclear]


def test_what_is_settled_is_measured_no_more(cases: list[Case]) -> None:
    base, slower, same = cases
    seen = [*measured(base, EQUAL), *measured(slower, TWICE), *measured(same, EQUAL)]
    assert again(cases, seen, 6) == []


def test_three_that_agree_may_be_luck(cases: list[Case]) -> None:
    base, other, _ = cases
    seen = [*measured(base, EQUAL[:3]), *measured(other, EQUAL[:3])]
    assert again([base, other], seen, 3) == [base, other]


def test_each_mode_is_decided_by_itself(cases: list[Case]) -> None:
    base, other, _ = cases
    seen = [*measured(base, EQUAL), *measured(other, TWICE)]
    seen += [*measured(base, EQUAL, FILLED), *measured(other, NOISY, FILLED)]
    found = budget.wanting([base, other], 6, options(cache_modes=(COLD, FILLED)), Ledger(seen))
    assert (found[COLD], found[FILLED]) == ([], [base, other])


def test_without_a_baseline_there_is_nothing_to_decide(cases: list[Case]) -> None:
    base, other, third = cases
    failed = samples.observation(COLD, case=base.id, status="failed", reason="exit: 3")
    seen = [failed, *measured(other, NOISY), *measured(third, NOISY)]
    assert again(cases, seen, 6) == []
    assert again(cases, seen, 1) == [other, third], "the fewest all the same"


def test_a_deterministic_run_measures_the_fewest(cases: list[Case]) -> None:
    noisy = [one for case in cases for one in measured(case, NOISY)]
    assert again(cases, noisy, 3, deterministic=True) == []


def test_the_baseline_fits_only_beside_another_and_none_without_it(cases: list[Case]) -> None:
    base, cheap, dear = cases
    cost_s = {base: 10.0, cheap: 20.0, dear: 50.0}

    def fitting(left_s: float, *, together: bool = True) -> list[Case]:
        limited = Budget(left_s, 0.0)
        found = limited.fitting({COLD: cases}, lambda case, _: cost_s[case], 0.0, together=together)
        return list(found[COLD])

    assert fitting(80.0) == cases
    assert fitting(79.0) == [base, cheap]
    assert fitting(30.0) == [base, cheap]
    assert fitting(29.0) == []
    assert fitting(29.0, together=False) == [base]
    alone = Budget(10.0, 0.0).fitting({COLD: [base]}, lambda *_: 10.0, 0.0, together=True)
    assert alone == {COLD: [base]}
