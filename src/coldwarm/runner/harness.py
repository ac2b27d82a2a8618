"""The harness's own sources: which files they are, and their hash."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
MEASURED = ("worker", "backends", "frameworks", "functions", "workloads")
"""The folders that measured processes load from."""
HASHED = (*MEASURED[:-1], "runner", "caches", "catalogue", "stats", "contracts")
"""The folders that count into the hash; a workload's file has a hash of its own."""


def source_paths(folders: tuple[str, ...] = HASHED) -> list[Path]:
    """Return the source files of folders, and of the messages that both sides exchange."""
    files = [path for folder in folders for path in (PACKAGE / folder).rglob("*.py")]
    return sorted([*files, PACKAGE / "wire.py"])


@cache
def harness_sha256() -> str:
    """Return the hash of the harness's own sources: each path's name and its bytes."""
    digest = hashlib.sha256()
    for path in source_paths():
        name = str(path.relative_to(PACKAGE))
        digest.update(name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()
