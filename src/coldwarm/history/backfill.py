"""Measures old commits for a history, each beside the newest one.

The newest commit is measured in every bench with the old one, so that a machine that was slower
meanwhile is no change. Steps of some commits are measured first; where the figures on both sides of
a gap differ, the commit in the middle of it is next, until no such gap is left. A commit that is
in the history already is not measured again.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

import coldwarm
from coldwarm.contracts import codec
from coldwarm.contracts.environment import Environment
from coldwarm.contracts.history import BackfilledCommit, HistoryBackfill, HistoryRun
from coldwarm.contracts.reasons import RefusedError
from coldwarm.errors import UsageError
from coldwarm.history import store
from coldwarm.runner.functions import revisions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from coldwarm.contracts.history import HistoryFigure
    from coldwarm.runner.functions.targets import Request
    from coldwarm.runner.suite import Outcome

    Measure = Callable[[Request, str], Outcome]
    Bounds = Mapping[str, tuple[float, float]]
    """By figure, the bounds of the ratio to the newest commit."""

_DIGITS = 8


def backfill(
    request: Request, revisions_: str, folder: Path, every: int, measure: Measure
) -> HistoryBackfill:
    """Measure commits of a range and put each into a history, dated as it was committed.

    Args:
        request: One target, its inputs, and a time budget for each commit.
        revisions_: The range, ``OLD..NEW``.
        folder: The history, which is made where it is not there.
        every: Commits of a step at most.
        measure: Measures a request, whose result has a name of its own.

    Raises:
        UsageError: it is no range, this is no repository, or a commit is not before the other.
        StorageError: the history cannot be written.
    """
    old, dots, new = revisions_.partition("..")
    if not (old and dots and new):
        raise UsageError(f"{revisions_!r:.60} is no range of commits; write OLD..NEW")
    target = request.parsed()[0]
    place = target.path.parent if target.path else Path.cwd()
    begin, later = revisions.between(place, old, new)
    filling = _Filling(request, [begin, *later], folder, measure)
    return filling.run(place, every)


class _Filling:
    """The commits of a range, and what is known of each."""

    def __init__(
        self, request: Request, commits: Sequence[str], folder: Path, measure: Measure
    ) -> None:
        """Begin with what the history has already."""
        self._request, self._commits, self._folder = request, commits, folder
        self._measure = measure
        self._newest = commits[-1]
        self._known: dict[int, Bounds] = {len(commits) - 1: {}}
        self._steps: list[BackfilledCommit] = []
        self._there = self._stored()

    def run(self, place: Path, every: int) -> HistoryBackfill:
        """Measure what is needed, and put it into the history."""
        interrupted = False
        try:
            for at in self._order(every):
                self._add(place, at)
        except KeyboardInterrupt:  # what was added stays
            interrupted = True
        return HistoryBackfill(
            harness_version=coldwarm.__version__,
            target=self._request.targets[0],
            folder=str(self._folder),
            newest=self._newest,
            n_commits=len(self._commits),
            steps=self._steps,
            interrupted=interrupted,
        )

    def _order(self, every: int) -> Iterator[int]:
        """Yield commits: newest first at so many steps, then between two that differ."""
        last = len(self._commits) - 1
        yield from (at for at in range(last - every, 0, -every) if at > 0)
        yield 0
        while (at := self._between()) is not None:
            yield at

    def _between(self) -> int | None:
        """Return the middle of the newest gap with another figure on each side; ``None``: none."""
        places = sorted(self._known, reverse=True)
        for new, old in pairwise(places):
            middle = (new + old) // 2
            if middle not in {new, old} and _differ(self._known[old], self._known[new]):
                return middle
        return None

    def _stored(self) -> dict[str, Bounds]:
        """Return by commit what the history has of this function beside the newest commit."""
        if not self._folder.is_dir() or not any(self._folder.iterdir()):
            return {}
        found: dict[str, dict[str, tuple[float, float]]] = {}
        history = store.history(self._folder)
        for series in history.series:
            if series.baseline != self._baseline:
                continue
            for at, run in enumerate(series.runs.tolist()):
                figure, commit = series.figure(at), history.runs[run].commit
                if commit is not None:
                    found.setdefault(commit, {}).update(_bounds([figure]))
        return {commit: bounds for commit, bounds in found.items() if bounds}

    @property
    def _case(self) -> str:
        return self._request.parsed()[0].name

    @property
    def _baseline(self) -> str:
        return f"{self._case}@{self._newest[:_DIGITS]}"

    def _add(self, place: Path, at: int) -> None:
        """Put a commit into the history, measured if it is not there."""
        commit = self._commits[at]
        if commit in self._there:
            self._known[at] = self._there[commit]
            self._steps.append(BackfilledCommit(commit=commit, outcome="there"))
            return
        asked = replace(self._request, before=self._newest, after=commit)
        try:
            outcome = self._measure(asked, commit[:10])
        except (RefusedError, UsageError) as error:
            self._steps.append(
                BackfilledCommit(commit=commit, outcome="failed", text=codec.cleaned(str(error)))
            )
            return
        if outcome.interrupted:
            raise KeyboardInterrupt
        run = self._run(place, commit, outcome)
        if not run.figures:
            self._steps.append(BackfilledCommit(commit=commit, outcome="failed"))
            return
        store.put(self._folder, run, outcome.path)
        self._known[at] = _bounds(run.figures)
        self._steps.append(BackfilledCommit(commit=commit, outcome="added"))

    def _run(self, place: Path, commit: str, outcome: Outcome) -> HistoryRun:
        """Return a commit as a run that began when it was committed."""
        environment = codec.load_as(Environment, outcome.path / outcome.suite.environment_path)
        figures = [
            msgspec.structs.replace(one, case=self._case, baseline=self._baseline)
            for one in store.figures(outcome.cases)
            if one.baseline != one.case and one.ratio is not None
        ]
        named = f"{outcome.suite.run_id} {commit}"
        return store.run_at(
            environment,
            run_id=hashlib.sha256(named.encode()).hexdigest()[:32],
            started_at=revisions.date_of(place, commit),
            commit=commit,
            figures=figures,
        )


def _bounds(figures: Sequence[HistoryFigure]) -> dict[str, tuple[float, float]]:
    return {
        one.metric: (one.low, one.high)
        for one in figures
        if one.low is not None and one.high is not None
    }


def _differ(one: Bounds, other: Bounds) -> bool:
    """Say whether a figure is another one on both sides; of the newest commit each is 1."""
    for metric in {*one, *other}:
        (low, high), (from_, to) = (side.get(metric, (1.0, 1.0)) for side in (one, other))
        if low > to or from_ > high:
            return True
    return False
