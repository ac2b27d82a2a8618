"""Measures old commits for a history, each beside the newest one.

The newest commit is measured in every bench with the old one, so that a machine that was slower
meanwhile is no change. Steps of some commits are measured first; where the figures on both sides of
a gap differ, the commit in the middle of it is next, until no such gap is left. Of one that fails
the next one is taken. A commit that is in the history already, from a run on this machine, is not
measured again.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

import coldwarm
from coldwarm.contracts import codec
from coldwarm.contracts.environment import Environment
from coldwarm.contracts.history import BackfilledCommit, HistoryBackfill, HistoryRun
from coldwarm.contracts.reasons import RefusedError
from coldwarm.errors import RunDirectoryError, UsageError
from coldwarm.history import store
from coldwarm.report.sentences import with_advice
from coldwarm.runner import environment as machine
from coldwarm.runner.functions import revisions
from coldwarm.stats.comparable import failure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from coldwarm.contracts.history import HistoryFigure
    from coldwarm.contracts.result import CaseResult
    from coldwarm.runner.functions.targets import Request
    from coldwarm.runner.suite import Outcome

    Measure = Callable[[Request, str], Outcome]
    Bounds = Mapping[str, tuple[float, float]]
    """By figure, the bounds of the ratio to the newest commit."""

_DIGITS = 8
_SAME = (1.0, 1.0)
"""The ratio of the newest commit to itself."""


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
    place = _place(request)
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
        self._left_out: set[int] = set()
        """Those that were measured, and of which nothing is known."""
        self._dates: dict[str, str] = {}
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
        """Return the middle of the newest gap with another figure on each side; ``None``: none.

        Of commits that were not left out, it is the one nearest to the middle.
        """
        places = sorted(self._known, reverse=True)
        for new, old in pairwise(places):
            open_ = [at for at in range(old + 1, new) if at not in self._left_out]
            if open_ and self._differ(old, new):
                middle = (new + old) // 2
                return min(open_, key=lambda at: abs(at - middle))
        return None

    def _differ(self, old: int, new: int) -> bool:
        """Say whether a figure that both commits have is another one."""
        theirs, ours = self._known[old], self._known[new]
        if new == len(self._commits) - 1:
            ours = dict.fromkeys(theirs, _SAME)
        both = ((theirs[metric], ours[metric]) for metric in theirs if metric in ours)
        return any(low > to or from_ > high for (low, high), (from_, to) in both)

    def _stored(self) -> dict[str, Bounds]:
        """Return by commit what the history has, of this machine, beside the newest commit."""
        if not self._folder.is_dir() or not any(self._folder.iterdir()):
            return {}
        found: dict[str, dict[str, tuple[float, float]]] = {}
        history = store.history(self._folder)
        here = store.machine_of(machine.collect())
        for series in history.series:
            if (series.machine, series.baseline) != (here, self._baseline):
                continue
            for at, run in enumerate(series.runs.tolist()):
                figure, commit = series.figure(at), history.runs[run].commit
                if commit is not None:
                    found.setdefault(commit, {}).update(_bounds([figure]))
        return {commit: bounds for commit, bounds in found.items() if bounds}

    @cached_property
    def _case(self) -> str:
        return _case(self._request)

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
        except RefusedError as error:
            self._leave_out(at, with_advice(error.reason))
            return
        except (RunDirectoryError, UsageError) as error:
            self._leave_out(at, str(error))
            return
        if outcome.interrupted:
            raise KeyboardInterrupt
        run = self._run(place, commit, outcome)
        if not run.figures:
            self._leave_out(at, _why(outcome.cases))
            return
        store.put(self._folder, run, outcome.path)
        if bounds := _bounds(run.figures):
            self._known[at] = bounds
        else:  # which tells nothing of a gap
            self._left_out.add(at)
        self._steps.append(BackfilledCommit(commit=commit, outcome="added"))

    def _leave_out(self, at: int, text: str) -> None:
        """Note that a commit has failed, and why."""
        self._left_out.add(at)
        told = BackfilledCommit(
            commit=self._commits[at], outcome="failed", text=codec.cleaned(text)
        )
        self._steps.append(told)

    def _run(self, place: Path, commit: str, outcome: Outcome) -> HistoryRun:
        """Return a commit as a run that began when it was committed."""
        if not self._dates:
            self._dates = _dates(place, self._commits)
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
            started_at=self._dates[commit],
            commit=commit,
            figures=figures,
        )


def _bounds(figures: Sequence[HistoryFigure]) -> dict[str, tuple[float, float]]:
    return {
        one.metric: (one.low, one.high)
        for one in figures
        if one.low is not None and one.high is not None
    }


def _place(request: Request) -> Path:
    """Return a folder of the repository that a function is in."""
    target = request.parsed()[0]
    return target.path.parent if target.path else Path.cwd()


def _case(request: Request) -> str:
    """Return the name of a function with its inputs, the same in every folder of a repository."""
    target = request.parsed()[0]
    where = target.module
    if target.path is not None:
        root = revisions.root_of(target.path.parent).resolve()
        inside = target.path.is_relative_to(root)
        where = target.path.relative_to(root).as_posix() if inside else target.path.name
    name = f"{where}:{target.name}({', '.join(request.inputs)})"
    cleaned: str = codec.cleaned(name)  # as the history has it
    return cleaned


def _dates(place: Path, commits: Sequence[str]) -> dict[str, str]:
    """Return dates of commits, oldest first: each at least a second later than the one before."""
    found: dict[str, str] = {}
    latest = datetime.min.replace(tzinfo=UTC)
    for commit in commits:
        date = datetime.fromisoformat(revisions.date_of(place, commit))
        latest = max(date, latest + timedelta(seconds=1))
        found[commit] = latest.isoformat(timespec="seconds")
    return found


def _why(cases: Sequence[CaseResult]) -> str:
    """Say why there is no figure of a commit beside the newest one."""
    failed = [(case, why) for case in cases if (why := failure(case)) is not None]
    said = [f"{_commit_of(case)}: {with_advice(why)}" for case, why in failed]
    return "; ".join(said) or "no figure was measured in both commits; give it more time"


def _commit_of(case: CaseResult) -> str:
    own = case.protocol.own
    return own.revision[:_DIGITS] if own and own.revision else case.case
