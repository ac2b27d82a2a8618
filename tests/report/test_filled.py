"""What filled caches need stands in no line, and in no Markdown, that says more than that."""

from __future__ import annotations

from io import StringIO

import msgspec
import pytest

from coldwarm.contracts.answer import CacheSetting
from coldwarm.report import filled, markdown, terminal
from coldwarm.report.document import Document, Shell
from coldwarm.report.shown import PlainConsole


def test_what_stands_in_a_value_ends_no_fence_and_controls_no_terminal() -> None:
    setting = CacheSetting(owner="x", variables={"A": "```\n\x1b[31mrm\n````"}, code="f\x1b[2J()")
    [needed] = filled.needed({"c": [setting]})
    assert needed.line.isprintable()
    assert needed.code.isprintable()
    written = markdown.text(Document("", tuple(filled.blocks([needed], []))))
    assert written.endswith("\n`````\n")
    assert "\n`````sh\n" in written


@pytest.mark.parametrize("name", ["A; rm -rf x; B", "A B", "1A", "A=", "", "A\n"])
def test_only_a_variable_can_be_set(name: str) -> None:
    plain = {"owner": "jax", "variables": {name: "1"}}
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(plain, CacheSetting)


def test_a_line_to_copy_is_one_line_of_text_and_whole_in_a_picture() -> None:
    words = [f"NAME_{n}={'x' * n}" for n in range(20)]
    printed = StringIO()
    document = Document("", (Shell(" ".join(words)),))
    terminal.show(document, PlainConsole(file=printed, width=40))
    assert printed.getvalue() == "  " + " ".join(words) + "\n"
    console = PlainConsole(file=StringIO(), width=40, record=True, force_terminal=True)
    terminal.show(document, console)
    lines = console.export_text().splitlines()
    assert max(map(len, lines)) <= 40
    assert " ".join(lines).split() == words
