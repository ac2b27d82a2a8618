"""What a bench of a user's functions was asked for. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from coldwarm.runner.cases import BLOCKS, COLD, Options
from coldwarm.runner.functions import targets
from coldwarm.runner.user_input import is_told

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coldwarm.contracts.base import CacheMode

MIN_RUNS, MAX_RUNS = 3, 12
MOST_RUNS = 200
"""Processes of each mode where a budget bounds them."""
THRESHOLD = 0.02


def options(  # noqa: PLR0913 - each is one choice of the user's
    *,
    cold: bool = True,
    warm: bool = True,
    time_budget_s: float | None = None,
    min_runs: int | None = None,
    max_runs: int | None = None,
    threshold: float = THRESHOLD,
    limits: Mapping[str, float] | None = None,
    seed: int = 0,
    threads: int | None = None,
    timeout_s: float = 300.0,
    leave_out_private: bool = False,
    option_origins: dict[str, str] | None = None,
) -> Options:
    """Return the options of a run that stops when its verdicts are settled."""
    modes: tuple[CacheMode, ...] = COLD if cold else ()
    most = max_runs or (MAX_RUNS if time_budget_s is None else MOST_RUNS)
    # Within a budget, effort follows need from the second round on.
    fewest = min(min_runs or (MIN_RUNS if time_budget_s is None else 1), most)
    return Options(
        suite="bench",
        cache_modes=(*modes, "warm_process") if warm else modes,
        seed=seed,
        threads=threads,
        min_runs=fewest,
        max_runs=max(most, fewest),
        time_budget_s=time_budget_s,
        timeout_s=timeout_s,
        blocks=BLOCKS,
        decide=threshold,
        limits=dict(limits or {}),
        leave_out_private=leave_out_private,
        option_origins=option_origins or {},
    )


@dataclass(frozen=True)
class Request:
    """What a bench was asked for."""

    targets: Sequence[str]
    inputs: Sequence[str] = ()
    placement: str | None = None
    reference: str | None = None
    """A label; ``None``: the first candidate's."""
    check: bool = True
    tolerance: float | None = None
    sync: str | None = None
    """What waits for a result, ``MODULE:NAME``; ``None``: what its arrays have."""
    pythons: Sequence[str] = ()
    variables: Sequence[str] = ()
    before: str | None = None
    after: str | None = None
    control: bool = False
    """Whether the reference is measured once more, as a control, where commits are compared."""
    name: str = "bench"
    options: Options = field(default_factory=options)

    def asked(self) -> dict[str, Any]:
        """Return what a journal says of it, so that it can be asked for once more elsewhere.

        A file in the working directory is named from there on; a variable's value stands there
        where it may be told.
        """
        told = [one for one in self.variables if _is_told(one)]
        return {
            "targets": [targets.parse(one).written for one in self.targets],
            "inputs": list(self.inputs),
            "placement": self.placement,
            "reference": self.reference,
            "check": self.check,
            "tolerance": self.tolerance,
            "sync": self.sync,
            "variables": told,
            "n_withheld": len(self.variables) - len(told),
            "pythons": list(self.pythons),
            "before": self.before,
            "after": self.after,
        }


def _is_told(variable: str) -> bool:
    head, _, value = variable.partition("=")
    return is_told(head.rpartition(":")[2], value)
