"""The one function that takes out of a text what is private.

It is applied where records are encoded, for files, the journal and JSON output alike, and where
failure texts are shown. Masking the same text twice changes nothing more.
"""

from __future__ import annotations

import base64
import binascii
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from coldwarm.private import known

if TYPE_CHECKING:
    from collections.abc import Sequence

MASK = "***"
_PASSES = 4
_ORDINARY = re.compile(r"[a-z][a-z_]*|[0-9a-f]{12,64}|[\d.:+TZ-]+")
"""A word of small letters, a hash, a version, a date."""
_MASKED = re.compile(r"(?:\*{3,}|~)")
_FILE = re.compile(r"(?:cases/)?[\w.@+-]+\.json")
"""A file of a run, named from its index."""
_SHORT_SECRET = re.compile(r"-[pP](?=.)(?!=?\d{1,5}$)(?!(?:r|a|l|o|e|i)[a-z-]+=?)")
"""``-pX``, as some tools take a password: no number of a port, and no long option."""
_CUT = re.compile(r"(?=.*\d)[\w+/=.~-]+")
"""Of a value that is one word, and no sentence or URL that others begin as, each part tells."""
_PLAIN_KEY = re.compile(r"[a-z_]+(?:\.[a-z_]+)*")
_COMPOSED = frozenset(
    {
        *("schema_version", "suite", "case", "workload", "candidate", "backend", "device", "size"),
        *("dtype", "dataset_id", "cache_mode", "cache_modes", "also_modes", "status", "code"),
        *("kind", "metric", "baseline", "worst_case", "environment_path", "order", "owner"),
        *("group", "verdict", "caches", "cache_policy", "windows", "sync_policy"),
        *("warmup_policy", "interleaving", "data_layout", "answers_path", "provenance"),
        *("mode", "reading", "among", "cheapest", "fastest", "candidate_names"),
    }
)
"""Fields of records that the harness composes, of which readers hold one against another: a user
who is called as one of its words is not meant there."""
_PROBE = "Abc1xYz9q"
_NOBODY = known.Known((), (), (), folders=False)
_TELLS_NOTHING = re.compile(
    r"|None|True|False|\*\*\*|\d{1,4}|v?\d+(?:\.\w+)+(?:[+.-]\w+)*|[A-Za-z_.]+ ?#[0-9a-f]{4,8}|"
    r"(?:u?int|b?float|complex|bool|str|bytes|[a-z]{1,3})\d*(?:\[[\d, ]*\])?"
)
"""Values that are told under any name: constants, versions, types, and hashes of texts."""
_LONG_WORD = re.compile(r"[\w+/=.:-]{16,}")


def masked(text: str) -> str:
    """Return a text with secrets as ``***`` and home folders as ``~``."""
    return _masked(text, known.current())


