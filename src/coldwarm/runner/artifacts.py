"""What was made ahead of time, on its way to the processes that load it.

Each measured process gets a copy beside its caches, so that none can change what the next one
loads, and so that the listings of caches prove it was there.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from typing import TYPE_CHECKING

from coldwarm.caches.made import OWNER
from coldwarm.contracts.result import Artifact

if TYPE_CHECKING:
    from pathlib import Path

    from coldwarm.runner.schedule.suites import Case


def folder_of(work: Path, case: Case) -> Path:
    """Return where a run's working directory has what was made for a case."""
    return work / "made" / case.id


def describe(folder: Path) -> list[Artifact]:
    """Return the files in a folder with their sizes and hashes."""
    return [
        Artifact(
            name=str(path.relative_to(folder)),
            bytes=path.stat().st_size,
            sha256=hashlib.sha256(path.read_bytes()).hexdigest(),
        )
        for path in _files(folder)
    ]


def lay(work: Path, case: Case, root: Path) -> list[Path]:
    """Copy what was made for a case beside the caches of a process; return the copies.

    A copy that an earlier process of the same caches was given is replaced.
    """
    if not case.backend.prepares:
        return []
    target = root / OWNER
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(folder_of(work, case), target)
    copies = _files(target)
    for path in copies:
        with path.open("rb") as file:
            os.fsync(file.fileno())  # pages that are not on the disk could not be dropped
    return copies


def _files(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.rglob("*")) if path.is_file()]
