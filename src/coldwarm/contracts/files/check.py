"""Whether an artifact keeps its contract, and whether a folder's artifacts agree.

A single file is read strictly. The folder of a run is checked as a whole: every hash in an
index is that of the file it names, every file is in an index, and what an index says of a
file is what the file says.
"""

from __future__ import annotations

import hashlib
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from coldwarm.contracts.environment import Environment
from coldwarm.contracts.files.codec import decode, decode_as, read_bytes
from coldwarm.contracts.files.faults import dotted, fault, one_line
from coldwarm.contracts.files.journal import read_lines
from coldwarm.contracts.files.nextstat import cold_median_s, tally, warm_median_s
from coldwarm.contracts.files.positions import line_of
from coldwarm.contracts.published import NextstatResult, NextstatSuite
from coldwarm.contracts.result import CaseResult, SuiteResult
from coldwarm.errors import ContractError

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from pathlib import Path

    from coldwarm.contracts.base import Record

_ADVICE = "measure again, or restore the file"
_PRIVATE = {"work"}
_LISTED = {"coldwarm.case_result", "nextstat.ml_benchmark_result"}
_At = tuple[str | int, ...]


class Finding(NamedTuple):
    """What was found out about one artifact."""

    path: str
    contract: str
    """Its ``schema_version``, ``journal``, or empty where it was not recognised."""
    fault: str | None
    """One line with path, line and field; ``None``: it keeps its contract."""
    note: str = ""
    """What a reader should know although it is no fault."""


def check(path: Path) -> Iterator[Finding]:
    """Check a file, the folder of a run, or every artifact below any other folder."""
    if not path.is_dir():
        yield from _file(path)
    elif (path / "suite.json").is_file():
        yield from _indexed(path)
    else:
        files = _artifacts(path)
        if not files:
            what = "holds no artifact (*.json, *.jsonl)"
            yield _broken(path, fault(str(path), None, None, what))
        for file in files:
            yield from _file(file)


def _artifacts(folder: Path) -> list[Path]:
    """Return the artifacts below a folder; private and hidden folders are left out."""
    return sorted(
        file
        for pattern in ("*.json", "*.jsonl")
        for file in folder.rglob(pattern)
        if not any(p in _PRIVATE or p.startswith(".") for p in file.relative_to(folder).parts)
    )


def _file(path: Path) -> Iterator[Finding]:
    if path.suffix == ".jsonl":
        yield from _journal(path)
        return
    try:
        record = decode(read_bytes(path), str(path))
    except ContractError as error:
        yield _broken(path, error)
    else:
        yield Finding(str(path), _contract_of(record), None)


def _journal(path: Path) -> Iterator[Finding]:
    try:
        entries, faults = read_lines(path)
    except ContractError as error:
        yield _broken(path, error, "journal")
        return
    damaged = [found for found in faults if not found.torn]
    for found in damaged:
        what = f"{found.reason}; the other lines are not affected"
        yield _broken(path, fault(str(path), found.line, None, what), "journal")
    if not damaged:
        torn = "".join(f", line {found.line} {found.reason}" for found in faults)
        yield Finding(str(path), "journal", None, f"{len(entries)} lines{torn}")


def _indexed(folder: Path) -> Iterator[Finding]:
    """Check the folder of an index and every artifact in it, each once."""
    index = folder / "suite.json"
    seen = {index}
    readable = True
    try:
        data = read_bytes(index)
        suite = decode(data, str(index))
    except ContractError as error:
        readable = False
        yield _broken(index, error)
    else:
        findings = list(_index_findings(folder, suite, data.decode(), seen))
        yield from findings
        if not any(found.path == str(index) for found in findings):
            yield Finding(str(index), _contract_of(suite), None)
    for nested in _artifacts(folder):
        if nested.name == index.name and nested not in seen:
            seen.update(_artifacts(nested.parent))
            yield from _indexed(nested.parent)
    for file in _artifacts(folder):
        if file not in seen:
            yield from _unlisted(file, index) if readable else _file(file)


def _unlisted(file: Path, index: Path) -> Iterator[Finding]:
    """Check a file that no index names; a result among them is a fault."""
    for found in _file(file):
        if found.fault is None and found.contract.rpartition(".v")[0] in _LISTED:
            what = f"is not in the index {index}; {_ADVICE}"
            yield _broken(file, fault(str(file), None, None, what), found.contract)
        else:
            yield found


