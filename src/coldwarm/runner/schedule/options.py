"""What a run was asked for."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from coldwarm.contracts.base import MOST_S, CacheMode
from coldwarm.runner.schedule.batches import BLOCK_S, BLOCKS_OF_RUN

if TYPE_CHECKING:
    from collections.abc import Mapping

COLD: tuple[CacheMode, ...] = ("cold_process_cold_cache", "cold_process_warm_cache")
_MOST_RUNS = 10_000
_Seconds = Annotated[float, msgspec.Meta(gt=0.0, lt=MOST_S)]
_Runs = Annotated[int, msgspec.Meta(ge=1, le=_MOST_RUNS)]
DEFAULT_MODES: tuple[CacheMode, ...] = (*COLD, "warm_process")


@dataclass(frozen=True)
class Options:
    """What a run was asked for."""

    suite: str = "quick"
    cases: tuple[str, ...] = ()
    backends: tuple[str, ...] = ()
    cache_modes: tuple[CacheMode, ...] = DEFAULT_MODES
    deterministic: bool = False
    seed: int = 0
    threads: int | None = None
    precision: float = 0.05
    min_runs: _Runs = 3
    max_runs: _Runs = 5
    time_budget_s: _Seconds | None = None
    timeout_s: _Seconds = 300.0
    block_s: _Seconds = BLOCK_S
    blocks: _Runs = BLOCKS_OF_RUN
    decide: float | None = None
    """Measure until every verdict against the baseline is settled: the relative difference
    that matters. ``None``: until every median is as precise as asked for."""
    limits: dict[str, float] = field(default_factory=dict)
    """By kind of figure, ``cold`` or ``warm``, the relative difference that a build is guarded
    at, where it is more than ``decide``: a verdict has to be surely below it or beyond."""
    leave_out_private: bool = False
    """Write nothing that could identify a person or a firm, as far as a figure does not need it."""
    own: dict[str, Any] | None = None
    """What a bench of a user's own functions was asked for besides; ``None``: it is none, or that
    was left out."""
    option_origins: dict[str, str] = field(default_factory=dict)
    """For each option whose value came from a project's file, the name of the file."""

    def asked(self) -> dict[str, object]:
        """Return the options as plain values, for the journal and for ``--resume``."""
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in vars(self).items()
        }

    @classmethod
    def recorded(cls, asked: Mapping[str, Any]) -> Options:
        """Return the options that ``asked`` wrote down.

        Raises:
            msgspec.ValidationError: they are no options, or another version's.
        """
        return msgspec.convert(asked, cls)


def affinity(options: Options) -> list[int]:
    """Return the processors that measured processes may run on."""
    allowed = sorted(os.sched_getaffinity(0))
    return allowed[: options.threads] if options.threads else allowed
