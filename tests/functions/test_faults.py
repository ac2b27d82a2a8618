"""Functions that misbehave, things that are not there, and Ctrl-C."""

from __future__ import annotations

import os
import signal
import time
from typing import TYPE_CHECKING

import pytest
from tests.faults.lab import collect, wait_for

if TYPE_CHECKING:
    from tests.functions.conftest import Desk

X = ("--input", "x=f64[9]")
WARM, COLD = "--warm-only", "--cold-only"
ODD = """
    import os, sys, time
    import numpy as np

    CALLS = 0

    def good(x):
        return x + 1

    def add(x, y):
        return x + y

    def raises(x):
        raise ValueError("first\\nsecond")

    def hangs(x):
        time.sleep(1000)

    def leaves(x):
        os._exit(7)

    def prints(x):
        print("x" * 1000)
        sys.stderr.write("y" * 1000)
        return x

    def floods(x):
        print("x" * 25_000_000)
        return x

    def later(x):
        global CALLS
        CALLS += 1
        if CALLS > 2 and os.environ.get("COLDWARM_TEST_LATER"):
            raise ValueError("not again")
        return x + 1

    def nothing(x):
        pass

    def thing(x):
        return object()

    class Held:
        def twice(self):
            return 2.0

    def sleeps(x):
        time.sleep(0.05)
        return x

    def number():
        return 3

    size = 3
"""


@pytest.fixture
def odd(desk: Desk) -> Desk:
    desk.write("odd.py", ODD)
    return desk


BEFORE = "failed before it was measured"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ("odd.py:raises", *X),
            f"raises (odd.py:raises) {BEFORE}: ValueError: first (odd.py, line 14)",
        ),
        (("odd.py:nothing", *X), "nothing: it returned nothing, so there is nothing to wait for"),
        (("odd.py:goood", *X), "goood: odd has no 'goood'; it has good, "),
        (("odd.py:size", *X), "size: odd:size is a int, which cannot be called"),
        (("odd.py:add", *X), "add: add takes x, y; give y as --input, too"),
        (("odd.py:add",), "add: it takes x, y: give each as --input x=f32[512,512], or name a"),
        (("odd.py:Held.twice",), "Held.twice: Held.twice is a method, and needs an object: write"),
        (
            ("odd.py:Held().twice",),
            "'odd.py:Held().twice' names no function; a name has no brackets",
        ),
        (("odd.py:good", *X, "--input", "z=1"), "good: good takes x; there is no input z"),
        (("odd.py",), "odd.py marks no function; name one: odd.py:NAME, or put @coldwarm.workload"),
        (
            ("no_such.module:f", *X),
            f"f (no_such.module:f) {BEFORE}: ModuleNotFoundError: No module",
        ),
        (
            ("broken.py:f", *X),
            f"f (broken.py:f) {BEFORE}: SyntaxError: '(' was never closed (broken",
        ),
        (
            ("missing.py:f", *X),
            f"f (missing.py:f) {BEFORE}: ModuleNotFoundError: No module named 'n",
        ),
        (("sys:getsizeof", "--input", "x=1"), "getsizeof: sys has no source file to be named by"),
        (("a=odd.py:good", "a=odd.py:add", *X), "two candidates are called 'a'; give each a"),
        (("time.py:f", *X), "f: time.py has the name of a module that Python has loaded already"),
    ],
)
def test_what_cannot_be_measured_is_said_in_one_line(
    odd: Desk, arguments: tuple[str, ...], said: str
) -> None:
    odd.write("broken.py", "x = 1\ndef f(x:\n    return x\n")
    odd.write("missing.py", "import numpy\nimport no_such_framework\ndef f(x): return x\n")
    odd.write("time.py", "def f(x): return x\n")
    found = odd.refused(*arguments).replace(f"{odd.path}/", "")
    assert found.startswith(said)
    assert not (odd.out / "journal.jsonl").exists(), "nothing was begun"


def test_what_cannot_be_compared_is_measured_and_that_is_said(odd: Desk) -> None:
    done = odd.bench("odd.py:thing", *X)
    assert done.code == 0, done.err
    case = odd.case("thing")
    assert case["warm"]["call_s"] is not None
    assert "not_compared" in {one["code"] for one in case["limitations"]}


