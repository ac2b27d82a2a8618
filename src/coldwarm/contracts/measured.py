"""A result as it was read: the run of a directory, or the file of one case."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from coldwarm.contracts.answer import Answers
    from coldwarm.contracts.environment import Environment
    from coldwarm.contracts.result import CaseResult, SuiteResult


@dataclass(frozen=True)
class Measured:
    """The cases of a result by their names, and where they were measured."""

    path: str
    suite: SuiteResult | None
    """``None`` for the file of a single case."""
    cases: dict[str, CaseResult]
    files: dict[str, str]
    """The file of each case."""
    environment_sha256: str
    environment: Environment | None
    """``None`` where the file of a case has no ``environment.json`` of its run beside it."""
    answers: Answers | None = None
    """As they stand beside the index; ``None``: there are none."""
