"""Prefers a new ``ptxas``: an old one on PATH can break compilation for a GPU."""

from __future__ import annotations

import os
import re
import subprocess
from typing import TYPE_CHECKING

from coldwarm.runner.machine.software import ptxas_files

if TYPE_CHECKING:
    from pathlib import Path

_TIMEOUT_S = 10.0


def release(text: str) -> tuple[int, ...]:
    """Return the version in what ``ptxas --version`` prints; empty where it names none."""
    found = re.search(r"release [\d.]+, V([\d.]+)", text)
    return tuple(int(part) for part in found[1].split(".")) if found else ()


def _version(file: Path) -> tuple[int, ...]:
    try:
        done = subprocess.run(
            [str(file), "--version"], capture_output=True, text=True, timeout=_TIMEOUT_S, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return ()
    return release(done.stdout)


def search_path(path: str) -> str:
    """Return PATH with the newest ``ptxas`` first; unchanged where it is first already.

    Looked at are PATH, the CUDA toolkit, and what the installed packages bring along.
    """
    versions = [(_version(file), file) for _, file in ptxas_files()]
    known = [(version, file) for version, file in versions if version]
    if not known:
        return path
    newest = max(version for version, _ in known)
    chosen = next(file for version, file in known if version == newest)
    return path if chosen == known[0][1] else f"{chosen.parent}{os.pathsep}{path}"
