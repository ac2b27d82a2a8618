"""Records to bytes and back, and their JSON Schemas: one way to write, one strict way to read.

Every artifact carries its ``schema_version``, ``<family>.<kind>.v<number>``, and is read by it. Any
other version than that of today is refused with what to do. Whatever the bytes are, reading raises
``ContractError`` and nothing else, in one line with file, line and field.

``python -m coldwarm.contracts.codec`` writes the schemas anew, or into a folder that is named; a
test fails where the committed files are not what the types say.
"""

from __future__ import annotations

import difflib
import inspect
import json
import math
import re
import stat
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeVar, cast

import msgspec

from coldwarm import __version__, installing, masking
from coldwarm.contracts.base import Record, documents
from coldwarm.errors import ContractError, NewerVersionError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_TOO_DEEP = "is nested too deeply for any artifact"


class _TokenError(ValueError):
    """A number that JSON does not have; carries how it is written."""

    def __init__(self, token: str, message: str) -> None:
        super().__init__(message)
        self.token = token


class _RepeatedKeyError(ValueError):
    """A key that stands twice in one object."""


def parse(data: bytes, path: str, *, with_nan: bool = False) -> tuple[str, Any]:
    """Return the text and the plain values of one strict JSON document.

    Args:
        data: The bytes of the document.
        path: The file they come from, for messages.
        with_nan: Whether NaN and infinite numbers, which some tools write, are values that are not
            there: ``None``.

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
        return text, _load(text, with_nan=with_nan)
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


def _refuse_non_finite(value: Any, name: str) -> None:
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


def _load(text: str, *, with_nan: bool = False) -> Any:
    document = json.loads(
        text,
        object_pairs_hook=_once,
        parse_float=_finite,
        parse_constant=(lambda _: None) if with_nan else _no_constant,
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


_Steps = tuple[str | int, ...]
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
) -> _Steps:
    """Return the whole path; msgspec writes ``[...]`` instead of a mapping's key."""
    path: _Steps = ()
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


def _expectation(what: str, where: _Steps, type_: type[Record]) -> str:
    """Say what was expected: for a closed set, its members."""
    if what.startswith("Invalid enum value"):
        names = [repr(value) for value in _alternatives(where, type_)]
        return f"expected {_in_words(names)}"
    if what.startswith(_NO_NAME):
        return "expected a name, of characters that can all be seen"
    return what.replace("`", "").replace("Expected", "expected", 1)


def _alternatives(where: _Steps, type_: type[Record]) -> list[Any]:
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


_R = TypeVar("_R", bound=Record)
_V = TypeVar("_V", bound="Record | Mapping[str, Any] | Sequence[Any]")

MAX_BYTES = 2**27
"""Larger files are refused: no artifact comes near it."""


class _Contract(NamedTuple):
    """A kind of document, as this coldwarm writes it."""

    kind: str
    """``<family>.<kind>``, without the version."""
    version: int
    type: type[Record]

    @property
    def name(self) -> str:
        """The ``schema_version`` this coldwarm writes."""
        return f"{self.kind}.v{self.version}"


def _contract(type_: type[Record]) -> _Contract:
    """Read a record's contract from the default of its ``schema_version``."""
    name = next(f.default for f in msgspec.structs.fields(type_) if f.name == "schema_version")
    kind, _, version = str(name).rpartition(".v")
    return _Contract(kind, int(version), type_)


@cache
def _contracts() -> dict[str, _Contract]:
    """Return what can be read and written, by kind."""
    found = sorted(map(_contract, documents()))
    return {contract.kind: contract for contract in found}


_VERSION = re.compile(r"^(?P<kind>[a-z0-9_.]+)\.v(?P<number>[0-9]{1,9})$")
_NUMBERS = re.compile(rb"\[\s*\n([-+0-9.eE,\s]+)\]")


def encode(record: Record) -> bytes:
    """Return the record as indented JSON, the same bytes for equal records.

    Fields stand in their declared order, mappings are sorted by key, and the text ends
    with a newline.

    Raises:
        ContractError: a value breaks the record's own contract, such as a duration below
            zero, or is NaN, infinite or no valid text.
    """
    text = msgspec.json.format(encode_compact(record), indent=2)
    return _NUMBERS.sub(_on_one_line, text) + b"\n"


