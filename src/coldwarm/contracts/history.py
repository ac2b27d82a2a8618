"""Many runs in one folder: their figures, and from which run on one of them is another."""

from __future__ import annotations

from typing import Literal

from coldwarm.contracts.base import Count, Difference, MetricKind, NotNegative, Positive, Record
from coldwarm.contracts.reasons import Reason


class HistoryFigure(Record, frozen=True, kw_only=True):
    """A figure of a run, and how many times that of its baseline in the same run it is."""

    case: str
    metric: str
    kind: MetricKind
    value: NotNegative
    """Seconds or bytes: the median of the processes."""
    baseline: str | None = None
    """The case that it is held against; itself: it is the baseline of others, and its seconds are
    those of the machine; ``None``: there is none."""
    ratio: Positive | None = None
    low: Positive | None = None
    high: Positive | None = None
    confidence: float | None = None
    """Confidence of the bounds of the ratio."""
    setup: str = ""
    """A hash of inputs, threads and what else a figure of the same name must have in common."""


class HistoryRun(Record, frozen=True, kw_only=True):
    """A run of a history in few numbers. The files of the run lie beside it."""

    schema_version: Literal["coldwarm.history_run.v1"] = "coldwarm.history_run.v1"
    run_id: str
    started_at: str
    commit: str | None
    """Of the program that was measured; ``None``: nobody said."""
    machine: str
    """A hash of processor, cores, memory, virtualization and GPUs: figures are held against those
    of the same machine."""
    machine_name: str
    software: dict[str, str]
    """Versions of what may change figures: frameworks, interpreter, kernel."""
    figures: list[HistoryFigure]


class HistoryAddition(Record, frozen=True, kw_only=True):
    """What was put into a history."""

    schema_version: Literal["coldwarm.history_addition.v1"] = "coldwarm.history_addition.v1"
    harness_version: str
    folder: str
    added: list[str]
    """Ids of the runs that are new."""
    n_there: Count
    """Results that were there already."""
    n_removed: Count
    """Runs whose raw results were removed."""
    left_out: dict[str, Reason] = {}
    """Benchmarks of other tools that have no time or memory in some run or in all, and why."""


class RunOfChange(Record, frozen=True, kw_only=True):
    """A run at either side of a change."""

    run_id: str
    started_at: str
    commit: str | None = None


class HistoryChange(Record, frozen=True, kw_only=True):
    """A figure that is another one from a run on, and stays so.

    ``ratio`` is what it is from there on over what it was before: above 1 is slower, or more.
    """

    case: str
    metric: str
    kind: MetricKind
    baseline: str | None
    machine: str
    ratio: Positive
    low: Positive
    high: Positive
    """Bounds of the ratio at 95 %."""
    before: RunOfChange
    """The last run in which it was as before."""
    after: RunOfChange
    """The first run in which it is another."""
    earliest: RunOfChange
    """The first run that may be that one, with about 95 %."""
    latest: RunOfChange
    """The last such run."""
    n_before: Count
    """Runs between the change before it and this one."""
    n_after: Count
    """Runs between this change and the next one."""
    n_since: Count
    """Runs from this change to the newest one."""
    is_new: bool
    """Whether it began in the newest runs of its machine."""
    software: list[Difference] = []
    """What differs between the runs at both sides."""
    fails_beyond: float | None = None
    """The limit that it exceeds; ``None``: none."""


class HistoryCheck(Record, frozen=True, kw_only=True):
    """Changes in the runs of a folder."""

    schema_version: Literal["coldwarm.history_check.v1"] = "coldwarm.history_check.v1"
    harness_version: str
    folder: str
    n_runs: Count
    n_series: Count
    """Figures of one machine, each over its runs."""
    n_short: Count
    """Those among them that have too few runs for any change to be shown."""
    changes: list[HistoryChange]
    """Newest first."""
    n_failing: Count
    machines: dict[str, str] = {}
    """Names of the machines, by their hashes."""


BisectedSide = Literal["good", "bad", "left_out"]
"""``left_out``: it failed, or stayed between both sides."""


