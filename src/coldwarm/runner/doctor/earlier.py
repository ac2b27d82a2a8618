"""A program as it was before a change: at a revision, in a folder, or in a file."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from coldwarm.errors import UsageError
from coldwarm.runner.functions.revisions import files_of, tree_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_PACKAGES = {"site-packages", "dist-packages"}


@dataclass(frozen=True)
class Side:
    """How a program is started as it was, or as it is."""

    command: Sequence[str]
    """What stands behind ``python``."""
    folder: Path
    """That it is started in."""
    search: Sequence[Path] = field(default=())
    """Where its modules are looked for first."""


def now(command: Sequence[str]) -> Side:
    """Return how a program is started as it is."""
    return Side(command, Path.cwd())


@contextmanager
def before(what: str, command: Sequence[str], python: str, work: Path) -> Iterator[Side]:
    """Give a program as it was: ``what`` is a file, a folder or a revision.

    A script of a revision or a folder runs in the folder of today, so that it finds its data; a
    module (``-m``) runs in the folder that it was in. ``work`` is where a revision is checked out.

    Raises:
        UsageError: there is no such revision, or the program is not in it.
    """
    path = Path(what)
    if path.is_file():
        yield _of_file(path, command)
    elif path.is_dir():
        yield of_tree(path.resolve(), _root(path, command), command, python)
    elif shutil.which("git") and files_of(place(command)) is None:
        text = "is no file, no folder, and there is no git repository here"
        raise UsageError(f"--before: {what} {text}")
    else:
        with tree_of(place(command), what, work / "before") as (root, tree):
            yield of_tree(tree, root, command, python)


def place(command: Sequence[str]) -> Path:
    """Return the folder that a script lies in, or that a module is started in."""
    return Path.cwd() if command[0] == "-m" else Path(command[0]).resolve().parent


def _of_file(path: Path, command: Sequence[str]) -> Side:
    if command[0] == "-m":
        raise UsageError(f"--before {path}: for a module, name a revision or a folder")
    return Side([str(path), *command[1:]], Path.cwd(), [place(command)])


def _root(folder: Path, command: Sequence[str]) -> Path:
    """Return the folder of today that another one was copied from."""
    if command[0] == "-m":
        return Path.cwd()
    script = Path(command[0]).resolve()
    for root in (Path.cwd(), *script.parents):
        if script.is_relative_to(root) and (folder / script.relative_to(root)).is_file():
            return root
    raise UsageError(f"--before {folder}: it holds no {script.name}; name the folder that does")


def of_tree(tree: Path, root: Path, command: Sequence[str], python: str) -> Side:
    """Return how a program is started in a copy of its folder.

    Raises:
        UsageError: the program is not in it.
    """
    search = list(_search(tree, root, python))
    here = Path.cwd()
    if command[0] == "-m":
        folder = tree / here.relative_to(root) if here.is_relative_to(root) else tree
        return Side(command, folder, search)
    script = Path(command[0]).resolve()
    if not script.is_relative_to(root):
        raise UsageError(f"{command[0]} is not in {root}, whose earlier state is asked for")
    old = tree / script.relative_to(root)
    if not old.is_file():
        raise UsageError(f"{script.relative_to(root)} is not in the earlier state; name another")
    return Side([str(old), *command[1:]], here, search)


def _search(tree: Path, root: Path, python: str) -> Iterator[Path]:
    """Yield where modules of the project were, in the places where they are looked for today."""
    code = "import json, sys; print(json.dumps(sys.path[1:]))"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
    entries = json.loads(done.stdout) if done.returncode == 0 else []
    for entry in dict.fromkeys([str(root / "src"), *filter(None, entries)]):
        path = Path(os.path.realpath(entry))
        inside = path.is_relative_to(root) and not _PACKAGES & set(path.parts)
        if inside and (tree / path.relative_to(root)).is_dir():
            yield tree / path.relative_to(root)
