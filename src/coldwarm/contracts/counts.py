"""What was compiled, counted: numbers without noise, which a build can guard."""

from __future__ import annotations

from typing import Literal, get_args

from coldwarm.contracts.base import Count, Record
from coldwarm.contracts.reasons import Reason

CountName = Literal[
    "programs",
    "equations",
    "instructions",
    "graphs",
    "graph_breaks",
    "kernels",
    "signatures",
    "llvm_lines",
]
COUNT_NAMES: tuple[CountName, ...] = get_args(CountName)
"""Of JAX: programs compiled or read, equations traced in them, instructions after XLA's
optimisations. Of ``torch.compile``: graphs, graph breaks, kernels that the graphs call. Of Numba:
signatures compiled, and their lines of optimised LLVM."""


class Counts(Record, frozen=True, kw_only=True):
    """What was compiled by the end of the second call, by ``CountName``."""

    numbers: dict[str, Count] = {}
    null_reasons: dict[str, Reason] = {}
    """By name, why there is no number."""


class CountVerdict(Record, frozen=True, kw_only=True):
    """One count held against the same count of what it is compared with."""

    case: str
    """In a bench, the candidate."""
    name: str
    reference: Count | None
    """Of A, or of the candidate that others are compared with."""
    count: Count | None
    verdict: Literal["more", "less", "same", "undecided"]
    """``undecided``: it is not known on both sides."""
    reason: Reason | None = None
    """Why it is undecided."""
    guarded: bool = False
    """Whether ``--fail-on`` names it."""
    fails_beyond: Count | None = None
    """The most that was allowed, where there are more; ``None``: this count fails nothing."""
