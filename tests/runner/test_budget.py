"""How much more is measured: precision, bounds and the time that is left."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from coldwarm.clock import FakeClock
from coldwarm.runner import budget
from coldwarm.runner.budget import Budget
from coldwarm.runner.ledger import Ledger
from coldwarm.runner.plan import Options

if TYPE_CHECKING:
    from tests.runner.conftest import Observe

    from coldwarm.contracts.base import CacheMode
    from coldwarm.runner.plan import Case

COLD: CacheMode = "cold_process_cold_cache"
FILLED: CacheMode = "cold_process_warm_cache"


def options(**changes: object) -> Options:
    usual: dict[str, object] = {"cache_modes": (COLD,), "min_runs": 3, "max_runs": 6}
    return Options(**{**usual, **changes})  # type: ignore[arg-type]  # of one test each


def wants(case: Case, round_: int, asked: Options, ledger: Ledger) -> bool:
    return case in budget.wanting([case], round_, asked, ledger)[COLD]


def seen(observe: Observe, ttfr_s: list[float]) -> Ledger:
    return Ledger(observe(COLD, round_, ttfr_s=value) for round_, value in enumerate(ttfr_s))


def test_the_fewest_are_always_measured_and_the_most_never_exceeded(
    case: Case, observe: Observe
) -> None:
    few = seen(observe, [1.0, 1.0, 1.0])
    precise = seen(observe, [1.0] * 5)
    noisy = seen(observe, [1.0, 2.0, 9.0])
    assert all(wants(case, round_, options(), precise) for round_ in range(3))
    assert wants(case, 3, options(), few), "three that agree may be luck"
    assert not wants(case, 5, options(), precise)
    assert wants(case, 3, options(), noisy)
    assert wants(case, 5, options(), noisy)
    assert not wants(case, 6, options(), noisy)


def test_a_deterministic_run_depends_on_its_options_alone(case: Case, observe: Observe) -> None:
    asked = options(deterministic=True)
    for ledger in (Ledger(), seen(observe, [1.0, 2.0, 9.0])):
        assert [wants(case, round_, asked, ledger) for round_ in range(5)] == [
            True,
            True,
            True,
            False,
            False,
        ]


def test_a_failed_case_is_not_measured_again(case: Case, observe: Observe) -> None:
    ledger = Ledger([observe(COLD, status="failed", reason="exit: 3 before a result")])
    assert not wants(case, 1, options(), ledger)


@pytest.mark.parametrize(("precision", "more"), [(0.5, False), (0.001, True)])
def test_the_precision_asked_for_decides(
    case: Case,
    observe: Observe,
    precision: float,
    more: bool,  # noqa: FBT001 - of a table
) -> None:
    ledger = seen(observe, [1.00, 1.05, 0.95, 1.02, 0.99])
    assert wants(case, 5, options(precision=precision), ledger) == more


def test_without_a_limit_everything_fits(case: Case) -> None:
    wanted = {COLD: [case]}
    assert Budget(None, 0.0).fitting(wanted, lambda *_: 1e9, 1e9) == wanted


def test_what_fits_in_the_time_left_the_cheap_first_and_the_unknown_always(case: Case) -> None:
    clock = FakeClock()
    limited = Budget(100.0, clock.now_s())
    cost_s = {COLD: 30.0, FILLED: 20.0}
    wanted = {COLD: [case], FILLED: [case]}

    def fitting() -> dict[CacheMode, int]:
        found = limited.fitting(wanted, lambda _, mode: cost_s[mode], clock.now_s())
        return {mode: len(cases) for mode, cases in found.items()}

    assert fitting() == {COLD: 1, FILLED: 1}
    clock.advance(60.0)
    assert fitting() == {COLD: 0, FILLED: 1}
    clock.advance(30.0)
    assert fitting() == {COLD: 0, FILLED: 0}
    never_measured = limited.fitting(wanted, lambda *_: None, clock.now_s())
    assert never_measured == wanted


def test_what_is_left_is_told_when_every_cost_is_known(case: Case, observe: Observe) -> None:
    ledger = seen(observe, [1.0])
    assert budget.left([case], options(), ledger, lambda *_: None) is None
    assert budget.left([case], options(), ledger, lambda *_: 2.0) == 4.0
    assert budget.left([case], options(min_runs=1), ledger, lambda *_: 2.0) == 0.0
    ledger.add(observe(COLD, 1, status="failed", reason="x"))
    assert budget.left([case], options(), ledger, lambda *_: None) == 0.0


def test_the_share_done() -> None:
    assert Budget(None, 10.0).estimate(None, 20.0) == (0.0, None)
    assert Budget(None, 10.0).estimate(30.0, 20.0) == (0.25, 30.0)
    assert Budget(15.0, 10.0).estimate(30.0, 20.0) == (10 / 15, 5.0)
    assert Budget(5.0, 10.0).estimate(30.0, 20.0) == (1.0, 0.0)
    assert Budget(None, 10.0).estimate(0.0, 10.0) == (1.0, 0.0)
