"""The runs of a snapshot: read, computed again, refused where anything is wrong, and copied."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, count
from typing import TYPE_CHECKING

from coldwarm.contracts.files import nextstat
from coldwarm.contracts.files.codec import decode, decode_as, encode, read_bytes
from coldwarm.contracts.files.faults import fault
from coldwarm.contracts.files.index import NAME, index_in
from coldwarm.contracts.files.inside import OutsideError, inside
from coldwarm.contracts.files.journal import JOURNAL
from coldwarm.contracts.published import NextstatSuite
from coldwarm.errors import ContractError, InvalidResultError, UsageError
from coldwarm.publish import layout
from coldwarm.publish.making import redacting
from coldwarm.publish.runs import Collected, Content, Run, names_of, refuse_others
from coldwarm.publish.writing import sha256_of
from coldwarm.runner.stored.validating import read_whole

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from coldwarm.contracts.result import SuiteResult


def collect(paths: Sequence[Path]) -> Collected:
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
    masked = [_masked(run) for run in runs]
    return Collected(
        Content([run for run, _ in masked], []), [place for _, places in masked for place in places]
    )


def _masked(run: Run) -> tuple[Run, list[str]]:
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
    files = dict(_files(path, suite))
    _refuse_changed(path, suite, files)
    cases = list(measured.cases.values())
    return Run(suite.suite, suite, measured.environment, cases, files, measured.otherwise)


def _files(path: Path, suite: SuiteResult) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a run that belong to it, and no others that lie in its folder."""
    names = names_of(suite)
    published = f"{layout.PUBLISHED}/{nextstat.INDEX}"
    for name in (*names, published, JOURNAL):
        try:
            data = read_bytes(inside(path, name))
        except OutsideError as error:
            if name in names:
                raise fault(str(path), None, None, str(error)) from None
            continue
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
