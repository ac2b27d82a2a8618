"""What is said of several processes: distributions, judged differences and cautions."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

import msgspec

from coldwarm.contracts.base import CacheMode, Count, NotNegative, Positive, Record
from coldwarm.contracts.reasons import Reason

VariableName = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$(?!\n)")]
"""Of the environment, as every shell takes one."""


class Summary(Record, frozen=True, kw_only=True):
    """A distribution in few numbers; seconds, bytes or a ratio as its key says.

    ``low`` and ``high`` bound the median of the processes' medians at ``confidence``: by two of
    them in their order from six on, by all of them below, which hold it with that confidence alone.
    ``p95`` is ``None`` below the 20 values it needs.
    """

    n_processes: Count
    n_samples: Count
    median: NotNegative
    minimum: NotNegative
    maximum: NotNegative
    low: NotNegative | None = None
    high: NotNegative | None = None
    confidence: float = 0.95
    p95: NotNegative | None = None
    null_reasons: dict[str, Reason] = {}


class Comparison(Record, frozen=True, kw_only=True):
    """A judged difference of this case from its workload's baseline.

    ``ratio`` is this case over the baseline, so below 1 is faster. ``threshold`` is the
    relative difference that matters; ``smallest_detectable`` the smallest relative
    difference that this run could have shown. From fewer than five rounds, ``low`` and ``high``
    are the range of what was seen.
    """

    metric: str
    baseline: str
    ratio: Positive | None
    low: float | None
    high: float | None
    confidence: float = 0.97
    """Of the bounds."""
    threshold: float
    smallest_detectable: float | None
    verdict: Literal["faster", "slower", "same", "undecided"]
    p_value: float | None = None
    """Of a verdict: how often one like it would be given by chance where it is wrong; ``None``:
    there is none, or it was told from the range."""
    reason: Reason


CautionKind = Literal[
    "rejected",
    "failed",
    "few",
    "precision",
    "noisy",
    "unsteady",
    "bimodal",
    "second_call",
    "uneven",
    "compiled",
    "settings",
    "bytecode",
    "kept",
    "allocator",
    "other_calls",
    "untried",
    "counts",
]


class Caution(Record, frozen=True, kw_only=True):
    """Something to know before trusting a case, such that many can be summed up as one."""

    kind: CautionKind
    cache_mode: CacheMode | None = None
    """The mode it is about; ``None``: the case as a whole."""
    n_processes: Count
    """Processes it was seen in."""
    of_processes: Count
    """Processes that could have shown it."""
    reason: Reason
    """What was seen, with its figures: of several processes the worst, or the most common."""


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


class DefaultSettings(Record, frozen=True, kw_only=True):
    """Starts with caches that the framework filled with its own settings, a directory set alone."""

    n_ok: Count
    n_rejected: Count
    seconds: dict[str, Summary]
    """As in ``ColdSummary``."""


class KeptMemory(Record, frozen=True, kw_only=True):
    """Warm calls of processes whose C allocator keeps what they free, beside those as they come."""

    n_processes: Count
    call_s: Summary
    page_faults: NotNegative | None = None
    """Pages that the kernel handed out for one call; the median of the processes."""
    comparison: Comparison
    """Of these calls with those of the processes as they come, of the same rounds."""


class CacheSetting(Record, frozen=True, kw_only=True):
    """What a program must set to find the caches filled that a filled cache's figure had."""

    owner: str
    variables: dict[VariableName, str] = {}
    """Environment variables; ``DIR`` stands for a folder of one's own."""
    code: str | None = None
    """What has to stand in the program besides."""