def cleaned(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return plain values with every text masked, keys of mappings too."""
    return _cleaned(value, known.current())


def taken_in(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return plain values from a user's program without secrets.

    Names of folders stay, as files are found by them: ``cleaned`` takes them out at the end.
    """
    return _cleaned(value, known.current()._replace(homes=(), names=(), folders=False))


def command(arguments: Sequence[str]) -> list[str]:
    """Return a command line without the values of secret options, which are told nowhere else.

    ``--token X``, ``--api-key=X``, ``-p X`` and ``-pX``, and whatever ``masked`` knows.
    """
    found: list[str] = []
    hidden = False
    for one in arguments:
        name, equals, value = one.partition("=")
        if hidden and not (one.startswith("-") and known.is_secret_option(name)):
            known.withhold([one])
            found.append(MASK)
            hidden = False
        elif known.is_secret_option(name):
            known.withhold([value])
            found.append(f"{name}={MASK}" if equals else name)
            hidden = not equals
        elif _SHORT_SECRET.match(one):
            known.withhold([one[2:].lstrip("=")])
            found.append(one[:2] + MASK)
            hidden = False
        else:
            found.append(one)
            hidden = one in {"-p", "-P"}
    return [masked(one) for one in found]


def _cleaned(value: Any, private: known.Known) -> Any:  # noqa: ANN401 - as above
    if isinstance(value, str):
        return _masked(value, private)
    if isinstance(value, dict):
        value = _unlabelled(value)
        unnamed = private._replace(names=())
        found: dict[Any, Any] = {}
        for key, one in value.items():
            plain = isinstance(key, str) and _PLAIN_KEY.fullmatch(key)
            name = _cleaned(key, unnamed if plain else private)
            while name in found:  # two secrets must not become one entry
                name += "*"
            found[name] = _cleaned(one, unnamed if _is_composed(key, one) else private)
        return found
    if isinstance(value, list | tuple):
        return [_cleaned(one, private) for one in _without_options(value)]
    return value


def _unlabelled(record: dict[Any, Any]) -> dict[Any, Any]:
    """Return a mapping without the values whose names say that they are secret.

    A name is a key, or stands under ``name`` beside its ``value``.
    """
    secret = {
        key
        for key, one in record.items()
        if isinstance(one, str)
        and isinstance(key, str)
        and _is_label(key)
        and not _TELLS_NOTHING.fullmatch(one)
    }
    if "value" in record and isinstance(record.get("name"), str) and _is_label(record["name"]):
        secret |= {"value"} if not isinstance(record["value"], bool | None) else set()
    return {key: MASK if key in secret else one for key, one in record.items()}


def _without_options(values: Sequence[Any]) -> Sequence[Any]:
    """Return a command line in a record without the values of secret options."""
    return [
        MASK
        if isinstance(one, str)
        and isinstance(before, str)
        and known.is_secret_option(before)
        and not one.startswith("-")
        else one
        for before, one in zip([None, *values], values, strict=False)
    ]


@lru_cache(maxsize=8192)
def _is_label(name: str) -> bool:
    """Say whether what stands behind a name and a colon would be masked in a text."""
    text = f"{name}: {_PROBE}"
    return _once(text, _NOBODY) != text


def _is_composed(key: object, value: object) -> bool:
    named_file = key == "path" and isinstance(value, str) and _FILE.fullmatch(value)
    if key == "candidates" and isinstance(value, list):  # or records, with fields of their own
        return all(isinstance(one, str) for one in value)
    return key in _COMPOSED or bool(named_file)


def alike(one: str, other: str) -> bool:
    """Say whether two texts are the same, apart from what was masked in either of them.

    What is private differs between users and days, so the same text may be masked differently.
    """
    return one == other or _fits(one, other) or _fits(other, one)


def _fits(shown: str, text: str) -> bool:
    parts = _MASKED.split(shown)
    pattern = ".*".join(re.escape(part) for part in parts)
    return len(parts) > 1 and re.fullmatch(pattern, text, re.DOTALL) is not None


@lru_cache(maxsize=8192)
def _masked(text: str, private: known.Known) -> str:
    if _ORDINARY.fullmatch(text):  # it has the shape of no secret, and may still be a known one
        return _without_values(text, private, known.LONG_CUT)
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
    for pattern in shapes.HOMES if private.folders else ():
        text = pattern.sub("~", text)
    for name in private.names if text not in private.names else ():
        text = re.sub(rf"(?<![A-Za-z0-9_]){re.escape(name)}(?![A-Za-z0-9_])", MASK, text)
    return text


def _without_known(text: str, private: known.Known) -> str:
    text = _without_values(text, private, known.FEWEST)
    for home in private.homes:
        if home in text:
            text = re.sub(rf"(?<![\w.~-]){re.escape(home)}(?![\w.-])", "~", text)
    return text


def _without_values(text: str, private: known.Known, fewest: int) -> str:
    """Mask secrets that are known, and at the end ``fewest`` or more characters of one."""
    parts = (text[at : at + known.FEWEST] for at in range(len(text) - known.FEWEST + 1))
    if private.begins.isdisjoint(parts):
        return text
    for value in private.values:
        if value in text:
            inside = len(value) >= known.LONG
            bounded = rf"(?<![A-Za-z0-9]){re.escape(value)}(?![A-Za-z0-9])"
            text = text.replace(value, MASK) if inside else re.sub(bounded, MASK, text)
    return _without_cut(text, private.values, fewest)


def _without_cut(text: str, values: tuple[str, ...], fewest: int) -> str:
    """Mask what is left of a value that was cut: much of it anywhere, a little at the end."""
    for value in values:
        if len(value) > known.LONG_CUT and _CUT.fullmatch(value):
            text = _without_part(text, value)
        if value[:fewest] not in text[-len(value) :]:
            continue
        for length in range(min(len(value) - 1, len(text)), fewest - 1, -1):
            if text.endswith(value[:length]):
                text = text[:-length] + MASK
                break
    return text


def _without_part(text: str, value: str) -> str:
    """Mask the beginning and the end of a value, of at least ``known.LONG_CUT`` characters."""
    while (at := text.find(value[: known.LONG_CUT])) >= 0:
        text = text[:at] + MASK + text[at + _same(text[at:], value) :]
    while (end := text.find(value[-known.LONG_CUT :]) + known.LONG_CUT) >= known.LONG_CUT:
        length = _same(text[:end][::-1], value[::-1])
        text = text[: end - length] + MASK + text[end:]
    return text


def _same(one: str, other: str) -> int:
    """Return with how many of the same characters two texts begin."""
    return next(
        (n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b),
        min(len(one), len(other)),
    )


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
