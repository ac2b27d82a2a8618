"""What patterns and claims have in common: a bench in a folder of its own."""

from __future__ import annotations

import hashlib
import shutil
from typing import TYPE_CHECKING, Protocol

from coldwarm.contracts.reasons import because
from coldwarm.runner.machine import gpus

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from coldwarm.contracts.reasons import Reason
    from coldwarm.contracts.result import CaseResult
    from coldwarm.registry import Source
    from coldwarm.runner.functions import request

    Bench = Callable[[request.Request, Path], "Ended"]

THRESHOLD = 0.02


class Ended(Protocol):
    """What a bench ends with."""

    @property
    def cases(self) -> list[CaseResult]:
        """Of each candidate."""

    @property
    def interrupted(self) -> bool:
        """Whether it was ended before its time."""


def measured(bench: Bench, what: request.Request, folder: Path) -> dict[str, CaseResult]:
    """Run a bench into a folder, which is emptied; return its cases by candidate.

    Raises:
        KeyboardInterrupt: it was interrupted.
        RefusedError: a candidate cannot be used.
    """
    if folder.exists():  # of a part that was interrupted in it
        shutil.rmtree(folder)
    outcome = bench(what, folder)
    if outcome.interrupted:
        raise KeyboardInterrupt
    return {case.candidate: case for case in outcome.cases}


def sha256(source: Source) -> str:
    """Return the hash of a pattern's or a claim's file."""
    return hashlib.sha256(source.read()).hexdigest()


def reason_against(needs: str | None) -> Reason | None:
    """Return why something cannot be tested here; ``None``: it can."""
    if needs == "tpu":
        return because("tpu_unavailable")
    if needs in {"gpu", "gpus"} and not gpus.may_be_used():
        return because("gpu_unavailable")
    return None
