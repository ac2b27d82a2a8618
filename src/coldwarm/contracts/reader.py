"""The folder of a run, read whole: its index, the files that it names, and what is wrong with them.

Every hash in an index is that of the file it names, every file is in an index, and what an index
says of a file is what the file says.
"""

from __future__ import annotations

import hashlib
import stat
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from coldwarm.contracts import nextstat
from coldwarm.contracts.answer import Answers
from coldwarm.contracts.codec import decode, decode_as, dotted, line_of, read_bytes
from coldwarm.contracts.environment import Environment
from coldwarm.contracts.nextstat import (
    NextstatResult,
    NextstatSuite,
    Published,
    index_row,
    tally,
)
from coldwarm.contracts.result import CaseResult, Measured, SuiteResult
from coldwarm.contracts.run_journal import JournalEntry, header_of, stream
from coldwarm.contracts.sweep import FILE as SWEEP
from coldwarm.errors import ContractError, UsageError, shorten

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from coldwarm.contracts.base import Record


_LONGEST = 1024
"""Characters of a path; no artifact names a longer one."""


def inside(folder: Path, named: str) -> Path:
    """Return a regular file below a folder by its relative path.

    Raises:
        ContractError: it is absolute, climbs, leads out through a link, or is no regular file.
    """

    def refused(what: str) -> ContractError:
        return ContractError(str(folder), f"{shorten(named)!r} {what}")

    pure = PurePosixPath(named)
    if len(named) > _LONGEST:
        raise refused(f"is longer than {_LONGEST} characters; no path here is")
    if pure.is_absolute() or ".." in pure.parts:
        raise refused("leads out of the folder; expected a path below it")
    file = folder / pure
    try:
        if not file.resolve().is_relative_to(folder.resolve()):
            raise refused("leads out of the folder through a link; put the file itself there")
        mode = file.stat().st_mode
    except FileNotFoundError:
        raise refused("is not there") from None
    except (OSError, RuntimeError, ValueError) as error:  # links in a circle, names no file has
        why = getattr(error, "strerror", None) or str(error)
        raise refused(f"cannot be followed: {why}") from None
    if not stat.S_ISREG(mode):
        raise refused("is no regular file")
    return file


NAME = "suite.json"
_NAMES = (NAME, nextstat.INDEX)
"""Allowed names of an index: of a run, and of published results alone."""
_ADVICE = "measure again, or restore the file"
_At = tuple[str | int, ...]


class _Checked(NamedTuple):
    """A file, with what it holds or what is wrong with it."""

    path: Path
    record: Record | None
    fault: ContractError | None


def index_in(folder: Path) -> Path | None:
    """Return the index in a folder; ``None`` where it holds none."""
    return next((folder / name for name in _NAMES if (folder / name).is_file()), None)


