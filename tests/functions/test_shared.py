"""Functions of one framework are called in turns in one process too, where nothing forbids it."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.functions.conftest import Desk

pytestmark = pytest.mark.slow

WORK = """
    import numpy as np

    X = np.linspace(0.0, 1.0, 1000)

    def work(turns):
        y = X
        for _ in range(turns):
            y = np.cos(X + 0.5 * y)
        return y

    def less():
        return work(100)

    def more():
        return work(150)
"""
OTHER = """
    from work import work

    def elsewhere():
        return work(100)
"""
RUNS = ("--warm-only", "--rounds", "3", "--max-rounds", "3")


def turns(desk: Desk, case: str) -> list[dict[str, Any]]:
    """Return what the processes of a case show in turns with others."""
    return [one for seen in desk.case(case)["observations"] for one in seen["shared_calls"]]


def test_half_more_work_is_told_by_three_rounds(desk: Desk) -> None:
    desk.write("work.py", WORK)
    done = desk.bench("work.py:less", "work.py:more", *RUNS)
    assert done.code == 0, done.err
    for case, other in (("less", "more"), ("more", "less")):
        found = turns(desk, case)
        assert [one["other"] for one in found] == [other] * 3
        assert [one["compiles"] for one in found] == [0] * 3
        assert all(len(one["own_s"]) == len(one["other_s"]) > 5 for one in found)
    (warm,) = desk.case("more")["comparisons"]
    assert warm["verdict"] == "slower"
    assert warm["ratio"] == pytest.approx(1.5, abs=0.15)
    assert "shared_processes" in str(warm["reason"])


def test_functions_of_two_files_share_a_process_and_three_candidates_with_the_baseline(
    desk: Desk,
) -> None:
    desk.write("work.py", WORK)
    desk.write("other.py", OTHER)
    done = desk.bench("work.py:less", "work.py:more", "other.py:elsewhere", *RUNS)
    assert done.code == 0, done.err
    assert {one["other"] for one in turns(desk, "less")} == {"more", "elsewhere"}
    assert {one["other"] for one in turns(desk, "elsewhere")} == {"less"}
    assert not [one for one in turns(desk, "elsewhere") if one["reason"]]


SCRIPT = """
import coldwarm, numpy as np

X = np.linspace(0.0, 1.0, 1000)

def made(turns):
    def work(x):
        y = x
        for _ in range(turns):
            y = np.cos(x + 0.5 * y)
        return y
    return work

def less(x):
    return made(100)(x)

def more(x):
    return made(150)(x)

one = coldwarm.Benchmark(cold=False, processes=3, out_dir="named")
one({"less": less, "more": more}, X)
other = coldwarm.Benchmark(cold=False, processes=3, out_dir="carried")
other({"less": made(100), "more": made(150)}, X)
"""


def test_functions_of_a_script_and_closures_share_a_process(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT, encoding="utf-8")
    command = [sys.executable, "script.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for out in ("named", "carried"):
        case = json.loads((tmp_path / out / "cases" / "more.json").read_bytes())
        found = [turns for seen in case["observations"] for turns in seen["shared_calls"]]
        assert [turns["reason"] for turns in found] == [None] * len(case["observations"])
        (warm,) = case["comparisons"]
        assert warm["verdict"] == "slower"
        assert warm["ratio"] == pytest.approx(1.5, abs=0.15)


CHANGING = """
    import torch

    X = torch.linspace(0.0, 1.0, 100, dtype=torch.float64)

    def plain():
        return torch.cos(X)

    def changed():
        torch.set_default_dtype(torch.float64)
        return torch.cos(X)
"""
ONCE = """
    import numpy as np, os, sys

    def once():
        if "work" in sys.modules:
            {}
        return np.ones(100) * 2
"""
TWICE = """
    import numpy as np

    def twice():
        return np.ones(100) * 2
"""


@pytest.mark.parametrize(
    ("framework", "body"),
    [
        ("jax", "@jax.jit\ndef other():\n    return jax.numpy.ones(100)*2"),
        ("torch", "def other():\n    return torch.ones(100).double() * 2"),
    ],
)
def test_a_framework_that_the_other_side_has_not_is_never_brought_there(
    desk: Desk, framework: str, body: str
) -> None:
    pytest.importorskip(framework)
    desk.write("twice.py", TWICE)
    desk.write("far.py", f"import {framework}\n{body}")
    done = desk.bench("twice.py:twice", "far.py:other", *RUNS)
    assert done.code == 0, done.err
    assert turns(desk, "twice") == turns(desk, "other") == []


MADE = """
    import threading, time
    import numpy as np

    {}
    time.sleep(1.5)
    X = np.linspace(0.0, 1.0, 1000)
    made = []

    def making(name, turns):
        made.append(name)
        if made.count(name) > {}:
            raise RuntimeError("it was made before")

        def work():
            y = X
            for _ in range(turns):
                y = np.cos(X + 0.5 * y)
            return y

        return work

    def less():
        return making("less", 100)

    def more():
        return making("more", 150)
"""


THREAD = "threading.Thread(target=threading.Event().wait, daemon=True).start()"


@pytest.mark.parametrize(
    ("thread", "most", "several", "forked"),
    [("", 1, True, True), (THREAD, 1, False, False), (THREAD, 9, True, False)],
)
def test_both_are_made_anew_in_forks_or_in_the_process_if_they_can_be(
    desk: Desk, thread: str, most: int, *, several: bool, forked: bool
) -> None:
    desk.write("made.py", MADE.format(thread, most))
    done = desk.bench("made.py:less", "made.py:more", *RUNS)
    assert done.code == 0, done.err
    found = turns(desk, "less")
    assert (len(found) > 3) == several
    assert any(one["started_from_template"] for one in found) == forked
    assert len(found) >= 3
    assert not [one for one in found if one["reason"]]
    (warm,) = desk.case("more")["comparisons"]
    assert warm["ratio"] == pytest.approx(1.5, abs=0.15)


def test_a_side_that_changes_settings_shares_no_process(desk: Desk) -> None:
    pytest.importorskip("torch")
    desk.write("changing.py", CHANGING)
    done = desk.bench("changing.py:plain", "changing.py:changed", *RUNS)
    assert done.code == 0, done.err
    reasons = [one["reason"]["code"] for one in turns(desk, "plain")]
    assert reasons == ["other_settings"]
    assert "shared" not in str(desk.case("changed")["comparisons"])


@pytest.mark.parametrize(
    ("ending", "code"),
    [("raise SystemExit(7)", "exception"), ("os._exit(7)", "exited"), ("os.abort()", "signal")],
)
def test_what_goes_wrong_beside_another_costs_no_process(
    desk: Desk, ending: str, code: str
) -> None:
    desk.write("work.py", WORK)
    desk.write("once.py", ONCE.format(ending))
    done = desk.bench("work.py:less", "once.py:once", "--no-check", *RUNS)
    assert done.code == 0, done.err
    assert [one["reason"]["code"] for one in turns(desk, "less")] == [code]
    for case in ("less", "once"):
        seen = desk.case(case)["observations"]
        assert [one["status"] for one in seen] == ["ok"] * 3
