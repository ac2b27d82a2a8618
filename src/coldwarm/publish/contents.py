"""The runs, patterns and claims of a snapshot: read, computed again, refused if wrong, copied."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, count
from typing import TYPE_CHECKING

from coldwarm.catalogue import stored
from coldwarm.contracts import nextstat
from coldwarm.contracts.catalogue import INDEXES
from coldwarm.contracts.codec import decode, decode_as, encode, read_bytes
from coldwarm.contracts.environment import ENVIRONMENT
from coldwarm.contracts.nextstat import NextstatSuite
from coldwarm.contracts.parsing import fault
from coldwarm.contracts.reader import NAME, index_in, inside
from coldwarm.contracts.run_journal import JOURNAL
from coldwarm.errors import ContractError, InvalidResultError, UsageError
from coldwarm.publish import layout, redacting
from coldwarm.publish.runs import (
    Collected,
    Content,
    Judged,
    Run,
    below,
    names_of,
    refuse_others,
    verdicts_of,
)
from coldwarm.publish.writing import read_inside, sha256_of
from coldwarm.runner.recompute import read_whole

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from coldwarm.catalogue.stored import Stored
    from coldwarm.contracts.catalogue import Kind
    from coldwarm.contracts.result import SuiteResult
    from coldwarm.publish.runs import Verdicts


def collect_runs(paths: Sequence[Path]) -> Collected:
    """Read the runs of a snapshot, in an order that does not depend on how they were named.

    What is private here and was not masked when it was measured is masked, with every hash made
    anew.

    Raises:
        UsageError: one is no finished run, or is given twice.
        InvalidResultError: a file does not keep its contract, or says what its observations do not.
        ContractError: a file has an older contract, or changed meanwhile.
    """
    found = sorted(
        map(_read, paths), key=lambda run: (run.name, run.suite.started_at, run.suite.run_id)
    )
    runs: list[Run] = []
    for run in found:
        if any(run.suite.run_id == other.suite.run_id for other in runs):
            text = f"the run {run.suite.run_id} of suite {run.name} is given twice; name it once"
            raise UsageError(text)
        names = {other.name for other in runs}
        numbered = (f"{run.name}-{number}" for number in count(2))
        name = next(one for one in chain([run.name], numbered) if one not in names)
        runs.append(replace(run, name=name))
    masked = [_masked_runs(run) for run in runs]
    return Collected(
        Content([run for run, _ in masked], []), [place for _, places in masked for place in places]
    )


def _masked_runs(run: Run) -> tuple[Run, list[str]]:
    """Return a run with everything masked that is private here, and where that was."""
    files, places = redacting.redacted(run.files, run.folder, redacting.masked_files)
    if not places:
        return run, []
    with redacting.written(files) as folder:
        return replace(_read(folder), name=run.name), places


def _read(path: Path) -> Run:
    if path.name == NAME:
        path = path.parent
    if not path.is_dir() or index_in(path) is None:
        raise UsageError(f"{path} holds no run; name the directory that one was written to")
    try:
        measured = read_whole(path)
    except ContractError as error:
        text = f"the results are not valid, so nothing is published: {error}"
        raise InvalidResultError(text) from None
    suite = measured.suite
    if suite is None or not suite.complete:
        text = f"{path} holds a run that was interrupted; finish it with coldwarm run --resume"
        raise UsageError(f"{text} --out-dir {path}")
    if measured.environment is None:
        raise fault(str(path), None, None, "its environment.json cannot be used; measure again")
    files = dict(_files_of_run(path, suite))
    _refuse_changed(path, suite, files)
    cases = list(measured.cases.values())
    return Run(suite.suite, suite, measured.environment, cases, files, measured.otherwise)


def _files_of_run(path: Path, suite: SuiteResult) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a run that belong to it, and no others that lie in its folder."""
    names = names_of(suite)
    published = f"{layout.PUBLISHED}/{nextstat.INDEX}"
    for name in (*names, published, JOURNAL):
        try:
            found = inside(path, name)
        except ContractError:
            if name in names:
                raise
            continue
        data = read_bytes(found)
        yield name, data
        if name == published:
            index = decode_as(NextstatSuite, data, str(path / name))
            if encode(index) != data:
                what = "is not written as its contract has it now; measure again"
                raise fault(str(path / name), None, None, what)
            for one in index.cases:
                file = f"{layout.PUBLISHED}/{one.path}"
                yield file, read_bytes(inside(path, file))


def _refuse_changed(path: Path, suite: SuiteResult, files: dict[str, bytes]) -> None:
    """Refuse files that changed after they were validated, or that have an older contract."""
    said = {row.path: row.sha256 for row in suite.cases}
    said[suite.environment_path] = suite.environment_sha256
    if suite.answers_path is not None and suite.answers_sha256 is not None:
        said[suite.answers_path] = suite.answers_sha256
    for name, sha256 in said.items():
        if sha256_of(files[name]) != sha256:
            raise fault(str(path / name), None, None, "was changed while it was read; try again")
    if decode(files[NAME]) != suite:
        raise fault(str(path / NAME), None, None, "was changed while it was read; try again")
    refuse_others(path, files, f"{layout.RESULTS}/{suite.suite}")


def collect_verdicts(paths: Sequence[Path]) -> tuple[list[Verdicts], list[str]]:
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
    files = _files_of_verdicts(found)
    made, places = redacting.redacted(files, found.kind, _masked_verdicts)
    if not places:
        return verdicts_of(_judged(found), files), []
    with redacting.written(made) as folder:
        again = _finished(folder, found.kind)
        return verdicts_of(_judged(again), made), places


def _judged(found: Stored) -> Judged:
    """Return stored results as they are judged now."""
    again, n_otherwise = found.again, len(found.held.otherwise)
    return Judged(found.kind, again.index, found.runs, again.reasons, n_otherwise)


def _files_of_verdicts(found: Stored) -> dict[str, bytes]:
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


def _masked_verdicts(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the files written once more, which masks them, with the hashes in each run anew."""
    made = {path: encode(decode(data)) for path, data in files.items() if path.count("/") == 0}
    for path in files:
        folder, _, name = path.rpartition("/")
        if name == NAME:
            again = redacting.masked_files(below(files, f"{folder}/"))
            made |= {f"{folder}/{one}": data for one, data in again.items()}
    return made
