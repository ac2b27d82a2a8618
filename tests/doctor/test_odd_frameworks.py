"""Frameworks side by side, unused, in threads, at many lines, for a long time, old and new."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from tests.doctor.odd import PYTHONS, both
from tests.doctor.test_odd_programs import write

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow
PARTS = ("import_s", "devices_s", "trace_s", "lower_s", "compile_s", "cache_s", "run_s", "other_s")


def has(python: str, *names: str) -> bool:
    code = (
        "import importlib.util as u, sys; sys.exit(any(not u.find_spec(n) for n in sys.argv[1:]))"
    )
    return not subprocess.run([python, "-c", code, *names], check=False).returncode


def told(folder: Path, text: str, python: str = sys.executable, *needs: str) -> Any:
    """Return the report of a program that ends the same with the doctor and without."""
    needed = needs or ("jax",)
    if not has(python, *needed):
        pytest.skip(f"{python} has not all of {', '.join(needed)}")
    found = both(folder, [write(folder, text)], python=python)
    assert found.plain.status == 0, found.plain.errors.decode()
    assert (found.watched.status, found.watched.output) == (found.plain.status, found.plain.output)
    account = found.report["account"]
    whole = sum(account[name] or 0.0 for name in PARTS)
    assert whole == pytest.approx(account["total_s"], rel=1e-6)
    return found.report


def compiled(report: Any) -> set[tuple[str, str, int]]:
    return {(one["framework"], one["function"], one["n_compiles"]) for one in report["sites"]}


@pytest.mark.parametrize("python", PYTHONS)
def test_jax_that_is_not_used(python: str, tmp_path: Path) -> None:
    report = told(tmp_path, "import jax, jax.numpy; print('on')", python)
    assert (report["findings"], report["sites"]) == ([], [])
    assert "jax" in report["versions"]
    assert report["account"]["import_s"] > 0


WITH_NUMBA = """
    import jax, numba, numpy as np
    @jax.jit
    def double(x):
        return x * 2
    @numba.njit
    def total(x):
        s = 0.0
        for one in x:
            s += one
        return s
    for dtype in ("float32", "float64", "int32", "int64"):
        print(total(np.ones(4, dtype)), double(np.ones(3, "float32")).sum())
"""
WITH_TORCH = """
    import jax, torch
    @jax.jit
    def double(x):
        return x * 2
    @torch.compile(backend="eager", dynamic=False)
    def scaled(x, k):
        return x * k
    for k in (1, 2, 3, 4, 5):
        print(float(scaled(torch.ones(3), k).sum()), float(double(1.0)))
"""


@pytest.mark.parametrize("python", PYTHONS)
def test_jax_and_numba_in_one_program(python: str, tmp_path: Path) -> None:
    report = told(tmp_path, WITH_NUMBA, python, "jax", "numba")
    assert {("jax", "double", 1), ("numba", "total", 4)} <= compiled(report)
    assert [one["pattern"] for one in report["findings"]] == ["numba-signatures"]


@pytest.mark.parametrize("python", PYTHONS)
def test_jax_and_torch_compile_in_one_program(python: str, tmp_path: Path) -> None:
    report = told(tmp_path, WITH_TORCH, python, "jax", "torch")
    assert ("jax", "double", 1) in compiled(report)
    assert [one["pattern"] for one in report["findings"]] == ["torch-changing-scalar"]


ENDS = {
    "killed while it traces": """
        import jax, os, signal
        @jax.jit
        def first(x):
            return x + 1
        @jax.jit
        def second(x):
            os.kill(os.getpid(), signal.SIGKILL)
            return x
        first(1.0)
        print("on", flush=True)
        second(1.0)
    """,
    "exits at once while it traces": """
        import jax, os
        def second(x):
            os._exit(7)
        print("on", flush=True)
        jax.jit(second)(1.0)
    """,
    "asks for more memory than there is": """
        import jax, jax.numpy as jnp
        print("on", flush=True)
        step = jax.jit(lambda n: jnp.zeros((2**24, 2**24)) + n)
        step(1.0)
    """,
}


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("name", ENDS)
def test_a_program_that_ends_in_the_middle(name: str, python: str, tmp_path: Path) -> None:
    if not has(python, "jax"):
        pytest.skip(f"{python} has no JAX")
    found = both(tmp_path, [write(tmp_path, ENDS[name])], python=python)
    assert found.plain.status != 0
    assert (found.watched.status, found.watched.output) == (found.plain.status, found.plain.output)
    unseen = {one["code"]: one.get("values") for one in found.report["unseen"]}
    assert ("ended_compiling" in unseen) == ("traces" in name)
    if "traces" in name:
        assert unseen["ended_compiling"]["function"] == "second"
    assert found.report["account"]["import_s"] > 0


FORKS = """
    import multiprocessing, jax
    def work(n):
        print(jax.jit(lambda x: x * n)(1.0), flush=True)
    if __name__ == "__main__":
        child = multiprocessing.get_context("{0}").Process(target=work, args=(2,))
        child.start(); child.join(); print(child.exitcode)
        work(3)
