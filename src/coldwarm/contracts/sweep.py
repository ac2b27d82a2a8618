"""A sweep of sizes: who is the cheapest by the size of the inputs, and where that changes."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from coldwarm.contracts.answer import Answer, Summary
from coldwarm.contracts.base import CacheMode, Count, Positive, Reading, Record, Seconds, Sha256
from coldwarm.contracts.reasons import Reason

Size = Annotated[int, msgspec.Meta(ge=1)]
Setting = Size | Literal["all"]
"""A number in the place of a name, or of threads; ``all``: every processor."""
FILE = "sweep.json"
"""Name of a request's file, in the folder of the sweep."""


class SweepRequest(Record, frozen=True, kw_only=True):
    """What a sweep was asked for; the folders beside it hold its benches."""

    schema_version: Literal["coldwarm.sweep_request.v1"] = "coldwarm.sweep_request.v1"
    name: str
    """What is swept, as ``--sweep`` and the inputs name it."""
    low: Size
    high: Size
    fixed: dict[str, list[Setting]] = {}
    """What else is tried, each value in a sweep of its own: by name, ``threads`` among them."""
    goal: Positive
    """Half-width of a border's interval over its middle below which it is known well enough."""
    asked: dict[str, Any]
    """The bench of each size, as its journal has it, with the inputs as they were given; empty
    where what could identify a person was to be left out."""
    identity: Sha256
    """Hash of all that its figures depend on: the request, the options, the functions' files, the
    machine, and coldwarm itself. Only a sweep of the same goes on in this folder."""


class SizePoint(Record, frozen=True, kw_only=True):
    """A bench at one size, whose artifacts lie under ``path``."""

    size: Size
    path: str
    """The folder, within that of the sweep; empty where there is none."""
    answer: Answer | None
    """``None``: nothing could be measured."""
    call: dict[str, Summary] = {}
    """Seconds of a warm call by candidate."""
    start: dict[CacheMode, dict[str, Summary]] = {}
    """Seconds from the start of a process to its first result, by cold cache mode and candidate."""
    n_failed: Count = 0
    """Candidates that failed."""
    wall_s: Seconds
    null_reasons: dict[str, Reason] = {}


class SizeRange(Record, frozen=True, kw_only=True):
    """Measured sizes next to each other at which the same candidates may be the cheapest."""

    from_size: Size
    to_size: Size
    cheapest: str | None
    """``None``: several are left."""
    among: list[str]
    same_within: Positive | None = None
    """The relative difference within which all of them cost the same, where that is known."""


class Border(Record, frozen=True, kw_only=True):
    """A change of the cheapest candidate between two measured sizes.

    At ``low`` it is ``below``, at ``high`` ``above``, each told as surely as an answer is. Between
    them it changes, at about ``estimate``, where lines through the costs of the two cross. A third
    candidate that is the cheapest only between sizes that were measured is not seen.
    """

    below: str
    above: str
    low: Size
    high: Size
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
    """Candidates that were compared at each of these sizes, and are the cheapest at none."""
    extrapolated: bool = False
    """Whether so many calls were not measured at every size: later ones are taken to cost what the
    last of those did."""


class Growth(Record, frozen=True, kw_only=True):
    """Power of the size that a warm call grows with, from the largest size two decades down."""

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
    """By size, those of which nothing could be measured too."""
    by_size: list[BySize]
    growth: list[Growth]


class SweepReport(Record, frozen=True, kw_only=True):
    """Everything that a sweep says; each of its sizes is a bench in a folder of its own."""

    schema_version: Literal["coldwarm.sweep_report.v1"] = "coldwarm.sweep_report.v1"
    path: str
    name: str
    """What is swept, as ``--sweep`` names it."""
    low: Size
    high: Size
    slices: list[Slice]
    """One for each setting of all else that was asked for."""

    @property
    def points(self) -> list[SizePoint]:
        """Every size of every slice."""
        return [point for one in self.slices for point in one.points]
