"""Noise reports that were kept: where they lie, and those that there are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from coldwarm.contracts import codec
from coldwarm.contracts.bench import NoiseReport
from coldwarm.errors import ContractError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

FILE = "noise.json"
_USUAL = Path("out")


def keep(report: NoiseReport, folder: Path) -> Path:
    """Write a report where ``read`` finds it; return the path.

    Raises:
        UsageError: it cannot be written.
    """
    path = folder / FILE
    try:
        folder.mkdir(parents=True)
        path.write_bytes(codec.encode(report))
    except OSError as error:
        message = f"{path}: cannot be written: {error.strerror}"
        raise UsageError(message) from None
    return path


def read(named: Sequence[Path] | None, beside: Sequence[Path]) -> list[NoiseReport]:
    """Return the reports named, or where none is those in these folders and in ``out``.

    Raises:
        ContractError: a report that was named does not keep its contract.
        UsageError: there is none.
    """
    if named is not None:
        return [codec.load_as(NoiseReport, path) for path in named]
    places = {path.resolve() for path in (*beside, _USUAL)}
    found = []
    for path in sorted(path for place in places for path in place.glob(f"noise-*/{FILE}")):
        try:
            found.append(codec.load_as(NoiseReport, path))
        except ContractError:  # of another version: it is no part of what was asked for
            continue
    return found
