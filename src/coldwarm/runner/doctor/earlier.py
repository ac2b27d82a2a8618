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
from coldwarm.runner.functions import revisions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_PACKAGES = {"site-packages", "dist-packages"}
_DIGITS, _HASH = 10, 40
"""Of a commit: those that are shown, and all."""
_PLACES = """
import json, os, sys
finders = [sys.modules.get(getattr(one, "__module__", "")) for one in sys.meta_path]
editable = [path for one in finders for path in getattr(one, "MAPPING", {}).values()]
print(json.dumps(sys.path[1:] + [os.path.dirname(path) for path in editable]))
"""
"""Prints where modules are looked for, those of editable installs by setuptools too."""


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
def before(
    what: str | None, command: Sequence[str], python: str, work: Path
) -> Iterator[tuple[str, Side]]:
    """Give what an earlier program is called, and how it is started.

    ``what`` is a file, a folder or a revision; without it the last commit, as long as something
    has changed since. A script of a revision or a folder runs in the folder of today, so that it
    finds its data; a module (``-m``) runs in the folder that it was in. ``work`` is where a
    revision is checked out.

    Raises:
        UsageError: there is no such earlier state, or the program is not in it.
    """
    path = Path(what or "")
    if what and path.is_file():
        yield what, _of_file(path, command)
    elif what and path.is_dir():
        yield what, of_tree(path.resolve(), _root(path, command), command, python)
    else:
        named, revision = (what, what) if what else _last_commit(command)
        try:
            root = revisions.root_of(place(command))
        except UsageError:
            if not shutil.which("git"):
                raise
            text = "is no file, no folder, and there is no git repository here"
            raise UsageError(f"--before: {what} {text}") from None
        with revisions.tree_of(root, revision, work / "before") as (_, tree):
            was = _name_then(root, revision, command)
            yield named, of_tree(tree, root, command, python, was)


def _last_commit(command: Sequence[str]) -> tuple[str, str]:
    """Return how the last commit is called, and its hash, where the program was another one.

    Raises:
        UsageError: there is none, it has no such program, or nothing has changed since.
    """
    folder, program = place(command), " ".join(command[:2] if command[0] == "-m" else command[:1])
    name = "--before FILE, DIR or REVISION"
    try:
        root, (commit, _) = revisions.root_of(folder), revisions.committed(folder, "HEAD")
    except UsageError as error:
        text = f"nothing says what {program} was before its change, as it is in no commit of git"
        raise UsageError(f"{text} ({error}): name a copy of its earlier state: {name}") from None
    _name_then(root, commit, command)
    short = commit[:_DIGITS]
    if not revisions.changes(root, commit):
        text = f"nothing has changed since the last commit ({short}), so that there is nothing"
        raise UsageError(f"{text} to compare; name an earlier state, such as --before HEAD~1")
    return f"HEAD ({short})", commit


def _name_then(root: Path, revision: str, command: Sequence[str]) -> str:
    """Return the name of a script at a revision, from the root; of a module nothing.

    Raises:
        UsageError: it was not there.
    """
    if command[0] == "-m":
        return ""
    script = Path(command[0]).resolve()
    now = script.relative_to(root.resolve()).as_posix()
    was = revisions.changes(root, revision).get(now, now)
    if not was or not revisions.is_in(root, revision, was):
        text = f"{now} is not in {revision[:_DIGITS] if len(revision) == _HASH else revision}"
        raise UsageError(
            f"{text}; name a state that has it, or a copy: --before FILE, DIR or REVISION"
        )
    return was


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


def of_tree(tree: Path, root: Path, command: Sequence[str], python: str, was: str = "") -> Side:
    """Return how a program is started in a copy of its folder; ``was`` is the script's name there.

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
    old = tree / (was or script.relative_to(root))
    if not old.is_file():
        raise UsageError(f"{script.relative_to(root)} is not in the earlier state; name another")
    return Side([str(old), *command[1:]], here, search)


def _search(tree: Path, root: Path, python: str) -> Iterator[Path]:
    """Yield where modules of the project were, in the places where they are looked for today."""
    done = subprocess.run([python, "-c", _PLACES], capture_output=True, text=True, check=False)
    entries = json.loads(done.stdout) if done.returncode == 0 else []
    for entry in dict.fromkeys([str(root / "src"), *filter(None, entries)]):
        path = Path(os.path.realpath(entry))
        inside = path.is_relative_to(root) and not _PACKAGES & set(path.parts)
        if inside and (tree / path.relative_to(root)).is_dir():
            yield tree / path.relative_to(root)