class Index:
    """The index of a run, with its text for line numbers.

    ``suite`` is what it says, ``named`` the files that it names as far as they were checked.
    """

    def __init__(self, path: Path) -> None:
        """Read it.

        Raises:
            ContractError: it does not keep its contract.
        """
        data = read_bytes(path)
        self.path, self.suite = path, decode(data, str(path))
        self.named: set[Path] = {path}
        self._seen = {path.resolve()}
        self._text = data.decode()

    def checked(self) -> Iterator[_Checked]:
        """Yield every file that is named and every fault, in the order of the index."""
        if isinstance(self.suite, SuiteResult):
            yield from self._run(self.suite)
        elif isinstance(self.suite, NextstatSuite):
            yield from self._published(self.suite)
        else:
            named = getattr(self.suite, "schema_version", "")
            yield self._fault(("schema_version",), f"expected an index of a run, got {named!r}")

    def _run(self, suite: SuiteResult) -> Iterator[_Checked]:
        pair = suite.environment_path, suite.environment_sha256
        yield from self._file(pair, (), "environment_", Environment)
        for place, row in enumerate(suite.cases):
            at = ("cases", place)
            case = yield from self._file((row.path, row.sha256), at, "", CaseResult)
            if isinstance(case, CaseResult):
                for name in ("case", "status", "reason"):
                    yield from self._agree((*at, name), getattr(row, name), getattr(case, name))
                machine = suite.environment_sha256, case.environment_sha256
                yield from self._agree((*at, "environment_sha256"), *machine)
        yield from self._answers(suite)
        for status in ("ok", "warn", "failed"):
            count = sum(case.status == status for case in suite.cases)
            yield from self._agree((f"n_{status}",), getattr(suite, f"n_{status}"), count)

    def _published(self, suite: NextstatSuite) -> Iterator[_Checked]:
        for place, row in enumerate(suite.cases):
            at = ("cases", place)
            result = yield from self._file((row.path, row.sha256), at, "", NextstatResult)
            if isinstance(result, NextstatResult):
                made = index_row(Published(result, row.path, row.sha256))
                yield from self._alike(at, row, made)
        yield from self._alike(("summary",), suite.summary, tally(suite.cases))

    def _alike(self, at: _At, said: Record, made: Record) -> Iterator[_Checked]:
        for name in said.__struct_fields__:
            yield from self._agree((*at, name), getattr(said, name), getattr(made, name))

    def _answers(self, suite: SuiteResult) -> Iterator[_Checked]:
        """Check the answers beside the index, which earlier versions did not write."""
        if suite.answers_path is None or suite.answers_sha256 is None:
            yield from self._agree(("answers_path",), suite.answers_path, suite.answers_sha256)
            return
        pair = suite.answers_path, suite.answers_sha256
        found = yield from self._file(pair, (), "answers_", Answers)
        if isinstance(found, Answers):
            for name in ("run_id", "suite", "complete"):
                yield from self._agree((name,), getattr(suite, name), getattr(found, name))

    def _agree(self, at: _At, said: object, held: object) -> Iterator[_Checked]:
        """Check one statement of the index against what the files say."""
        if said != held:
            what = f"says {_shown(said)}, but its files say {_shown(held)}; {_ADVICE}"
            yield self._fault(at, what)

    def _file(
        self, pair: tuple[str, str], at: _At, prefix: str, type_: type[Record]
    ) -> Generator[_Checked, None, Record | None]:
        """Check a file that the index names, and return its record if it is whole.

        Args:
            pair: The path and the SHA-256 in the index.
            at: Where in the index they stand.
            prefix: What the names of the two fields begin with.
            type_: What the file should hold.
        """
        path, sha256 = pair
        try:
            file = inside(self.path.parent, path)
        except ContractError as error:
            yield self._fault((*at, f"{prefix}path"), f"{error.what}; {_ADVICE}")
            return None
        if file.resolve() in self._seen:
            yield self._fault((*at, f"{prefix}path"), f"{path!r} is named twice; {_ADVICE}")
            return None
        self.named.add(file)
        self._seen.add(file.resolve())
        try:
            data = read_bytes(file)
            actual = hashlib.sha256(data).hexdigest()
            if actual != sha256:
                what = f"{path} has {actual}: it was changed after it was written; {_ADVICE}"
                yield self._fault((*at, f"{prefix}sha256"), what)
            record = decode_as(type_, data, str(file))
        except ContractError as error:
            yield _Checked(file, None, error)
            return None
        if actual == sha256:
            yield _Checked(file, record, None)
        return record

    def _fault(self, at: _At, what: str) -> _Checked:
        error = ContractError(str(self.path), what, line=line_of(self._text, at), field=dotted(at))
        return _Checked(self.path, self.suite, error)


def _shown(value: object) -> str:
    return str(value) if isinstance(value, msgspec.Struct) else repr(value)


