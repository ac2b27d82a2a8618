"""The answer of a run, as data: which candidate is the cheapest, from how many calls, how surely.

``coldwarm.stats.answers`` computes it from the cases of a run and from nothing else, so that
whoever has these can compute it again. Every view shows what stands here and adds nothing.
"""

from __future__ import annotations

from typing import Literal

from coldwarm.contracts.base import WARM, CacheMode, Count, Dtype, Positive, Reading, Record
from coldwarm.contracts.reasons import Reason

Verdict = Literal["faster", "slower", "same", "undecided"]
Provenance = Literal["measured_here", "replicated", "quoted"]
"""Where figures come from: measured by this run, by another that repeats it, or told by a source.
"""


class Judged(Record, frozen=True, kw_only=True):
    """A candidate and its verdict against the baseline; the rest is as in ``Comparison``."""

    candidate: str
    verdict: Verdict
    ratio: Positive | None
    low: float | None
    high: float | None
    confidence: float
    threshold: float
    reason: Reason


class Lead(Record, frozen=True, kw_only=True):
    """What the verdicts on one figure say: of the warm call, or of a cold cache mode.

    ``fastest`` is the candidate whose figure is told apart from those of all others, the baseline
    among them; ``None``: the data cannot tell. ``judged`` has the verdicts, the fastest first.
    """

    mode: CacheMode
    baseline: str
    fastest: str | None
    judged: list[Judged]
    held_back: dict[str, Reason] = {}
    """By candidate, why nothing is told of it here: it was not tried with other data, or it keeps
    answers. Where it is the baseline, nothing is told at all."""

    @property
    def faster(self) -> list[Judged]:
        """Those that are faster than the baseline."""
        return self._of("faster")

    @property
    def same(self) -> list[Judged]:
        """Those that are as fast."""
        return self._of("same")

    @property
    def slower(self) -> list[Judged]:
        """Those that are slower."""
        return self._of("slower")

    @property
    def undecided(self) -> list[Judged]:
        """Those of which the data cannot tell."""
        return self._of("undecided")

    def _of(self, verdict: Verdict) -> list[Judged]:
        return [one for one in self.judged if one.verdict == verdict]


class Crossing(Record, frozen=True, kw_only=True):
    """The first number, of calls or of what is swept, from which another one is the cheapest."""

    value: Count
    cheapest: str


class CallRange(Record, frozen=True, kw_only=True):
    """Numbers of calls of one process, and which candidate is the cheapest there.

    ``among`` are the candidates that may be the cheapest somewhere in the range: every other one is
    dearer than one of them. ``cheapest`` is the only one of these; ``None``: several are left, and
    this run cannot tell.
    """

    from_calls: Count
    """The first number of the range, from 1."""
    to_calls: Count | None
    """The last one; ``None``: the range has no end."""
    cheapest: str | None
    among: list[str]


class ByCalls(Record, frozen=True, kw_only=True):
    """Which candidate is the cheapest by the number of calls of a process, in one reading.

    ``ranges`` go from 1 call upwards without a gap, and no two that are next to each other say the
    same. That every one of them is true of what the candidates cost in the middle of their rounds
    holds with ``confidence``, for all ranges of this reading together. ``estimates`` are what the
    costs say without their scatter: the first number of calls from which a candidate has the lowest
    cost, beginning with 1.
    """

    reading: Reading
    ranges: list[CallRange]
    """Empty where ``reason`` says why no candidate can be told."""
    estimates: list[Crossing] = []
    candidates: list[str] = []
    """Those that were compared."""
    left_out: dict[str, Reason] = {}
    """By candidate, why it was not compared: the ranges say nothing of it."""
    confidence: float = 0.95
    n_rounds: Count | None = None
    """Rounds that the pair of candidates with the fewest has in common; where none are common,
    processes of the side that has fewer."""
    measured_calls: Count | None = None
    """Calls of a process up to which the costs of all compared are measured. What is said beyond
    holds if later calls cost what the last ones did: it is extrapolated."""
    reason: Reason | None = None
    null_reasons: dict[str, Reason] = {}

    def is_extrapolated(self, calls: int) -> bool:
        """Say whether the costs of so many calls lie beyond what was measured of all compared."""
        return self.measured_calls is not None and calls > self.measured_calls

    @property
    def told(self) -> list[CallRange]:
        """The ranges that tell something of their own, without those in which nobody can tell.

        They name one candidate, or several of which none was the cheapest in the one before.
        """
        found: list[CallRange] = []
        for one in self.ranges:
            last = set(found[-1].among) if found else set(self.candidates) - set(one.among)
            if one.cheapest is not None or (last and last.isdisjoint(one.among)):
                found.append(one)
        return found

    def cheapest_at(self, calls: int) -> str | None:
        """Return the cheapest candidate at a number of calls; ``None``: this run cannot tell."""
        for one in self.ranges:
            if one.to_calls is None or calls <= one.to_calls:
                return one.cheapest
        return None


class Answer(Record, frozen=True, kw_only=True):
    """What a run says of one group: of a workload at one size and dtype."""

    group: str
    """As cases have it, such as ``matmul_512_f32``."""
    workload: str
    size: Count
    dtype: Dtype
    scenario: bool = False
    """Whether a call is a whole loop: then nothing is told by the number of calls."""
    own: bool = False
    """Whether the candidates are functions of the user's own."""
    baseline: str | None
    """The candidate that verdicts are against; ``None``: it was not measured."""
    candidates: list[str]
    """Those with any valid process."""
    leads: list[Lead] = []
    """What the verdicts come to, the warm call first, then the cold cache modes."""
    by_calls: list[ByCalls] = []
    """One for each reading that was measured."""
    changes: list[Reason] = []
    """What would change the answer: filled caches, a longer process, more shapes."""
    not_measured: dict[str, Reason] = {}
    """By candidate, why nothing is known of it: it failed, or was not measured."""
    not_steady: dict[str, Reason] = {}
    """By candidate, why its warm calls may not stand for later ones."""
    n_processes: Count
    """Valid ones of all candidates, which the answer rests on."""
    n_rounds: Count
    """Rounds that they were measured in."""
    provenance: Provenance = "measured_here"
    null_reasons: dict[str, Reason] = {}
    """Of ``by_calls``: why it is empty."""

    @property
    def warm(self) -> Lead | None:
        """Who leads the warm call; ``None``: no verdict was asked for."""
        return self.lead(WARM)

    @property
    def cold(self) -> Lead | None:
        """Who leads the first result with empty caches; ``None``: no verdict was asked for."""
        return self.lead("cold_process_cold_cache")

    def lead(self, mode: CacheMode) -> Lead | None:
        """Return what the verdicts on the figure of a cache mode say."""
        return next((one for one in self.leads if one.mode == mode), None)

    def reading(self, name: Reading) -> ByCalls | None:
        """Return the ranges of a reading; ``None``: it was not measured."""
        return next((one for one in self.by_calls if one.reading == name), None)


class Answers(Record, frozen=True, kw_only=True):
    """The answers of one run: ``answers.json`` beside its index."""

    schema_version: Literal["coldwarm.answers.v1"] = "coldwarm.answers.v1"
    run_id: str
    suite: str
    complete: bool
    """False where the run was interrupted: more measuring may tell more."""
    answers: list[Answer]
