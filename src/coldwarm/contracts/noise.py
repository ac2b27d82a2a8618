"""What a program measured against itself says of a machine: which differences can be told."""

from __future__ import annotations

from typing import Literal

from coldwarm.contracts.base import Count, Record, Seconds
from coldwarm.contracts.reasons import Reason
from coldwarm.contracts.summary import Comparison


class NoiseHorizon(Record, frozen=True, kw_only=True):
    """What a bench of a given length can tell; differences are relative, 0.05 is 5 %."""

    seconds: Seconds
    pairs: Count
    """Pairs of processes that fit."""
    half_width: float | None = None
    """Of the interval of the ratio."""
    detectable: float | None = None
    """The difference that is called in half of such benches."""
    reliable: float | None = None
    """The difference that is called in 19 of 20."""
    tells_same: bool | None = None
    """Whether equal sides are then called ``same`` rather than ``undecided``."""
    extrapolated: float | None = None
    """Pairs that fit over pairs that were measured, where it is more than one."""
    null_reasons: dict[str, Reason] = {}


class NoiseFigure(Record, frozen=True, kw_only=True):
    """One metric of the program against itself."""

    comparison: Comparison
    """The two equal sides: the truth is a ratio of 1."""
    pairs: Count
    """Pairs of processes that were measured, one of each side."""
    pair_s: Seconds | None = None
    """What a pair takes."""
    fixed_s: Seconds
    """What a bench takes besides its pairs."""
    horizons: list[NoiseHorizon]
    parts: list[Seconds] = []
    """The figure itself in each quarter of the rounds, one after the other, of both sides: what
    equal runs would have given, one soon after another. Empty where there are too few rounds."""
    null_reasons: dict[str, Reason] = {}


class NoiseReport(Record, frozen=True, kw_only=True):
    """What can be told on this machine, as busy as it was."""

    schema_version: Literal["coldwarm.noise_report.v2"] = "coldwarm.noise_report.v2"
    target: str
    cpu: str | None = None
    platform: str
    cores: Count | None = None
    """Logical processors that could be used."""
    complete: bool
    wall_s: Seconds
    threshold: float
    confidence: float
    figures: list[NoiseFigure]
    null_reasons: dict[str, Reason] = {}
