"""``coldwarm.bench`` in the process that calls it: figures, and nothing left behind."""

from __future__ import annotations

import asyncio
import functools
import gc
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import coldwarm
from coldwarm.contracts.reasons import Reason
from coldwarm.errors import ColdwarmError
from coldwarm.functions.arguments import Call
from coldwarm.inprocess import sending, warm_calls
from coldwarm.inprocess.bench import Benchmark, bench
from coldwarm.inprocess.bench_result import BenchResult

if TYPE_CHECKING:
    from pathlib import Path

warm_only = Benchmark(cold=False)


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warm_calls, "_BLOCK_S", 0.01)
    monkeypatch.setattr(warm_calls, "_BLOCKS", 3)


def norm(x: Any, *, power: int = 2) -> Any:
    return (x**power).sum() ** (1 / power)


def overwrite(x: Any) -> Any:
    x *= 0.5
    return x.sum()


def test_the_names_are_public() -> None:
    assert (coldwarm.bench, coldwarm.Benchmark, coldwarm.BenchResult) == (
        bench,
        Benchmark,
        BenchResult,
    )
    assert callable(coldwarm.workload)


def test_elsewhere_than_on_linux_the_warm_calls_are_measured_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    result = bench(norm, np.ones(1000))
    assert result.warm is not None
    assert set(result.cold.values()) == {None}
    assert result.missing["cold_process_cold_cache"].code == "needs_linux"


def test_the_calls_of_this_process_are_summarised_with_their_samples() -> None:
    result = warm_only(norm, np.ones(1000), power=3)
    assert result.warm is not None
    assert result.warm.call_s is not None
    assert 0 < result.warm.call_s.minimum <= result.warm.call_s.median < 0.1
    assert result.warm.call_s.n_processes == 1
    assert result.warm.call_s.low is None
    assert result.warm.call_s.null_reasons["low"].code == "few_processes"
    assert sum(map(len, result.samples_s)) >= result.warm.call_s.n_samples
    assert result.first_call_s > 0
    assert set(result.cold.values()) == {None}
    assert result.reasons["cold_process_cold_cache"] == "it was not asked for"


def test_it_shows_as_a_table_everywhere() -> None:
    result = warm_only(norm, np.ones(10))
    assert repr(result).splitlines()[0] == "norm"
    assert "warm call, this process" in repr(result)
    assert "one process" in repr(result)
    assert "| warm call, this process |" in result._repr_markdown_()
    assert "<th>warm call, this process</th>" in result._repr_html_()


def test_all_arguments_belong_to_the_function() -> None:
    def function(*args: Any, **kwargs: Any) -> Any:
        assert args == (1,)
        assert set(kwargs) == {"function", "self", "cold", "call", "processes"}
        return 1.0

    named = {"function": 1, "self": 2, "cold": 3, "call": 4, "processes": 5}
    assert warm_only(function, 1, **named).warm is not None


def test_arguments_that_a_call_changes_are_new_each_time_and_the_callers_own_stay() -> None:
    x = np.ones(100)
    seen: list[float] = []

    def watched(x: Any) -> Any:
        seen.append(float(x[0]))
        return overwrite(x)

    result = warm_only(watched, x)
    assert np.array_equal(x, np.ones(100))
    assert seen[:20] == [1.0] * 20  # the last ones have other numbers
    assert any("new ones" in note for note in result.notes)
    assert result.warm is not None
    assert result.warm.batch == 1


@pytest.mark.parametrize(
    "x",
    [
        np.asfortranarray(np.ones((3, 4))),
        np.ones(9)[::2],
        np.ones((50, 100))[:, 3],
        np.ones(3)[::-1],
    ],
)
def test_the_layout_of_an_array_is_kept(x: Any) -> None:
    seen: set[tuple[int, ...]] = set()

    def watched(x: Any) -> float:
        seen.add(x.strides)
        return 1.0

    warm_only(watched, x)
    assert seen == {x.strides}


def test_a_function_with_a_state_is_told() -> None:
    rng = np.random.default_rng(0)
    result = warm_only(lambda: rng.random(3))
    assert any("keeps a state" in note for note in result.notes)


