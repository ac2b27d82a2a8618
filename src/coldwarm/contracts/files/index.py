"""Whether the index of a run and the files that it names agree, each fault in one line."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from coldwarm.contracts.answer import Answers
from coldwarm.contracts.environment import Environment
from coldwarm.contracts.files import nextstat
from coldwarm.contracts.files.codec import decode, decode_as, read_bytes
from coldwarm.contracts.files.faults import dotted, fault
from coldwarm.contracts.files.inside import OutsideError, inside
from coldwarm.contracts.files.nextstat import cold_median_s, tally, warm_median_s
from coldwarm.contracts.files.positions import line_of
from coldwarm.contracts.published import NextstatResult, NextstatSuite
from coldwarm.contracts.result import CaseResult, SuiteResult
from coldwarm.errors import ContractError

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from pathlib import Path

    from coldwarm.contracts.base import Record

NAME = "suite.json"
NAMES = (NAME, nextstat.INDEX)
"""What an index may be called; that of published results was ``suite.json`` once, too."""
ADVICE = "measure again, or restore the file"
_At = tuple[str | int, ...]


class Checked(NamedTuple):
    """A file, with what it holds or what is wrong with it."""

    path: Path
    record: Record | None
    fault: ContractError | None


def index_in(folder: Path) -> Path | None:
    """Return the index in a folder; ``None`` where it holds none."""
    return next((folder / name for name in NAMES if (folder / name).is_file()), None)


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

    def checked(self) -> Iterator[Checked]:
        """Yield every file that is named and every fault, in the order of the index."""
        suite = self.suite
        if isinstance(suite, SuiteResult):
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
        elif isinstance(suite, NextstatSuite):
            for place, item in enumerate(suite.cases):
                at = ("cases", place)
                result = yield from self._file((item.path, item.sha256), at, "", NextstatResult)
                if isinstance(result, NextstatResult):
                    yield from self._agree((*at, "case"), item.case, result.case)
                    yield from self._agree((*at, "status"), item.status, result.status)
                    medians = item.cold_ttfr_median_s, cold_median_s(result)
                    yield from self._agree((*at, "cold_ttfr_median_s"), *medians)
                    medians = item.warm_call_median_s, warm_median_s(result)
                    yield from self._agree((*at, "warm_call_median_s"), *medians)
            counted = msgspec.to_builtins(tally(suite.cases))
            for name, value in msgspec.to_builtins(suite.summary).items():
                yield from self._agree(("summary", name), value, counted[name])
        else:
            named = getattr(suite, "schema_version", "")
            yield self._fault(("schema_version",), f"expected an index of a run, got {named!r}")

    def _answers(self, suite: SuiteResult) -> Iterator[Checked]:
        """Check the answers beside the index, which earlier versions did not write."""
        if suite.answers_path is None or suite.answers_sha256 is None:
            yield from self._agree(("answers_path",), suite.answers_path, suite.answers_sha256)
            return
        pair = suite.answers_path, suite.answers_sha256
        found = yield from self._file(pair, (), "answers_", Answers)
        if isinstance(found, Answers):
            for name in ("run_id", "suite", "complete"):
                yield from self._agree((name,), getattr(suite, name), getattr(found, name))

    def _agree(self, at: _At, said: object, held: object) -> Iterator[Checked]:
        """Check one statement of the index against what the files say."""
        if said != held:
            what = f"says {_shown(said)}, but its files say {_shown(held)}; {ADVICE}"
            yield self._fault(at, what)

    def _file(
        self, pair: tuple[str, str], at: _At, prefix: str, type_: type[Record]
    ) -> Generator[Checked, None, Record | None]:
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
        except OutsideError as error:
            yield self._fault((*at, f"{prefix}path"), f"{error}; {ADVICE}")
            return None
        if file.resolve() in self._seen:
            yield self._fault((*at, f"{prefix}path"), f"{path!r} is named twice; {ADVICE}")
            return None
        self.named.add(file)
        self._seen.add(file.resolve())
        try:
            data = read_bytes(file)
            actual = hashlib.sha256(data).hexdigest()
            if actual != sha256:
                what = f"{path} has {actual}: it was changed after it was written; {ADVICE}"
                yield self._fault((*at, f"{prefix}sha256"), what)
            record = decode_as(type_, data, str(file))
        except ContractError as error:
            yield Checked(file, None, error)
            return None
        if actual == sha256:
            yield Checked(file, record, None)
        return record

    def _fault(self, at: _At, what: str) -> Checked:
        error = fault(str(self.path), line_of(self._text, at), dotted(at), what)
        return Checked(self.path, self.suite, error)


def _shown(value: object) -> str:
    return str(value) if isinstance(value, msgspec.Struct) else repr(value)
