"""Finds the commit that changed a figure, by measuring commits beside the good one.

The bad commit is measured first: its ratio to the good one is the change. A commit in the middle is
then on the good or on the bad side of half of it, each time measured together with the good commit,
so that the machine cannot take part. One that stays between both, or fails, is left out.
"""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import coldwarm
from coldwarm.contracts.base import EMPTY
from coldwarm.contracts.history import BisectedCommit, HistoryBisection
from coldwarm.contracts.reasons import RefusedError
from coldwarm.errors import NothingComparableError, UsageError
from coldwarm.runner.functions import revisions
from coldwarm.stats.ratio import CONFIDENCE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from coldwarm.contracts.answer import Comparison
    from coldwarm.contracts.history import BisectedSide
    from coldwarm.runner.functions.targets import Request
    from coldwarm.runner.suite import Outcome

    Measure = Callable[[Request, str], Outcome]

_METRICS = {"warm": "warm.call_s", "cold": f"{EMPTY}.ttfr_s"}
_TRIES = 3
"""Measurements of a commit, each with twice the time of the one before."""
_LONGER = 2.0


def bisect(request: Request, good: str, bad: str, measure: Measure) -> HistoryBisection:
    """Return the first commit, of those between two, that has most of the change.

    Args:
        request: One target, its inputs, and a time budget for each measurement.
        good: A commit before the change.
        bad: A later commit that has it.
        measure: Measures a request, whose result has a name of its own.

    Raises:
        UsageError: this is no repository, or the good commit is not before the bad one.
        RefusedError: the bad commit cannot be measured.
        NothingComparableError: the commits do not differ as far as could be shown.
    """
    target = request.parsed()[0]
    folder = target.path.parent if target.path else Path.cwd()
    begin, commits = revisions.between(folder, good, bad)
    measured = _Measured(request, begin, measure)
    whole = measured.compared(commits[-1], 0)
    if whole is None or whole.ratio is None:
        raise NothingComparableError(f"{bad} has no figure beside {good}: measure it by itself")
    if whole.verdict not in {"slower", "faster"}:
        text = f"no difference between {good} and {bad} was shown; name others, or give it"
        raise NothingComparableError(f"{text} a longer --time-budget")
    measured.middle = math.sqrt(whole.ratio)
    search = _Search(commits, measured, whole)
    first = search.run()
    return HistoryBisection(
        harness_version=coldwarm.__version__,
        target=request.targets[0],
        metric=measured.metric,
        good=begin,
        bad=commits[-1],
        ratio=whole.ratio,
        low=whole.low,
        high=whole.high,
        n_commits=len(commits),
        steps=search.steps,
        first=first,
        interrupted=search.interrupted,
        left=[] if first else list(commits[search.good + 1 : search.bad + 1]),
    )


class _Measured:
    """Measures a commit beside the good one."""

    def __init__(self, request: Request, good: str, measure: Measure) -> None:
        """Measure what is asked for beside a commit."""
        self._request, self._good, self._measure = request, good, measure
        self._mode = "warm" if "warm_process" in request.options.cache_modes else "cold"
        self.metric = _METRICS[self._mode]
        self.middle: float | None = None
        """The ratio that decides on which side a commit is, once it is known."""

    def compared(self, commit: str, number: int) -> Comparison | None:
        """Return a commit beside the good one; ``None``: one of them has no figure.

        Raises:
            KeyboardInterrupt: it was interrupted.
            RefusedError: it cannot be measured.
            UsageError: the function is not in it.
        """
        asked = self._request.options
        options = replace(asked, time_budget_s=(asked.time_budget_s or 0.0) * _LONGER**number)
        if self.middle is not None:  # until its interval is off that
            away = max(self.middle, 1 / self.middle) - 1
            options = replace(options, limits={self._mode: away})
        request = replace(self._request, before=self._good, after=commit, options=options)
        outcome = self._measure(request, f"{commit[:10]}-{number}")
        if outcome.interrupted:
            raise KeyboardInterrupt
        found = (one for case in outcome.cases for one in case.comparisons)
        return next((one for one in found if one.metric == self.metric), None)


class _Compares(Protocol):
    def compared(self, commit: str, number: int) -> Comparison | None:
        """Return a commit beside the good one."""


class _Search:
    """The commits, and which of them are known to be good or bad."""

    def __init__(self, commits: Sequence[str], measured: _Compares, whole: Comparison) -> None:
        """Begin with a good commit before the first one, and the last one bad."""
        self._commits = commits
        self._measured = measured
        self._middle = math.sqrt(whole.ratio or 1.0)
        self._slower = whole.verdict == "slower"
        self.good, self.bad = -1, len(commits) - 1
        self.steps = [_step(commits[-1], whole, "bad")]
        self._left_out: set[int] = set()
        self.interrupted = False

    def run(self) -> str | None:
        """Return the first bad commit; ``None``: others before it could not be judged."""
        while (at := self._next()) is not None:
            try:
                side = self._side(at)
            except KeyboardInterrupt:  # what is known stays
                self.interrupted = True
                return None
            if side == "good":
                self.good = at
            elif side == "bad":
                self.bad = at
            else:
                self._left_out.add(at)
        return self._commits[self.bad] if self.bad - self.good == 1 else None

    def _next(self) -> int | None:
        """Return the commit nearest to the middle that was not left out."""
        open_ = [at for at in range(self.good + 1, self.bad) if at not in self._left_out]
        middle = (self.good + self.bad) / 2
        return min(open_, key=lambda at: abs(at - middle), default=None)

    def _side(self, at: int) -> BisectedSide:
        """Measure a commit until it is on one side."""
        found: Comparison | None = None
        side: BisectedSide = "left_out"
        for number in range(_TRIES):
            try:
                found = self._measured.compared(self._commits[at], number)
            except (RefusedError, UsageError):
                found = None
            if found is None:  # it failed, and would again
                break
            side = _side_of(found, self._middle, slower=self._slower)
            if side != "left_out":
                break
        self.steps.append(_step(self._commits[at], found, side))
        return side


def _side_of(found: Comparison, middle: float, *, slower: bool) -> BisectedSide:
    """Say on which side of half of the change all of an interval lies."""
    if found.low is None or found.high is None or found.confidence < CONFIDENCE:
        return "left_out"
    if found.low <= middle <= found.high:
        return "left_out"
    return "bad" if (found.low > middle) == slower else "good"


def _step(commit: str, found: Comparison | None, side: BisectedSide) -> BisectedCommit:
    return BisectedCommit(
        commit=commit,
        side=side,
        ratio=found.ratio if found else None,
        low=found.low if found else None,
        high=found.high if found else None,
    )
