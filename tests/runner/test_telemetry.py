"""What the machine did meanwhile, and when it is flagged."""

from __future__ import annotations

from dataclasses import replace

import pytest

from coldwarm.contracts.observation import ProcessTotals
from coldwarm.runner import telemetry
from coldwarm.runner.telemetry import BlockReading, Reading, between, during_blocks

BEFORE = Reading(
    now_s=100.0,
    load_1m=0.5,
    busy_s=10.0,
    total_s=100.0,
    steal_s=1.0,
    pressure_s=2.0,
    throttled_s=0.0,
    thermal=3,
)
QUIET = replace(BEFORE, now_s=102.0, busy_s=11.0, total_s=104.0)
"""Two seconds later on two processors, one of them busy for one second."""


def test_a_quiet_machine_is_not_flagged() -> None:
    seen = between(BEFORE, QUIET, 1.0, ProcessTotals(involuntary_switches=4, cpu_user_s=0.9))
    assert seen.flags == []
    assert (seen.foreign_cpu, seen.steal_share, seen.cpu_pressure_share) == (0.0, 0.0, 0.0)
    assert (seen.load_1m_before, seen.load_1m_after) == (0.5, 0.5)
    assert seen.involuntary_switches == 4
    assert seen.cpu_user_s == 0.9
    assert seen.null_reasons.keys() == {
        "cpu_system_s",
        "child_cpu_s",
        "warm_foreign_cpu",
        "warm_throttled_s",
    }


@pytest.mark.parametrize(
    ("changes", "own_cpu_s", "switches", "flag"),
    [
        ({"busy_s": 12.0}, 1.0, 0, "foreign_cpu: 0.5"),
        ({"steal_s": 1.4}, 1.0, 0, "steal: 0.1"),
        ({"throttled_s": 0.25}, 1.0, 0, "throttled: 0.25"),
        ({"thermal": 5}, 1.0, 0, "thermal: 2"),
        ({}, 1.0, 1000, "switches: 500"),
    ],
)
def test_each_disturbance_is_flagged_with_its_figure(
    changes: dict[str, float], own_cpu_s: float, switches: int, flag: str
) -> None:
    after = replace(QUIET, **changes)  # type: ignore[arg-type]  # fields of the reading
    measured = between(BEFORE, after, own_cpu_s, ProcessTotals(involuntary_switches=switches))
    assert list(map(str, measured.flags)) == [flag]


def test_its_own_work_is_not_foreign() -> None:
    busy = replace(QUIET, busy_s=14.0)
    assert between(BEFORE, busy, 4.0, ProcessTotals()).flags == []
    assert between(BEFORE, busy, 5.0, ProcessTotals()).foreign_cpu == 0.0


def test_what_this_system_does_not_count_is_null_with_a_reason() -> None:
    nothing = Reading(0.0, None, None, None, None, None, None, None)
    seen = between(nothing, replace(nothing, now_s=1.0), None, ProcessTotals())
    fields = {name for name in seen.__struct_fields__ if name not in {"flags", "null_reasons"}}
    assert {getattr(seen, name) for name in fields} == {None}
    assert seen.null_reasons.keys() == fields
    assert seen.flags == []


def test_counters_that_go_back_are_no_negative_time() -> None:
    seen = between(QUIET, BEFORE, 0.0, ProcessTotals())
    assert seen.steal_share is None
    assert (seen.foreign_cpu, seen.throttled_s, seen.thermal_throttles) == (0.0, 0.0, 0)


def test_reading_is_cheap_and_moves_on() -> None:
    first = telemetry.read(1.0)
    second = telemetry.read(2.0)
    for name in ("busy_s", "total_s", "pressure_s"):
        before, after = getattr(first, name), getattr(second, name)
        assert (before is None and after is None) or after >= before


def test_what_others_do_during_warm_blocks_is_flagged_apart() -> None:
    busy = replace(QUIET, busy_s=12.0)
    seen = during_blocks([BlockReading(BEFORE, busy, 1.0)] * 2)
    assert seen.foreign_cpu == 0.5
    assert list(map(str, seen.flags)) == ["foreign_cpu_warm: 0.5"]
    quiet, none = during_blocks([BlockReading(BEFORE, QUIET, 1.0)]), during_blocks([])
    assert (quiet.foreign_cpu, quiet.throttled_s, quiet.flags) == (0.0, 0.0, [])
    assert (none.foreign_cpu, none.throttled_s, none.flags) == (None, None, [])


def test_a_quota_is_flagged_from_a_notable_share_on_also_in_warm_blocks() -> None:
    little = replace(QUIET, throttled_s=0.001)
    much = replace(QUIET, throttled_s=0.5)
    assert between(BEFORE, little, 1.0, ProcessTotals()).flags == []
    assert between(BEFORE, little, 1.0, ProcessTotals()).throttled_s == 0.001
    assert during_blocks([BlockReading(BEFORE, little, 1.0)]).flags == []
    seen = during_blocks([BlockReading(BEFORE, QUIET, 1.0), BlockReading(BEFORE, much, 1.0)])
    assert seen.throttled_s == 0.5
    assert list(map(str, seen.flags)) == ["throttled_warm: 0.5"]
    unknown = BlockReading(BEFORE, replace(QUIET, throttled_s=None), 1.0)
    assert during_blocks([unknown]).throttled_s is None


def test_the_runner_is_nobody_else_and_a_few_ticks_say_nothing() -> None:
    runner = replace(QUIET, busy_s=12.0, runner_s=1.0)
    assert between(BEFORE, runner, 1.0, ProcessTotals()).flags == []
    short = replace(BEFORE, now_s=100.1, busy_s=10.03, total_s=100.2)
    assert between(BEFORE, short, 0.0, ProcessTotals()).flags == []
