"""A measured process in its place: of which case, mode, round and attempt, and what it said."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from coldwarm.caches.listing import Listing
    from coldwarm.clock import Clock
    from coldwarm.contracts.base import Allocator, CacheMode, CacheSettings
    from coldwarm.contracts.observation import Block
    from coldwarm.contracts.reasons import Reason
    from coldwarm.runner.machine import telemetry
    from coldwarm.runner.process.guarded import Guard
    from coldwarm.runner.process.replies import End, OtherCalls, Start
    from coldwarm.runner.process.spawn import MeasuredProcess
    from coldwarm.runner.schedule.options import Options
    from coldwarm.runner.schedule.suites import Case


@dataclass
class Place:
    """Where a run's processes live: its options, its guard, and its working directory."""

    options: Options
    guard: Guard
    clock: Clock
    work: Path
    references: dict[str, str | None] = field(default_factory=dict)
    """Group to the path of its reference answers; ``None``: asked not to be checked."""
    inputs: dict[str, str] = field(default_factory=dict)
    """Group to the hash of its inputs."""
    order: list[str] = field(default_factory=list)
    """Every process and block in the order in which it ran."""
    gpu_search_path: str = ""
    """PATH of the processes that use a GPU."""
    measured_s: float = 0.0
    """Seconds in which a measured process ran."""
    since_ns: int = field(default_factory=time.time_ns)
    """From when on its processes may have written files, on the clock of the file system."""

    def next_order(self, what: str) -> int:
        """Put something down as next in time and return its position."""
        self.order.append(what)
        return len(self.order) - 1


@dataclass(frozen=True)
class Slot:
    """Which process this is: of which case, in which mode, round and attempt."""

    case: Case
    mode: CacheMode
    round: int
    attempt: int
    root: Path
    """Its caches."""
    persistent: bool = False
    analyse: bool = False
    other_calls: bool = False
    """Whether it shows, after its last word, what calls take that the timed loop does not make."""
    allocator: Allocator = "as_it_is"
    cache_settings: CacheSettings = "keep_all"
    hidden: frozenset[str] = frozenset()
    """Files that its program makes by itself where they are missing, as they are for it."""


@dataclass
class Begun:
    """A process that was started."""

    slot: Slot
    process: MeasuredProcess
    order: int
    started_at: str
    before: dict[str, Listing]
    """The caches before it."""
    start_telemetry: telemetry.Reading
    variables: Mapping[str, str]
    """What it had in its environment."""
    user_settings: Mapping[str, str]
    """What of it is a setting of the user's that may change what is measured."""


@dataclass(kw_only=True)
class Running(Begun):
    """A process after its start."""

    start: Start
    start_after: telemetry.Reading
    start_cpu_s: float | None
    together: bool
    """Whether others started at the same time, so that nothing is said of its start."""
    input_sha256: str | None
    after: dict[str, Listing] = field(default_factory=dict)
    """The caches after its start, or after its end where it has no blocks."""
    end: End | None = None
    """Its last word of what it measured; ``None``: it is alive."""
    other_calls: OtherCalls | Reason | None = None
    """Or why there are none."""
    wall_s: float | None = None
    """From its spawn to its exit."""
    counted: bool = False
    """Whether the time of its process is in ``Place.measured_s``."""
    asked_to_end: bool = False
    blocks: list[Block] = field(default_factory=list)
    readings: list[telemetry.BlockReading] = field(default_factory=list)