def encode_compact(value: Record | Mapping[str, Any]) -> bytes:
    """Return a record, or a mapping of plain values, as JSON without any blank.

    Nothing private leaves here: every text is masked.

    Raises:
        ContractError: as ``encode``.
    """
    try:
        return msgspec.json.encode(without_secrets(value), order="deterministic")
    except (UnicodeEncodeError, TypeError, RecursionError) as error:
        raise _unwritable(value, error) from None


def without_secrets(value: _V) -> _V:
    """Return a record, or a mapping of plain values, as it may be written and shown.

    Raises:
        ContractError: as ``encode``.
    """
    name = type(value).__name__
    try:
        plain = cleaned(msgspec.to_builtins(value))
        _refuse_non_finite(plain, name)
    except (UnicodeEncodeError, TypeError, RecursionError) as error:
        raise _unwritable(value, error) from None
    if not isinstance(value, Record):
        return cast("_V", plain)
    try:
        return msgspec.convert(plain, type(value))
    except msgspec.ValidationError as error:
        raise explain(error, plain, type(value), None, name) from None


def cleaned(value: Any) -> Any:
    """Return plain values as they may be written: every text masked, keys of mappings too."""
    return masking.cleaned(value)


def same_apart_from_masks(one: object, other: object) -> bool:
    """Say whether two plain values are the same, whatever was masked in their texts."""
    if isinstance(one, dict) and isinstance(other, dict):
        pairs = zip(_besides(one, other), _besides(other, one), strict=False)
        named = ((one[name], other[name]) for name in one.keys() & other.keys())
        same = all(same_apart_from_masks(*pair) for pair in (*named, *pairs))
        return len(one) == len(other) and same
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        pairs = zip(one, other, strict=False)
        return len(one) == len(other) and all(same_apart_from_masks(*pair) for pair in pairs)
    if isinstance(one, str) and isinstance(other, str):
        return masking.alike(one, other)
    return one == other


def _besides(mapping: dict[object, object], other: dict[object, object]) -> list[object]:
    """Return the items whose names the other lacks, as a name may have been masked there."""
    return [[name, value] for name, value in mapping.items() if name not in other]


def _unwritable(value: object, error: Exception) -> ContractError:
    return ContractError(type(value).__name__, f"cannot be written as JSON: {error}")


def decode(data: bytes, path: str = "<bytes>") -> Record:
    """Return the record in ``data``, whichever its ``schema_version`` names.

    Args:
        data: The bytes of one JSON document in UTF-8.
        path: The file they come from, for messages.

    Raises:
        NewerVersionError: a later coldwarm wrote it.
        ContractError: anything else that is wrong with it.
    """
    text, document = parse(data, path)
    contract, document = _recognise(document, text, path)
    try:
        return msgspec.convert(document, contract.type)
    except msgspec.ValidationError as error:
        raise explain(error, document, contract.type, text, path) from None
    except RecursionError:
        raise ContractError(path, "is nested too deeply for any artifact") from None


def decode_as(type_: type[_R], data: bytes, path: str = "<bytes>") -> _R:
    """Return the record in ``data``, which must be a ``type_``.

    Raises:
        ContractError: as ``decode``, or it is another kind of record.
    """
    record = decode(data, path)
    if not isinstance(record, type_):
        found, wanted = _contract(type(record)).name, _contract(type_).name
        raise ContractError(path, f"expected {wanted!r}, got {found!r}", field="schema_version")
    return record


def load(path: Path) -> Record:
    """Return the record in a file.

    Raises:
        ContractError: the file cannot be read, or as ``decode``.
    """
    return decode(read_bytes(path), str(path))


def load_as(type_: type[_R], path: Path) -> _R:
    """Return the record in a file, which must be a ``type_``.

    Raises:
        ContractError: the file cannot be read, or as ``decode_as``.
    """
    return decode_as(type_, read_bytes(path), str(path))


