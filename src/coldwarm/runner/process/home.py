"""A home and a cache folder of a process's own, in which all that the user has there is linked.

A program finds its settings and its data where they are, and what it keeps there for the next time
is gone with the folder: a new user has none of that. What is ``hidden`` is not linked: files that
the program makes by itself where they are missing.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

_CACHE = ".cache"


def lay(base: Mapping[str, str], folder: Path, hidden: Collection[str] = ()) -> dict[str, str]:
    """Make the folders under ``folder`` and return the variables that name them.

    Raises:
        OSError: they cannot be made.
    """
    found: dict[str, str] = {}
    for variable, real in _folders(base).items():
        own = folder / variable.lower()
        found[variable] = str(own)
        _link(real, own, hidden, home=variable == "HOME")
    if "HOME" in found:
        found.setdefault("XDG_CACHE_HOME", f"{found['HOME']}/{_CACHE}")
    return found


def reached(base: Mapping[str, str], name: str) -> bool:
    """Say whether a file lies in a folder of which each process has its own."""
    return written(base, Path(), name) is not None


def written(base: Mapping[str, str], folder: Path, name: str) -> Path | None:
    """Return where a process with folders under ``folder`` has written a file of the user's."""
    for variable, real in _folders(base).items():
        for inside in ("", _CACHE):  # which may be a link to somewhere else
            place = os.path.realpath(real / inside)
            if Path(name).is_relative_to(place):
                return folder / variable.lower() / inside / Path(name).relative_to(place)
    return None


def _folders(base: Mapping[str, str]) -> dict[str, Path]:
    """Return the user's home, and the cache folder where it is another one than that in it."""
    home, cache = (base.get(name) or "" for name in ("HOME", "XDG_CACHE_HOME"))
    usual = os.path.join(home, _CACHE)  # noqa: PTH118 - either may be empty
    found = {"HOME": home}
    if cache and os.path.realpath(cache) != os.path.realpath(usual):
        found["XDG_CACHE_HOME"] = cache
    return {name: Path(place) for name, place in found.items() if Path(place).is_absolute()}


def _link(real: Path, own: Path, hidden: Collection[str], *, home: bool = False) -> None:
    """Link the entries of a folder into another, but what is hidden.

    Folders on the way to that are made, and so is the cache folder of a home.
    """
    if own.is_symlink():  # an earlier process had all of it
        return
    own.mkdir(parents=True, exist_ok=True)
    base = Path(os.path.realpath(real))
    below = [Path(one) for one in hidden if Path(one).is_relative_to(base)]
    divided = {one.relative_to(base).parts[0] for one in below if one != base}
    divided |= {_CACHE} if home else set()
    try:
        names = {entry.name for entry in os.scandir(base)}
    except OSError:  # there is none yet, or nobody may look into it
        names = set()
    for name in names | ({_CACHE} if home else set()):
        if str(base / name) in hidden:
            continue
        if name in divided:
            _link(base / name, own / name, hidden)
            continue
        with suppress(FileExistsError):
            (own / name).symlink_to(base / name)
