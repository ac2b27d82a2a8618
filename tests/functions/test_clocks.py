"""Clocks and waits are those from before the user's program, which may replace them."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

from coldwarm.frameworks import jax
from coldwarm.functions import background, unfinished

if TYPE_CHECKING:
    import pytest

_real_s = time.perf_counter


class _Later:
    """An array that is there after a while."""

    def __init__(self, seconds: float) -> None:
        """Begin to be computed."""
        self._end_s = _real_s() + seconds

    def is_ready(self) -> bool:
        """Say whether it is there."""
        return _real_s() >= self._end_s


def _replaced(*_: object) -> float:
    return 0.0


def test_an_array_is_found_where_the_clock_stands_still(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jax, "in_flight", lambda: [_Later(0.2)])
    monkeypatch.setattr(time, "perf_counter", _replaced)
    assert jax.unfinished() == 1


def test_the_look_for_arrays_ends_where_no_clock_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jax, "in_flight", lambda: [_Later(60.0)])
    monkeypatch.setattr(jax, "_now_s", _replaced)
    assert jax.unfinished() == 1


def _seconds(function: Any) -> float:
    begin_s = _real_s()
    function()
    return _real_s() - begin_s


def test_who_looks_for_work_still_waits_where_sleep_is_replaced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(time, "sleep", _replaced)
    monkeypatch.setattr(time, "perf_counter", _replaced)
    assert _seconds(lambda: unfinished.refuse_busy(0.001)) >= unfinished._STEP_S
    assert _seconds(lambda: background._using_processor([1])) >= background._LOOK_S


WARM = """
import json, time
from types import SimpleNamespace
from coldwarm.worker import candidate  # what is loaded before a user's module

time.process_time = lambda: 1e9
from coldwarm.worker.loop import WarmLoop

backend = SimpleNamespace(
    synchronous=True, compiles_so_far=lambda: 0, refuse_pending=lambda: None, sync=None
)
prepared = SimpleNamespace(
    backend=backend, arguments=(20_000,), keywords=(), renew=None, function=lambda n: sum(range(n))
)
made = WarmLoop(prepared).block({"seconds": 0.05, "batch": 1, "limit": 500})
print(json.dumps(made))
"""


def test_the_processor_time_of_a_block_is_by_the_clock_from_before() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WARM], capture_output=True, text=True, timeout=60, check=True
    )
    made = json.loads(done.stdout)
    assert 0.0 < made["cpu_s"] < 1e6
    assert made["idle_cpu_s"] < 1e6