def read_bytes(path: Path) -> bytes:
    """Return what an artifact's file holds.

    Raises:
        ContractError: it is not there, not readable, or larger than ``MAX_BYTES``.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise ContractError(str(path), "is no regular file")
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise ContractError(str(path), f"cannot be read: {error.strerror}") from None
    except ValueError as error:  # a name that no file can have
        raise ContractError(repr(str(path)), f"cannot be read: {error}") from None
    if len(data) > MAX_BYTES:
        raise ContractError(str(path), f"is larger than {MAX_BYTES} bytes; no artifact is")
    return data


def _recognise(document: Any, text: str, path: str) -> tuple[_Contract, dict[str, Any]]:
    """Return the contract of a document, and the document at the contract's version."""
    if not isinstance(document, dict):
        raise ContractError(
            path, "is no artifact: expected an object with a schema_version", line=1
        )
    named = document.get("schema_version")
    line = line_of(text, ("schema_version",))
    matched = _VERSION.match(named) if isinstance(named, str) else None
    contract = _contracts().get(matched["kind"]) if matched else None
    if matched is None or contract is None:
        raise ContractError(path, _unknown(named), line=line, field="schema_version")
    if int(matched["number"]) > contract.version:
        what = f"{named} is newer than v{contract.version}, which this coldwarm {__version__}"
        advice = f"reads; install a newer coldwarm to read it: {installing.advice()}"
        raise NewerVersionError(path, f"{what} {advice}")
    if int(matched["number"]) < contract.version or named != contract.name:
        what = f"{named} is older than {contract.name}, which alone is read; measure again"
        raise ContractError(path, what, line=line, field="schema_version")
    return contract, contract.type.mended(document)


def _unknown(named: object) -> str:
    known = [contract.name for contract in _contracts().values()]
    if not isinstance(named, str):
        return f"is missing or no text; expected one such as {known[0]!r}"
    near = difflib.get_close_matches(named, known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(known)}"
    return f"unknown {named[:80]!r}; {hint}"


def _on_one_line(numbers: re.Match[bytes]) -> bytes:
    return b"[" + b", ".join(item.strip() for item in numbers[1].split(b",")) + b"]"


_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema_names() -> list[str]:
    """Return the names of all contracts, such as ``coldwarm.case_result.v1``, sorted."""
    return sorted(contract.name for contract in _contracts().values())


def schema_text(name: str) -> str:
    """Return the JSON Schema of a contract, ending with a newline.

    Args:
        name: A full name, or its last part: ``case_result``, ``case_result.v1``.

    Raises:
        UsageError: no contract has that name; the message has the nearest ones.
    """
    return json.dumps(_schema(_find(name)), indent=2, ensure_ascii=False) + "\n"


def _write_schemas(folder: Path) -> None:
    """Write every schema into ``folder``, and remove others there."""
    for stale in folder.glob("*.json"):
        stale.unlink()
    for name in schema_names():
        (folder / f"{name}.json").write_text(schema_text(name), encoding="utf-8")


def _find(name: str) -> _Contract:
    by_name: dict[str, _Contract] = {}
    for contract in _contracts().values():
        short = contract.name.split(".", 1)[1]
        for alias in (contract.name, contract.kind, short, short.rsplit(".v", 1)[0]):
            by_name[alias] = contract
    if name in by_name:
        return by_name[name]
    near = difflib.get_close_matches(name, by_name, n=3, cutoff=0.5)
    found = list(dict.fromkeys(by_name[alias].name for alias in near)) or schema_names()
    message = f"no contract is named {name!r}; the nearest are {', '.join(found)}"
    if not near:
        message = f"no contract is named {name!r}; there are {', '.join(found)}"
    raise UsageError(message)


def _schema(contract: _Contract) -> dict[str, Any]:
    """Return the schema: ``schema_version`` is required, although the type has a default.

    A record that is private to its module has its name without the underscore.
    """
    plain = json.dumps(msgspec.json.schema(contract.type))
    schema = json.loads(re.sub(r'"(#/\$defs/)?_([A-Z]\w*)"', r'"\1\2"', plain))
    top = schema["$defs"][contract.type.__name__]
    top["required"] = ["schema_version", *(f for f in top["required"] if f != "schema_version")]
    for record in schema["$defs"].values():  # Python 3.13 takes the indentation away itself
        if "description" in record:
            record["description"] = inspect.cleandoc(record["description"])
    return {"$schema": _DIALECT, "$id": contract.name, **schema}


if __name__ == "__main__":
    _write_schemas(Path(*sys.argv[1:]) if sys.argv[1:] else Path(__file__).parent / "schemas")
