"""Processes start together for warm calls, alone for figures of a start, in turns for ratios."""

from __future__ import annotations

import itertools
import os
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.functions.conftest import Desk

SLOW_START = """
    import os, time
    from pathlib import Path

    def note(name):
        with open(Path(__file__).with_name("log"), "a") as file:
            file.write(f"{name} {os.getpid()}\\n")

    note("begin")
    time.sleep(0.4)
    note("end")

    def one():
        return 1.0

    def other():
        return 1.0

    def failing():
        os._exit(3)
"""
pytestmark = pytest.mark.skipif(
    len(os.sched_getaffinity(0)) < 2, reason="on one processor, processes start one after another"
)


def _overlap(desk: Desk) -> bool:
    """Say whether a measured process began to start before another had ended that."""
    words = [line.split()[0] for line in (desk.path / "log").read_text().splitlines()]
    words = words[4:]  # both functions were inspected
    return any(pair == ("begin", "begin") for pair in itertools.pairwise(words))


def _started(desk: Desk, label: str) -> list[dict[str, Any]]:
    return [one["telemetry"] for one in desk.case(label)["observations"] if one["status"] == "ok"]


@pytest.mark.slow
def test_starts_of_which_nothing_is_asked_are_made_together(desk: Desk) -> None:
    desk.write("mine.py", SLOW_START)
    done = desk.bench("mine.py:one", "mine.py:other", "--warm-only", "--max-rounds", "2")
    assert done.code == 0, done.err
    assert _overlap(desk)
    for label in ("one", "other"):
        for telemetry in _started(desk, label):
            assert telemetry["foreign_cpu"] is None
            assert telemetry["null_reasons"]["foreign_cpu"]["code"] == "started_together"
    assert desk.command("validate", desk.out).code == 0


IN_THREADS = """
    import hashlib, threading

    DATA = bytes(20_000_000)

    def _twice():
        note("call")
        beside = threading.Thread(target=hashlib.sha256, args=(DATA,))
        beside.start()
        hashlib.sha256(DATA)
        beside.join()
        note("done")
        return 1.0

    def first():
        return _twice()

    def second():
        return _twice()
"""


@pytest.mark.slow
def test_functions_that_use_all_processors_are_called_and_started_one_by_one(desk: Desk) -> None:
    """Their threads wait for each other, and in two processes at once for a very long time."""
    desk.write("mine.py", SLOW_START + IN_THREADS)
    done = desk.bench("mine.py:first", "mine.py:second", "--warm-only", "--max-rounds", "2")
    assert done.code == 0, done.err
    words = [line.split()[0] for line in (desk.path / "log").read_text().splitlines()]
    calls = [one for one in words if one in {"call", "done"}]
    assert calls == ["call", "done"] * (len(calls) // 2)
    last_inspected = 1 + [at for at, one in enumerate(words) if one == "begin"][1]
    starts = [one for one in words[last_inspected:] if one in {"begin", "end"}]
    measured = starts[starts.index("begin") :]
    assert measured == ["begin", "end"] * (len(measured) // 2)


KEPT = """
    (Path.home() / "kept").write_text(str(os.getpid()))
"""


def test_a_start_that_is_measured_is_made_alone(desk: Desk) -> None:
    desk.write("mine.py", SLOW_START + KEPT)
    done = desk.bench("mine.py:one", "mine.py:other")
    assert done.code == 0, done.err
    assert not _overlap(desk)


def test_a_start_that_leaves_no_file_shows_empty_and_filled_caches(desk: Desk) -> None:
    """It is measured once in each round, and stands in both columns."""
    desk.write("mine.py", SLOW_START)
    done = desk.bench("mine.py:one", "mine.py:other", "--cold-only", "--max-rounds", "2")
    assert done.code == 0, done.err
    for label in ("one", "other"):
        case = desk.case(label)
        asked = ["cold_process_cold_cache", "cold_process_warm_cache"]
        assert [one["cache_mode"] for one in case["observations"]] == asked[:1] * 2
        assert [one["cache_mode"] for one in case["cold"]] == asked
        empty, filled = (one["seconds"]["ttfr"] for one in case["cold"])
        assert empty == filled
    assert desk.command("validate", desk.out).code == 0


def test_a_process_that_fails_beside_another_says_so_and_leaves_the_other(desk: Desk) -> None:
    desk.write("mine.py", SLOW_START)
    done = desk.bench("mine.py:one", "mine.py:failing", "--warm-only", "--no-check")
    assert desk.case("failing")["status"] == "failed"
    assert desk.case("one")["status"] == "ok", done.err


SCATTERING = """
    import os, time

    def spend(seconds):
        ends = time.process_time() + seconds
        while time.process_time() < ends:
            pass

    spend(0.3 + os.urandom(1)[0] / 2000)

    def one():
        return 1.0

    def other():
        return 1.0

    def waiting():
        time.sleep(0.1)
        return 1.0
"""
TURNS = ("--cold-only", "--rounds", "2", "--max-rounds", "6")


def _in_turns(desk: Desk, label: str) -> list[dict[str, Any]]:
    return [one for one in desk.case(label)["observations"] if one["turns"]]


@pytest.mark.slow
def test_starts_that_scatter_take_turns_and_are_part_of_no_figure(desk: Desk) -> None:
    desk.write("mine.py", SCATTERING)
    done = desk.bench("mine.py:one", "mine.py:other", *TURNS)
    assert done.code == 0, done.err
    seen = {label: _in_turns(desk, label) for label in ("one", "other")}
    rounds = [[one["round"] for one in each] for each in seen.values()]
    assert len(rounds[0]) >= 4
    assert rounds[0] == rounds[1]
    for one in (*seen["one"], *seen["other"]):
        assert one["status"] == "ok", one["reason"]
        assert one["turns"] > 10
        assert one["ttfr_process_s"] < 0.8 * one["wall_s"], "what it was held is in neither"
        took_s = {phase["name"]: phase["duration_s"] for phase in one["phases"]}
        assert took_s["import"] > 0.3, "what it ran is in it"
    alone = [one for one in desk.case("one")["observations"] if not one["turns"]]
    assert desk.case("one")["cold"][0]["n_ok"] == len(alone)
    assert desk.command("validate", desk.out).code == 0


@pytest.mark.slow
def test_a_start_that_waits_would_wait_while_it_is_held_and_is_measured_alone(desk: Desk) -> None:
    desk.write("mine.py", SCATTERING)
    done = desk.bench("mine.py:one", "mine.py:waiting", *TURNS)
    assert done.code == 0, done.err
    tried = _in_turns(desk, "waiting")
    assert [one["reason"]["code"] for one in tried] == ["waits_in_turns"] * len(tried)
    assert len(tried) <= 1
    assert desk.case("waiting")["status"] == "ok"
    assert desk.command("validate", desk.out).code == 0