_PRIVATE = {"work"}
_FOREIGN = {"ro-crate-metadata.json", "snapshot_index.json.sigstore.json"}
"""Files of other formats that lie beside artifacts in a snapshot."""
_LISTED = {"coldwarm.case_result", "coldwarm.answers", "nextstat.ml_benchmark_result"}


class ArtifactFinding(NamedTuple):
    """The state of one artifact."""

    path: str
    contract: str
    """Its ``schema_version``, ``journal``, or empty where it was not recognised."""
    fault: str | None
    """One line with path, line and field; ``None``: it keeps its contract."""
    note: str = ""
    """Note to the reader that is no fault."""
    error: ContractError | None = None
    """The fault with its parts."""
    otherwise: tuple[ContractError, ...] = ()
    """Differences of another version of coldwarm from today's rules, which is no fault."""


def check(path: Path) -> Iterator[ArtifactFinding]:
    """Check a file, the folder of a run, or every artifact below any other folder."""
    if not path.is_dir():
        yield from _file(path)
    elif (index := index_in(path)) is not None:
        yield from _indexed(index)
    else:
        files = artifacts(path)
        if not files:
            what = "holds no artifact (*.json, *.jsonl)"
            yield _broken(path, ContractError(str(path), what))
        for file in files:
            yield from _file(file, path)


def artifacts(folder: Path) -> list[Path]:
    """Return the artifacts below a folder, but what is private, hidden or of another format."""
    return sorted(
        file
        for pattern in ("*.json", "*.jsonl")
        for file in folder.rglob(pattern)
        if file.name not in _FOREIGN
        and not any(p in _PRIVATE or p.startswith(".") for p in file.relative_to(folder).parts)
    )


def _file(path: Path, folder: Path | None = None) -> Iterator[ArtifactFinding]:
    """Check one artifact; one that was found in a folder must lie in it, whatever links say."""
    if folder is not None:
        try:
            inside(folder, path.relative_to(folder).as_posix())
        except ContractError as error:
            yield _broken(path, ContractError(str(path), error.what))
            return
    if path.suffix == ".jsonl":
        yield from _journal(path)
        return
    try:
        record = decode(read_bytes(path), str(path))
    except ContractError as error:
        yield _broken(path, error)
    else:
        yield ArtifactFinding(str(path), _contract_of(record), None)


def _journal(path: Path) -> Iterator[ArtifactFinding]:
    n_entries, torn, damaged = 0, "", False
    try:
        for found in stream(path):
            if isinstance(found, JournalEntry):
                n_entries += 1
                if found.kind == "header":
                    header_of(found.record, str(path))
            elif found.torn:
                torn = f", line {found.line} {found.what}"
            else:
                damaged = True
                what = f"{found.what}; the other lines are not affected"
                yield _broken(path, ContractError(str(path), what, line=found.line), "journal")
    except ContractError as error:
        yield _broken(path, error, "journal")
        return
    if not damaged:
        yield ArtifactFinding(str(path), "journal", None, f"{n_entries} lines{torn}")


def _indexed(path: Path) -> Iterator[ArtifactFinding]:
    """Check an index, its folder, and every artifact in it, each once."""
    folder = path.parent
    listed = {path}
    readable = True
    try:
        index = Index(path)
    except ContractError as error:
        readable = False
        yield _broken(path, error)
    else:
        contract, sound = _contract_of(index.suite), True
        for file, record, broken in index.checked():
            sound = sound and not (broken and file == path)
            told = str(broken) if broken else None
            yield ArtifactFinding(str(file), _contract_of(record), told, error=broken)
        if sound:
            yield ArtifactFinding(str(path), contract, None)
        listed = index.named
    for nested in artifacts(folder):
        if nested.name in _NAMES and nested not in listed:
            listed.update(artifacts(nested.parent))
            yield from _indexed(nested)
    for file in artifacts(folder):
        if file not in listed:
            yield from _unlisted(file, path) if readable else _file(file, folder)


