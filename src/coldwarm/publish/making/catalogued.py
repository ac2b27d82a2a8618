"""Patterns and claims of a snapshot: judged again, refused where anything is wrong, and copied."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.contracts.catalogue import INDEXES
from coldwarm.contracts.environment import ENVIRONMENT
from coldwarm.contracts.files.codec import decode, encode, read_bytes
from coldwarm.contracts.files.faults import fault
from coldwarm.contracts.files.index import NAME
from coldwarm.errors import ContractError, InvalidResultError, UsageError
from coldwarm.publish.making import redacting
from coldwarm.publish.runs import Judged, below, names_of, refuse_others, verdicts_of
from coldwarm.publish.writing import read_inside
from coldwarm.runner.catalogue import stored
from coldwarm.runner.stored.validating import read_whole

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from coldwarm.contracts.catalogue import Kind
    from coldwarm.publish.runs import Verdicts
    from coldwarm.runner.catalogue.stored import Stored


def collect(paths: Sequence[Path]) -> tuple[list[Verdicts], list[str]]:
    """Read patterns and claims, and where something is masked that was not when it was measured.

    Raises:
        UsageError: one is not finished, or there are two folders of one kind.
        InvalidResultError: a verdict or a figure does not follow from its evidence.
        ContractError: a file changed meanwhile.
    """
    found: list[Verdicts] = []
    places: list[str] = []
    for kind in INDEXES:
        of_kind = [path for path in paths if stored.kind_of(path) == kind]
        if len(of_kind) > 1:
            text = f"{of_kind[0]} and {of_kind[1]} both hold {kind}; a snapshot has one folder of"
            raise UsageError(f"{text} them, so make one of each")
        for path in of_kind:
            made, masked = _collected(_finished(path, kind))
            found.append(made)
            places += masked
    return found, places


def _finished(path: Path, kind: Kind) -> Stored:
    """Return results that are complete and follow from their evidence."""
    try:
        found = stored.read(path, kind)
    except ContractError as error:
        raise _invalid(str(error)) from None
    if not found.index.complete:
        text = f"{found.folder} holds {kind} whose measuring was interrupted; finish it with"
        raise UsageError(f"{text} coldwarm {kind} run --resume --out-dir {found.folder}")
    _refuse_wrong(found)
    return found


def _refuse_wrong(found: Stored) -> None:
    try:
        for run in found.pointed:
            read_whole(found.index_of(run).parent)
        faults = found.held.faults
    except (ContractError, UsageError) as error:
        raise _invalid(str(error)) from None
    if faults:
        raise _invalid(str(faults[0]))


def _invalid(text: str) -> InvalidResultError:
    return InvalidResultError(f"the results are not valid, so nothing is published: {text}")


def _collected(found: Stored) -> tuple[Verdicts, list[str]]:
    files = _files(found)
    made, places = redacting.redacted(files, found.kind, _masked)
    if not places:
        return verdicts_of(_judged(found), files), []
    with redacting.written(made) as folder:
        again = _finished(folder, found.kind)
        return verdicts_of(_judged(again), made), places


def _judged(found: Stored) -> Judged:
    """Return stored results as they are judged now."""
    again, n_otherwise = found.again, len(found.held.otherwise)
    return Judged(found.kind, again.index, found.runs, again.reasons, n_otherwise)


def _files(found: Stored) -> dict[str, bytes]:
    """Return the files that belong to the results, without the journals of their runs."""
    index = INDEXES[found.kind]
    files = {index: read_bytes(found.folder / index)}
    if (found.folder / ENVIRONMENT).exists():
        files[ENVIRONMENT] = read_inside(found.folder, ENVIRONMENT)
    for path, run in found.runs.items():
        for name in names_of(run.suite) if run.suite else ():
            files[f"{path}/{name}"] = read_inside(found.folder, f"{path}/{name}")
    if decode(files[index]) != found.index:
        raise fault(
            str(found.folder / index), None, None, "was changed while it was read; try again"
        )
    refuse_others(found.folder, files, found.kind)
    return files


def _masked(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the files written once more, which masks them, with the hashes in each run anew."""
    made = {path: encode(decode(data)) for path, data in files.items() if path.count("/") == 0}
    for path in files:
        folder, _, name = path.rpartition("/")
        if name == NAME:
            again = redacting.masked_files(below(files, f"{folder}/"))
            made |= {f"{folder}/{one}": data for one, data in again.items()}
    return made
