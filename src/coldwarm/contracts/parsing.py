"""JSON as artifacts have it: read without loose ends, and each fault in one line with its place."""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any, NoReturn

import msgspec

from coldwarm.errors import ContractError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.contracts.base import Record


_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_TOO_DEEP = "is nested too deeply for any artifact"


class _TokenError(ValueError):
    """A number that JSON does not have; carries how it is written."""

    def __init__(self, token: str, message: str) -> None:
        super().__init__(message)
        self.token = token


class _RepeatedKeyError(ValueError):
    """A key that stands twice in one object."""


def parse(data: bytes, path: str) -> tuple[str, Any]:
    """Return the text and the plain values of one strict JSON document.

    Args:
        data: The bytes of the document.
        path: The file they come from, for messages.

    Raises:
        ContractError: not UTF-8, not JSON, NaN or infinite numbers, half of a surrogate
            pair, a key twice in one object, or nesting too deep to read.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ContractError(path, f"is not UTF-8 text: {error.reason}", line=line) from None
    try:
        return text, _load(text)
    except json.JSONDecodeError as error:
        place = f"{path}:{error.lineno}:{error.colno}"
        raise ContractError(place, f"is not JSON: {error.msg}") from None
    except RecursionError:
        raise ContractError(path, _TOO_DEEP) from None
    except UnicodeEncodeError:
        what = "holds half of a surrogate pair, which is no text"
        raise ContractError(path, what) from None
    except _TokenError as error:
        raise ContractError(path, str(error), line=_line_of_token(text, error.token)) from None
    except _RepeatedKeyError:
        line, key = _line_of_repeated_key(text)
        raise ContractError(path, "stands twice in one object", line=line, field=key[:80]) from None
    except ValueError as error:  # an integer of thousands of digits
        raise ContractError(path, f"holds a number too long to read: {error}") from None


def refuse_non_finite(value: Any, name: str) -> None:
    """Refuse NaN and infinities, which JSON has no way to write.

    Args:
        value: Plain values, containers of any depth.
        name: What they are, for the message.

    Raises:
        ContractError: one was found; the message has its path.
    """
    stack: list[tuple[tuple[str | int, ...], Any]] = [((), value)]
    while stack:
        path, item = stack.pop()
        if isinstance(item, float):
            if not math.isfinite(item):
                what = f"{item} cannot be written; a value that was not measured is null"
                raise ContractError(name, what, field=dotted(path) or None)
        elif isinstance(item, dict):
            stack.extend(((*path, str(k)), part) for k, part in item.items() if _suspect(part))
        elif isinstance(item, list | tuple):
            stack.extend(((*path, n), part) for n, part in enumerate(item) if _suspect(part))


def _suspect(value: Any) -> bool:
    """Say whether a value has to be checked; a finite number, as most are, has not."""
    return type(value) is not float or not math.isfinite(value)


def _load(text: str) -> Any:
    document = json.loads(
        text,
        object_pairs_hook=_once,
        parse_float=_finite,
        parse_constant=_no_constant,
    )
    if _SURROGATE.search(text):
        msgspec.json.encode(document)  # raises where a pair is incomplete
    return document


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _RepeatedKeyError
    return found


def _finite(token: str) -> float:
    number = float(token)
    if not math.isfinite(number):
        raise _TokenError(token, f"the number {token[:40]} is too large")
    return number


def _no_constant(token: str) -> NoReturn:
    raise _TokenError(token, f"{token} is no number; a value that was not measured is null")


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


def _line_of_token(text: str, token: str) -> int:
    """Return the line of the first bare ``token``, such as ``NaN``, outside any string."""
    found = (match.start() for match in _TOKEN.finditer(text) if match.group() == token)
    return text.count("\n", 0, next(found, 0)) + 1


def _line_of_repeated_key(text: str) -> tuple[int, str]:
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


Path = tuple[str | int, ...]
_REMEDY = "restore the file as it was written, or measure again"

_AT = re.compile(r"^(?P<what>.*?)(?: - at `(?:key in )?\$(?P<path>.*)`)?$", re.DOTALL)
_STEP = re.compile(r"\.(?P<key>\w+)|\[(?P<index>\d+|\.\.\.)\]")
_FIELD = re.compile(r"(?:unknown|required) field `(?P<name>.*)`", re.DOTALL)
_NO_NAME = "Expected `str` matching regex '^(?!::)"
"""How msgspec begins to say that a text is no ``names.Name``."""
_LONGEST_SHOWN = 60


def dotted(path: Sequence[str | int]) -> str:
    """Return a path as it is written in messages, such as ``cases[3].status``."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif step.isidentifier():
            text += f".{step}" if text else step
        else:
            text += f"[{json.dumps(step)}]"
    return text


