"""Records to bytes and back, and their JSON Schemas: one way to write, one strict way to read.

Every artifact carries its ``schema_version``, ``<family>.<kind>.v<number>``, and is read by it. Any
other version than that of today is refused with what to do. Whatever the bytes are, reading raises
``ContractError`` and nothing else, in one line with file, line and field.

``python -m coldwarm.contracts.codec`` writes the schemas anew; a test fails where the committed
files are not what the types say.
"""

from __future__ import annotations

import difflib
import inspect
import json
import re
import stat
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import msgspec

from coldwarm import __version__, installing, masking
from coldwarm.contracts.base import Record, documents
from coldwarm.contracts.parsing import explain, line_of, parse, refuse_non_finite
from coldwarm.errors import ContractError, NewerVersionError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


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
def contracts() -> dict[str, _Contract]:
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
        refuse_non_finite(plain, name)
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
        ContractError: as ``load``, or it is another kind of record.
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
    contract = contracts().get(matched["kind"]) if matched else None
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
    known = [contract.name for contract in contracts().values()]
    if not isinstance(named, str):
        return f"is missing or no text; expected one such as {known[0]!r}"
    near = difflib.get_close_matches(named, known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(known)}"
    return f"unknown {named[:80]!r}; {hint}"


def _on_one_line(numbers: re.Match[bytes]) -> bytes:
    return b"[" + b", ".join(item.strip() for item in numbers[1].split(b",")) + b"]"


FOLDER = Path(__file__).parent / "schemas"
_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema_names() -> list[str]:
    """Return the names of all contracts, such as ``coldwarm.case_result.v1``, sorted."""
    return sorted(contract.name for contract in contracts().values())


def schema_text(name: str) -> str:
    """Return the JSON Schema of a contract, ending with a newline.

    Args:
        name: A full name, or its last part: ``case_result``, ``case_result.v1``.

    Raises:
        UsageError: no contract has that name; the message has the nearest ones.
    """
    return _text(_find(name))


def write_schemas(folder: Path = FOLDER) -> list[Path]:
    """Write every schema into ``folder``, remove others there, and return the files."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for contract in contracts().values():
        file = folder / f"{contract.name}.json"
        file.write_text(_text(contract), encoding="utf-8")
        written.append(file)
    for stale in set(folder.glob("*.json")) - set(written):
        stale.unlink()
    return sorted(written)


def _find(name: str) -> _Contract:
    by_name: dict[str, _Contract] = {}
    for contract in contracts().values():
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


def _text(contract: _Contract) -> str:
    return json.dumps(_schema(contract), indent=2, ensure_ascii=False) + "\n"


def _schema(contract: _Contract) -> dict[str, Any]:
    """Return the schema: ``schema_version`` is required, although the type has a default."""
    schema = msgspec.json.schema(contract.type)
    top = schema["$defs"][contract.type.__name__]
    top["required"] = ["schema_version", *(f for f in top["required"] if f != "schema_version")]
    for record in schema["$defs"].values():  # Python 3.13 takes the indentation away itself
        if "description" in record:
            record["description"] = inspect.cleandoc(record["description"])
    return {"$schema": _DIALECT, "$id": contract.name, **schema}


if __name__ == "__main__":
    write_schemas()
