"""Where in a JSON text a field stands, so that a fault can name its line."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_BLANK = re.compile(r"[ \t\r\n]*")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}]|[^\s\[\]{},:"]+')
_DECODER = json.JSONDecoder()


def line_of(text: str, path: Sequence[str | int]) -> int:
    """Return the line (from 1) of the field at ``path`` in a valid JSON ``text``.

    A field stands where its key stands, an item of an array where it begins. A path that
    leads nowhere gives the line of the deepest part that exists.

    Args:
        text: JSON that a parser has accepted.
        path: Keys of objects and indexes of arrays, from the outermost.
    """
    position = shown = _skip_blank(text, 0)
    for step in path:
        found = _step(text, position, step)
        if found is None:
            break
        shown, position = found
    return text.count("\n", 0, shown) + 1


def _step(text: str, position: int, step: str | int) -> tuple[int, int] | None:
    """Return where a member begins and where its value begins; ``None`` if not there."""
    opening = text[position : position + 1]
    if opening == "{" and isinstance(step, str):
        return _member(text, position + 1, step)
    if opening == "[" and isinstance(step, int):
        return _item(text, position + 1, step)
    return None


def _member(text: str, position: int, wanted: str) -> tuple[int, int] | None:
    position = _skip_blank(text, position)
    while text[position] != "}":
        start = position
        key, position = _DECODER.raw_decode(text, position)
        value = _skip_blank(text, _skip_blank(text, position) + 1)
        if key == wanted:
            return start, value
        position = _next(text, value)
    return None


def _item(text: str, position: int, wanted: int) -> tuple[int, int] | None:
    position = _skip_blank(text, position)
    for _ in range(wanted):
        if text[position] == "]":
            return None
        position = _next(text, position)
    return None if text[position] == "]" else (position, position)


def _next(text: str, position: int) -> int:
    """Skip the value at ``position`` and the comma after it, if there is one."""
    _, position = _DECODER.raw_decode(text, position)
    position = _skip_blank(text, position)
    return _skip_blank(text, position + 1) if text[position] == "," else position


def _skip_blank(text: str, position: int) -> int:
    match = _BLANK.match(text, position)
    return match.end() if match else position


def line_of_token(text: str, token: str) -> int:
    """Return the line of the first bare ``token``, such as ``NaN``, outside any string."""
    found = (match.start() for match in _TOKEN.finditer(text) if match.group() == token)
    return text.count("\n", 0, next(found, 0)) + 1


def line_of_repeated_key(text: str) -> tuple[int, str]:
    """Return the line and the name of the first key that its object already has.

    Args:
        text: JSON in which some object has a key twice.
    """
    seen: list[set[str]] = []
    for match in _TOKEN.finditer(text):
        mark = match.group()
        if mark in "[{":
            seen.append(set())
        elif mark in "]}":
            seen.pop()
        elif mark[0] == '"' and text.startswith(":", _skip_blank(text, match.end())):
            key = _DECODER.raw_decode(text, match.start())[0]
            if key in seen[-1]:
                return text.count("\n", 0, match.start()) + 1, key
            seen[-1].add(key)
    return 1, ""