"""


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("how", ["spawn", "fork"])
def test_what_children_compile_is_told(how: str, python: str, tmp_path: Path) -> None:
    report = told(tmp_path, FORKS.replace("{0}", how), python)
    # A child that is spawned has a helper that looks after its semaphores, and a Python of its own.
    assert report["n_processes"] >= 2
    found = [one for one in report["sites"] if one["function"] == "work.<lambda>"]
    assert [(one["n_compiles"], one["n_processes"]) for one in found] == [(2, 2)]


THREADS = """
    import threading, jax, jax.numpy as jnp
    def work(n):
        @jax.jit
        def step(x):
            for _ in range(40):
                x = jnp.sin(x) * n
            return x
        ready.wait()
        for size in range(1, 4):
            step(jnp.ones(size)).block_until_ready()
    ready = threading.Barrier(6)
    all = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    [one.start() for one in all]; [one.join() for one in all]
    print("done")
"""


@pytest.mark.parametrize("python", PYTHONS)
def test_threads_that_compile_at_the_same_time(python: str, tmp_path: Path) -> None:
    report = told(tmp_path, THREADS, python)
    steps = [one for one in report["sites"] if one["function"] == "work.step"]
    assert sum(one["n_compiles"] for one in steps) == 18
    account = report["account"]
    together = sum(one["compile_s"] for one in report["sites"])
    assert 0 < account["compile_s"] <= together + 1e-6


MANY = 10_000
LINES = "\n".join(
    ["import jax", "x = jax.numpy.ones(3)", "print('on')"]
    + [f"jax.jit(lambda x: x * {n}).trace(x)" for n in range(MANY)]
)


def test_ten_thousand_lines_that_compile(tmp_path: Path) -> None:
    report = told(tmp_path, LINES)
    size = len(json.dumps(report))
    assert size < 4 * 2**20
    assert report["n_sites"] >= MANY
    assert len(report["sites"]) <= 1000
    assert report["account"]["trace_s"] > 0


IN_A_LOOP = "\n".join(
    ["import jax", "f = jax.jit(lambda x: x + 1)", "x = jax.numpy.ones(3)", "for turn in range(2):"]
    + [f"    y = f(x); z = float(y[{n % 3}])" for n in range(MANY)]
)


@pytest.mark.parametrize("python", PYTHONS)
def test_a_loop_of_ten_thousand_lines(python: str, tmp_path: Path) -> None:
    report = told(tmp_path, IN_A_LOOP, python)
    assert len(json.dumps(report)) < 4 * 2**20


LONG = """
    import resource, sys, jax, os
    @jax.jit
    def step(x):
        return x + 1
    x = jax.numpy.zeros(3)
    for turn in range({n}):
        x = step(x)
        if turn % 1000 == 0:
            float(x[0])
    path = os.environ.get("COLDWARM_DOCTOR")
    written = sum(one.stat().st_blocks * 512 for one in os.scandir(path)) if path else 0
    rss = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(written, rss, file=sys.stderr)
"""


@pytest.mark.parametrize("python", PYTHONS)
def test_a_million_calls_leave_little(python: str, tmp_path: Path) -> None:
    if not has(python, "jax"):
        pytest.skip(f"{python} has no JAX")
    found = both(tmp_path, [write(tmp_path, LONG.replace("{n}", "1_000_000"))], python=python)
    assert found.plain.status == 0, found.plain.errors.decode()
    _, plain_bytes = map(int, found.plain.errors.split())
    written_bytes, watched_bytes = map(int, found.watched.errors.split())
    assert written_bytes < 4 * 2**20
    assert watched_bytes - plain_bytes <= 50e6
    assert len(json.dumps(found.report)) < 2**20


MEMORY = """
    import functools, jax, jax.numpy as jnp
    @functools.partial(jax.jit, static_argnames="rate")
    def step(x, rate):
        y = x @ x.T
        return jnp.sort(jnp.tanh(y) @ y, axis=1)[0] * rate
    for turn in range(6):
        x = step(jnp.ones((400, 2)), rate=0.5 / (turn + 1))
