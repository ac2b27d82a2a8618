"""What a benchmark found: one figure, what it must not exceed, and what it comes from."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    group: str
    what: str
    measured: str
    """What was measured, in words and numbers."""
    against: str
    """What it is held against, likewise."""
    figure: float
    """The number that is judged, in ``unit``: a deviation, a share or a ratio."""
    bound: float
    """The most that ``figure`` may be."""
    unit: str
    noise: float = 0.0
    """How far ``figure`` may be off by chance: half of its interval at 95 %."""
    series: dict[str, list[float]] = field(default_factory=dict)
    """What the figure was computed from, where it is not in a run's artifacts."""

    @property
    def verdict(self) -> str:
        """``ok``; ``missed``; or ``undecided``: missed by no more than the noise."""
        if self.figure <= self.bound:
            return "ok"
        return "undecided" if self.figure - self.noise <= self.bound else "missed"

    def document(self) -> dict[str, object]:
        """Return the row as plain values."""
        return {**vars(self), "verdict": self.verdict}