def test_a_folder_that_holds_something_is_refused_before_anything_is_looked_at(odd: Desk) -> None:
    odd.write("out/mine.txt", "mine")
    done = odd.bench("odd.py:good", *X)
    assert done.code == 2
    assert "holds other files (mine.txt…)" in done.one_line()
    assert "looking" not in done.err


def test_options_that_leave_nothing_to_measure(odd: Desk) -> None:
    done = odd.bench("odd.py:good", *X, WARM, COLD)
    assert done.code == 2
    assert "leave nothing to measure" in done.err
    for options in (("--fail-on", "same:2%"), ("--fail-on", "slower:x"), ("--threshold", "0")):
        assert odd.bench("odd.py:good", *X, *options).code == 2


@pytest.mark.slow
def test_a_function_that_hangs_is_ended(odd: Desk) -> None:
    done = odd.bench("odd.py:good", "odd.py:hangs", *X, "--timeout", "3s")
    assert done.code == 3, "the others are measured"
    assert "hangs · empty caches: failed: hangs (odd.py:hangs)" in done.err
    assert "timeout: no answer within 3 s" in done.err
    assert [odd.case(name)["status"] for name in ("good", "hangs")] == ["ok", "failed"]
    elsewhere = ("--out", odd.path / "elsewhere")
    said = odd.refused("odd.py:hangs", *X, "--time-budget", "2s", *elsewhere)
    assert said.startswith("the time budget was over while hangs was inspected")


@pytest.mark.slow
def test_what_a_function_prints_stays_out_of_the_report(odd: Desk) -> None:
    code, report = odd.report("odd.py:prints", *X, COLD)
    assert (code, report.candidates[0].status) == (0, "ok")


@pytest.mark.slow
def test_a_flood_of_output_fails_the_candidate_alone(odd: Desk) -> None:
    code, report = odd.report("odd.py:good", "odd.py:floods", *X, "--no-check", WARM)
    assert code == 3
    assert [one.status for one in report.candidates] == ["ok", "failed"]
    assert "output_flood" in str(report.candidates[1].reason)


@pytest.mark.slow
def test_a_function_that_fails_later_fails_alone(odd: Desk) -> None:
    code, report = odd.report(
        "odd.py:good", "odd.py:later", *X, WARM, "--env", "later:COLDWARM_TEST_LATER=1"
    )
    assert code == 3
    assert [one.status for one in report.candidates] == ["ok", "failed"]
    assert "ValueError, not again" in str(report.candidates[1].reason)


@pytest.mark.slow
def test_nothing_valid_at_all(odd: Desk) -> None:
    code, report = odd.report("odd.py:later", *X, WARM, "--env", "COLDWARM_TEST_LATER=1")
    assert code in {3, 4}
    assert report.candidates[0].call is None
    assert report.verdicts == []


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_while_looking(odd: Desk, number: signal.Signals) -> None:
    running = odd.open("bench", "odd.py:good", "odd.py:hangs", *X, "--out", odd.out)
    wait_for(lambda: bool(odd.workers()), odd.alive)
    time.sleep(1.0)
    os.kill(running.pid, number)
    done = collect(running, 20.0)
    assert (done.code, done.out) == (130, "")
    odd.assert_no_orphans()
    assert not odd.out.exists()


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_while_measuring(odd: Desk, number: signal.Signals) -> None:
    running = odd.open("bench", "odd.py:good", "odd.py:sleeps", "--no-check", *X, "--out", odd.out)
    wait_for(lambda: odd.observations() >= 2, odd.alive, 60.0)
    os.kill(running.pid, number)
    done = collect(running, 30.0)
    assert done.code == 130, done.err
    odd.assert_no_orphans()
    odd.assert_whole()
    assert odd.command("validate", odd.out).code == 0
    assert odd.suite()["complete"] is False


def test_a_limit_needs_something_to_compare_with(odd: Desk) -> None:
    found = odd.refused("odd.py:good", *X, "--fail-on", "slower")
    assert found == (
        "a limit needs two candidates, and here is one: name a second function, or --before REV"
        " for an old commit"
    )
