"""A sweep of sizes: who is the cheapest by the size of the inputs, and where that changes."""

from __future__ import annotations

from typing import Any, Literal

from coldwarm.contracts.answer import Answer, Summary
from coldwarm.contracts.base import CacheMode, Count, Positive, Reading, Record, Seconds
from coldwarm.contracts.reasons import Reason

Setting = Count | Literal["all"]
"""A number in the place of a name, or of threads; ``all``: every processor."""


class SweepRequest(Record, frozen=True, kw_only=True):
    """What a sweep was asked for; the folders beside it hold its benches."""

    schema_version: Literal["coldwarm.sweep_request.v1"] = "coldwarm.sweep_request.v1"
    name: str
    """What is swept, as ``--sweep`` and the inputs name it."""
    low: Count
    high: Count
    fixed: dict[str, list[Setting]] = {}
    """What else is tried, each value in a sweep of its own: by name, ``threads`` among them."""
    goal: Positive
    """Half-width of a border's interval over its middle below which it is known well enough."""
    asked: dict[str, Any]
    """The bench of each size, as its journal has it, with the inputs as they were given."""


class SizePoint(Record, frozen=True, kw_only=True):
    """A bench at one size, whose artifacts lie under ``path``."""

    size: Count
    path: str
    answer: Answer | None
    call: dict[str, Summary] = {}
    """Seconds of a warm call by candidate."""
    start: dict[CacheMode, dict[str, Summary]] = {}
    """Seconds from the start of a process to its first result, by cold cache mode and candidate."""
    wall_s: Seconds
    reason: Reason | None = None
    """Why nothing is known at this size; ``None``: something is."""
    null_reasons: dict[str, Reason] = {}


class SizeRange(Record, frozen=True, kw_only=True):
    """Measured sizes next to each other at which the same candidates may be the cheapest."""

    from_size: Count
    to_size: Count
    cheapest: str | None
    """``None``: several are left."""
    among: list[str]


class Border(Record, frozen=True, kw_only=True):
    """A change of the cheapest candidate between two measured sizes.

    At ``low`` it is surely ``below``, at ``high`` surely ``above``: between them it changes, at
    about ``estimate``, where lines through the costs cross.
    """

    below: str
    above: str
    low: Count
    high: Count
    estimate: Positive

    @property
    def half_width(self) -> float:
        """Half of the interval's width, over its middle."""
        return (self.high - self.low) / (self.high + self.low)


class BySize(Record, frozen=True, kw_only=True):
    """Which candidate is the cheapest by size, for one number of calls of a process."""

    reading: Reading | None
    """``None``: a warm call alone."""
    calls: Count | None
    """Calls of a process; ``None``: a warm call alone."""
    ranges: list[SizeRange]
    borders: list[Border] = []
    never: list[str] = []
    """Candidates that are surely not the cheapest at any size that was measured."""


class Growth(Record, frozen=True, kw_only=True):
    """Power of the size that a warm call grows with, over the largest sizes."""

    candidate: str
    exponent: float | None
    low: float | None
    high: float | None
    confidence: float = 0.95
    from_size: Count
    to_size: Count
    null_reasons: dict[str, Reason] = {}


class Slice(Record, frozen=True, kw_only=True):
    """A sweep of the sizes, while all else stays as it is."""

    path: str
    fixed: dict[str, Setting]
    complete: bool
    """Whether it came to its own end, not to that of the time or to an interruption."""
    wall_s: Seconds
    reference: str | None
    candidates: list[str]
    points: list[SizePoint]
    """By size."""
    by_size: list[BySize]
    growth: list[Growth]


class SweepReport(Record, frozen=True, kw_only=True):
    """Everything that a sweep says; each of its sizes is a bench in a folder of its own."""

    schema_version: Literal["coldwarm.sweep_report.v1"] = "coldwarm.sweep_report.v1"
    path: str
    name: str
    """What is swept, as ``--sweep`` names it."""
    low: Count
    high: Count
    slices: list[Slice]
    """One for each setting of all else that was asked for."""

    @property
    def complete(self) -> bool:
        """Whether all of it came to its own end."""
        return all(one.complete for one in self.slices)