def _unlisted(file: Path, index: Path) -> Iterator[ArtifactFinding]:
    """Check a file that no index names; a result among them is a fault."""
    for finding in _file(file, index.parent):
        if finding.fault is None and finding.contract.rpartition(".v")[0] in _LISTED:
            what = f"is not in the index {index}; {_ADVICE}"
            yield _broken(file, ContractError(str(file), what), finding.contract)
        else:
            yield finding


def _contract_of(record: Record | None) -> str:
    return str(getattr(record, "schema_version", ""))


def _broken(path: Path, error: ContractError, contract: str = "") -> ArtifactFinding:
    return ArtifactFinding(str(path), contract, str(error), error=error)


def read(path: Path) -> Measured:
    """Read a run's directory, its ``suite.json``, or the file of one case.

    Raises:
        UsageError: there is nothing, or nothing of that kind.
        ContractError: a file does not keep its contract, or is not the one that was indexed.
    """
    if path.is_dir():
        index = index_in(path)
        if index is None:
            text = f"{path} holds no {NAME}; name the directory of a finished run"
            if (path / SWEEP).is_file():
                text = f"{path} holds a sweep; name the folder of one of its sizes"
            raise UsageError(text)
        return _run(index)
    if not path.exists():
        text = f"{path}: no such file or directory; name a run's directory or the file of a case"
        raise UsageError(text)
    record = decode(read_bytes(path), str(path))
    if isinstance(record, SuiteResult):
        return _run(path)
    if isinstance(record, CaseResult):
        return _single(path, record)
    held = f"{path} holds no cases ({type(record).__name__})"
    text = f"{held}; name a run's directory or the file of a case"
    raise UsageError(text)


def index_path(measured: Measured) -> str:
    """Return the index of a run that was read."""
    return str(Path(measured.path) / NAME)


def _run(path: Path) -> Measured:
    """Read what an index names; the first fault that ``validate`` would find is raised."""
    index, folder = Index(path), path.parent
    records = {}
    for file, record, error in index.checked():
        if error is not None:
            raise error
        records[file] = record
    suite = index.suite
    if not isinstance(suite, SuiteResult):
        raise ContractError(
            str(path), "is the index of published results alone", line=1, field="schema_version"
        )
    environment = records.pop(folder / suite.environment_path)
    cases = {c.case: (str(file), c) for file, c in records.items() if isinstance(c, CaseResult)}
    return Measured(
        path=str(folder),
        suite=suite,
        cases={name: case for name, (_, case) in cases.items()},
        files={name: file for name, (file, _) in cases.items()},
        environment_sha256=suite.environment_sha256,
        environment=environment if isinstance(environment, Environment) else None,
        answers=next((one for one in records.values() if isinstance(one, Answers)), None),
    )


def _names(index: Path, file: Path) -> bool:
    """Say whether there is the index of a run that names a file; any folder may hold another."""
    try:
        suite = decode(read_bytes(index), str(index)) if index.exists() else None
        named = [row.path for row in suite.cases] if isinstance(suite, SuiteResult) else []
        return any((index.parent / name).resolve() == file.resolve() for name in named)
    except (ContractError, OSError, ValueError, RuntimeError):
        return False


def _single(path: Path, case: CaseResult) -> Measured:
    """Take a case alone; where it still lies in its run, that must be whole, as for the run."""
    index = path.resolve().parent.parent / NAME
    if _names(index, path):
        _run(index)
    environment = None
    folder = path.resolve().parent.parent
    if (folder / "environment.json").exists():
        beside = inside(folder, "environment.json")
        data = read_bytes(beside)
        if hashlib.sha256(data).hexdigest() == case.environment_sha256:
            environment = decode_as(Environment, data, str(beside))
    return Measured(
        path=str(path),
        suite=None,
        cases={case.case: case},
        files={case.case: str(path)},
        environment_sha256=case.environment_sha256,
        environment=environment,
    )
