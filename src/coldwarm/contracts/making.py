"""What was made beforehand for a case, in a process of its own, and what that cost."""

from __future__ import annotations

from coldwarm.contracts.base import Count, Record, Seconds, Sha256
from coldwarm.contracts.observation import (
    CacheEvidence,
    Device,
    FirstCallParts,
    Phase,
    Telemetry,
)


class Artifact(Record, frozen=True, kw_only=True):
    """A file that measured processes load."""

    name: str
    bytes: Count
    sha256: Sha256


class Making(Record, frozen=True, kw_only=True):
    """One making. A run makes once for each case, and once more for each ``--resume``.

    Its cost is in no figure of the measured processes, which load the artifacts: there it is
    the part ``cache_read`` of the first call.
    """

    case: str
    order: Count
    """Position among all processes of the suite, in time."""
    started_at: str
    wall_s: Seconds
    """From the spawn to the exit of the process: what making costs in all."""
    phases: list[Phase]
    """As in a measured process up to ``wrap``, then ``make``."""
    parts: FirstCallParts
    """Of the phase ``make``; the rest is serialising and writing."""
    artifacts: list[Artifact]
    evidence: list[CacheEvidence]
    """Of the caches of this process, which were private and empty."""
    input_sha256: Sha256
    device: Device
    versions: dict[str, str] = {}
    telemetry: Telemetry

    @property
    def artifact_bytes(self) -> int:
        """How large the artifacts are together."""
        return sum(artifact.bytes for artifact in self.artifacts)

    @property
    def peak_rss_bytes(self) -> int | None:
        """The highest resident memory of the process, where the system tells it."""
        return self.phases[-1].peak_rss_bytes if self.phases else None
