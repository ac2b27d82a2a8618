"""The runs and verdicts of a snapshot: read, computed again, refused if wrong, and masked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import contextmanager
from itertools import chain, count
from typing import TYPE_CHECKING

from msgspec import structs

from coldwarm.catalogue import stored
from coldwarm.contracts import nextstat, run_journal
from coldwarm.contracts.catalogue import INDEXES
from coldwarm.contracts.codec import decode, decode_as, encode, read_bytes
from coldwarm.contracts.environment import ENVIRONMENT
from coldwarm.contracts.nextstat import NextstatSuite
from coldwarm.contracts.reader import NAME, index_in, inside
from coldwarm.contracts.result import CaseResult, SuiteResult
from coldwarm.errors import ContractError, InvalidResultError, UsageError
from coldwarm.publish import layout
from coldwarm.publish.content import Content, Run, Verdicts, below, private_in, run_of, verdicts_of
from coldwarm.publish.storage import read_inside, sha256_of, write_new
from coldwarm.runner import temporary
from coldwarm.runner.recompute import read_whole

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from coldwarm.catalogue.stored import Stored
    from coldwarm.contracts.catalogue import Kind

_Files = Mapping[str, bytes]
_PUBLISHED_INDEX = f"{layout.PUBLISHED}/{nextstat.INDEX}"


def collect(paths: Sequence[Path]) -> Content:
    """Read runs, patterns and claims, in an order that does not depend on how they were named.

    What is private here and was not masked when it was measured is masked, with every hash made
    anew.

    Raises:
        UsageError: one is not finished, is given twice, or there are two folders of one kind.
        InvalidResultError: a file does not keep its contract, or says what its observations do not.
        ContractError: a file has an older contract, or changed meanwhile.
    """
    of_kind = {kind: [one for one in paths if stored.kind_of(one) == kind] for kind in INDEXES}
    judged = [path for found in of_kind.values() for path in found]
    runs, masked = _collect_runs([path for path in paths if path not in judged])
    verdicts = []
    for kind, found in of_kind.items():
        if len(found) > 1:
            text = f"{found[0]} and {found[1]} both hold {kind}; a snapshot has one folder of"
            raise UsageError(f"{text} them, so make one of each")
        for path in found:
            made, places = _collect_verdicts(path, kind)
            verdicts.append(made)
            masked += places
    return Content(runs, verdicts, masked)


def _collect_runs(paths: Sequence[Path]) -> tuple[list[Run], list[str]]:
    found = sorted(map(_read, paths), key=lambda one: (one.suite.suite, *_age(one.suite)))
    runs: list[Run] = []
    masked: list[str] = []
    for run in found:
        if any(run.suite.run_id == other.suite.run_id for other in runs):
            text = f"the run {run.suite.run_id} of suite {run.name} is given twice; name it once"
            raise UsageError(text)
        folders = {other.folder for other in runs}
        numbered = (f"{run.folder}-{number}" for number in count(2))
        folder = next(one for one in chain([run.folder], numbered) if one not in folders)
        made, places = _redacted(run.files, folder, _mask_run)
        if places:
            with _written(made) as place:
                again = _read(place)
        else:
            again = run
        runs += run_of(again.measured, folder, again.files)
        masked += places
    return runs, masked


def _age(suite: SuiteResult) -> tuple[str, str]:
    return suite.started_at, suite.run_id


def _read(path: Path) -> Run:
    if path.name == NAME:
        path = path.parent
    if not path.is_dir() or index_in(path) is None:
        raise UsageError(f"{path} holds no run; name the directory that one was written to")
    try:
        measured = read_whole(path)
    except ContractError as error:
        raise _invalid(error) from None
    suite = measured.suite
    if suite is None or not suite.complete:
        text = f"{path} holds a run that was interrupted; finish it with coldwarm run --resume"
        raise UsageError(f"{text} --out {path}")
    files = dict(_files_of_run(path, suite))
    folder = f"{layout.RESULTS}/{suite.suite}"
    for run in run_of(measured, folder, files):
        _refuse_changed(path, suite, files)
        _refuse_others(path, files, folder)
        return run
    raise ContractError(str(path), "its environment.json cannot be used; measure again")


def _names_of(suite: SuiteResult) -> list[str]:
    """Return the files that a run consists of, by path below its folder."""
    names = [NAME, suite.environment_path, *(row.path for row in suite.cases)]
    return names if suite.answers_path is None else [*names, suite.answers_path]


def _files_of_run(path: Path, suite: SuiteResult) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a run that belong to it, and no others that lie in its folder."""
    names = _names_of(suite)
    for name in (*names, _PUBLISHED_INDEX, run_journal.JOURNAL):
        try:
            found = inside(path, name)
        except ContractError:
            if name in names:
                raise
            continue
        data = read_bytes(found)
        yield name, data
        if name == _PUBLISHED_INDEX:
            index = decode_as(NextstatSuite, data, str(path / name))
            if encode(index) != data:
                what = "is not written as its contract has it now; measure again"
                raise ContractError(str(path / name), what)
            for one in index.cases:
                file = f"{layout.PUBLISHED}/{one.path}"
                yield file, read_bytes(inside(path, file))


