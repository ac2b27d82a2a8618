"""The rounds that every case has, and what of them fits into the time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coldwarm.runner import suite
from coldwarm.runner.case_list import Options, choose, tiers
from coldwarm.runner.case_list import groups as groups_of
from coldwarm.runner.effort import Budget, Estimates
from coldwarm.runner.ledger import Ledger

if TYPE_CHECKING:
    from tests.runner.conftest import Observe

    from coldwarm.contracts.base import CacheMode
    from coldwarm.runner.case_list import Case

COLD: CacheMode = "cold_process_cold_cache"
FILLED: CacheMode = "cold_process_warm_cache"
WARM: CacheMode = "warm_process"


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        """Start at second 0."""
        self._now_s = 0.0

    def advance(self, seconds: float) -> None:
        """Move on by ``seconds``."""
        self._now_s += seconds

    def now_s(self) -> float:
        """Return the seconds moved so far."""
        return self._now_s


def test_a_failed_case_is_not_measured_again(case: Case, observe: Observe) -> None:
    ledger = Ledger([observe(COLD, status="failed", reason="exit: 3 before a result")])
    assert Estimates([case], Options(), Ledger(), lambda *_: None).missing([case], 0)[COLD] == [
        case
    ]
    assert Estimates([case], Options(), ledger, lambda *_: None).missing([case], 0)[COLD] == []


def test_what_was_inspected_costs_in_proportion_to_what_others_did() -> None:
    """All were inspected at once, and in the way of each other: their processes take less."""
    chosen = choose(Options(cases=("matmul_512_f32",)))[:3]
    cases = [replace(one, inspected_s=k) for one, k in zip(chosen, (4.0, 8.0, 6.0), strict=True)]
    ran = {cases[0].id: 1.0, cases[1].id: 2.0}
    told = Estimates(cases, Options(), Ledger(), lambda case, _: ran.get(case.id))
    assert [told.expected_s(one, WARM) for one in cases] == [1.0, 2.0, pytest.approx(1.5)]
    nothing = Estimates(cases, Options(), Ledger(), lambda *_: None)
    assert [nothing.expected_s(one, WARM) for one in cases] == [4.0, 8.0, 6.0]


def test_without_a_limit_everything_fits(case: Case) -> None:
    wanted = {COLD: [case]}
    assert Budget(None, 0.0).fitting(wanted, lambda *_: 1e9, 1e9) == wanted


def test_whole_cases_fit_in_the_time_left_the_cheap_first() -> None:
    cheap, middle, dear = choose(Options(cases=("matmul_512_f32",)))[:3]
    clock = Clock()
    limited = Budget(100.0, clock.now_s())
    cost_s = {cheap: 10.0, middle: 20.0, dear: 30.0}
    wanted = {COLD: [dear, cheap, middle], FILLED: [cheap, dear]}

    def fitting() -> dict[CacheMode, list[Case]]:
        found = limited.fitting(wanted, lambda case, _: cost_s[case], clock.now_s())
        return {mode: list(cases) for mode, cases in found.items()}

    assert fitting() == wanted
    clock.advance(10.0)
    assert fitting() == {COLD: [cheap, middle], FILLED: [cheap]}, "all modes of one, or none"
    clock.advance(60.0)
    assert fitting() == {COLD: [cheap], FILLED: [cheap]}
    clock.advance(20.0)
    assert fitting() == {COLD: [], FILLED: []}


def test_what_is_dear_waits_until_the_others_have_had_their_turn(case: Case) -> None:
    limited = Budget(100.0, 0.0)
    bounds = (25.0, 100.0, 400.0, None)
    first = [(0, bound, name) for bound in bounds for name in "ab"]
    second = [(0, bound, name) for bound in bounds for name in "cd"]
    later = [(1, None, name) for name in "abcd"]
    assert limited.turns(2, ["ab", "cd"]) == [*first, *second, *later]
    for (_, at_most_s, _), fits in zip(first[1:3], (False, True), strict=True):
        found = limited.fitting({COLD: [case]}, lambda *_: 25.1, 0.0, at_most_s=at_most_s)
        assert any(found.values()) == fits
    assert Budget(None, 0.0).turns(2, ["a"]) == [(0, None, "a"), (1, None, "a")]


def test_a_process_that_stays_shows_its_start_with_filled_caches_for_nothing(case: Case) -> None:
    wanted = {COLD: [case], FILLED: [case], WARM: [case]}
    for limit_s, fits in ((20.0, True), (19.9, False)):
        found = Budget(limit_s, 0.0).fitting(wanted, lambda *_: 10.0, 0.0)
        assert any(found.values()) == fits
    ledger = Ledger()
    asked = Options(cache_modes=(COLD, FILLED, WARM), min_runs=1)
    assert Estimates([case], asked, ledger, lambda *_: 10.0).seconds_left() == 20.0


def test_a_process_may_exceed_the_budget_by_little_and_none_starts_after_it() -> None:
    limited = Budget(100.0, 50.0)
    assert limited.ends_s == pytest.approx(155.0)
    assert not limited.spent(149.9)
    assert limited.spent(150.0)
    unlimited = Budget(None, 0.0)
    assert unlimited.ends_s is None
    assert not unlimited.spent(1e9)


@given(
    st.lists(st.floats(0.01, 400.0), min_size=1, max_size=12),
    st.floats(0.1, 1000.0),
    st.floats(0.5, 1.5),
)
def test_a_run_keeps_its_budget_whatever_its_processes_cost(
    costs_s: list[float], limit_s: float, wrong: float
) -> None:
    """Estimates are told wrongly by up to a half, and a process is cut where the grace ends."""
    cases = choose(Options(cases=("matmul_512_f32", "matmul_1024_f32")))[: len(costs_s)]
    truth_s = dict(zip(cases, costs_s, strict=False))
    clock = Clock()
    limited = Budget(limit_s, clock.now_s())
    ends_s = limited.ends_s or 0.0
    refused_s = []
    for case in [*truth_s] * 5:
        told_s = wrong * truth_s[case]
        found = limited.fitting({COLD: [case]}, lambda *_, told_s=told_s: told_s, clock.now_s())
        if found[COLD]:
            clock.advance(min(truth_s[case], max(ends_s - clock.now_s(), 0.0)))
        else:
            refused_s.append(told_s)
    assert clock.now_s() <= 1.1 * limit_s
    if refused_s:
        assert limit_s - clock.now_s() < max(refused_s), "what is left over was of no use"


def test_what_a_case_will_cost_is_told_by_its_like() -> None:
    every = choose(Options(suite="full"))
    named = {case.id: case for case in every}
    known: dict[str, float] = {}
    costs = Estimates(every, Options(), Ledger(), lambda case, _: known.get(case.id))
    small = named["jax_jit_cpu_matmul_512_f32"]
    assert costs.expected_s(small, COLD) == 5.0, "a guess for what compiles"
    assert costs.expected_s(named["numpy_matmul_512_f32"], COLD) == 1.0
    known["jax_jit_cpu_mlp_train_step_128_f32"] = 3.0
    known["jax_jit_cpu_nbody_256_f32"] = 9.0
    known["jax_jit_cpu_hessian_128_f32"] = 4.0
    known["torch_compile_cpu_matmul_512_f32"] = 70.0
    assert costs.expected_s(small, COLD) == 4.0, "the median of its other workloads"
    known["jax_jit_cpu_matmul_1024_f32"] = 2.0
    known["jax_jit_cpu_matmul_1024_f64"] = 2.5
    assert costs.expected_s(small, COLD) == 2.5, "the dearest of the same workload"
    known[small.id] = 1.0
    assert costs.expected_s(small, COLD) == 1.0


def test_where_time_is_short_the_smallest_of_each_workload_comes_first() -> None:
    every = choose(Options(suite="full"))
    groups = groups_of(every)
    ranked = [[groups[name][0] for name in tier] for tier in tiers(every)]
    assert sum(map(len, ranked)) == len(groups)
    first, *later = ranked
    assert {case.workload.name for case in first} == {case.workload.name for case in every}
    assert all(case.size == min(case.workload.sizes) for case in first)
    larger = [sum(size < case.size for size in case.workload.sizes) for (case, *_) in later]
    assert larger == sorted(larger)


@pytest.mark.parametrize(
    ("events", "recorded_s", "more_s", "total_s"),
    [
        ([], 60.0, None, 60.0),
        ([], None, None, None),
        ([], None, 30.0, 75.0),
        ([], 60.0, 30.0, 75.0),
        ([suite._ENDED], 60.0, None, 105.0),
        ([suite._ENDED], None, None, None),
        ([suite._budget_event(75.0)], 60.0, None, 75.0),
        ([suite._ENDED, suite._budget_event(105.0)], 60.0, None, 105.0),
        ([suite._budget_event(75.0), suite._ENDED], 60.0, None, 105.0),
        ([suite._budget_event(None)], 60.0, None, 60.0),
    ],
)
def test_how_long_a_run_may_go_on_when_it_is_taken_up_again(
    events: list[dict[str, object]],
    recorded_s: float | None,
    more_s: float | None,
    total_s: float | None,
) -> None:
    assert suite._total_s(events, recorded_s, 45.0, more_s) == total_s


def test_what_is_left_is_told_when_every_cost_is_known(case: Case, observe: Observe) -> None:
    def asked(min_runs: int = 3) -> Options:
        return Options(cache_modes=(COLD,), min_runs=min_runs)

    ledger = Ledger([observe(COLD, 0, ttfr_s=1.0)])
    assert Estimates([case], asked(), ledger, lambda *_: None).seconds_left() is None
    assert Estimates([case], asked(), ledger, lambda *_: 2.0).seconds_left() == 4.0
    assert Estimates([case], asked(min_runs=1), ledger, lambda *_: 2.0).seconds_left() == 0.0
    ledger.add(observe(COLD, 1, status="failed", reason="x"))
    assert Estimates([case], asked(), ledger, lambda *_: None).seconds_left() == 0.0


def test_the_share_done() -> None:
    assert Budget(None, 10.0).estimate(None, 20.0) == (0.0, None)
    assert Budget(None, 10.0).estimate(30.0, 20.0) == (0.25, 30.0)
    limited = Budget(15.0, 10.0)
    assert limited.estimate(limited.left_s(20.0), 20.0) == (10 / 15, 5.0)
    assert limited.estimate(limited.left_s(29.0), 29.0) == (1.0, 0.0)
    assert Budget(None, 10.0).estimate(0.0, 10.0) == (1.0, 0.0)


def test_the_baseline_fits_only_beside_another_and_none_without_it() -> None:
    cases = choose(Options(cases=("matmul_512_f32",)))
    cases.sort(key=lambda case: not case.is_baseline)
    base, cheap, dear = cases = cases[:3]
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
