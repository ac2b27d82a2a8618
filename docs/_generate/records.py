"""One page for each module of records, a section for each record."""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import re
from functools import cache
from typing import TYPE_CHECKING

import msgspec

from _generate import source
from _generate.rst import body_of, definition, heading, literal, title_of, toctree
from coldwarm.contracts.codec import schema_names, schema_text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from types import ModuleType

PACKAGE = "coldwarm.contracts"


def defined_in(module: ModuleType) -> list[type[msgspec.Struct]]:
    """Return the records of a module that are public or a part of a document, as they appear."""
    members = vars(module).values()
    return [
        member
        for member in members
        if inspect.isclass(member)
        and issubclass(member, msgspec.Struct)
        and member.__module__ == module.__name__
        and (member.__name__[0] != "_" or _plain(member.__name__) in _parts())
    ]


def _plain(name: str) -> str:
    """Return the name of a record in the schemas."""
    return name.removeprefix("_")


@cache
def _parts() -> set[str]:
    """Return the names of all records that documents consist of."""
    schemas = [json.loads(schema_text(name)) for name in schema_names()]
    return {name for schema in schemas for name in schema["$defs"]}


def pages(package: Path) -> dict[str, str]:
    """Return a page for each module that defines records, and the page above them."""
    found = {}
    for path in source.modules(package / "contracts"):
        module = importlib.import_module(f"{PACKAGE}.{path.stem}")
        if records := defined_in(module):
            found[path.stem] = _page(path, records)
    index = (
        heading("Records")
        + "What is written down, field by field. A record that is written as a file of its own\n"
        + "carries ``schema_version``; ``coldwarm schema NAME`` prints its JSON Schema. Names\n"
        + "carry the unit: ``_s`` seconds, ``_bytes``, ``_flops``, ``_hz``. A value that was not\n"
        + "measured is ``null``, and ``null_reasons`` says why.\n\n"
        + toctree(found)
    )
    return {"index": index, **found}


def _page(path: Path, records: list[type[msgspec.Struct]]) -> str:
    """Return the page of one module."""
    tree = source.parse(path)
    text = source.docstring(tree, path.name)
    nodes = source.classes(tree)
    sections = "".join(_section(record, nodes) for record in records)
    return heading(title_of(text)) + f"{body_of(text)}\n\n" + _types(tree.body) + sections


def _types(body: list[ast.stmt]) -> str:
    """Return the section of the types that a module names, if it names any."""
    named = (
        definition(literal(name), literal(ast.unparse(value)))
        for name, _, value, _ in source.assignments(body)
        if value and name[0].isupper() and not name.isupper()
    )
    entries = "".join(named)
    return heading("Types", 1) + entries if entries else ""


def _section(record: type[msgspec.Struct], nodes: Mapping[str, ast.ClassDef]) -> str:
    """Return the section of one record."""
    name = record.__name__
    node = nodes[name]
    bases = [nodes[base.__name__] for base in record.__mro__[:0:-1] if base.__name__ in nodes]
    written = {
        key: (kind, text)
        for one in (*bases, node)
        for key, kind, _, text in source.assignments(one.body)
    }
    fields = (
        _field(field, *written.get(field.name, ("", "")))
        for field in msgspec.structs.fields(record)
    )
    text = source.docstring(node, name)
    return heading(_plain(name), 1, f"record-{_plain(name)}") + f"{text}\n\n" + "".join(fields)


def _field(field: msgspec.structs.FieldInfo, kind: str, text: str) -> str:
    """Return the entry of one field: its name in JSON, its type and what it holds."""
    kind = re.sub(r"\b_(?=[A-Z])", "", kind or getattr(field.type, "__name__", str(field.type)))
    if field.required:
        necessity = "Required."
    elif field.default is msgspec.UNSET:
        necessity = "Left out where it does not apply."
    elif field.default is msgspec.NODEFAULT:
        necessity = "Empty by default."
    else:
        necessity = f"Default {literal(msgspec.json.encode(field.default).decode())}."
    return definition(
        f"{literal(field.encode_name)} : {literal(kind)}", f"{text} {necessity}".strip()
    )