def _refuse_changed(path: Path, suite: SuiteResult, files: _Files) -> None:
    """Refuse files that changed after they were validated."""
    said = {row.path: row.sha256 for row in suite.cases}
    said[suite.environment_path] = suite.environment_sha256
    if suite.answers_path is not None and suite.answers_sha256 is not None:
        said[suite.answers_path] = suite.answers_sha256
    changed = [name for name, sha256 in said.items() if sha256_of(files[name]) != sha256]
    if decode(files[NAME]) != suite:
        changed.append(NAME)
    for name in changed:
        raise ContractError(str(path / name), "was changed while it was read; try again")


def _refuse_others(folder: Path, files: _Files, within: str) -> None:
    """Refuse files that are none of a snapshot, or have an older contract.

    Args:
        folder: Where they lie.
        files: By path below it.
        within: What their paths in the snapshot begin with.

    Raises:
        ContractError: one is so.
    """
    for name, data in files.items():
        part = layout.part_of(f"{within}/{name}")
        if part is None:
            raise ContractError(str(folder / name), "is no file that a run leaves")
        if part.contract and part.contract.encode() not in data[:200]:
            what = f"is of an earlier version than {part.contract}: measure again"
            raise ContractError(str(folder / name), what, field="schema_version")


def _collect_verdicts(path: Path, kind: Kind) -> tuple[Verdicts, list[str]]:
    found = _finished(path, kind)
    files = _files_of_verdicts(found)
    made, places = _redacted(files, kind, _mask_verdicts)
    if not places:
        return _judged(found, files), []
    with _written(made) as folder:
        return _judged(_finished(folder, kind), made), places


def _judged(found: Stored, files: _Files) -> Verdicts:
    """Return stored results as they are judged now."""
    again, n_otherwise = found.again, len(found.held.otherwise)
    return verdicts_of(again.index, found.runs, files, again.reasons, n_otherwise)


def _finished(path: Path, kind: Kind) -> Stored:
    """Return results that are complete and follow from their evidence."""
    try:
        found = stored.read(path, kind)
    except ContractError as error:
        raise _invalid(error) from None
    if not found.index.complete:
        text = f"{found.folder} holds {kind} whose measuring was interrupted; finish it with"
        raise UsageError(f"{text} coldwarm {kind} run --resume --out {found.folder}")
    try:
        for run in found.pointed:
            read_whole(found.index_of(run).parent)
        faults = found.held.faults
    except (ContractError, UsageError) as error:
        raise _invalid(error) from None
    if faults:
        raise _invalid(faults[0])
    return found


def _invalid(error: Exception) -> InvalidResultError:
    return InvalidResultError(f"the results are not valid, so nothing is published: {error}")


