"""Processes of warm calls start together; those whose start is measured start alone."""

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


def test_a_start_that_is_measured_is_made_alone(desk: Desk) -> None:
    desk.write("mine.py", SLOW_START)
    done = desk.bench("mine.py:one", "mine.py:other")
    assert done.code == 0, done.err
    assert not _overlap(desk)


def test_a_process_that_fails_beside_another_says_so_and_leaves_the_other(desk: Desk) -> None:
    desk.write("mine.py", SLOW_START)
    done = desk.bench("mine.py:one", "mine.py:failing", "--warm-only", "--no-check")
    assert desk.case("failing")["status"] == "failed"
    assert desk.case("one")["status"] == "ok", done.err
