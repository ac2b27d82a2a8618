"""A measured process in its place: of which case, mode, round and attempt, and what it said."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from coldwarm.caches.listing import Listing
    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.observation import Block
    from coldwarm.runner.machine import telemetry
    from coldwarm.runner.process.spawn import MeasuredProcess
    from coldwarm.runner.schedule.case import Case


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


@dataclass
class Running:
    """A process after its start."""

    slot: Slot
    process: MeasuredProcess
    order: int
    started_at: str
    before: dict[str, Listing]
    start: dict[str, Any]
    start_telemetry: telemetry.Reading
    start_after: telemetry.Reading
    start_cpu_s: float | None
    input_sha256: str | None
    after: dict[str, Listing] | None = None
    """The caches after the start of a process that stays: its blocks may write there, too."""
    counted: bool = False
    """Whether the time of its process is in ``Place.measured_s``."""
    blocks: list[Block] = field(default_factory=list)
    readings: list[telemetry.BlockReading] = field(default_factory=list)
