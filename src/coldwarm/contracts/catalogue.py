"""The results of patterns and claims that were measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

from msgspec import field

from coldwarm.contracts.base import Count, Name, NotNegative, Record, Seconds, Sha256
from coldwarm.contracts.reasons import Reason

if TYPE_CHECKING:
    from collections.abc import Mapping

Kind = Literal["patterns", "claims"]
INDEXES: dict[Kind, str] = {"patterns": "patterns.json", "claims": "claims.json"}
"""The files of results, in their folders."""
PATTERNS_OF_CLAIMS = "patterns"
"""The folder of patterns that claims rest on, below that of the claims."""
Fact = bool | int | float | str | None


def at_point(given: Mapping[str, int]) -> str:
    """Return the point of a grid in words; empty: there is no grid."""
    return ", ".join(f"{name} = {value:,}" for name, value in given.items())


def point_name(given: Mapping[str, int], of: str = "") -> str:
    """Return what the bench of one point of a grid is called, below the name of the bench."""
    return "_".join([*filter(None, [of]), *(f"{key}_{value}" for key, value in given.items())])


class Raised(Record, frozen=True, kw_only=True):
    """The error that a function ended with."""

    error: str
    """Its class."""
    text: str
    """The first line of its message."""


class FactSheet(Record, frozen=True, kw_only=True):
    """Observation of a function that was called once, in a fresh process with empty caches."""

    function: str
    facts: dict[str, Fact]
    """As it returned them; their names carry their units."""
    raised: Raised | None = None
    call_s: Seconds
    """Time of the whole call, imports of frameworks included: once, so no figure to compare."""
    programs: Count | None
    """Compiled meanwhile; ``None``: nobody counted."""
    versions: dict[str, str]
    null_reasons: dict[str, Reason] = {}

    @property
    def seen(self) -> dict[str, Fact]:
        """The facts, with ``raised`` (the error's class) and ``programs`` among them."""
        error = self.raised.error if self.raised else None
        return {"raised": error, "programs": self.programs, **self.facts}


PatternVerdict = Literal[
    "as_stated", "opposite", "same", "depends", "undecided", "not_tested", "failed"
]


class PatternPoint(Record, frozen=True, kw_only=True):
    """A pattern at one point of its grid."""

    given: dict[str, int]
    """Numbers that both sides were given, by name."""
    verdict: PatternVerdict
    reason: Reason
    do: NotNegative | None = None
    dont: NotNegative | None = None
    """In the unit of what is measured; of durations medians."""
    ratio: NotNegative | None = None
    """DON'T over DO, with the bounds at ``confidence``; of counts exact."""
    low: NotNegative | None = None
    high: NotNegative | None = None
    confidence: float | None = None
    n_rounds: Count | None = None
    do_peak_bytes: NotNegative | None = None
    dont_peak_bytes: NotNegative | None = None
    """The largest resident memory of a process: the median of those that were measured."""


class PatternResult(Record, frozen=True, kw_only=True):
    """Result of one pattern."""

    id: Name = field(name="pattern")
    """The pattern's."""
    sha256: Sha256 = field(name="pattern_sha256")
    """Hash of its file."""
    measures: str
    """Deciding figure: a duration, a count, or ``facts``."""
    verdict: PatternVerdict
    """``as_stated``: the DON'T surely costs more, and by more than what matters; or the facts are
    as the pattern says. ``same``: the difference is surely smaller than what matters. ``depends``:
    so at some points of the grid, and otherwise at others."""
    reason: Reason
    do: NotNegative | None = None
    dont: NotNegative | None = None
    """In the unit of ``measures``; of durations medians."""
    ratio: NotNegative | None = None
    """DON'T over DO, with the bounds at ``confidence``; of counts exact."""
    low: NotNegative | None = None
    high: NotNegative | None = None
    confidence: float | None = None
    n_rounds: Count | None = None
    sheets: list[FactSheet] = []
    """Fact sheets of DO and of DON'T, for a pattern of facts."""
    path: str | None = None
    """The folder of the run that the figures are from, relative to this file; with a grid, of the
    runs, whose folders in it are called by their points."""
    points: list[PatternPoint] = []
    """In the order of the grid; empty: the pattern has none."""
    measured_at: str
    versions: dict[str, str] = {}
    null_reasons: dict[str, Reason] = {}

    patterns: ClassVar[tuple[PatternResult, ...]] = ()
    """A claim rests on some; a pattern on none."""

    @property
    def runs(self) -> dict[str, str]:
        """The folders of its runs, by the names of the benches: the only one has none."""
        if self.path is None:
            return {}
        if not self.points:
            return {"": self.path}
        names = (point_name(one.given) for one in self.points)
        return {name: f"{self.path}/{name}" for name in names}

    @property
    def has_figures(self) -> bool:
        """Whether it says anything that is measured."""
        return any(value is not None for value in (self.do, self.dont, self.ratio)) or bool(
            self.points
        )


class _Results(Record, frozen=True, kw_only=True):
    """Results that were measured together."""

    schema_version: str
    started_at: str
    finished_at: str | None
    complete: bool
    """False where it was interrupted; ``--resume`` goes on."""
    harness_version: str
    harness_sha256: Sha256
    results: list[Any]
    wall_s: Seconds

    @property
    def verdicts(self) -> dict[str, str]:
        """By id."""
        return {one.id: one.verdict for one in self.results}


class PatternResults(_Results, frozen=True, kw_only=True):
    """The results of patterns that were measured together: ``patterns.json``."""

    schema_version: Literal["coldwarm.pattern_results.v1"] = "coldwarm.pattern_results.v1"
    results: list[PatternResult]


class Bound(Record, frozen=True, kw_only=True):
    """A figure of a claim with its bounds; of what has no noise all three are the same."""

    name: str
    """Description, with its unit."""
    given: dict[str, int] = {}
    """The point of a grid that it is of, by name; empty: there is no grid."""
    value: float
    low: float
    high: float
    confidence: float | None = None
    """``None``: exact."""

    @property
    def label(self) -> str:
        """The name, with the point that it is of."""
        return ", ".join(filter(None, (self.name, at_point(self.given))))


ClaimVerdict = Literal[
    "confirmed",
    "refuted",
    "depends",
    "inconclusive",
    "outdated",
    "transferred",
    "withdrawn",
    "not_tested",
    "failed",
]


class ClaimResult(Record, frozen=True, kw_only=True):
    """Result of the test of one claim."""

    id: Name = field(name="claim")
    """The claim's."""
    sha256: Sha256 = field(name="claim_sha256")
    """Hash of its file, and so of its rule."""
    verdict: ClaimVerdict
    """By the claim's rule. ``outdated``: what it speaks of is no longer so made. ``depends``: it
    holds at some points of the grid that was declared, and not at others. ``transferred``: the
    source speaks of another kind of device, and the reason says what was seen on this one.
    ``withdrawn``: the rule does not decide on it."""
    reason: Reason | None = None
    """Cause where it was not tested, or failed."""
    figures: list[Bound] = []
    """Figures that the rule looked at."""
    sheets: list[FactSheet] = []
    paths: dict[str, str] = {}
    """The folders of the runs that the figures are from, relative to this file, by name."""
    patterns: list[PatternResult] = []
    """Patterns whose results the claim rests on."""
    measured_at: str
    versions: dict[str, str] = {}

    @property
    def runs(self) -> dict[str, str]:
        """The folders of its runs, by the names of the benches."""
        return self.paths

    @property
    def has_figures(self) -> bool:
        """Whether it says anything that is measured."""
        return bool(self.figures)


class ClaimResults(_Results, frozen=True, kw_only=True):
    """The results of claims that were measured together: ``claims.json``."""

    schema_version: Literal["coldwarm.claim_results.v1"] = "coldwarm.claim_results.v1"
    results: list[ClaimResult]


Result = PatternResult | ClaimResult
Results = PatternResults | ClaimResults
RECORDS: dict[Kind, type[PatternResults | ClaimResults]] = {
    "patterns": PatternResults,
    "claims": ClaimResults,
}
"""Record type of each index."""


class ChangedVerdict(Record, frozen=True, kw_only=True):
    """A pattern or a claim whose verdict is not the same in two results."""

    name: str
    a: str | None
    """``None``: it is not there."""
    b: str | None


class NotJudged(Record, frozen=True, kw_only=True):
    """A pattern or a claim whose stored verdict was not judged again."""

    name: str
    reason: Reason
