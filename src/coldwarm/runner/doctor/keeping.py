"""Keeps a program as it is now, so that it can be compared with what becomes of it."""

from __future__ import annotations

import filecmp
import hashlib
import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from coldwarm.errors import StorageError, UsageError
from coldwarm.runner.doctor.earlier import place
from coldwarm.runner.functions.revisions import files_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

FOLDER = Path("out", "doctor-before")
_STATE, _TREE = "state.json", "tree"
_COPIED_BYTES = 2**20
"""Larger files are data: they are linked, and stay as they are today."""
_MOST_FILES = 20_000
_WRITTEN = {".py", ".toml", ".yaml", ".yml", ".cfg", ".ini"}
_DIGITS = 8


@dataclass(frozen=True)
class State:
    """What was kept of a program's folder."""

    tree: Path
    root: Path
    """The folder that it is a copy of."""
    since: str
    names: Sequence[str]

    def changed(self) -> bool:
        """Say whether a source or a setting is another one now, or was added or removed.

        Other files are not looked at: a program that writes some would have changed itself.
        """
        then, now = (set(map(_written, names)) - {""} for names in (self.names, _names(self.root)))
        return then != now or any(
            not filecmp.cmp(self.tree / name, self.root / name, shallow=False) for name in then
        )


def _written(name: str) -> str:
    """Return the name of a file that people write, or nothing."""
    return name if Path(name).suffix in _WRITTEN else ""


def state(command: Sequence[str]) -> State | None:
    """Return what was kept for a command; ``None``: nothing was."""
    folder = _folder(command)
    try:
        told = json.loads((folder / _STATE).read_text("utf-8"))
        return State(folder / _TREE, Path(told["root"]), told["since"], told["names"])
    except (OSError, ValueError, KeyError):
        return None


def keep(command: Sequence[str], date: str) -> Path:
    """Keep the folder of a program as it is, and return where.

    Raises:
        UsageError: it has too many files to be kept.
        StorageError: it cannot be written.
    """
    folder, found = _folder(command), files_of(place(command))
    root = found[0] if found else place(command)
    names = list(_names(root))
    if len(names) > _MOST_FILES:
        text = f"{root} has more than {_MOST_FILES} files; name its earlier state with --before"
        raise UsageError(text)
    try:
        shutil.rmtree(folder, ignore_errors=True)
        for name in names:
            _copy(root / name, folder / _TREE / name)
        told = {"root": str(root), "since": date, "names": names}
        (folder / _STATE).write_text(json.dumps(told), encoding="utf-8")
    except OSError as error:
        reason = error.strerror or str(error)
        text = f"{folder} cannot be written: {reason}; name the earlier state with --before"
        raise StorageError(text) from error
    return folder


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.stat().st_size <= _COPIED_BYTES:
        shutil.copy2(source, target)
    else:
        target.symlink_to(source)


def _folder(command: Sequence[str]) -> Path:
    name = command[1] if command[0] == "-m" else Path(command[0]).stem
    whole = "\0".join((str(place(command)), *command)).encode()
    return FOLDER.absolute() / f"{name}-{hashlib.sha256(whole).hexdigest()[:_DIGITS]}"


def _names(root: Path) -> Iterator[str]:
    """Yield the files of a folder: what git does not ignore, or all that are no environment's."""
    found = files_of(root)
    names = found[1] if found is not None and found[0] == root else _walked(root)
    out = Path("out").absolute()
    for name in names:
        path = root / name
        if path.is_file() and not path.is_relative_to(out):
            yield name


def _walked(root: Path) -> Iterator[str]:
    for folder, folders, files in os.walk(root):
        here = Path(folder)
        folders[:] = [one for one in folders if not _is_left_out(here / one)]
        for name in files:
            yield str((here / name).relative_to(root))


def _is_left_out(folder: Path) -> bool:
    hidden = folder.name.startswith(".") or folder.name == "__pycache__"
    return hidden or (folder / "pyvenv.cfg").is_file()
