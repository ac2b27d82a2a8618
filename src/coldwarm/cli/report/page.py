"""The page of a result, and other files of a report: where they go, and how they are written."""

from __future__ import annotations

import gc
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from coldwarm.errors import StorageError
from coldwarm.report.formats.base import load

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from coldwarm.report.formats.base import Format


def write_page(folder: Path) -> Path:
    """Write the page of a run into its folder, and return its path.

    Raises:
        StorageError: it cannot be written.
    """
    from coldwarm.runner import recompute

    made = load("html")
    place = beside(folder, made, "html")
    with uncollected():
        files = made.files([recompute.read(folder)], place.name)
    for name, data in files.items():
        write(folder / name, data)
    return place


@contextmanager
def uncollected() -> Iterator[None]:
    """Keep Python from looking for what is no longer needed: of a large result that takes long."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def beside(result: Path, made: Format, name: str) -> Path:
    """Return where a report in a format lies that no other place was named for.

    That of a snapshot lies beside its folder, to which nothing may be added.
    """
    from coldwarm.publish import layout
    from coldwarm.publish.storage import next_to

    file = f"report{made.SUFFIX}" if made.SUFFIX else f"report-{name}"
    if (result / layout.INDEX).is_file():
        return next_to(result) / f"{result.absolute().name}-{file}"
    return (result if result.is_dir() else result.parent) / file


def write(path: Path, data: bytes) -> None:
    """Write a file whole or not at all.

    Raises:
        StorageError: it cannot be written.
    """
    unfinished = path.with_name(f".{path.name}.unfinished")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished.write_bytes(data)
        unfinished.replace(path)
    except OSError as error:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)
        text = f"cannot write {path}: {error.strerror or error}; name another place with --out"
        raise StorageError(text) from None
