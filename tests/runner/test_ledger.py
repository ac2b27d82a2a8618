"""What a run has so far."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.contracts.observation import Block, Judgement
from coldwarm.contracts.reasons import because
from coldwarm.runner.ledger import Ledger, used_s
from coldwarm.runner.suite import _in_order, _places_of

if TYPE_CHECKING:
    from tests.runner.conftest import Observe

    from coldwarm.contracts.base import CacheMode
    from coldwarm.runner.case_list import Case

COLD: CacheMode = "cold_process_cold_cache"
FILLED: CacheMode = "cold_process_warm_cache"
WARM: CacheMode = "warm_process"


def test_the_end_of_a_process_replaces_its_start(case: Case, observe: Observe) -> None:
    ledger = Ledger([observe(FILLED)])
    ledger.add(observe(FILLED, also_modes=[WARM], judgements=_warm(proved=True)))
    assert len(ledger.of(case)) == 1
    assert ledger.done(case, FILLED, 0)
    assert ledger.done(case, WARM, 0)
    assert not ledger.done(case, WARM, 1)
    assert not ledger.done(case, COLD, 0)


def _warm(*, proved: bool) -> dict[str, Judgement]:
    return {
        FILLED: Judgement(
            proved=True, reason=because("filled_before", owner="jax", n_files=1, n_hits=1)
        ),
        WARM: Judgement(proved=proved, reason=because("nothing_compiled", n_blocks=1)),
    }


def test_attempts_are_counted_by_mode_and_round(case: Case, observe: Observe) -> None:
    ledger = Ledger()
    assert ledger.next_attempt(case, COLD, 0) == 0
    for attempt in range(2):
        ledger.add(observe(COLD, status="rejected", attempt=attempt))
    assert ledger.next_attempt(case, COLD, 0) == 2
    assert ledger.next_attempt(case, COLD, 1) == 0
    assert ledger.next_attempt(case, WARM, 0) == 0
    assert len(ledger.of(case)) == 2
    assert ledger.good(case, COLD) == []


def test_one_failure_fails_the_case(case: Case, observe: Observe) -> None:
    ledger = Ledger([observe(COLD)])
    assert ledger.failure(case) is None
    failed = observe(WARM, status="failed", reason="signal: SIGSEGV")
    ledger.add(failed)
    assert ledger.failure(case) is failed
    assert len(ledger.good(case, COLD)) == 1


def block(order: int, batch: int, samples: list[float]) -> Block:
    return Block(order=order, start_s=3.0, batch=batch, samples_s=samples, compiles=0)


def test_the_order_of_an_earlier_part_goes_on(observe: Observe) -> None:
    assert _in_order({}) == []
    seen = [
        observe(COLD, order=0),
        observe(FILLED, order=1, blocks=[block(4, 1, [1.0]), block(2, 1, [1.0])]),
    ]
    name = seen[0].case
    assert _in_order({**_places_of(seen[0]), **_places_of(seen[1])}) == [
        f"{name} {COLD} round 0",
        f"{name} {FILLED} round 0",
        f"{name} block",
        "not recorded",
        f"{name} block",
    ]


def test_time_in_which_a_process_was_held_is_not_used(observe: Observe) -> None:
    assert used_s(observe(COLD, wall_s=9.0)) == 9.0
    stayed = observe(WARM, wall_s=90.0, blocks=[block(1, 2, [1.0, 2.0]), block(2, 1, [0.5])])
    last = stayed.phases[-1]
    assert used_s(stayed) == last.start_s + last.duration_s + 6.5
