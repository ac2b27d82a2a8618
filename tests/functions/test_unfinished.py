"""A result that is not there when a call returns: refused by the command, with what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.functions.conftest import Desk

pytestmark = pytest.mark.slow

LAZY = """
    import threading
    import numpy as np

    class Lazy:  # of a library that nobody knows
        def __init__(self, x):
            self.x, self.done = x, None

        def wait(self):
            if self.done is None:
                self.done = heavy(self.x)
            return self

        def __array__(self, dtype=None, copy=None):
            return self.wait().done

    def heavy(x):
        for _ in range(20):
            x = x @ x / len(x)
        return x

    kept = []
    calls = 0

    def eager(x):
        return heavy(x)

    def lazy(x):
        return Lazy(x)

    def nested(x):
        return {"a": [Lazy(x)]}

    def thunk(x):
        return lambda: heavy(x)

    def thread(x):
        kept[:] = [threading.Thread(target=lambda: [heavy(x) for _ in range(20)])]
        kept[0].start()
        return float(x[0, 0])

    def later(x):
        global calls
        calls += 1
        if calls > 3:  # the look's calls are done by then, and so is the first one
            threading.Thread(target=lambda: [heavy(x) for _ in range(40)]).start()
        return float(x[0, 0])

    def finish(out):
        out.wait()

    def computed(out):
        return np.asarray(out)
"""
X = ("--input", "x=f64[300,300]")


@pytest.mark.parametrize("check", [(), ("--no-check",)])
@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "lazy",
            "the function returns a Lazy, which computes when it is asked: its __array__ took",
        ),
        ("nested", "the function returns a Lazy, which computes when it is asked: its __array__"),
        ("thunk", "the function returns a function, which has computed nothing yet"),
        ("thread", "the call left 1 thread at work: Thread-"),
    ],
)
def test_what_is_not_there_is_refused_with_and_without_the_check(
    desk: Desk, name: str, said: str, check: tuple[str, ...]
) -> None:
    desk.write("att.py", LAZY)
    refused = desk.refused(f"att.py:{name}", *X, "--warm-only", *check)
    assert refused.startswith(f"{name}: {said}")
    assert ("--sync PACKAGE:FUNCTION" in refused) == (name != "thread")


@pytest.mark.parametrize("sync", ["computed", "att:finish"])
def test_what_the_user_names_waits_inside_the_window(desk: Desk, sync: str) -> None:
    desk.write("att.py", LAZY)
    desk.write("pyproject.toml", f"[tool.coldwarm.bench]\nsync = '{sync}'\n")
    code, report = desk.report("att.py:lazy", *X, "--warm-only")
    assert code == 0
    desk.write("pyproject.toml", "")
    other = str(desk.path / "other")
    _, eager = desk.report("att.py:eager", *X, "--warm-only", "--out", other)
    call, true = report.candidates[0].call, eager.candidates[0].call
    assert call is not None
    assert true is not None
    assert call.median > 0.3 * true.median  # lazily it would be a hundredth
    assert desk.own("lazy")["sync"] == sync


def test_a_name_that_nobody_has_is_refused(desk: Desk) -> None:
    desk.write("att.py", LAZY)
    said = desk.refused("att.py:lazy", *X, "--warm-only", "--sync", "att:finsh")
    assert "att has no 'finsh'" in said
    said = desk.refused("att.py:lazy", *X, "--warm-only", "--sync", "nowhere:wait")
    assert "--sync nowhere:wait: No module named 'nowhere'" in said


def test_work_that_only_later_calls_leave_behind_fails_the_candidate(desk: Desk) -> None:
    desk.write("att.py", LAZY)
    done = desk.bench("att.py:later", *X, "--warm-only", "--no-check")
    assert done.code == 3, (done.out, done.err)
    observed = desk.case("later")["observations"][0]
    assert observed["status"] == "failed"
    assert observed["reason"]["code"] == "threads_at_work"


def test_arrays_of_jax_in_a_global_are_refused(desk: Desk) -> None:
    pytest.importorskip("jax")
    desk.write(
        "shared.py",
        """
        import jax

        heavy = jax.jit(lambda x: jax.lax.fori_loop(0, 60, lambda _, y: y @ y / 900, x))
        kept = {}

        def step(x):
            kept["state"] = heavy(x)
            return 1.0

        def whole(x):
            kept["state"] = jax.block_until_ready(heavy(x))
            return 1.0
        """,
    )
    given = ("--input", "x=f32[900,900]", "--inputs-as", "jax")
    said = desk.refused("shared.py:step", *given, "--no-check")
    assert "the call left 1 array of JAX unfinished" in said
    assert "jax.block_until_ready" in said
    assert desk.bench("shared.py:whole", *given, "--cold-only").code == 0
