"""What coldwarm says, from the declared codes: each message, and what to do about it."""

from __future__ import annotations

import re
from string import Formatter
from typing import TYPE_CHECKING

from _generate.rst import heading, plain, table
from coldwarm.contracts.reasons import declared, every_code
from coldwarm.report.sentences import CAUTION_ADVICE

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_NOUN = re.compile(r"# (.+)")
_WRITTEN = {"label": "{}: ", "place": " ({})"}
"""By format, what stands around a value."""


def pages(package: Path) -> dict[str, str]:
    """Return the page of all messages, those with advice first."""
    del package
    codes = every_code()
    advised = [code for code in codes if declared(code).advice]
    kinds = ([plain(kind), plain(words)] for kind, words in CAUTION_ADVICE.items())
    text = heading("Messages", label="messages") + (
        "Every refusal, reason and caveat that has a code, as the code declares it.\n"
        ":doc:`/explanation/refuses` explains the kinds. A word in capitals stands for a value:\n"
        "files have it, in lower case, under ``values`` of a :ref:`Reason <record-Reason>`.\n"
        "Three dots stand for other messages of this page.\n\n"
    )
    text += heading("With something to do", 1, "messages-advised")
    text += _table(("the message", "what to do", "code"), advised)
    text += heading("Caveats", 1, "messages-caveats")
    text += table(("kind of caveat", "what to do"), kinds)
    text += heading("All others", 1, "messages-others")
    others = [code for code in codes if code not in advised]
    return {"index": text + _table(("the message", "code"), others)}


def _table(columns: tuple[str, ...], codes: Iterable[str]) -> str:
    rows = ((_shown(declared(one).sentence), _shown(declared(one).advice), one) for one in codes)
    return table(
        columns,
        ([*filter(None, (sentence, advice)), f"``{code}``"] for sentence, advice, code in rows),
    )


def _shown(template: str) -> str:
    """Return the words, with names in capitals for the values."""
    text = ""
    for words, name, written, _ in Formatter().parse(template):
        noun = _NOUN.fullmatch(written or "")
        value = "…" if name == "parts" else (name or "").upper()
        text += words + _WRITTEN.get(written or "", "{}").format(value)
        text += f" {noun[1]}s" if noun else ""
    return plain(text)
