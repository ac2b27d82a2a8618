"""What a command refuses, it says in the declared words, and the reference has them all."""

from __future__ import annotations

import re
import subprocess
import sys
from string import Formatter
from typing import TYPE_CHECKING

import pytest

from _generate import messages
from coldwarm.contracts.reasons import declared, every_code

if TYPE_CHECKING:
    from pathlib import Path

NOUN = re.compile(r"# (.+)")


def joined(text: str) -> str:
    """Return text in one line: where a table breaks its lines says nothing."""
    return " ".join(text.split())


def literals(template: str) -> list[str]:
    """Return what of a template stands in every sentence that is made from it, in order."""
    found = []
    for text, _, written, _ in Formatter().parse(template):
        noun = NOUN.fullmatch(written or "")
        found += [text, noun[1] if noun else ""]
    return [joined(part) for part in found if joined(part)]


def is_said(template: str, text: str) -> bool:
    at = 0
    for part in literals(template):
        at = text.find(part, at)
        if at < 0:
            return False
        at += len(part)
    return True


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{n:# page fault}, and no more", "no more, and 3 page faults"),
        ("sets {setting} by itself", "sets it itself"),
    ],
)
def test_other_words_are_found_out(template: str, text: str) -> None:
    assert not is_said(template, text)


def test_the_reference_has_every_message_and_first_those_with_advice(tmp_path: Path) -> None:
    page = messages.pages(tmp_path)["index"]
    advised, _, others = page.partition(".. _messages-caveats:")
    for code in every_code():
        assert f"``{code}``\n" in (advised if declared(code).advice else others), code
    assert "the call left N\\_THREADS threads at work: THREAD\\_NAMES" in page


HIDING = """
import asyncio
import atexit
import signal
import subprocess
import sys
import threading
import time

import numpy as np

class Lazy:
    def __array__(self, dtype=None, copy=None):
        return np.arange(300_000).astype(str).astype(float)

class Engine:
    def compute(self):
        return 1.0

LOOP = asyncio.new_event_loop()

def save():
    pass

def work():
    time.sleep(0.2)
    sum(range(10**6))

def total():
    return (number for number in range(3))

def lazy():
    return Lazy()

def engine():
    return Engine()

def capsule():
    return np.arange(3.0).__dlpack__()

def far():
    import torch

    return torch.ones(3, device="meta")

def threaded():
    threading.Thread(target=work).start()
    return 1.0

def child():
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(0.5)"])
    return 1.0

def task():
    LOOP.create_task(asyncio.sleep(9))
    LOOP.run_until_complete(asyncio.sleep(0))
    return 1.0

def at_exit():
    atexit.register(save)
    return 1.0

def alarm():
    signal.signal(signal.SIGALRM, lambda *_: None)
    signal.alarm(9)
    return 1.0
"""

SHOWN_BY = {
    "lazy_result": "total",
    "computes_when_asked": "lazy",
    "may_compute": "engine",
    "not_opened": "capsule",
    "opaque_result": "far",
    "threads_at_work": "threaded",
    "processes_at_work": "child",
    "tasks_unfinished": "task",
    "functions_at_exit": "at_exit",
    "signal_pending": "alarm",
}
"""The function that is refused with a code, or cautioned."""


@pytest.mark.slow
@pytest.mark.parametrize(("code", "function"), SHOWN_BY.items())
def test_a_command_says_what_is_wrong_and_what_to_do(
    code: str, function: str, tmp_path: Path
) -> None:
    if function == "far":
        pytest.importorskip("torch")
    (tmp_path / "fit.py").write_text(HIDING, encoding="utf-8")
    once = ("--warm-only", "--rounds", "1", "--max-rounds", "1")
    calls = ("bench", f"fit.py:{function}", *once, "--out", "out"), ("show", "out", "--verbose")
    short, whole = (
        subprocess.run(
            [sys.executable, "-m", "coldwarm", *one],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        for one in calls
    )
    told = joined(short.stdout + short.stderr)
    if code in {"may_compute", "not_opened"}:
        assert short.returncode == 0, told
        assert f"{function} what it returns may not be computed yet" in told
    said = joined(told + whole.stdout)
    assert is_said(declared(code).sentence, said), said
    assert is_said(declared(code).advice, said), said