class BisectedCommit(Record, frozen=True, kw_only=True):
    """A commit that was measured beside the good one."""

    commit: str
    side: BisectedSide
    ratio: float | None
    """Its figure over that of the good commit; ``None``: it failed."""
    low: float | None
    high: float | None


class HistoryBisection(Record, frozen=True, kw_only=True):
    """The commit that changed a figure, as far as it was found."""

    schema_version: Literal["coldwarm.history_bisection.v1"] = "coldwarm.history_bisection.v1"
    harness_version: str
    target: str
    metric: str
    good: str
    bad: str
    ratio: Positive
    """Of the bad commit over the good one."""
    low: float | None
    high: float | None
    n_commits: Count
    """Commits behind the good one, up to the bad one."""
    steps: list[BisectedCommit]
    """In the order in which they were measured."""
    first: str | None
    """The first commit on the bad side; ``None``: it is one of ``left``."""
    interrupted: bool = False
    left: list[str] = []


class PooledMachine(Record, frozen=True, kw_only=True):
    """A figure on one machine, from its newest runs."""

    machine: str
    machine_name: str
    n_runs: Count
    ratio: Positive
    """To the baseline."""
    error: Positive
    """Standard error of its logarithm."""


class PooledFigure(Record, frozen=True, kw_only=True):
    """A ratio to the baseline over machines, each of which may have another."""

    case: str
    metric: str
    baseline: str
    ratio: Positive
    """The middle over machines."""
    low: Positive
    high: Positive
    """Its bounds at 95 %."""
    predicted_low: Positive
    predicted_high: Positive
    """Between these it is on a further machine, in 87 to 99 % of simulations."""
    between: NotNegative
    """Standard deviation of the logarithm between machines, beyond their own errors."""
    between_share: NotNegative
    """Share of the scatter that is between machines, I²."""
    machines: list[PooledMachine]
    otherwise: list[str] = []
    """Machines on which it is surely on the other side of 1."""


class HistoryPool(Record, frozen=True, kw_only=True):
    """Figures of a history over its machines."""

    schema_version: Literal["coldwarm.history_pool.v1"] = "coldwarm.history_pool.v1"
    harness_version: str
    folder: str
    figures: list[PooledFigure]
    n_few: Count
    """Figures with fewer than three machines, of which nothing is said."""


BackfilledOutcome = Literal["added", "there", "failed"]
"""``there``: the history has it already."""


class BackfilledCommit(Record, frozen=True, kw_only=True):
    """A commit of a range, and what became of it."""

    commit: str
    outcome: BackfilledOutcome
    text: str = ""
    """Why it failed."""


class HistoryBackfill(Record, frozen=True, kw_only=True):
    """Old commits that were measured beside the newest one, and put into a history."""

    schema_version: Literal["coldwarm.history_backfill.v1"] = "coldwarm.history_backfill.v1"
    harness_version: str
    target: str
    folder: str
    newest: str
    n_commits: Count
    """Commits of the range, with both ends."""
    steps: list[BackfilledCommit]
    """In the order in which they were measured."""
    interrupted: bool = False


class HistoryRow(Record, frozen=True, kw_only=True):
    """A figure of one run."""

    run_id: str
    started_at: str
    commit: str | None
    machine: str
    figure: HistoryFigure


class HistoryRows(Record, frozen=True, kw_only=True):
    """Figures of the runs of a folder, by figure, oldest first."""

    schema_version: Literal["coldwarm.history_rows.v1"] = "coldwarm.history_rows.v1"
    harness_version: str
    folder: str
    rows: list[HistoryRow]
    n_older: Count = 0
    """Figures of older runs, which were not asked for."""
    machines: dict[str, str] = {}
    """Names of the machines, by their hashes."""


class HistoryMeasurement(Record, frozen=True, kw_only=True):
    """Runs on several machines, and what became of them."""

    schema_version: Literal["coldwarm.history_measurement.v1"] = "coldwarm.history_measurement.v1"
    harness_version: str
    folder: str
    n_runs: Count
    """Runs that were asked for."""
    n_kept: Count
    """Those whose result was verified and put into the history."""
    lost: list[str] = []
    """What went wrong: where, and how."""
    noisy: dict[str, float] = {}
    """Machines that were left out, with the relative difference that each can show in a minute."""
    interrupted: bool = False
