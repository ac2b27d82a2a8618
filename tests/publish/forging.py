"""Snapshots that somebody changed, and made all hashes agree with what they wrote."""

from __future__ import annotations

import hashlib
import json
import shutil
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from coldwarm.contracts.codec import decode, encode
from coldwarm.errors import ContractError
from coldwarm.publish import layout

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Edit = Callable[[Any], None]


def copy(snapshot: Path, target: Path) -> Path:
    """Return a copy of a snapshot that is sound: it has no link, and no device."""
    shutil.copytree(snapshot, target)
    return target


def edit(folder: Path, path: str, change: Edit) -> None:
    """Change a document of a snapshot, and let every index agree with it."""
    file = folder / path
    document = json.loads(file.read_bytes())
    change(document)
    write(file, document)
    agree(folder)


def write(file: Path, document: Any) -> None:
    """Write a document as coldwarm writes it, so that nothing but what it says can tell."""
    data = (json.dumps(document, indent=2, ensure_ascii=False) + "\n").encode()
    with suppress(ContractError):
        again = encode(decode(data))
        if json.loads(again)["schema_version"] == document["schema_version"]:
            data = again
    file.write_bytes(data)


def agree(folder: Path) -> None:
    """Write the hash of every file wherever it stands, from the inside to the outside."""
    for index in sorted(folder.rglob("suite.json")):
        run = index.parent
        if (run / "nextstat").is_dir():
            rows(run / "nextstat" / "ml_suite.json")
        document = json.loads(index.read_bytes())
        for name in ("environment", "answers"):
            if document.get(f"{name}_path"):
                document[f"{name}_sha256"] = sha256(run / document[f"{name}_path"])
        write(index, document)
        rows(index)
    rows(folder / "nextstat" / "ml_suite.json")
    report = folder / layout.VALIDATION
    document = json.loads(report.read_bytes())
    for figure in document["figures"]:
        figure["source"]["sha256"] = sha256(folder / figure["source"]["path"])
    for one in document["verdicts"]:
        one["sha256"] = sha256(folder / one["path"])
    write(report, document)
    manifest = folder / layout.MANIFEST
    document = json.loads(manifest.read_bytes())
    for row in document["results"]:
        row["sha256"] = sha256(folder / row["path"])
    write(manifest, document)
    of_index(folder)


def of_index(folder: Path) -> None:
    """Write sizes and hashes into the index of the snapshot, and sizes into its crate."""
    _sizes(folder)
    index = folder / layout.INDEX
    document = json.loads(index.read_bytes())
    for row in document["artifacts"]:
        data = (folder / row["path"]).read_bytes()
        row["bytes"], row["sha256"] = len(data), hashlib.sha256(data).hexdigest()
    write(index, document)


def _sizes(folder: Path) -> None:
    crate = folder / layout.CRATE
    document = json.loads(crate.read_bytes())
    for one in document["@graph"]:
        file = folder / one["@id"]
        if "contentSize" in one and file.is_file():
            one["contentSize"] = str(file.stat().st_size)
    crate.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n")


def rows(index: Path) -> None:
    """Write hashes into the rows of an index of cases, where they are others."""
    document = json.loads(index.read_bytes())
    before = json.dumps(document)
    for row in document["cases"]:
        row["sha256"] = sha256(index.parent / row["path"])
    if json.dumps(document) != before:
        write(index, document)


def sha256(file: Path) -> str:
    """Return the hash of a file."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def texts(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield where texts stand in a document."""
    if isinstance(value, dict):
        for name, one in value.items():
            yield from texts(one, (*path, name))
    elif isinstance(value, list):
        for place, one in enumerate(value):
            yield from texts(one, (*path, place))
    elif isinstance(value, str):
        yield path


def put(document: Any, path: tuple[str | int, ...], value: Any) -> None:
    """Set a value at a place of a document."""
    for step in path[:-1]:
        document = document[step]
    document[path[-1]] = value
