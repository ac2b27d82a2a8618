"""How a case was measured, in enough detail to measure it again."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from coldwarm.contracts.base import (
    Allocator,
    CacheMode,
    CacheSettings,
    Count,
    Dtype,
    Record,
    Seconds,
    Sha256,
)
from coldwarm.contracts.files.names import Name
from coldwarm.contracts.reasons import Reason


class Effort(Record, frozen=True, kw_only=True):
    """How much measuring was asked for.

    ``precision`` is the relative half-width of the 95 % interval of a median that ends
    the measuring of a case; ``min_runs`` and ``max_runs`` bound the processes of each
    cache mode; ``time_budget_s`` bounds the whole suite (``None``: no bound).
    """

    precision: float
    min_runs: Count
    max_runs: Count
    time_budget_s: Seconds | None
    timeout_s: Seconds
    decide: float | None = None
    """The relative difference whose verdicts decided how much was measured; ``None``:
    ``precision`` did."""
    limits: dict[str, float] = {}
    """Where a build was guarded at more than that: by kind of figure, ``cold`` or ``warm``, the
    relative difference that verdicts had to be surely below or beyond."""


class OwnCandidate(Record, frozen=True, kw_only=True):
    """A function of the user's own: what was called, with what, and how it was checked."""

    target: str | None
    """As it was named: ``FILE.py:NAME`` or ``PACKAGE.MODULE:NAME``; ``None``: left out."""
    kind: Literal["function", "factory"]
    python: str | None
    """The interpreter that its processes ran under; ``None``: left out."""
    variables: dict[str, str] = {}
    """What was set for this candidate besides, where the value may be told; masked."""
    withheld_variables: list[str] | None = []
    """Names of the others that were set: their values are not told. ``None``: left out."""
    revision: str | None = None
    """The commit it is of; ``None``: the files as they were, or left out with that reason."""
    placement: str | None
    """Whose arrays the inputs were made as; ``None``: nothing was made for it."""
    arguments: list[str]
    """Each argument of the call: framework, dtype and shape, or the value."""
    outputs: list[str]
    """Each array of the output, as it was compared."""
    renewed: bool
    """Whether each call got new arguments, because it changes or uses up those it is given."""
    checked: str
    """What its answer was held against, and how closely."""
    last_checked: bool
    """Whether the answer of its last call was checked too."""
    control_of: str | None = None
    """The candidate that this one is once more, to show what differs by itself; ``None``: none."""
    sync: str | None = None
    """The function named to wait for a result, inside the window; ``None``: none was named."""
    null_reasons: dict[str, Reason] = {}


class Protocol(Record, frozen=True, kw_only=True):
    """The declared protocol of one case."""

    schema_version: Literal["coldwarm.protocol.v1"] = "coldwarm.protocol.v1"
    cache_modes: list[CacheMode]
    process: dict[str, Literal["fresh", "persistent"]]
    """For each cache mode, whether a measured process is fresh or long-lived."""
    workload: Name
    workload_sha256: Sha256
    """Hash of the workload's own source file."""
    backend: Name
    backend_sha256: Sha256
    candidate: Name
    size: Annotated[int, msgspec.Meta(ge=1)]
    dtype: Dtype
    data_layout: str
    windows: dict[str, str]
    """For each timed window, what is inside it and what is outside."""
    sync_policy: str
    warmup_policy: str
    allocator: Allocator = "keeps_memory"
    """How the C allocator of the processes began that the figures are from."""
    cache_settings: CacheSettings = "keep_all"
    """What the caches of the processes kept that the figures are from."""
    interleaving: str
    threads: int | None
    """Threads each library was set to use; ``None``: each library's own default."""
    affinity: list[int]
    """Processors a measured process may run on."""
    environment_variables: dict[str, str]
    """What the runner sets in every measured process of this case."""
    seed: int
    deterministic: bool
    effort: Effort
    option_origins: dict[str, str] = {}
    """For each option whose value came from a project's file, the name of the file."""
    caches: list[str] | None = None
    """Whose caches its processes may use, by which their cache modes are judged; ``None``: not
    recorded."""
    compiles: bool | None = None
    """Whether a first result with empty caches must have compiled something."""
    own: OwnCandidate | None = None
    """For a function of the user's own."""
    harness_version: str
    harness_sha256: Sha256
    """Hash of every source file of the measured side and of the runner."""
