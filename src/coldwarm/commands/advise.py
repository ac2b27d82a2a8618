"""What shortens the start of a command: each change is tried, in turns with the command as it is.

Tried are: the cache of each framework kept, alone; the bytecode of all modules kept, where the
environment forbids that; and each long import left until something of the module is used.
"""

from __future__ import annotations

import ast
import os
import random
import shlex
from collections import defaultdict
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

import coldwarm
from coldwarm.caches import listing, modes
from coldwarm.commands import measure
from coldwarm.commands.figures import good, headline, samples
from coldwarm.contracts.base import EMPTY, FILLED
from coldwarm.contracts.commands import AS_IT_IS, CommandAdvice, StartAdvice
from coldwarm.doctor.record.journal import LOOKED_FOR, STARTS, STARTS_KEPT, STARTS_LAZY
from coldwarm.doctor.time_account import imports
from coldwarm.doctor.trace import length
from coldwarm.errors import ColdwarmError
from coldwarm.runner import environment, temporary
from coldwarm.runner.spawn import Guard, terminable
from coldwarm.stats.intervals import CONFIDENCE, difference, median_of, summary

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from coldwarm.commands.measure import CommandRequest, Runner
    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.commands import AdviceKind, CommandStart
    from coldwarm.doctor.trace import ProcessTrace
    from coldwarm.runner.ledger import Listener

_LONG_S, _LONG_SHARE, _MOST_IMPORTS = 0.05, 0.05, 3
"""An import is tried from so many seconds on, or such a share of the start, and so many of them."""


@dataclass(frozen=True)
class StartChange:
    """A change of a start, which is tried."""

    kind: AdviceKind
    name: str
    """The owner of a cache, or a module."""
    lines: Sequence[str]
    """What to set or to write."""
    settings: Mapping[str, str] = field(default_factory=dict)
    is_made: bool = False
    """Whether the program does so already."""

    @property
    def label(self) -> str:
        """Its name among the starts."""
        return f"{self.kind}_{self.name}"


def advise(
    request: CommandRequest, listener: Listener
) -> tuple[CommandAdvice, ColdwarmError | None]:
    """Try what may shorten the start of a command.

    Returns:
        What each change saves; and what has ended the trials early.

    Raises:
        UsageError: the command cannot be started.
        ProgramFailedError: it does not become ready.
        StorageError: its caches could not be laid.
    """
    [label] = request.commands
    told_of = measure.described(label, request)
    place, started_at = environment.collect(), datetime.now(UTC).isoformat(timespec="seconds")
    starts: list[CommandStart] = []
    changes: list[StartChange] = []
    complete = True
    ended: ColdwarmError | None = None
    with ExitStack() as stack:
        stack.enter_context(terminable())
        work = stack.enter_context(temporary.made())
        runner = measure.Runner(request, stack.enter_context(Guard()), work)
        trials = _Trials(runner, work, listener)
        try:
            changes = trials.changes()
            for one in trials.starts(changes):
                starts.append(one)  # noqa: PERF402 - kept where a later one is interrupted
        except KeyboardInterrupt:
            complete = False
        except ColdwarmError as error:
            if not starts:
                raise
            complete, ended = False, error
    before = _seconds(starts, AS_IT_IS, EMPTY)
    # All of them together are to hold with the usual confidence.
    confidence = 1 - (1 - CONFIDENCE) / max(1, len(changes))
    told = [(one, _told(one, starts, before, confidence)) for one in changes]
    made = CommandAdvice(
        harness_version=coldwarm.__version__,
        started_at=started_at,
        complete=complete,
        environment=place,
        ready=request.ready.kind,
        ready_when=request.ready.what,
        request=measure.asked_in_words(request),
        command=told_of,
        starts=starts,
        before=summary([[one] for one in before.values()]) if before else None,
        advice=sorted((one for _, one in told if one), key=lambda one: -one.seconds),
        failed=[change.label for change, one in told if one is None],
        limitations=measure.limitations(starts),
    )
    return made, ended


