"""Reports on a user's own functions: a bench, and the noise of a machine."""

from __future__ import annotations

from typing import Literal

from coldwarm.contracts.answer import (
    Answer,
    BreakEven,
    CacheSetting,
    Comparison,
    CountVerdict,
    DefaultSettings,
    KeptMemory,
    Summary,
)
from coldwarm.contracts.base import CacheMode, Count, Record, Seconds, Status
from coldwarm.contracts.comparison import UnshownLimit
from coldwarm.contracts.observation import Counts
from coldwarm.contracts.reasons import Reason


class BenchCandidate(Record, frozen=True, kw_only=True):
    """One candidate: what it is, and its headline figures in seconds."""

    candidate: str
    target: str | None
    python: str | None
    revision: str | None = None
    status: Status
    reason: Reason | None = None
    checked: str
    ttfr: dict[CacheMode, Summary] = {}
    """Import of the module and first call, by cold mode."""
    ttfr_process: dict[CacheMode, Summary] = {}
    """From the spawn to the first result."""
    new_shape: Summary | None = None
    """A call with a shape that its process had not seen, caches empty; mean over the shapes."""
    call: Summary | None = None
    """A warm call."""
    steady: bool | None = None
    kept_memory: KeptMemory | None = None
    """The warm call where the C allocator keeps what the program frees, where that was measured."""
    filled_by: list[CacheSetting] = []
    """Settings that give a program of one's own the filled caches of the figures."""
    framework_default: DefaultSettings | None = None
    """Starts with what the framework's own settings keep, where that is less."""
    counts: Counts = Counts()
    limitations: list[Reason] = []
    null_reasons: dict[str, Reason] = {}


class BenchVerdict(Record, frozen=True, kw_only=True):
    """A judged difference of a candidate from the reference; see ``Comparison``."""

    candidate: str
    comparison: Comparison
    fails_beyond: float | None = None
    """The relative difference that was not to be exceeded, where the interval lies beyond it."""
    held_back: Reason | None = None
    """Why no headline rests on it, such as data that were never varied; ``None``: one may."""
    surely_below: float | None = None
    """The limit of ``slower``, where the whole interval lies below it."""


class BenchControl(Record, frozen=True, kw_only=True):
    """A candidate that is another one once more: what of it differs, differs by itself."""

    candidate: str
    of: str
    """Candidate that it repeats."""
    comparisons: list[Comparison]
    """The truth is a ratio of 1."""
    differing: list[str]
    """Metrics that differ all the same: their verdicts are withheld."""


class BenchReport(Record, frozen=True, kw_only=True):
    """Everything that a bench says; the artifacts it stands on lie under ``path``."""

    schema_version: Literal["coldwarm.bench_report.v2"] = "coldwarm.bench_report.v2"
    path: str
    run_id: str
    complete: bool
    reference: str
    wall_s: Seconds
    candidates: list[BenchCandidate]
    verdicts: list[BenchVerdict]
    counts: list[CountVerdict] = []
    break_even: list[BreakEven]
    n_failing: Count
    """Verdicts, those of counts too, beyond a limit of ``--fail-on``."""
    control: BenchControl | None = None
    """``None``: none was measured."""
    unshown: list[UnshownLimit] = []
    """Limits of ``--fail-on`` that this bench could not have shown."""
    answers: list[Answer] = []
    """Which candidate is the cheapest, from how many calls; of a bench there is one."""


class NoiseHorizon(Record, frozen=True, kw_only=True):
    """Differences that a bench of a given length can tell, relative: 0.05 is 5 %."""

    seconds: Seconds
    pairs: Count
    """Pairs of processes that fit."""
    half_width: float | None = None
    """Half of the width of the ratio's interval."""
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
    """Time of a pair."""
    fixed_s: Seconds
    """Time of a bench besides its pairs."""
    horizons: list[NoiseHorizon]
    parts: list[Seconds] = []
    """The figure itself in each quarter of the rounds, one after the other, of both sides: what
    equal runs would have given, one soon after another. Empty where there are too few rounds."""
    null_reasons: dict[str, Reason] = {}


class NoiseReport(Record, frozen=True, kw_only=True):
    """Differences that can be told on this machine, as busy as it was."""

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
