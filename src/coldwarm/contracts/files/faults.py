"""What is wrong with an artifact, in one line: file, line, field, fault, what to do."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import msgspec

from coldwarm.contracts.files.positions import line_of
from coldwarm.errors import ContractError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.contracts.base import Record

Path = tuple[str | int, ...]
REMEDY = "restore the file as it was written, or measure again"

_AT = re.compile(r"^(?P<what>.*?)(?: - at `(?:key in )?\$(?P<path>.*)`)?$", re.DOTALL)
_STEP = re.compile(r"\.(?P<key>\w+)|\[(?P<index>\d+|\.\.\.)\]")
_FIELD = re.compile(r"(?:unknown|required) field `(?P<name>.*)`", re.DOTALL)
_NO_NAME = "Expected `str` matching regex '^(?!::)"
"""How msgspec begins to say that a text is no ``names.Name``."""
_LONGEST_SHOWN = 60


def fault(path: str, line: int | None, field: str | None, what: str) -> ContractError:
    """Return the error for a fault in the file ``path``, its message in one line."""
    return ContractError(path, what, line=line, field=field)


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
        return fault(path, None, dotted(where), expected)
    return fault(path, line_of(text, where), dotted(where) or None, f"{expected}; {REMEDY}")


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