@dataclass(frozen=True)
class _Trials:
    """The trials of a command's changes."""

    runner: Runner
    work: Path
    listener: Listener

    @property
    def _caches(self) -> Path:
        """The folder of all caches: always the same, as its path may be a part of a key."""
        return self.work / "caches"

    @property
    def _kept(self) -> Path:
        return self.work / "kept"

    def changes(self) -> list[StartChange]:
        """Start the command two or three times, in no figure; return what may shorten its start.

        The first start tells of its imports and of what it keeps, the last one fills its caches.
        """
        seen = self._first("looking at it", STARTS)
        traces = self.runner.seen.processes if self.runner.seen else []
        keeps = {one.framework for trace in traces for one in trace.calls if one.keeps}
        self.runner.discard(self._caches)
        [command] = self.runner.request.commands.values()
        files = {one for one in shlex.split(command) if one.endswith(".py")}
        files |= {one.site.path for each in traces for one in each.calls if one.site}
        ready_s = seen.ready_s or 0.0
        found = [one for each in traces[:1] for one in _long_imports(each, ready_s, files)]
        if traces and os.environ.get(_NO_BYTECODE):
            lines = [f"unset {_NO_BYTECODE}", "python -m compileall -q FOLDER"]
            found.append(StartChange("bytecode", "python", lines, self._bytecode))
        filled = self._first("filling its caches", STARTS_KEPT)
        is_kept = filled.status != "failed"
        if not is_kept:  # by the functions of Numba's that cannot be kept
            self.runner.discard(self._caches)
            self._first("filling its caches", STARTS)
        owners = measure.kept_in(self._caches)
        self._caches.rename(self._kept)
        self.runner.discard(self._caches)
        caches = [_cache(owner, keeps) for owner in owners]
        return [one for one in caches if one.is_made or is_kept or not one.settings] + found

    def _first(self, why: str, looks_for: str) -> CommandStart:
        """Start the command in no figure; it may fail where it is to keep more than it asks for."""
        [label] = self.runner.request.commands
        self.listener.process(label, why, 1, 1)
        settings = {LOOKED_FOR: looks_for, **self._bytecode}
        made = self.runner.start(label, EMPTY, 0, self._caches, settings=settings)
        if looks_for == STARTS:
            measure.refuse_failed(made)
        return made

    @property
    def _bytecode(self) -> dict[str, str]:
        """Variables with which the bytecode of all modules is kept, from the first start on."""
        return {_NO_BYTECODE: "", "PYTHONPYCACHEPREFIX": str(self.work / "bytecode")}

    def starts(self, changes: Sequence[StartChange]) -> Iterator[CommandStart]:
        """Yield the starts of all rounds: as it is, and with each change, in any order."""
        request = self.runner.request
        [label] = request.commands
        shuffle = random.Random(request.seed).sample  # noqa: S311 - an order, not a secret
        each = [None, *changes]
        for round_ in range(request.rounds):
            for change in shuffle(each, len(each)):
                name = AS_IT_IS if change is None else change.label
                shown = "as it is" if change is None else f"{change.kind}: {change.name}"
                self.listener.process(label, shown, round_ + 1, request.rounds)
                yield replace(self._start(label, change, round_), command=name)
                self.runner.discard(self._caches)

    def _start(self, label: str, change: StartChange | None, round_: int) -> CommandStart:
        # Python keeps bytecode by itself, unless it is told not to.
        settings = {} if os.environ.get(_NO_BYTECODE) else self._bytecode
        if change is None:
            return self.runner.start(label, EMPTY, round_, self._caches, settings=settings)
        given, mode = [], EMPTY
        if change.kind == "cache":
            given, mode = [change.name], FILLED
            listing.copied(self._kept / change.name, self._caches / change.name)
        settings = {**settings, **change.settings}
        return self.runner.start(label, mode, round_, self._caches, given=given, settings=settings)


_NO_BYTECODE = "PYTHONDONTWRITEBYTECODE"
_KEPT_BY_ITSELF = "inductor"
"""The owner whose framework keeps what it compiles unless it is told not to."""


def _cache(name: str, keeps: Collection[str]) -> StartChange:
    """Return the change that keeps what a framework compiles; ``keeps``: those that do already."""
    owner = modes.owner(name)
    variables, code = (owner.setting.variables, owner.setting.code) if owner.setting else ({}, "")
    lines = [f"export {key}={shlex.quote(value)}" for key, value in variables.items()]
    asked = owner.framework in keeps if code else owner.variable in os.environ
    is_made = asked or name == _KEPT_BY_ITSELF
    settings = {LOOKED_FOR: STARTS_KEPT} if code and not is_made else {}
    return StartChange("cache", name, [code, *lines] if code else lines, settings, is_made)


def _long_imports(trace: ProcessTrace, whole_s: float, files: Iterable[str]) -> list[StartChange]:
    """Return the longest imports that these files ask for, each of which is to be made later."""
    needed = {one.framework for one in trace.calls}  # as it compiles with them
    asked = {name for file in files for name in _imported(file)} - needed
    spent: dict[str, float] = defaultdict(float)
    for row, parts in imports(trace):
        if row.name in asked:
            spent[row.name] += length(parts)
    least_s = max(_LONG_S, _LONG_SHARE * whole_s)
    long = [name for name in spent if spent[name] >= least_s]
    longest = sorted(long, key=lambda one: -spent[one])
    return [
        StartChange("import", name, [f"import {name}"], {LOOKED_FOR: STARTS_LAZY + name})
        for name in longest[:_MOST_IMPORTS]
    ]


def _imported(file: str) -> Iterator[str]:
    """Yield the modules that a file asks for, each with those above it."""
    try:
        tree = ast.parse(Path(file).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [node.module]
        for name in names:
            parts = name.split(".")
            yield from (".".join(parts[:n]) for n in range(1, len(parts) + 1))


def _seconds(starts: Sequence[CommandStart], name: str, mode: CacheMode) -> dict[str, float]:
    """Return by round what a start has taken, until it was ready or had answered."""
    metric = headline(starts)
    found = {str(one.round): samples(one, metric) for one in good(starts, name, mode)}
    return {round_: median_of(values) for round_, values in found.items() if values}


def _told(
    change: StartChange,
    starts: Sequence[CommandStart],
    before: Mapping[str, float],
    confidence: float,
) -> StartAdvice | None:
    """Return what a change saves; ``None``: no start with it counts."""
    after = _seconds(starts, change.label, FILLED if change.kind == "cache" else EMPTY)
    if not before or not after:
        return None
    saved = difference(before, after, confidence)
    low, high = saved.ends
    least_s = max(_LITTLE_S, _LITTLE_SHARE * median_of([*before.values()]))
    return StartAdvice(
        kind=change.kind,
        name=change.name,
        lines=[*change.lines],
        is_made=change.is_made,
        is_shown=low is not None and low > least_s,
        n_rounds=len(before.keys() & after.keys()),
        seconds=saved.middle,
        low=low,
        high=high,
        confidence=confidence,
    )


_LITTLE_S, _LITTLE_SHARE = 0.01, 0.01
"""A saving below is not worth a line, in seconds and as a share of the start."""
