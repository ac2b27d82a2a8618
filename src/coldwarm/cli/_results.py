"""The results that a path names: a folder, or what is in a snapshot, packed or not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from click import get_current_context

from coldwarm.cli._options import GZIP
from coldwarm.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path


def refuse_absent(path: Path) -> None:
    """Refuse a result that is not there.

    Raises:
        UsageError: it is so.
    """
    if not path.exists():
        text = f"{path}: no such file or directory; name the folder of a result, or a snapshot"
        raise UsageError(text)


def is_archive(path: Path) -> bool:
    """Say whether a file is compressed, as a packed snapshot is, and no compressed JSON."""
    if not path.is_file() or ".json" in path.suffixes:
        return False
    with path.open("rb") as file:
        return file.read(len(GZIP)) == GZIP


def run_in(path: Path) -> Path:
    """Return the run that a path names: what is there, or the only run of a snapshot.

    What is unpacked of an archive is kept to the end of the command.

    Raises:
        UsageError: nothing is there, or a snapshot with several runs, or with none.
        ArchiveError: the archive is damaged, or holds what no snapshot has.
    """
    from coldwarm.publish import layout
    from coldwarm.publish.archive import unpacked

    refuse_absent(path)
    packed = is_archive(path)
    folder = get_current_context().with_resource(unpacked(path)) if packed else path
    if not (folder / layout.INDEX).is_file():
        return folder
    runs = sorted((folder / layout.RESULTS).glob("*/"))
    if len(runs) == 1:
        return runs[0]
    named = ", ".join(f"{layout.RESULTS}/{one.name}" for one in runs)
    text = f"{path} holds {named or 'no run'}, and this command takes one run"
    if runs:
        unpack = "unpack the archive with tar -xf, and " if packed else ""
        text += f": {unpack}name the folder of one"
    raise UsageError(text)
