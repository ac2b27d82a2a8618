"""A run as it goes into a snapshot, and as it is read from one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from coldwarm.contracts.answer import Answers
from coldwarm.contracts.files.codec import decode_as
from coldwarm.contracts.measured import Measured
from coldwarm.publish import layout

if TYPE_CHECKING:
    from coldwarm.contracts.environment import Environment
    from coldwarm.contracts.result import CaseResult, SuiteResult


@dataclass(frozen=True)
class Run:
    """A run as it goes into a snapshot."""

    name: str
    """Of its folder under ``results/``."""
    suite: SuiteResult
    environment: Environment
    cases: list[CaseResult]
    """In the order of the index, with everything computed again."""
    files: dict[str, bytes]
    """By path below its folder, byte for byte as they were measured."""

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
        )

    @property
    def folder(self) -> str:
        """Its folder in the snapshot."""
        return f"{layout.RESULTS}/{self.name}"


class Collected(NamedTuple):
    """The runs of a snapshot, as they go into it."""

    runs: list[Run]
    masked: list[str]
    """Where something is masked that was not when it was measured."""
