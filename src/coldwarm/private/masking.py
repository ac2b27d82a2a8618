"""The one function that takes out of a text what is private.

It is applied where records are encoded, for files, the journal and JSON output alike, and where
failure texts are shown. Masking the same text twice changes nothing more.
"""

from __future__ import annotations

import base64
import binascii
import re
from functools import lru_cache
from typing import Any

from coldwarm.private import known

MASK = "***"
_PASSES = 4
_ORDINARY = re.compile(r"[a-z][a-z_]*|[0-9a-f]{12,64}|[\d.:+TZ-]+")
"""A word of small letters, a hash, a version, a date."""
_LONG_WORD = re.compile(r"[\w+/=.:-]{16,}")


def masked(text: str) -> str:
    """Return a text with secrets as ``***`` and home folders as ``~``."""
    if _ORDINARY.fullmatch(text):
        return text
    return _masked(text, known.current())


def cleaned(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return plain values with every text masked, keys of mappings too."""
    return _cleaned(value, known.current())


def _cleaned(value: Any, private: known.Known) -> Any:  # noqa: ANN401 - as above
    if isinstance(value, str):
        return value if _ORDINARY.fullmatch(value) else _masked(value, private)
    if isinstance(value, dict):
        found: dict[Any, Any] = {}
        for key, one in value.items():
            name = _cleaned(key, private)
            while name in found:  # two secrets must not become one entry
                name += "*"
            found[name] = _cleaned(one, private)
        return found
    if isinstance(value, list | tuple):
        return [_cleaned(one, private) for one in value]
    return value


@lru_cache(maxsize=8192)
def _masked(text: str, private: known.Known) -> str:
    for _ in range(_PASSES):  # what one secret hid of another's label stands free afterwards
        found = _once(text, private)
        if found == text:
            break
        text = found
    return text


def _once(text: str, private: known.Known) -> str:
    # Its patterns take some 20 ms to compile, which no command is to wait for at its start.
    from coldwarm.private import shapes  # noqa: PLC0415

    text = _without_known(text, private)
    if "PRIVATE KEY" in text or "PuTTY" in text:
        text = shapes.KEY_END.sub(MASK, shapes.KEY_BLOCK.sub(MASK, text))
    if shapes.SUSPECT.search(text):
        for pattern in shapes.LABELLED:
            text = pattern.sub(_label_kept, text)
        text = shapes.BASIC.sub(_basic, text)
    if "@" in text:
        for pattern in shapes.USER_INFO:
            text = pattern.sub(rf"\g<name>{MASK}@", text)
        text = shapes.EMAIL.sub(MASK, text)
    text = shapes.TOKEN.sub(MASK, text)
    if _LONG_WORD.search(text):
        for pattern in shapes.tokens():
            text = pattern.sub(MASK, text)
    for pattern in shapes.HOMES:
        text = pattern.sub("~", text)
    for name in private.names if text not in private.names else ():
        text = re.sub(rf"(?<![A-Za-z0-9_]){re.escape(name)}(?![A-Za-z0-9_])", MASK, text)
    return text


def _without_known(text: str, private: known.Known) -> str:
    for value in private.values:
        if value in text:
            inside = len(value) >= known.LONG
            bounded = rf"(?<![A-Za-z0-9]){re.escape(value)}(?![A-Za-z0-9])"
            text = text.replace(value, MASK) if inside else re.sub(bounded, MASK, text)
    text = _without_cut(text, private.values)
    for home in private.homes:
        if home in text:
            text = re.sub(rf"(?<![\w.~-]){re.escape(home)}(?![\w.-])", "~", text)
    return text


def _without_cut(text: str, values: tuple[str, ...]) -> str:
    """Mask what is left at the end of a text of a value that was cut there."""
    for value in values:
        if value[: known.FEWEST] not in text[-len(value) :]:
            continue
        for length in range(min(len(value) - 1, len(text)), known.FEWEST - 1, -1):
            if text.endswith(value[:length]):
                return text[:-length] + MASK
    return text


def _label_kept(match: re.Match[str]) -> str:
    quote = match.groupdict().get("q") or ""
    return f"{match['name']}{quote}{MASK}{quote}"


def _basic(match: re.Match[str]) -> str:
    value = match["value"]
    try:
        decoded = base64.b64decode(value + "=" * (-len(value) % 4), altchars=b"-_")
    except (binascii.Error, ValueError):
        decoded = b""
    return f"{match['name']}{MASK}" if b":" in decoded else match[0]
