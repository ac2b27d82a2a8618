"""Verdicts on patterns and claims, wherever they lie: beside their runs, or in a snapshot."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from coldwarm.publish.unpacking import unpacked
from coldwarm.runner.catalogue import stored

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from coldwarm.runner.catalogue.stored import Kind, Stored


@contextmanager
def opened(path: Path, kind: Kind) -> Iterator[Stored]:
    """Give the results of a folder, of its index, of a snapshot, or of the archive of one.

    Raises:
        UsageError: there are none.
        ArchiveError: the archive is none, or holds what no snapshot has.
        ContractError: the results do not keep their contract.
    """
    if path.is_file() and path.name != stored.INDEXES[kind]:
        with unpacked(path) as folder:
            yield stored.read(folder / kind, kind)
    elif (path / kind / stored.INDEXES[kind]).is_file():
        yield stored.read(path / kind, kind)
    else:
        yield stored.read(path, kind)
