"""A template answers by forks: whatever happens in one of them, the next one answers."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

PROGRAM = """
import json, os, sys, threading, time
from coldwarm.worker import template

seen = []

def answer(message):
    seen.append(message["do"])
    if message["do"] == "die":
        os._exit(3)
    if message["do"] == "raise":
        raise SystemExit("no")
    if message["do"] == "hang":
        time.sleep(60)
    return {"seen": seen}

if sys.argv[1] == "thread":
    threading.Thread(target=threading.Event().wait, daemon=True).start()
if sys.argv[1] == "numpy":
    import numpy
made = template.made(answer, ())
told = None if made is None else [made.fork({"do": one}, 1) for one in sys.argv[2:]]
if made is not None:
    made.end()
print(json.dumps(told))
"""


def told(beside: str, *asked: str) -> Any:
    """Return what the forks of a template answer, each in turn."""
    command = [sys.executable, "-c", PROGRAM, beside, *asked]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stderr == ""
    return json.loads(done.stdout)


@pytest.mark.parametrize("beside", ["nothing", "numpy"])
def test_each_fork_begins_where_the_template_is(beside: str) -> None:
    assert told(beside, "one", "two") == [{"seen": ["one"]}, {"seen": ["two"]}]


@pytest.mark.parametrize("ending", ["die", "raise", "hang"])
def test_what_goes_wrong_in_a_fork_is_no_answer_and_ends_nothing_else(ending: str) -> None:
    assert told("nothing", ending, "two") == [{}, {"seen": ["two"]}]


def test_where_a_thread_would_be_lost_there_is_no_template() -> None:
    assert told("thread", "one") is None
