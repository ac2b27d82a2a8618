"""Which round comes next: what is met soonest, beside its baseline, until nothing is open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pytest
from tests.contracts import samples

from coldwarm.contracts.observation import Judgement
from coldwarm.contracts.reasons import because
from coldwarm.runner.case_list import Options, choose
from coldwarm.runner.case_list import groups as groups_of
from coldwarm.runner.effort import RoundChooser
from coldwarm.runner.ledger import Ledger

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.observation import Observation
    from coldwarm.runner.case_list import Case

COLD: CacheMode = "cold_process_cold_cache"
FILLED: CacheMode = "cold_process_warm_cache"
EQUAL = [1.0, 1.001, 0.999, 1.0, 1.001, 0.999]
TWICE = [2.0, 2.001, 1.999, 2.0, 2.001, 1.999]
FAR = [20.0, 20.01, 19.99]
NOISY = [1.0, 1.6, 0.7, 1.2, 0.8, 1.5]
NOISY_TOO = [1.5, 0.8, 1.2, 0.7, 1.6, 1.0]


@pytest.fixture
def cases() -> list[Case]:
    """Return a baseline and two others."""
    found = choose(Options(cases=("matmul_512_f32",)))
    return sorted(found, key=lambda case: not case.is_baseline)[:3]


def measured(case: Case, ttfr_s: Sequence[float], mode: CacheMode = COLD) -> list[Observation]:
    proof = {mode: Judgement(proved=True, reason=because("start_not_judged"))}
    return [
        samples.observation(mode, case=case.id, round=n, ttfr_s=value, judgements=proof)
        for n, value in enumerate(ttfr_s)
    ]


def options(**changes: object) -> Options:
    usual = {"cache_modes": (COLD,), "min_runs": 3, "max_runs": 12, "decide": 0.02}
    return Options(**{**usual, **changes})  # type: ignore[arg-type]  # of one test each


def effort(
    cases: Sequence[Case],
    seen: Sequence[Observation],
    costs_s: Mapping[str, float] | None = None,
    **changes: Any,
) -> RoundChooser:
    groups = groups_of(cases)
    cost = costs_s or {}
    return RoundChooser(
        groups, options(**changes), Ledger(seen), lambda case, _: cost.get(case.id, 1.0)
    )


def again(cases: Sequence[Case], seen: Sequence[Observation], **changes: Any) -> list[Case]:
    found = effort(cases, seen, **changes).next(None)
    return [] if found is None else list(found.wanted[COLD])


def test_the_baseline_is_measured_beside_what_is_open(cases: list[Case]) -> None:
    base, clear, unclear = cases
    seen = [*measured(base, EQUAL), *measured(clear, TWICE), *measured(unclear, NOISY)]
    assert sorted(again(cases, seen), key=cases.index) == [base, unclear]


@pytest.mark.parametrize(("base_s", "is_paired"), [(0.2, True), (0.9, False)])
def test_a_cheap_baseline_has_the_same_rounds_as_a_case_whose_figure_is_open(
    cases: list[Case],
    base_s: float,
    is_paired: bool,  # noqa: FBT001 - of a table
) -> None:
    base, far, _ = cases
    noisy = [20 * one for one in NOISY]
    seen = [*measured(base, [*EQUAL, 1.0, 1.0]), *measured(far, noisy)]
    costs = {base.id: base_s, far.id: 1.0}
    chosen = again([base, far], seen, costs_s=costs, time_budget_s=60.0, precision=0.02)
    assert far in chosen
    assert (base in chosen) == is_paired


def near(share: float) -> list[float]:
    """Return starts that are so much slower than those of ``EQUAL``, and scatter by 0.5 %."""
    return [(1 + share) * one for one in (1.005, 0.995, 1.0, 1.004, 0.996, 1.0, 1.005, 0.995)]


@pytest.mark.parametrize(
    ("slower", "limits", "more"),
    [
        (0.05, {}, False),
        # It is clear that it is slower by more than 2 %, but not whether by more than 5 %.
        (0.05, {"cold": 0.05}, True),
        (0.05, {"warm": 0.05}, False),
        (0.02, {}, True),
        # Whether by more than 2 % is open; that it is less than 5 % is clear.
        (0.02, {"cold": 0.05}, False),
        (0.12, {"cold": 0.05}, False),
    ],
)
def test_a_build_that_is_guarded_at_a_limit_is_measured_until_that_is_clear(
    cases: list[Case], slower: float, limits: dict[str, float], *, more: bool
) -> None:
    base, other, _ = cases
    seen = [*measured(base, [*EQUAL, 1.0, 1.0]), *measured(other, near(slower))]
    assert bool(again([base, other], seen, limits=limits)) == more


def test_what_is_settled_is_measured_no_more(cases: list[Case]) -> None:
    base, slower, same = cases
    seen = [*measured(base, EQUAL), *measured(slower, TWICE), *measured(same, EQUAL)]
    assert again(cases, seen) == []


def test_three_that_agree_may_be_luck_but_for_a_huge_difference(cases: list[Case]) -> None:
    base, other, _ = cases
    seen = [*measured(base, EQUAL[:3]), *measured(other, EQUAL[:3])]
    assert set(again([base, other], seen)) == {base, other}
    seen = [*measured(base, EQUAL[:3]), *measured(other, FAR)]
    assert again([base, other], seen) == []


def test_each_mode_is_decided_by_itself(cases: list[Case]) -> None:
    base, other, _ = cases
    seen = [*measured(base, EQUAL), *measured(other, TWICE)]
    seen += [*measured(base, EQUAL, FILLED), *measured(other, NOISY, FILLED)]
    found = effort([base, other], seen, cache_modes=(COLD, FILLED)).next(None)
    assert found is not None
    assert (found.wanted[COLD], set(found.wanted[FILLED])) == ([], {base, other})


def test_without_a_baseline_there_is_nothing_to_decide(cases: list[Case]) -> None:
    base, other, third = cases
    failed = samples.observation(COLD, case=base.id, status="failed", reason="exit: 3")
    seen = [failed, *measured(other, NOISY), *measured(third, NOISY)]
    assert again(cases, seen) == []


def test_a_deterministic_run_depends_on_its_options_alone(cases: list[Case]) -> None:
    noisy = [one for case in cases for one in measured(case, NOISY)]
    assert again(cases, noisy, deterministic=True) == []


@pytest.mark.parametrize(("precision", "more"), [(0.5, False), (0.001, True)])
def test_the_precision_asked_for_decides_where_no_verdict_does(
    cases: list[Case],
    precision: float,
    more: bool,  # noqa: FBT001 - of a table
) -> None:
    seen = measured(cases[0], [1.00, 1.05, 0.95, 1.02, 0.99])
    assert bool(again(cases[:1], seen, decide=None, precision=precision)) == more


def test_with_a_budget_figures_become_precise_too(cases: list[Case]) -> None:
    base, far, _ = cases
    seen = [*measured(base, EQUAL[:3]), *measured(far, FAR)]
    assert again([base, far], seen) == []
    assert set(again([base, far], seen, time_budget_s=60.0)) == {base, far}


def test_a_guard_ends_where_its_limits_are_clear(cases: list[Case]) -> None:
    base, other, _ = cases
    wide = [0.8, 1.0, 1.3, 0.9, 1.2, 1.1]
    seen = [*measured(base, wide), *measured(other, [1.5 * one for one in wide])]
    asked = {"time_budget_s": 100.0, "max_runs": 200}
    assert again([base, other], seen, **asked) != [], "the figures of both are wide"
    assert again([base, other], seen, **asked, limits={"cold": 0.05}) == []


def test_a_case_has_no_more_rounds_than_it_may(cases: list[Case]) -> None:
    base, other, _ = cases
    asked = effort([base, other], [], max_runs=4)
    rounds = 0
    while asked.next(None) is not None:
        rounds += 1
    assert rounds == 4, "nothing of them came back, and it ends all the same"


def test_what_does_not_fit_into_the_time_is_left(cases: list[Case]) -> None:
    base, cheap, dear = cases
    costs_s = {base.id: 1.0, cheap.id: 2.0, dear.id: 50.0}
    found = effort(cases, [], costs_s).next(10.0)
    assert found is not None
    assert dear not in found.wanted[COLD]
    assert effort(cases, [], costs_s).next(0.5) is None


def test_cheap_candidates_are_repeated_often_and_dear_ones_as_their_verdict_needs(
    cases: list[Case],
) -> None:
    """Simulated: a start of 0.1 s, one of 1 s, and one of 25 s that is far slower than both."""
    base, other, dear = cases
    truth_s = {base.id: 0.1, other.id: 1.0, dear.id: 25.0}
    rng = np.random.default_rng(5)
    asked = options(max_runs=40, decide=None, time_budget_s=200.0)
    ledger = Ledger()
    run = RoundChooser(groups_of(cases), asked, ledger, lambda case, _: truth_s[case.id])
    spent_s, round_ = 0.0, 0
    counts = dict.fromkeys(truth_s, 0)
    while (found := run.next(120.0 - spent_s)) is not None:
        for case in found.wanted[COLD]:
            took_s = truth_s[case.id] * float(np.exp(0.1 * rng.standard_normal()))
            (one,) = measured(case, [took_s])
            ledger.add(msgspec.structs.replace(one, round=round_))
            spent_s += took_s
            counts[case.id] += 1
        round_ += 1
    assert 3 <= counts[dear.id] <= 4, "a verdict of a difference as large as that needs no more"
    assert min(counts[base.id], counts[other.id]) > 2 * counts[dear.id]


def test_what_a_process_shows_by_the_way_is_measured_in_the_same_round(cases: list[Case]) -> None:
    """GIVEN starts that need one round and warm calls that need five THEN one shows both."""
    base, other, _ = cases
    seen = [*measured(base, EQUAL[:4], FILLED), *measured(other, EQUAL[:4], FILLED)]
    modes: tuple[CacheMode, ...] = (FILLED, "warm_process")
    found = effort([base, other], seen, cache_modes=modes).next(None)
    assert found is not None
    assert found.wanted[FILLED]
    assert {case.id for case in found.wanted["warm_process"]} == {base.id, other.id}


@pytest.mark.parametrize(("left_s", "alone"), [(10.0, False), (1.5, True)])
def test_where_two_processes_do_not_fit_one_that_calls_both_functions_is_started(
    cases: list[Case],
    left_s: float,
    alone: bool,  # noqa: FBT001 - of a table
) -> None:
    base, other, _ = cases
    mode: CacheMode = "warm_process"
    asked = options(cache_modes=(mode,), time_budget_s=20.0)
    groups = groups_of([base, other])
    run = RoundChooser(groups, asked, Ledger(), lambda *_: 1.0, lambda case: case is other)
    found = run.next(left_s)
    assert found is not None
    assert set(found.wanted[mode]) == ({other} if alone else {base, other})


def in_turns(case: Case, ttfr_s: Sequence[float]) -> list[Observation]:
    seen = measured(case, ttfr_s)
    return [msgspec.structs.replace(one, round=20 + one.round, turns=100) for one in seen]


@pytest.mark.parametrize(
    ("rounds", "in_turns"),
    [
        (EQUAL[:1], False),
        (NOISY[:2], True),
        (NOISY[:4], True),
        ([10.0, 10.5], False),
    ],
    ids=["one round", "two rounds", "rounds that scatter", "far apart"],
)
def test_starts_take_turns_where_rounds_alone_would_tell_their_ratio_later(
    cases: list[Case], rounds: list[float], *, in_turns: bool
) -> None:
    base, other, _ = cases
    seen = [*measured(base, EQUAL[: len(rounds)]), *measured(other, rounds)]
    found = effort([base, other], seen).next(None)
    assert found is not None
    assert found.in_turns == in_turns
    assert set(found.wanted[COLD]) == {base, other}


def test_starts_in_turns_go_on_until_there_are_enough_for_a_verdict(cases: list[Case]) -> None:
    base, other, _ = cases
    alone = [*measured(base, EQUAL[:2]), *measured(other, NOISY[:2])]
    for n, more in ((0, True), (4, True), (5, False)):
        seen = [*alone, *in_turns(base, EQUAL[:n]), *in_turns(other, EQUAL[:n])]
        found = effort([base, other], seen).next(None)
        assert (found is not None and found.in_turns) == more


def test_a_start_that_could_not_take_turns_is_measured_alone(cases: list[Case]) -> None:
    base, other, _ = cases
    alone = [*measured(base, EQUAL[:2]), *measured(other, NOISY[:2])]
    failed = [msgspec.structs.replace(one, status="failed") for one in in_turns(other, [1.0])]
    found = effort([base, other], [*alone, *failed]).next(None)
    assert found is not None
    assert not found.in_turns
