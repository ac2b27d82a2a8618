"""Work that goes on after a call is found, whoever does it; pools that wait for jobs are not."""

from __future__ import annotations

import asyncio
import atexit
import multiprocessing
import signal
import subprocess
import sys
import threading
import time
import warnings
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from coldwarm.functions import unfinished
from coldwarm.functions.unfinished import UnfinishedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LONG_S = 0.5
kept: list[Any] = []


def spin(seconds: float = LONG_S) -> None:
    """Compute, in Python."""
    end_s = time.perf_counter() + seconds
    while time.perf_counter() < end_s:
        sum(range(100))


def waiting() -> None:
    """Wait, and would then go on."""
    threading.Event().wait(LONG_S)


@pytest.fixture(autouse=True)
def _ends() -> Iterator[None]:
    yield
    for one in kept:
        getattr(one, "wait" if isinstance(one, subprocess.Popen) else "join", bool)()
    kept.clear()


def started(target: Callable[..., object], *given: object) -> None:
    kept.append(threading.Thread(target=target, args=given))
    kept[-1].start()


def timer() -> None:
    kept.append(threading.Timer(LONG_S, float))
    kept[-1].start()


def bare() -> None:
    import _thread

    _thread.start_new_thread(spin, ())


def child() -> None:
    kept.append(subprocess.Popen([sys.executable, "-c", f"import time; time.sleep({LONG_S})"]))


def forked() -> None:
    kept.append(multiprocessing.get_context("fork").Process(target=time.sleep, args=(LONG_S,)))
    with warnings.catch_warnings():  # what an earlier test has loaded may warn of forks
        warnings.simplefilter("ignore")
        kept[-1].start()


@pytest.mark.parametrize(
    ("code", "work"),
    [
        ("threads_at_work", lambda: started(spin)),
        ("threads_at_work", lambda: started(np.linalg.svd, np.random.rand(900, 900))),  # noqa: NPY002 - any numbers
        ("threads_at_work", timer),
        ("threads_at_work", bare),
    ],
)
def test_what_a_call_starts_and_leaves_at_work_is_found(
    code: str, work: Callable[[], None]
) -> None:
    looking = unfinished.Pending()
    work()
    with pytest.raises(UnfinishedError, match=code):
        looking.refuse()


RESTING = [
    ("threads_at_work", lambda: started(time.sleep, LONG_S)),
    ("threads_at_work", lambda: started(waiting)),
    ("processes_at_work", child),
    ("processes_at_work", forked),
]


@pytest.mark.parametrize(("code", "work"), RESTING)
def test_what_each_call_starts_is_put_off(code: str, work: Callable[[], None]) -> None:
    looking = unfinished.Pending()
    with suppress(UnfinishedError):  # a process computes while it starts
        work()
        looking.refuse()
    work()
    with pytest.raises(UnfinishedError, match=code) as caught:
        looking.refuse()
    (names,) = [v for k, v in caught.value.coded_reason["values"].items() if k.endswith("names")]
    assert names


def _beat(beats: list[float], enough: threading.Event) -> None:
    while not enough.is_set():
        beats.append(time.time())
        time.sleep(0.02)


@pytest.mark.parametrize(
    "target",
    [
        lambda enough: _beat([], enough),
        lambda enough: enough.wait(30),
        lambda enough: [enough.wait(0.05) for _ in range(600) if not enough.is_set()],
    ],
)
def test_what_the_first_call_starts_and_what_rests_may_stay(
    target: Callable[[threading.Event], object],
) -> None:
    """A heartbeat, a server, a watcher: started once, and there for the calls after."""
    enough, looking = threading.Event(), unfinished.Pending()
    started(target, enough)
    try:
        for _ in range(4):
            looking.refuse()
    finally:
        enough.set()


def test_what_the_first_call_starts_may_stay_though_it_begins_late() -> None:
    enough, begun, looking = threading.Event(), threading.Event(), unfinished.Pending()

    def late() -> None:
        begun.wait()
        _beat([], enough)

    started(late)
    try:
        looking.refuse()
        begun.set()
        for _ in range(4):
            looking.refuse()
    finally:
        enough.set()


def test_a_thread_that_computes_is_found_among_many_that_do_not() -> None:
    enough = threading.Event()
    for _ in range(100):  # each has files that are read, and the computing one goes on meanwhile
        started(enough.wait)
    looking = unfinished.Pending()
    started(spin)
    try:
        with pytest.raises(UnfinishedError, match="threads_at_work"):
            looking.refuse()
    finally:
        enough.set()


