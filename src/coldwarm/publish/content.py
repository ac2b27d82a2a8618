"""Contents of a snapshot: runs, verdicts, and nothing that is private."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from coldwarm.contracts.catalogue import INDEXES, PatternResults
from coldwarm.contracts.codec import cleaned, decode_as, dotted
from coldwarm.contracts.environment import ENVIRONMENT, Environment
from coldwarm.contracts.snapshot import SnapshotName
from coldwarm.errors import ContractError
from coldwarm.publish import layout
from coldwarm.runner.user_input import secret_values

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from coldwarm.contracts.catalogue import ClaimResults, Kind
    from coldwarm.contracts.reasons import Reason
    from coldwarm.contracts.result import CaseResult, Measured, SuiteResult
    from coldwarm.contracts.snapshot import SnapshotIndex

_Files = Mapping[str, bytes]


@dataclass(frozen=True)
class Run:
    """A run with the bytes of its files."""

    folder: str
    """Folder of the snapshot, such as ``results/ml``."""
    measured: Measured
    """With everything computed again; it names the files of the snapshot."""
    suite: SuiteResult
    environment: Environment
    files: dict[str, bytes]
    """By path below its folder, byte for byte as they were measured."""

    @property
    def name(self) -> str:
        """Its folder, without the one that all runs of suites are in."""
        return self.folder.removeprefix(f"{layout.RESULTS}/")

    @property
    def cases(self) -> list[CaseResult]:
        """Its cases, in the order of the index."""
        return [*self.measured.cases.values()]


def run_of(measured: Measured, folder: str, files: dict[str, bytes]) -> list[Run]:
    """Return a run as it lies in a folder of a snapshot; nothing without index and environment."""
    suite, environment = measured.suite, measured.environment
    if suite is None or environment is None:
        return []
    paths = {row.case: f"{folder}/{row.path}" for row in suite.cases}
    return [
        Run(folder, replace(measured, path=folder, files=paths), suite, environment, dict(files))
    ]


@dataclass(frozen=True)
class Verdicts:
    """Results of patterns or of claims with their evidence."""

    kind: Kind
    """The name of their folder, too."""
    index: PatternResults | ClaimResults
    environment: Environment | None
    """``None``: it was not recorded, and there is no run that tells it."""
    runs: list[Run]
    """Runs that the figures are from."""
    files: dict[str, bytes]
    """Their index and environment, by path below the folder."""
    not_judged: Mapping[str, Reason]
    """Verdicts that were not judged again, and why."""
    n_otherwise: int
    """Values that another version has stored otherwise."""

    @property
    def path(self) -> str:
        """Path of their index in the snapshot."""
        return f"{self.kind}/{INDEXES[self.kind]}"


def verdicts_of(
    index: PatternResults | ClaimResults,
    runs: Mapping[str, Measured],
    files: _Files,
    not_judged: Mapping[str, Reason] | None = None,
    n_otherwise: int = 0,
) -> Verdicts:
    """Return verdicts with their evidence.

    Args:
        index: The results.
        runs: What they are from, by path below their folder.
        files: All of theirs, by path below their folder.
        not_judged: As of ``Verdicts``.
        n_otherwise: As of ``Verdicts``.
    """
    kind: Kind = "patterns" if isinstance(index, PatternResults) else "claims"
    made = [
        run
        for path, one in sorted(runs.items())
        for run in run_of(one, f"{kind}/{path}", below(files, f"{path}/"))
    ]
    own = {name: files[name] for name in (INDEXES[kind], ENVIRONMENT) if name in files}
    environment = made[0].environment if made else None
    if ENVIRONMENT in own:
        environment = decode_as(Environment, own[ENVIRONMENT], f"{kind}/{ENVIRONMENT}")
    return Verdicts(kind, index, environment, made, own, not_judged or {}, n_otherwise)


class Content(NamedTuple):
    """All that was measured of a snapshot."""

    runs: list[Run]
    verdicts: list[Verdicts]
    masked: list[str]
    """Where something is masked that was not when it was measured."""

    @property
    def all_runs(self) -> list[Run]:
        """The runs, and those that verdicts are from."""
        return [*self.runs, *(run for one in self.verdicts for run in one.runs)]

    @property
    def environments(self) -> list[Environment]:
        """Where all was measured; the first one gives what the published contracts have once."""
        of_verdicts = [one.environment for one in self.verdicts if one.environment is not None]
        return [run.environment for run in self.runs] + of_verdicts

    @property
    def finished_at(self) -> str:
        """When the last of it was measured."""
        dates = [run.suite.finished_at or run.suite.started_at for run in self.runs]
        dates += [one.index.finished_at or one.index.started_at for one in self.verdicts]
        return max(dates)

    @property
    def files(self) -> dict[str, bytes]:
        """All files by their paths in the snapshot."""
        folders: list[tuple[str, dict[str, bytes]]]
        folders = [(one.kind, one.files) for one in self.verdicts]
        folders += [(one.folder, one.files) for one in self.all_runs]
        return {f"{folder}/{name}": data for folder, own in folders for name, data in own.items()}


View = Callable[[Content], bytes | None]
"""Renders one file of a snapshot from what was measured, if there is anything to show."""


def below(files: _Files, start: str) -> dict[str, bytes]:
    """Return the files whose paths begin so, by the rest of their paths."""
    return {
        path.removeprefix(start): data for path, data in files.items() if path.startswith(start)
    }


@dataclass(frozen=True)
class Snapshot:
    """A snapshot that was verified, and holds."""

    folder: Path
    index: SnapshotIndex
    index_sha256: str
    runs: Mapping[str, Measured]
    """By the name of their folder, everything in them computed again."""
    verdicts: Mapping[Kind, Mapping[str, str]]
    """Verdicts on its patterns and claims, by id, as they are judged now."""
    signed_by: str | None
    """The fingerprint of the key that the reader named, which has signed it."""
    identity: str | None
    """Who has signed it through sigstore, where the reader named that."""

    @property
    def name(self) -> SnapshotName:
        """Name, and the hash of its index, which says which one it is."""
        return snapshot_name(self.index, self.index_sha256)


def snapshot_name(index: SnapshotIndex, sha256: str) -> SnapshotName:
    """Return what a snapshot is called, and the hash of its index."""
    return SnapshotName(
        snapshot_id=index.snapshot_id, suite=index.suite, snapshot_index_sha256=sha256
    )


def private_in(files: _Files) -> list[str]:
    """Return where files hold a text that would be masked if it were written now.

    Args:
        files: Texts, by the path that is told.
    """
    return [place for path, data in files.items() for place in _private_places(path, data)]


def refuse_secrets(files: _Files) -> None:
    """Refuse files of any format that hold the value of a secret variable of this process.

    Raises:
        ContractError: one does; the message says which.
    """
    values = secret_values()
    for path, data in files.items():
        if any(value in path.encode() for value in values):
            what = "the name of a file holds the value of a variable that is a secret"
            raise ContractError("the snapshot", f"{what}; nothing was written")
        if any(value in data for value in values):
            what = "holds the value of a variable whose name says that it is a secret"
            raise ContractError(path, f"{what}; nothing was written")


def _private_places(path: str, data: bytes) -> Iterator[str]:
    by_line = path.endswith(".jsonl")
    for number, text in enumerate(data.splitlines() if by_line else [data], start=1):
        try:
            plain = json.loads(text)
        except ValueError:  # the last line of a journal may be torn
            plain = text.decode(errors="replace")
        clean = cleaned(plain)
        if clean != plain:
            place = f"{path}:{number}" if by_line else path
            yield ": ".join(filter(None, (place, dotted(_difference(plain, clean)))))


def _difference(one: Any, other: Any, at: tuple[str | int, ...] = ()) -> tuple[str | int, ...]:  # noqa: ANN401 - any JSON value
    """Return where two values of the same shape differ first; a key is not told."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        pairs = [((*at, str(key)), one[key], other[key]) for key in one]
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        pairs = [((*at, place), *both) for place, both in enumerate(zip(one, other, strict=True))]
    else:
        return at
    return next((_difference(a, b, place) for place, a, b in pairs if a != b), at)
