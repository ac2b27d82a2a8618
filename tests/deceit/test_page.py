"""The page of deceits has a row for each that is tried, and counts its rows."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from tests.deceit.every import deceits

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "deceit.md"
ROW = re.compile(
    r"^\| [^|]*\| `(?P<name>\w+)` \|.*\| (?P<outcome>right|refused|named)\b[^|]*\|$", re.MULTILINE
)
SECTIONS = {"By the command": False, "In the process that has the function": True}
COUNTS = re.compile(
    r"(?P<tried>\d+) tried: (?P<right>\d+) right, (?P<refused>\d+) refused, (?P<named>\d+) named,"
    r" (?P<silent>\d+) silently wrong"
)


@pytest.mark.parametrize(("section", "here"), SECTIONS.items())
def test_the_page_has_a_row_for_each_and_counts_them(section: str, here: bool) -> None:  # noqa: FBT001
    text = PAGE.read_text("utf-8").partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    rows = [(one["name"], one["outcome"]) for one in ROW.finditer(text)]
    tried = [one.name for one in deceits() if one.here or not here]
    assert sorted(name for name, _ in rows) == sorted(tried)
    outcomes = Counter(outcome for _, outcome in rows)
    counts = COUNTS.search(" ".join(text.split()))
    assert counts is not None
    told = {name: int(number) for name, number in counts.groupdict().items()}
    assert told == {"tried": len(rows), **outcomes, "silent": 0}