@pytest.mark.parametrize("job", [spin, waiting])
def test_a_pool_that_was_there_before_is_at_work_or_idle(job: Callable[[], None]) -> None:
    with ThreadPoolExecutor(2) as pool:
        pool.submit(float).result()
        looking = unfinished.Pending()
        assert pool.submit(float).result() == 0.0
        looking.refuse()
        pool.submit(job)
        with pytest.raises(UnfinishedError, match="threads_at_work"):
            looking.refuse()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_pools_of_processes_are_idle_until_they_have_jobs() -> None:
    """JAX warns of forks, where another test has imported it here: these compute nothing."""
    looking = unfinished.Pending()
    with ProcessPoolExecutor(1) as pool:
        pool.submit(abs, -1.0).result()
        looking.refuse()
        pool.submit(time.sleep, LONG_S)
        with pytest.raises(UnfinishedError, match="threads_at_work"):
            looking.refuse()
    with multiprocessing.get_context("fork").Pool(1) as workers:
        workers.apply(abs, (-1.0,))
        looking.refuse()
        workers.apply_async(time.sleep, (LONG_S,))
        with pytest.raises(UnfinishedError, match="threads_at_work"):
            looking.refuse()


def test_what_has_ended_or_was_there_before_is_no_work_of_the_call() -> None:
    started(spin)
    looking = unfinished.Pending()
    one = threading.Thread(target=float)
    one.start()
    one.join()
    subprocess.run(["/bin/true"], check=True)
    looking.refuse()


def test_what_is_left_until_later_is_found() -> None:
    looking = unfinished.Pending()
    atexit.register(float)  # as a framework does that is loaded late
    looking.refuse()
    looking.refuse()
    atexit.register(float)
    with pytest.raises(UnfinishedError, match="functions_at_exit"):
        looking.refuse()
    looking = unfinished.Pending()
    before = signal.signal(signal.SIGALRM, lambda *_: None)
    signal.setitimer(signal.ITIMER_REAL, 30.0)
    try:
        with pytest.raises(UnfinishedError, match="signal_pending"):
            looking.refuse()
        unfinished.Pending().refuse()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_a_task_that_was_not_awaited_is_found() -> None:
    loop = asyncio.new_event_loop()
    looking = unfinished.Pending()
    task = loop.create_task(asyncio.sleep(LONG_S))
    with pytest.raises(UnfinishedError, match="tasks_unfinished"):
        looking.refuse()
    task.cancel()
    loop.run_until_complete(asyncio.gather(task, return_exceptions=True))
    loop.close()
    looking.refuse()


@pytest.fixture
def elsewhere() -> Iterator[asyncio.AbstractEventLoop]:
    """Return a loop that runs in another thread, and makes a task of its own now and then."""
    loop = asyncio.new_event_loop()

    async def beats() -> None:
        while True:
            await asyncio.ensure_future(asyncio.sleep(0.001))

    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    beating = asyncio.run_coroutine_threadsafe(beats(), loop)
    asyncio.run_coroutine_threadsafe(asyncio.sleep(0), loop).result()
    yield loop
    beating.cancel()
    asyncio.run_coroutine_threadsafe(asyncio.sleep(0), loop).result()
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()


def test_tasks_that_a_loop_elsewhere_makes_are_not_the_call_s(
    elsewhere: asyncio.AbstractEventLoop,
) -> None:
    for _ in range(5):
        looking = unfinished.Pending()
        asyncio.run_coroutine_threadsafe(asyncio.sleep(0.002), elsewhere).result()
        looking.refuse()


def test_a_task_that_a_call_leaves_in_a_loop_elsewhere_is_found(
    elsewhere: asyncio.AbstractEventLoop,
) -> None:
    looking = unfinished.Pending()
    task = asyncio.run_coroutine_threadsafe(asyncio.sleep(LONG_S), elsewhere)
    asyncio.run_coroutine_threadsafe(asyncio.sleep(0), elsewhere).result()
    with pytest.raises(UnfinishedError, match="tasks_unfinished"):
        looking.refuse()
    task.cancel()


JAX_LEAVES = """
import jax, time
import jax.numpy as jnp
from collections import deque
from coldwarm.functions import unfinished

x = jnp.ones((800, 800))
heavy = jax.jit(lambda x: jax.lax.fori_loop(0, 12, lambda _, y: y @ y / 800, x))
jax.block_until_ready(heavy(x))
kept = {}

class Nested:
    def __init__(self, inner):
        self.inner = inner

def shared():
    kept["array"] = heavy(x)
    return 1.0

def closed():
    y = heavy(x)
    kept["function"] = lambda: y
    return 1.0

def dropped():
    heavy(x)
    return 1.0

def shown():
    return deque([Nested({"a": heavy(x)})])

def said(function):
    looking = unfinished.Pending()
    looking.wait()
    try:
        out = function()
        unfinished.wait(out)
        looking.refuse()
        unfinished.refuse_busy(0.001)
        unfinished.refuse_unknown(out)
    except unfinished.UnfinishedError as error:
        return error.coded_reason["code"]
    return "finished"

print([said(one) for one in (shared, closed, dropped, shown)])
heavy(x)  # of before
kept["before"] = heavy(x)
looking = unfinished.Pending()
looking.refuse()
"""


@pytest.mark.slow
def test_arrays_of_jax_that_nothing_returned_shows_are_found() -> None:
    pytest.importorskip("jax")
    done = subprocess.run(
        [sys.executable, "-c", JAX_LEAVES], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    expected = ["arrays_unfinished", "arrays_unfinished", "busy_afterwards", "finished"]
    assert done.stdout.strip() == str(expected)
