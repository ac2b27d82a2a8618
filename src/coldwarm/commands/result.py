"""The stored result of commands: written, and read again with every figure computed anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import fields

from coldwarm.commands.figures import MODES, figures, savings, verdicts
from coldwarm.contracts import codec
from coldwarm.contracts.commands import CommandBench
from coldwarm.errors import ContractError, storage_error

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_FILE = "commands.json"
_CONTRACT = next(one.default for one in fields(CommandBench) if one.name == "schema_version")


def is_stored(folder: Path) -> bool:
    """Say whether a folder is the result of commands."""
    return (folder / _FILE).is_file()


def write(made: CommandBench, folder: Path) -> None:
    """Write a result into a folder, which is made.

    Raises:
        StorageError: it cannot be written.
    """
    path = folder / _FILE
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_bytes(codec.encode(made))
    except OSError as error:
        raise storage_error(path, error) from error


def is_one(contract: str) -> bool:
    """Say whether a file of this contract is such a result."""
    return bool(contract == _CONTRACT)


def read(path: Path) -> CommandBench:
    """Return the result in a folder, or in a file.

    Raises:
        ContractError: it is none, or a figure is not what its starts give.
    """
    path = path / _FILE if path.is_dir() else path
    found = codec.load_as(CommandBench, path)
    labels = [one.label for one in found.commands]
    _refuse_other(found, labels, path)
    again = (
        figures(labels, found.starts),
        savings(labels, found.starts),
        verdicts(labels, found.starts, found.threshold),
    )
    if again != (found.figures, found.savings, found.verdicts):
        raise ContractError(str(path), "its figures are not what its starts give")
    return found


def _refuse_other(found: CommandBench, labels: Sequence[str], path: Path) -> None:
    """Refuse what is the result of no measurement.

    Raises:
        ContractError: it has no commands, two of one label, or a start of another.
    """
    if not labels or len({*labels}) < len(labels):
        raise ContractError(str(path), "has no commands, or two of one label")
    if any(one.command not in labels or one.cache_mode not in MODES for one in found.starts):
        raise ContractError(str(path), "has a start of another command, or in another cache mode")