def explain(
    error: msgspec.ValidationError,
    document: Any,
    type_: type[Record],
    text: str | None,
    path: str,
) -> ContractError:
    """Turn a validation error into a message that names line, field and remedy.

    Args:
        error: What ``msgspec.convert(document, type_)`` raised.
        document: The parsed JSON.
        type_: The record it should have been.
        text: The JSON text itself; ``None`` for a record that is not written yet.
        path: The file's name, for the message.
    """
    matched = _AT.match(str(error))
    what = matched["what"] if matched else str(error)
    where = _resolve(error, (matched["path"] or "") if matched else "", document, type_)
    named = _FIELD.search(what)
    if named is not None:
        where = (*where, named["name"])
        missing = "missing" in what
        expected = "is required and is not there" if missing else "is no field of this record"
    else:
        expected = _expectation(what, where, type_)
        if ", got " not in expected:
            expected += f", got {_short(_value_at(document, where))}"
    if text is None:
        return ContractError(path, expected, field=dotted(where))
    return ContractError(
        path, f"{expected}; {_REMEDY}", line=line_of(text, where), field=dotted(where) or None
    )


def _value_at(document: Any, path: Sequence[str | int]) -> Any:
    """Return the value at a path that exists in a parsed document."""
    for step in path:
        document = document[step]
    return document


def _resolve(
    error: msgspec.ValidationError, steps: str, document: Any, type_: type[Record]
) -> Path:
    """Return the whole path; msgspec writes ``[...]`` instead of a mapping's key."""
    path: Path = ()
    for step in _STEP.finditer(steps):
        if step["key"] is not None:
            path = (*path, step["key"])
        elif step["index"] != "...":
            path = (*path, int(step["index"]))
        else:
            path = (*path, _guilty_key(str(error), _value_at(document, path), document, type_))
    return path


def _guilty_key(message: str, mapping: dict[str, Any], document: Any, type_: type[Record]) -> str:
    """Find the first key of ``mapping``, a part of ``document``, that causes the error.

    The error is the same for every leading part of the mapping that contains the guilty
    key, so a bisection over how many keys are kept finds it.
    """
    items = list(mapping.items())
    low, high = 0, len(items) - 1
    while low < high:
        middle = (low + high) // 2
        mapping.clear()
        mapping.update(items[: middle + 1])
        low, high = (low, middle) if _raises(message, document, type_) else (middle + 1, high)
    mapping.clear()
    mapping.update(items)
    return items[low][0]


def _raises(message: str, document: Any, type_: type[Record]) -> bool:
    try:
        msgspec.convert(document, type_)
    except msgspec.ValidationError as error:
        return str(error) == message
    return False


def _expectation(what: str, where: Path, type_: type[Record]) -> str:
    """Say what was expected: for a closed set, its members."""
    if what.startswith("Invalid enum value"):
        names = [repr(value) for value in _alternatives(where, type_)]
        return f"expected {_in_words(names)}"
    if what.startswith(_NO_NAME):
        return "expected a name, of characters that can all be seen"
    return what.replace("`", "").replace("Expected", "expected", 1)


def _alternatives(where: Path, type_: type[Record]) -> list[Any]:
    """Return the members of the closed set at a path, by the record's JSON Schema."""
    schema = msgspec.json.schema(type_)
    node = _follow(schema, schema)
    for step in where:
        if isinstance(step, int):
            node = _follow(node["items"], schema)
        else:
            properties = node.get("properties", {})
            node = _follow(properties.get(step) or node["additionalProperties"], schema)
    return list(node.get("enum", ()))


def _follow(node: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """Follow references, and of alternatives take the one that is not null."""
    while "$ref" in node or "anyOf" in node:
        if "anyOf" in node:
            node = next(n for n in node["anyOf"] if n.get("type") != "null")
        else:
            node = schema["$defs"][node["$ref"].rsplit("/", 1)[-1]]
    return node


def _in_words(names: list[str]) -> str:
    return " or ".join((", ".join(names[:-1]), names[-1]) if len(names) > 1 else names)


def _short(value: Any) -> str:
    if isinstance(value, str):
        text = repr(value)
    elif isinstance(value, int | float) or value is None:
        text = json.dumps(value) if abs(value or 0) < 2**64 else "a huge number"
    else:
        text = "an array" if isinstance(value, list) else "an object"
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 1] + "…"
