"""What the page *What coldwarm refuses* quotes is what the program says."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from string import Formatter
from typing import NamedTuple

import pytest
from tests.contracts.strategies import codes

import coldwarm
from coldwarm.contracts.reasons import declared
from coldwarm.report.sentences import CAUTION_ADVICE

PACKAGE = Path(coldwarm.__file__).parent
PAGE = Path(__file__).parents[1] / "docs" / "explanation" / "refuses.md"
BLOCK = re.compile(r"((?:<!--[^>]*-->\n)*)```text\n(.*?)```", re.DOTALL)
MARK = re.compile(r"<!-- (code|advice of|says): (.*?) -->")
NOUN = re.compile(r"# (.+)")
REFUSES_NOTHING = {
    "left_until_exit",
    "processes_unfinished",
    "threads_unfinished",
    "between_runs",
    "few_processes_each",
    "incomplete",
    "index_silent",
    "interval_across",
    "noise_unknown",
    "one_process_elsewhere",
}
"""Reasons about which something can be done, and which refuse no function and no result; and those
that only stored results have."""


class Quoted(NamedTuple):
    """A block of words, and what it is said to be."""

    what: str
    of: str
    text: str


def quoted() -> list[Quoted]:
    page = PAGE.read_text("utf-8")
    return [
        Quoted(what, of, joined(text))
        for marks, text in BLOCK.findall(page)
        for what, of in MARK.findall(marks)
    ]


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


@cache
def strings() -> tuple[str, ...]:
    """Return the fixed texts of the package, those between the fields of f-strings too."""
    return tuple(
        joined(node.value)
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def test_every_quoted_block_says_whose_words_it_has() -> None:
    blocks = BLOCK.findall(PAGE.read_text("utf-8"))
    assert blocks
    assert [text for marks, text in blocks if not MARK.search(marks)] == []


@pytest.mark.parametrize("one", quoted(), ids=lambda one: one.of)
def test_a_quoted_block_has_the_words_of_the_program(one: Quoted) -> None:
    if one.what == "says":
        assert one.of in one.text
        assert any(one.of in text for text in strings())
    elif one.what == "advice of":
        assert is_said(CAUTION_ADVICE[one.of], one.text)  # type: ignore[index] # a KeyError tells
    else:
        assert one.of in codes()
        assert is_said(declared(one.of).sentence, one.text)
        assert is_said(declared(one.of).advice, one.text)


def test_every_reason_about_which_something_can_be_done_is_on_the_page() -> None:
    told = {one.of for one in quoted() if one.what == "code"}
    advised = {one for one in codes() if declared(one).advice and not one.startswith("doctor_")}
    assert sorted(advised - REFUSES_NOTHING - told) == []


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{n:# page fault}, and no more", "no more, and 3 page faults"),
        ("sets {setting} by itself", "sets it itself"),
    ],
)
def test_other_words_are_found_out(template: str, text: str) -> None:
    assert not is_said(template, text)


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
"""The function of which the page quotes what the command says, by code."""


def without_numbers(text: str) -> str:
    """Return a text with a sign for each number, and once what it lists several times."""
    text = re.sub(r"\d[\d.]*( [nµm]?s\b)?", "#", joined(text))
    text = re.sub(r"\bpython#?", "python", text)
    text = re.sub(r"# (thread|process|task)(e?s)?\b", r"# \1", text)
    return re.sub(r": ([^,:;]+)(, \1)+", r": \1", text)


@pytest.mark.slow
@pytest.mark.parametrize(("code", "function"), SHOWN_BY.items())
def test_what_is_quoted_is_what_the_command_says(code: str, function: str, tmp_path: Path) -> None:
    if function == "far":
        pytest.importorskip("torch")
    (tmp_path / "fit.py").write_text(HIDING, encoding="utf-8")
    once = ("--warm-only", "--rounds", "1", "--max-rounds", "1")
    done = subprocess.run(
        [sys.executable, "-m", "coldwarm", "bench", f"fit.py:{function}", *once],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    (block,) = [one.text for one in quoted() if one.of == code]
    (told,) = [
        one
        for one in re.split(r" (?=coldwarm: )", block)
        if one.removeprefix("coldwarm: ").startswith(function)
    ]
    assert without_numbers(told) in without_numbers(done.stdout + done.stderr)