def _index_findings(folder: Path, suite: Record, text: str, seen: set[Path]) -> Iterator[Finding]:
    """Check what an index says: of the files it names, and of itself."""
    index = _Index(folder, suite, text, seen)
    if isinstance(suite, SuiteResult):
        named = (suite.environment_path, suite.environment_sha256)
        yield from index.named(named, (), "environment_", Environment)
        for place, case in enumerate(suite.cases):
            yield from index.member(place, (case.path, case.sha256), CaseResult)
        for status in ("ok", "warn", "failed"):
            count = sum(case.status == status for case in suite.cases)
            yield from index.agree((f"n_{status}",), getattr(suite, f"n_{status}"), count)
    elif isinstance(suite, NextstatSuite):
        for place, item in enumerate(suite.cases):
            yield from index.member(place, (item.path, item.sha256), NextstatResult)
        said, found = msgspec.to_builtins(suite.summary), msgspec.to_builtins(tally(suite.cases))
        for name, value in said.items():
            yield from index.agree(("summary", name), value, found[name])
    else:
        what = f"expected an index of a run, got {_contract_of(suite)!r}"
        yield _broken(index.path, fault(str(index.path), 1, "schema_version", what))


class _Index:
    """An index, its text for line numbers, and the files met so far."""

    def __init__(self, folder: Path, suite: Record, text: str, seen: set[Path]) -> None:
        self.folder = folder
        self.path = folder / "suite.json"
        self.suite = suite
        self.text = text
        self.seen = seen

    def member(self, place: int, named: tuple[str, str], type_: type[Record]) -> Iterator[Finding]:
        """Check a case that the index names, and what the index says of it."""
        at = ("cases", place)
        record = yield from self.named(named, at, "", type_)
        for name, said, found in _statements(self.suite, place, record):
            yield from self.agree((*at, name), said, found)

    def agree(self, at: _At, said: object, found: object) -> Iterator[Finding]:
        """Check one statement of the index against what the files say."""
        if said != found:
            yield self._broken(at, f"says {said!r}, but its files say {found!r}; {_ADVICE}")

    def named(
        self, named: tuple[str, str], at: _At, prefix: str, type_: type[Record]
    ) -> Generator[Finding, None, Record | None]:
        """Check a file that the index names, and return its record if it is whole.

        Args:
            named: The path and the SHA-256 in the index.
            at: Where in the index they stand.
            prefix: What the names of the two fields begin with.
            type_: What the file should hold.
        """
        path, sha256 = named
        pure = PurePosixPath(path)
        if pure.is_absolute() or ".." in pure.parts:
            what = f"{path!r} leads out of the folder; expected a path below it"
            yield self._broken((*at, f"{prefix}path"), what)
            return None
        file = self.folder / pure
        self.seen.add(file)
        if not file.is_file():
            yield self._broken((*at, f"{prefix}path"), f"{path!r} is not there; {_ADVICE}")
            return None
        try:
            data = read_bytes(file)
            actual = hashlib.sha256(data).hexdigest()
            if actual != sha256:
                what = f"{path} has {actual}: it was changed after it was written; {_ADVICE}"
                yield self._broken((*at, f"{prefix}sha256"), what)
            record = decode_as(type_, data, str(file))
        except ContractError as error:
            yield _broken(file, error)
            return None
        if actual == sha256:
            yield Finding(str(file), _contract_of(record), None)
        return record

    def _broken(self, at: _At, what: str) -> Finding:
        error = fault(str(self.path), line_of(self.text, at), dotted(at), what)
        return _broken(self.path, error, _contract_of(self.suite))


def _statements(
    suite: Record, place: int, record: Record | None
) -> list[tuple[str, object, object]]:
    """Return what an index says of a member beside what the member says itself."""
    if isinstance(suite, SuiteResult) and isinstance(record, CaseResult):
        case = suite.cases[place]
        return [
            ("case", case.case, record.case),
            ("status", case.status, record.status),
            ("reason", case.reason, record.reason),
            ("environment_sha256", suite.environment_sha256, record.environment_sha256),
        ]
    if isinstance(suite, NextstatSuite) and isinstance(record, NextstatResult):
        item = suite.cases[place]
        return [
            ("case", item.case, record.case),
            ("status", item.status, record.status),
            ("cold_ttfr_median_s", item.cold_ttfr_median_s, cold_median_s(record)),
            ("warm_call_median_s", item.warm_call_median_s, warm_median_s(record)),
        ]
    return []


def _contract_of(record: Record) -> str:
    return str(getattr(record, "schema_version", ""))


def _broken(path: Path, error: ContractError, contract: str = "") -> Finding:
    return Finding(str(path), contract, one_line(str(error)))
