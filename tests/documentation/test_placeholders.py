"""No page has a place that somebody wanted to fill later."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from tests.documentation.pages import ROOT, pages

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_CODE = re.compile(r"^(`{3,})[^\n]*\n.*?^\1$|`[^`\n]+`", re.MULTILINE | re.DOTALL)
_LATER = re.compile(
    r"\b(?:TODO|TBD|FIXME|XXX|TKTK?|WIP)\b|\?{3,}|\blorem ipsum\b|^%"
    r"|<!--(?! /?[a-z]+(?: [a-z-]+){0,2}(?:: [^>]*)? -->)"
    r"|\b(?:comes?|goes|go|insert(?:ed)?|add(?:ed)?|put|fill(?:ed)?(?: in)?|paste) (?:in )?here\b"
    r"|\b(?:still|yet) to be \w+|\b(?:is|are) to be (?:written|added|filled)\b"
    r"|\bcoming soon\b|\bplaceholder\b|\bnot (?:yet )?written yet\b"
    r"|\b(?:N\.N|X\.X|NN|XX) ?(?:%|s|ms|×)"
    r"|\[(?:figure|table|number|image|link|citation|text)\](?!\()|\]\(\s*#?\s*\)|_{4,}"
    r"|^[A-Z]{2,}(?: [A-Z]{2,})*:",
    re.MULTILINE | re.IGNORECASE,
)
_FILLED = re.compile(r"^(`{3,})[^\n]*\n(?=\s*\S)(?!\1).*?^\1$", re.MULTILINE | re.DOTALL)
_CAPITALS = re.compile(r"^[A-Z]{2,}(?: [A-Z]{2,})*:", re.MULTILINE)
_EMPTY = re.compile(
    r"^(?P<level>#+) [^\n]+\n\s*(?=\Z|^(?!(?P=level)#)#+ )|^(`{3,})\w*\n\s*^\2$"
    r"|^\|[-| :]+\|\s*(?:\n\n|\Z)",
    re.MULTILINE,
)
"""A heading with nothing below it, a listing without a line, a table without a row."""


def left_open(text: str) -> Iterator[str]:
    """Yield each place of a page that is still to be filled."""
    prose = _CODE.sub("", text)
    for one in _LATER.finditer(prose):
        if not re.fullmatch(r"[A-Za-z ]+:", one[0]) or _CAPITALS.match(one[0]):
            yield one[0]
    yield from (one[0].strip() for one in _EMPTY.finditer(_FILLED.sub("`a listing`", text)))


@pytest.mark.parametrize("page", pages(), ids=lambda one: one.relative_to(ROOT).as_posix())
def test_a_page_is_whole(page: Path) -> None:
    assert list(left_open(page.read_text("utf-8"))) == []


@pytest.mark.parametrize(
    "text",
    [
        "% TEN REPETITIONS: the table of `python -m benchmarks.maintainer`\n% comes here.\n",
        "TEN REPETITIONS: the table\n",
        "The table comes here, in a text block.\n",
        "<!-- the figure of 11-22 -->\n",
        "TODO: measure it again\n",
        "It takes ??? on two processors.\n",
        "It takes XX % less.\n",
        "This section is to be written.\n",
        "Figures for GPUs are coming soon.\n",
        "Lorem ipsum dolor sit amet.\n",
        "See [the results](#).\n",
        "See [the results]().\n",
        "as [figure] shows\n",
        "It saves ____ seconds.\n",
        "## Results\n\n## How it was measured\n\nBy hand.\n",
        "By hand.\n\n## Results\n",
        "```text\n```\n",
        "| a | b |\n|---|---|\n\nNext.\n",
        "insert here what pip says\n",
        "The limit is TBD.\n",
        "GPUs are still to be measured.\n",
    ],
)
def test_what_is_left_open_is_found(text: str) -> None:
    assert list(left_open(text))


@pytest.mark.parametrize(
    "text",
    [
        "A loss of 3 % comes first, here as elsewhere.\n",
        "`coldwarm plan` prints `TODO` of your own program.\n",
        "```python\n# TODO: yours\n```\n",
        "```text\n% done\n```\n",
        "```{literalinclude} ../a.py\n:language: python\n```\n",
        "# Title\n\nText.\n\n## Part\n\n### Smaller\n\nText.\n",
        "# Title\n\n## Part\n\nText.\n",
        "| a | b |\n|---|---|\n| 1 | 2 |\n",
        "Note: NumPy, JAX: both.\n",
        "See [the results](#results).\n",
        "Is it 5 %? Or 50 %?\n",
        "That is what has to be measured.\n",
        "Name the functions that are to be measured.\n",
        "How it is filled: by a run before.\n",
    ],
)
def test_what_is_whole_is_not_taken_for_open(text: str) -> None:
    assert list(left_open(text)) == []
