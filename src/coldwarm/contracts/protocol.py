"""How a case was measured, in enough detail to measure it again."""

from __future__ import annotations

from typing import Literal

from coldwarm.contracts.base import CacheMode, Count, Dtype, Record, Seconds, Sha256


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


class Protocol(Record, frozen=True, kw_only=True):
    """The declared protocol of one case."""

    schema_version: Literal["coldwarm.protocol.v1"] = "coldwarm.protocol.v1"
    cache_modes: list[CacheMode]
    process: dict[str, Literal["fresh", "persistent"]]
    """For each cache mode, whether a measured process is fresh or long-lived."""
    workload: str
    workload_sha256: Sha256
    """Hash of the workload's own source file."""
    backend: str
    backend_sha256: Sha256
    candidate: str
    size: int
    dtype: Dtype
    data_layout: str
    windows: dict[str, str]
    """For each timed window, what is inside it and what is outside."""
    sync_policy: str
    warmup_policy: str
    interleaving: str
    threads: int | None
    """Threads each library was told to use; ``None``: each library's own default."""
    affinity: list[int]
    """Processors a measured process may run on."""
    environment_variables: dict[str, str]
    """What the runner sets in every measured process of this case."""
    seed: int
    deterministic: bool
    effort: Effort
    harness_version: str
    harness_sha256: Sha256
    """Hash of every source file of the measured side and of the runner."""
