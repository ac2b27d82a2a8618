"""Runs and verdicts as they go into a snapshot, and as they are read from one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from coldwarm.contracts.answer import Answers
from coldwarm.contracts.catalogue import INDEXES
from coldwarm.contracts.codec import decode_as
from coldwarm.contracts.environment import ENVIRONMENT, Environment
from coldwarm.contracts.parsing import fault
from coldwarm.contracts.reader import NAME
from coldwarm.contracts.result import Measured
from coldwarm.publish import layout

if TYPE_CHECKING:
    from pathlib import Path

    from coldwarm.contracts.catalogue import Kind, Results
    from coldwarm.contracts.reasons import Reason
    from coldwarm.contracts.result import CaseResult, SuiteResult
    from coldwarm.errors import ContractError


@dataclass(frozen=True)
class Run:
    """A run as it goes into a snapshot."""

    name: str
    """Of its folder under ``results/``, or below the patterns or claims that it is of."""
    suite: SuiteResult
    environment: Environment
    cases: list[CaseResult]
    """In the order of the index, with everything computed again."""
    files: dict[str, bytes]
    """By path below its folder, byte for byte as they were measured."""
    otherwise: tuple[ContractError, ...] = ()
    """What its files say otherwise than the cases, as another version measured it."""
    within: str = layout.RESULTS
    """The folder of the snapshot that its own is in."""

    @property
    def placed(self) -> dict[str, bytes]:
        """Its files by their paths in the snapshot."""
        return {f"{self.folder}/{name}": data for name, data in self.files.items()}

    @property
    def measured(self) -> Measured:
        """The same as the reports take it: of the snapshot, and not of the folder it is from."""
        answers = self.suite.answers_path and self.files.get(self.suite.answers_path)
        return Measured(
            path=self.folder,
            suite=self.suite,
            cases={case.case: case for case in self.cases},
            files={row.case: f"{self.folder}/{row.path}" for row in self.suite.cases},
            environment_sha256=self.suite.environment_sha256,
            environment=self.environment,
            answers=decode_as(Answers, answers) if answers else None,
            otherwise=self.otherwise,
        )

    @property
    def folder(self) -> str:
        """Its folder in the snapshot."""
        return f"{self.within}/{self.name}"


@dataclass(frozen=True)
class Verdicts:
    """Results of patterns or of claims with their evidence, as they go into a snapshot."""

    kind: Kind
    """The name of their folder, too."""
    index: Results
    environment: Environment | None
    """``None``: it was not recorded, and there is no run that tells it."""
    runs: list[Run]
    """Those that the figures are from."""
    files: dict[str, bytes]
    """Their index and environment, by path below the folder."""
    not_judged: Mapping[str, Reason]
    n_otherwise: int

    @property
    def placed(self) -> dict[str, bytes]:
        """All their files, those of the runs too, by their paths in the snapshot."""
        own = {f"{self.kind}/{name}": data for name, data in self.files.items()}
        return own | {path: data for run in self.runs for path, data in run.placed.items()}

    @property
    def path(self) -> str:
        """Of their index in the snapshot."""
        return f"{self.kind}/{INDEXES[self.kind]}"


@dataclass(frozen=True)
class Judged:
    """Results of patterns or of claims as they were read, with the runs that they are from."""

    kind: Kind
    index: Results
    runs: Mapping[str, Measured]
    """By folder, below that of the results."""
    not_judged: Mapping[str, Reason] = field(default_factory=dict)
    """Those that were not judged again, and why."""
    n_otherwise: int = 0
    """Values that another version has stored otherwise."""


def verdicts_of(judged: Judged, files: Mapping[str, bytes]) -> Verdicts:
    """Return verdicts with their evidence; ``files`` are all theirs, by path below their folder."""
    made = [
        Run(
            path,
            run.suite,
            run.environment,
            [*run.cases.values()],
            below(files, f"{path}/"),
            within=judged.kind,
        )
        for path, run in sorted(judged.runs.items())
        if run.suite is not None and run.environment is not None
    ]
    own = {name: files[name] for name in (INDEXES[judged.kind], ENVIRONMENT) if name in files}
    environment = made[0].environment if made else None
    if ENVIRONMENT in own:
        environment = decode_as(Environment, own[ENVIRONMENT], f"{judged.kind}/{ENVIRONMENT}")
    return Verdicts(
        judged.kind, judged.index, environment, made, own, judged.not_judged, judged.n_otherwise
    )


def names_of(suite: SuiteResult) -> list[str]:
    """Return the files that a run consists of, by path below its folder."""
    names = [NAME, suite.environment_path, *(row.path for row in suite.cases)]
    return names if suite.answers_path is None else [*names, suite.answers_path]


def refuse_others(folder: Path, files: Mapping[str, bytes], within: str) -> None:
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
            raise fault(str(folder / name), None, None, "is no file that a run leaves")
        if part.contract and part.contract.encode() not in data[:200]:
            what = f"is of an earlier version than {part.contract}: measure again"
            raise fault(str(folder / name), None, "schema_version", what)


def below(files: Mapping[str, bytes], start: str) -> dict[str, bytes]:
    """Return the files whose paths begin so, by the rest of their paths."""
    return {
        path.removeprefix(start): data for path, data in files.items() if path.startswith(start)
    }


class Content(NamedTuple):
    """All that was measured of a snapshot."""

    runs: list[Run]
    verdicts: list[Verdicts]

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
    def placed(self) -> dict[str, bytes]:
        """All files by their paths in the snapshot."""
        placed = [one.placed for one in self.runs] + [one.placed for one in self.verdicts]
        return {path: data for files in placed for path, data in files.items()}


View = Callable[[Content], bytes | None]
"""Renders one file of a snapshot from what was measured, if there is anything to show."""


class Collected(NamedTuple):
    """What goes into a snapshot."""

    content: Content
    masked: list[str]
    """Where something is masked that was not when it was measured."""