"""


@pytest.mark.parametrize("python", PYTHONS)
def test_each_version_of_jax_is_watched(python: str, tmp_path: Path) -> None:
    report = told(tmp_path, MEMORY, python)
    (found,) = report["findings"]
    assert (found["pattern"], found["cause"]["argument"]) == ("varying-static-arg", "rate")
    (site,) = [one for one in report["sites"] if one["function"] == "step"]
    # Of 400 rows and columns, neither of the arguments nor of the result.
    assert site["temporary_bytes"] >= 400 * 400 * 4
    assert site["arguments_bytes"] == 400 * 2 * 4
    assert {one["code"] for one in report["unseen"]} <= {"needs_monitoring"}


AGAIN = """
    import json, sys, jax, jax.numpy as jnp
    @jax.jit
    def step(x):
        y = x @ x.T
        return jnp.sort(jnp.tanh(y) @ y, axis=1)[0]
    step(jnp.ones((400, 2)))
    planned = step.lower(jnp.ones((400, 2))).compile().memory_analysis()
    print(planned.temp_size_in_bytes, planned.argument_size_in_bytes)
"""


@pytest.mark.parametrize("python", PYTHONS)
def test_the_memory_of_a_program_is_what_jax_says_of_it(python: str, tmp_path: Path) -> None:
    report = told(tmp_path, AGAIN, python)
    done = subprocess.run(
        [python, str(tmp_path / "program.py")], capture_output=True, text=True, check=True
    )
    wanted = tuple(map(int, done.stdout.split()))
    (site,) = [one for one in report["sites"] if one["function"] == "step"]
    assert (site["temporary_bytes"], site["arguments_bytes"]) == wanted


def test_the_memory_of_what_numba_compiles_is_null_with_a_reason(tmp_path: Path) -> None:
    report = told(tmp_path, WITH_NUMBA, sys.executable, "jax", "numba")
    (site,) = [one for one in report["sites"] if one["framework"] == "numba"]
    assert site["temporary_bytes"] is site["arguments_bytes"] is None
    assert site["null_reasons"]["temporary_bytes"]["code"] == "memory_not_shown"


LOGS = """
    import torch
    torch._logging.set_logs(graph_breaks=True)

    @torch.compile(backend="eager")
    def f(x):
        y = x.sin()
        print("between")
        return y.cos()

    f(torch.ones(4))
"""


def test_graph_breaks_that_a_program_asks_for_are_still_printed(tmp_path: Path) -> None:
    if not has(sys.executable, "torch"):
        pytest.skip("torch is not installed")
    found = both(tmp_path, [write(tmp_path, LOGS)])
    assert b"Graph break in user code" in found.plain.errors
    assert b"Graph break in user code" in found.watched.errors
    assert any(one["pattern"] == "torch-graph-break" for one in found.report["findings"])


FAILS = """
    import jax

    def test_it():
        jax.jit(lambda x: x if x > 0 else -x)(1.0)
"""


def test_an_error_that_ended_a_test_did_not_end_the_session(tmp_path: Path) -> None:
    file = write(tmp_path, FAILS)
    found = both(tmp_path, ["-m", "pytest", "-q", "-p", "no:cacheprovider", file])
    assert found.plain.status == found.watched.status == 1
    assert found.report["findings"] == []


SLOW = """
    import jax
    import jax.numpy as jnp

    @jax.jit
    def told(x):
        jax.debug.callback(lambda value: None, x.sum())
        return x * 0.5

    @jax.jit
    def quick(x):
        return x + 1

    x = jnp.ones(4)
    for _ in range(300):
        x = quick(told(x))
    x.block_until_ready()
"""


@pytest.mark.parametrize("python", PYTHONS)
def test_calls_that_miss_the_fast_path_are_counted(python: str, tmp_path: Path) -> None:
    sites = {one["function"]: one for one in told(tmp_path, SLOW, python)["sites"]}
    if sites["told"]["n_calls"] is None:  # Python 3.11
        assert "n_slow_calls" in sites["told"]["null_reasons"]
        return
    assert sites["told"]["n_slow_calls"] > 290
    assert sites["quick"]["n_slow_calls"] < 10


SOLVED = """
    import jax
    import jax.numpy as jnp

    @jax.jit
    def solved(a):
        return jnp.linalg.solve(a, a)

    for n in range(3, 7):
        solved(jnp.eye(n))
"""


@pytest.mark.parametrize("python", PYTHONS)
def test_what_jax_calls_while_it_lowers_is_no_call_of_the_program(
    python: str, tmp_path: Path
) -> None:
    sites = {one["function"]: one for one in told(tmp_path, SOLVED, python)["sites"]}
    assert sites["solved"]["n_slow_calls"] in {0, None}
