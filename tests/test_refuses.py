"""What the page *What coldwarm refuses* quotes is what the program says."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from string import Formatter
from typing import NamedTuple

import pytest

import coldwarm
from coldwarm.contracts.reasons import CODES
from coldwarm.report.reasons import ADVICE, CAUTION_ADVICE, WORDS

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
        assert one.of in CODES
        assert is_said(WORDS[one.of], one.text)
        assert is_said(ADVICE.get(one.of, ""), one.text)


def test_every_reason_about_which_something_can_be_done_is_on_the_page() -> None:
    told = {one.of for one in quoted() if one.what == "code"}
    assert sorted(ADVICE.keys() - REFUSES_NOTHING - told) == []


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{n:# page fault}, and no more", "no more, and 3 page faults"),
        ("sets {setting} by itself", "sets it itself"),
    ],
)
def test_other_words_are_found_out(template: str, text: str) -> None:
    assert not is_said(template, text)