def _files_of_verdicts(found: Stored) -> dict[str, bytes]:
    """Return the files that belong to the results, without the journals of their runs."""
    index = INDEXES[found.kind]
    files = {index: read_bytes(found.folder / index)}
    if (found.folder / ENVIRONMENT).exists():
        files[ENVIRONMENT] = read_inside(found.folder, ENVIRONMENT)
    for path, run in found.runs.items():
        for name in _names_of(run.suite) if run.suite else ():
            files[f"{path}/{name}"] = read_inside(found.folder, f"{path}/{name}")
    if decode(files[index]) != found.index:
        what = "was changed while it was read; try again"
        raise ContractError(str(found.folder / index), what)
    _refuse_others(found.folder, files, found.kind)
    return files


_TIMES = 4
"""Once is enough, but where masking a secret uncovers another."""


def _redacted(
    files: _Files, folder: str, mask: Callable[[_Files], dict[str, bytes]]
) -> tuple[dict[str, bytes], list[str]]:
    """Return files with everything masked that is private here, and where that was.

    Args:
        files: By path below a folder.
        folder: That folder, as it is told.
        mask: Returns them written once more.

    Raises:
        InvalidResultError: something private is left.
    """

    def private(made: _Files) -> list[str]:
        return private_in({f"{folder}/{path}": data for path, data in made.items()})

    made, places = dict(files), private(files)
    left = places
    for _ in range(_TIMES):
        if not left:
            return made, places
        made = mask(made)
        left = private(made)
    if left:
        text = f"{left[0]} holds something private that masking does not take out; measure again"
        raise InvalidResultError(text)
    return made, places


@contextmanager
def _written(files: _Files) -> Iterator[Path]:
    """Give a folder for a while in which these files lie."""
    with temporary.made() as folder:
        for path, data in files.items():
            write_new(folder / path, data)
        yield folder


def _mask_run(old: _Files) -> dict[str, bytes]:
    """Return the files of a run with every text masked, and every hash of what is written so."""
    suite = decode_as(SuiteResult, old[NAME])
    files = {path: _mask_file(path, data) for path, data in old.items()}
    environment = sha256_of(files[suite.environment_path])
    rows = []
    for row in suite.cases:
        case = decode_as(CaseResult, files[row.path])
        files[row.path] = encode(structs.replace(case, environment_sha256=environment))
        rows.append(structs.replace(row, sha256=sha256_of(files[row.path])))
    suite = structs.replace(suite, cases=rows, environment_sha256=environment)
    if suite.answers_path is not None:
        suite = structs.replace(suite, answers_sha256=sha256_of(files[suite.answers_path]))
    files[NAME] = encode(suite)
    if _PUBLISHED_INDEX in files:
        index = decode_as(NextstatSuite, files[_PUBLISHED_INDEX])
        published = [
            structs.replace(row, sha256=sha256_of(files[f"{layout.PUBLISHED}/{row.path}"]))
            for row in index.cases
        ]
        files[_PUBLISHED_INDEX] = encode(structs.replace(index, cases=published))
    return files


def _mask_verdicts(files: _Files) -> dict[str, bytes]:
    """Return the files written once more, which masks them, with the hashes in each run anew."""
    made = {path: encode(decode(data)) for path, data in files.items() if path.count("/") == 0}
    for path in files:
        folder, _, name = path.rpartition("/")
        if folder and name == NAME:
            again = _mask_run(below(files, f"{folder}/"))
            made |= {f"{folder}/{one}": data for one, data in again.items()}
    return made


def _mask_file(path: str, data: bytes) -> bytes:
    if not path.endswith(".jsonl"):
        return encode(decode(data))
    with temporary.made() as folder:
        file = folder / run_journal.JOURNAL
        file.write_bytes(data)
        entries, _ = run_journal.read_lines(file)
    return b"".join(run_journal.encode_line(one.kind, one.record) for one in entries)
