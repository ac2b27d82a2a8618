"""Prefers a new ``ptxas``: an old one on PATH can break compilation for a GPU."""

from __future__ import annotations

import os

from coldwarm.runner.machine.software import ptxas_files, ptxas_version


def search_path(path: str) -> str:
    """Return PATH with the newest ``ptxas`` first; unchanged where it is first already.

    Searched are PATH, the CUDA toolkit, and what the installed packages bring along.
    """
    versions = [(ptxas_version(file)[0], file) for _, file in ptxas_files()]
    known = [(tuple(map(int, v.split("."))), file) for v, file in versions if v is not None]
    if not known:
        return path
    newest = max(version for version, _ in known)
    chosen = next(file for version, file in known if version == newest)
    return path if chosen == known[0][1] else f"{chosen.parent}{os.pathsep}{path}"