@pytest.mark.parametrize("collecting", [True, False])
def test_the_collector_is_as_it_was_also_after_an_error(
    collecting: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    calls: list[int] = []

    def broken() -> None:
        calls.append(1)
        if len(calls) > 5:
            raise KeyboardInterrupt

    if not collecting:
        gc.disable()
    try:
        with pytest.raises(KeyboardInterrupt):
            warm_only(broken)
        assert gc.isenabled() == collecting
        warm_only(norm, np.ones(3))
        assert gc.isenabled() == collecting
    finally:
        gc.enable()


def test_what_is_not_finished_by_returning_is_refused() -> None:
    async def later() -> int:
        return 1

    with pytest.raises(ColdwarmError, match="coroutine, which has computed nothing"):
        warm_only(later)
    with pytest.raises(ColdwarmError, match="generator"):
        warm_only(lambda: (n for n in range(3)))


class Lazy:
    """An array of a library that nobody knows."""

    def __init__(self) -> None:
        """Begin with nothing computed."""
        self.done = False

    def wait(self) -> None:
        """Compute."""
        self.done = True

    def __array__(self, *_: Any, **__: Any) -> Any:
        """Compute when it is asked."""
        if not self.done:
            time.sleep(0.05)
        return np.ones(3)


class Asleep(Lazy):
    """One that gives no numbers before somebody has waited for it."""

    def __array__(self, *_: Any, **__: Any) -> Any:
        """Refuse."""
        assert self.done, "woken"
        return np.ones(3)


class Quick:
    """A number of somebody else's class, which is there."""

    def __float__(self) -> float:
        """Give it."""
        return 1.0


def test_lazy_results_are_refused_unless_the_user_names_what_waits() -> None:
    with pytest.raises(ColdwarmError, match=r"Lazy, which computes when it is asked.*sync="):
        warm_only(Lazy)
    quick = [Quick() for _ in range(9)]
    for nested in (lambda: [{"a": Lazy()}], lambda: [Lazy(), *quick], lambda: [*quick, Lazy()]):
        with pytest.raises(ColdwarmError, match="Lazy"):
            warm_only(nested)
    for unknown in (Asleep, lambda: [{"a": Asleep()}], lambda: [Quick() for _ in range(101)]):
        assert "may_compute" in _codes(warm_only(unknown))
    found = Benchmark(cold=False, sync=Lazy.wait)(Lazy)
    assert found.warm is not None
    found = Benchmark(cold=False, sync=np.asarray)(lambda: [1.0])
    assert found.warm is not None
    with pytest.raises(ColdwarmError, match="give the function that waits"):
        Benchmark(sync="wait")  # type: ignore[arg-type]


def test_work_that_goes_on_after_calls_is_refused() -> None:
    stop = threading.Event()

    def starts(seconds: float = 20.0) -> float:
        threading.Thread(target=stop.wait, args=(seconds,), daemon=True).start()
        threading.Thread(target=lambda: stop.wait(seconds)).start()
        return 1.0

    calls: list[int] = []

    def starts_late() -> float:
        calls.append(1)
        return starts() if len(calls) == 5 else 1.0

    try:
        for function in (starts, starts_late):
            with pytest.raises(ColdwarmError, match=r"the call left \d threads? at work: .*; join"):
                warm_only(function)
    finally:
        stop.set()


def test_a_result_in_the_place_of_a_function_is_refused() -> None:
    with pytest.raises(ColdwarmError, match=r"coldwarm\.bench\(f, x\)"):
        warm_only(3.0)  # type: ignore[call-overload]
    with pytest.raises(ColdwarmError, match="'a b' is no name"):
        warm_only(norm, 1, **{"a b": 1})


def test_options_that_leave_nothing_are_refused() -> None:
    with pytest.raises(ColdwarmError, match="leave nothing"):
        Benchmark(cold=False, warm=False)
    with pytest.raises(ColdwarmError, match="processes=0"):
        Benchmark(processes=0)
    with pytest.raises(ColdwarmError, match="time_budget_s"):
        Benchmark(time_budget_s=0)


def test_it_works_in_a_thread_and_inside_a_running_event_loop() -> None:
    found: list[BenchResult] = []
    thread = threading.Thread(target=lambda: found.append(warm_only(norm, np.ones(5))))
    thread.start()
    thread.join()

    async def cell() -> None:
        found.append(warm_only(norm, np.ones(5)))

    asyncio.run(cell())
    assert [one.warm is not None for one in found] == [True, True]


def test_a_budget_ends_the_calls() -> None:
    few = Benchmark(cold=False, time_budget_s=0.01)(norm, np.ones(10))
    assert 2 <= len(few.samples_s) < 2 + warm_calls._BLOCKS, "a few blocks for five samples"


class Model:
    """Something with a method."""

    def predict(self, x: Any) -> Any:
        """Return what it was given."""
        return x


def norm_of(values: Any) -> Any:
    return len(values)


def test_calls_are_counted_for_each_run_of_a_file() -> None:
    code = "from coldwarm.inprocess.sending import count_call\nimport sys\n"
    code += "found = [count_call(sys._getframe())['cell'] for _ in range(3)]"
    for _ in range(2):
        scope: dict[str, Any] = {"__name__": "cell"}
        exec(compile(code, "<cell>", "exec"), scope)  # noqa: S102 - as a notebook does
        assert scope["found"] == [1, 2, 3]


def test_names_are_found_by_the_object_that_they_hold(tmp_path: Path) -> None:
    for function, module, name in (
        (ALIAS, __name__, "ALIAS"),
        (Model.predict, __name__, "Model.predict"),
        (np.linalg.norm, "numpy.linalg", "norm"),
    ):
        given = sending.Given(function, Call((), {}), None, globals(), {})
        target = sending.target_of(given, tmp_path / name)
        assert (target.module, target.name, target.carried) == (module, name, False)


ALIAS = functools.partial(norm, power=4)


def test_calls_find_the_allocator_as_the_program_has_it() -> None:
    """What a program gives back to the kernel in each call, it gives back here too."""
    program = """
import resource
import numpy as np
from coldwarm.inprocess import warm_calls
from coldwarm.functions.arguments import Call
X = np.zeros(2**18, dtype="float32")
def parts():
    kept = [X * i for i in range(12)]
    return kept[3][:10].copy()
parts()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20):
    parts()
own = (resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before) / 20
here = warm_calls.measure(parts, Call((), {}), "parts", warm=True, ends_s=None)
last = here.observation.blocks[-1]
print(own, last.page_faults / (last.batch * len(last.samples_s)), here.observation.allocator)
"""
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    own, measured, allocator = done.stdout.split()
    assert float(own) > 1000
    assert float(measured) == pytest.approx(float(own), rel=0.1)
    assert allocator == "as_it_is"


def test_a_clock_that_the_program_replaced_measures_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wait = time.sleep
    for name in ("perf_counter", "monotonic", "time", "process_time"):
        monkeypatch.setattr(time, name, lambda: 0.0)
        monkeypatch.setattr(time, f"{name}_ns", lambda: 0)

    def slow() -> float:
        wait(0.01)
        return 1.0

    seen = warm_calls.measure(slow, Call((), {}), "slow", warm=True, ends_s=1e-9)
    assert seen.observation is not None
    assert seen.first_call_s >= 0.01
    assert min(min(block.samples_s) for block in seen.observation.blocks) >= 0.01


def _codes(result: BenchResult) -> set[str]:
    return {one.code if isinstance(one, Reason) else one.reason.code for one in result.cautions}


def test_warm_calls_that_had_no_other_data_are_said_to_be_so() -> None:
    def of_object(x: object) -> float:
        return float(x is None)

    assert "untried" in _codes(warm_only(of_object, object()))
    assert "untried" in _codes(warm_only(lambda: 1.0))
    assert "untried" not in _codes(warm_only(lambda x: x + 1.0, 2.0))


def test_what_the_median_of_its_calls_does_not_tell_is_a_caution(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls: list[int] = []

    def uneven() -> float:
        calls.append(1)
        time.sleep(0.05 if len(calls) % 3 == 0 else 0.002)  # noise is between them
        return 1.0

    monkeypatch.setattr(warm_calls, "_BLOCK_S", 0.1)  # enough samples of both levels
    monkeypatch.setattr(warm_calls, "_BLOCKS", 10)
    assert "two_levels" in _codes(warm_only(uneven))

    @functools.cache
    def kept(n: float) -> float:
        time.sleep(0.01)
        return n

    result = warm_only(kept, 3.0)
    assert "answers_kept" in _codes(result)
    assert any("kept from call to call" in note for note in result.notes)


def test_the_clock_is_python_s_own_whatever_a_program_has_put_in_its_place() -> None:
    program = """
import time
real, sleep = time.perf_counter_ns, time.sleep
time.perf_counter_ns = lambda: real() // 10
time.perf_counter = lambda: real() / 1e10
import coldwarm
result = coldwarm.Benchmark(cold=False)(lambda: sleep(0.02) or 1.0)
assert result.warm.call_s.median >= 0.02, result
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
