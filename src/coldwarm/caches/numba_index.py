"""Numba's index of what it has kept of a function: a pickle, of which the texts alone are read.

It holds Numba's version, a stamp of the source file, and for each signature the processor, hashes
of the code and of the captured values, and the name of the file with the machine code.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING

from coldwarm.caches.kept import pickled_texts, written
from coldwarm.contracts.kept_entry import KeptEntry
from coldwarm.contracts.reasons import because

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence
    from pathlib import Path

_INDEX, _CODE = ".nbi", ".nbc"
_MOST_BYTES = 2**24
_FILE = re.compile(r"(?P<name>.+)-(?P<line>\d+)\.py\d+\w*")
_HASH = re.compile(r"[0-9a-f]{64}")
_FEATURES = re.compile(r"[+-][\w.-]+(,[+-][\w.-]+)+")


def read(root: Path, path: Path) -> list[KeptEntry] | None:
    """Return the programs of an index; ``None``: it is no file of Numba's."""
    if path.suffix == _CODE:
        return []  # told by its index
    if path.suffix != _INDEX:
        return None
    told = _FILE.fullmatch(path.stem)
    name = told["name"] if told else path.stem
    try:
        status = path.stat()
    except OSError:
        return []  # gone in the meantime
    try:
        with path.open("rb") as file:
            texts = pickled_texts(file.read(_MOST_BYTES))
        return [
            _program(root, path.parent / code, name, {"version": texts[0], **parts}, status)
            for code, parts in _programs(texts, path.stem)
        ]
    except (OSError, ValueError, IndexError):
        return [
            KeptEntry(
                owner="numba",
                path=str(path.relative_to(root)),
                program=name,
                key="",
                n_bytes=status.st_size,
                modified_ns=written(status),
                fault=because("entry_damaged"),
            )
        ]


def _program(
    root: Path, path: Path, name: str, parts: dict[str, str], index: os.stat_result
) -> KeptEntry:
    """Return a program of an index, whose machine code is in a file beside it."""
    there = path.is_file() and not path.is_symlink()
    status = path.stat() if there else index
    told = json.dumps(parts, sort_keys=True).encode()
    return KeptEntry(
        owner="numba",
        path=str(path.relative_to(root)),
        program=name,
        key=hashlib.sha256(told).hexdigest()[:16],
        n_bytes=status.st_size if there else 0,
        modified_ns=written(status),
        parts=parts,
        fault=None if there else because("entry_missing"),
    )


def _programs(texts: Sequence[str], stem: str) -> list[tuple[str, dict[str, str]]]:
    """Return for each signature its file, and what it was made for."""
    found: list[tuple[str, dict[str, str]]] = []
    begin = 1
    for at, one in enumerate(texts):
        if one.startswith(stem) and one.endswith(_CODE) and "/" not in one:
            found.append((one, _parts(texts[begin:at])))
            begin = at + 1
    return found


def _parts(texts: Sequence[str]) -> dict[str, str]:
    """Return what the texts of one signature tell."""
    parts: dict[str, str] = {}
    hashes = [one for one in texts if _HASH.fullmatch(one)][-2:]
    for at, one in enumerate(texts):
        if _FEATURES.fullmatch(one) and at:
            parts |= {"processor": texts[at - 1], "features": one}
    types = [one for one in texts if one.endswith(")") and "(" in one]
    if types:
        parts["types"] = ", ".join(types)
    names = ("code", "captured")
    return parts | {name: value[:12] for name, value in zip(names, hashes, strict=False)}
