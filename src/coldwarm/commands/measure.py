"""Starts commands in turns, with empty and with filled caches, and makes figures of that.

A round starts each command with caches that are empty, and then with those that this start has
filled; or, in any order, with a copy of a cache that is given. The frameworks' own events tell what
was compiled and what was read, in all processes that the command has. Before the first round each
is started once, as what it reads from the disk for the first time would be a part of one figure
alone.
"""

from __future__ import annotations

import os
import random
import shlex
import subprocess
import sys
import time
from collections import defaultdict
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

import coldwarm
from coldwarm.caches import listing, modes, proved, refuted
from coldwarm.commands.figures import MODES, figures, savings, verdicts
from coldwarm.commands.process import CommandProcess, Ready, argv, ask_command, ask_http
from coldwarm.contracts.base import EMPTY, FILLED
from coldwarm.contracts.commands import (
    CommandBench,
    CommandStart,
    MeasuredCommand,
    StartParts,
)
from coldwarm.contracts.observation import CacheEvidence
from coldwarm.contracts.reasons import because, distinct
from coldwarm.doctor import watch
from coldwarm.doctor.record.journal import LOOKED_FOR, STARTS
from coldwarm.doctor.time_account import account, compiling_s
from coldwarm.doctor.trace import DebugSettings
from coldwarm.errors import ColdwarmError, ProgramFailedError, UsageError, shorten
from coldwarm.report.sentences import words
from coldwarm.runner import environment, isolation, temporary
from coldwarm.runner.functions.candidates import BACKEND
from coldwarm.runner.guard import MARK
from coldwarm.runner.spawn import Guard, ProcessFailedError, terminable
from coldwarm.runner.user_input import command_line, told
from coldwarm.stats.ratio import THRESHOLD

if TYPE_CHECKING:
    import signal
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from coldwarm.caches.listing import Listing
    from coldwarm.commands.process import Ended
    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.observation import Judgement
    from coldwarm.contracts.reasons import Reason
    from coldwarm.doctor.trace import CompiledCall, ProcessTrace
    from coldwarm.doctor.watch import Watched
    from coldwarm.runner.ledger import Listener

_REQUESTS, _REQUESTS_S = 21, 2.0
"""Requests to a server at most, the first one among them, and the time for the others."""
_ENTRY, _BESIDE = "-cache", "tmp/"
"""End of the name of a program's file in the cache of JAX, and what TorchInductor writes beside."""


@dataclass(frozen=True)
class GivenCache:
    """A cache that was filled elsewhere."""

    folder: Path
    owners: Sequence[str]
    """Of the programs in it."""

    def settings(self) -> list[str]:
        """Return the variables, besides its folder, by which it may be missed."""
        return [name for owner in map(modes.owner, self.owners) for name in owner.variables]

    def lay(self, root: Path) -> None:
        """Copy it to where a command that is started looks for it.

        Raises:
            StorageError: the copy cannot be written.
        """
        for owner in map(modes.owner, self.owners):
            listing.copied(self.folder, root / owner.name / owner.folders[owner.variable])


@dataclass(frozen=True)
class CommandRequest:
    """What is to be measured."""

    commands: Mapping[str, str]
    """By label."""
    ready: Ready
    stop: signal.Signals
    variables: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By label."""
    asks: Callable[[Mapping[str, str]], float] | None = None
    """Asks something of it when it is ready, and returns the seconds; ``None``: nothing is."""
    asked: str = ""
    """The same in words."""
    prepare: str = ""
    """Command of the shell before each start, in no figure."""
    conclude: str = ""
    """The same after each."""
    given: GivenCache | None = None
    """What filled caches hold; ``None``: what the start before it has left."""
    rounds: int = 5
    time_budget_s: float | None = None
    timeout_s: float = 300.0
    threshold: float = THRESHOLD
    seed: int = 0


def request_by(what: str) -> Callable[[Mapping[str, str]], float]:
    """Return what asks a server: by a URL, or by a command, whose own start is in the time.

    Raises:
        UsageError: it is neither.
    """
    if _is_url(what):
        Ready("http", what).place()
        return lambda _: ask_http(what)
    argv(what)
    return lambda variables: ask_command(what, variables)


def measure(
    request: CommandRequest, listener: Listener
) -> tuple[CommandBench, ColdwarmError | None]:
    """Start every command, first once for nothing, and then in turns for each round.

    Returns:
        The result; and what has ended the measurement early, so that nothing measured is lost.

    Raises:
        UsageError: a command cannot be started, or something is ready before it.
        ProgramFailedError: one does not become ready, or its request fails.
        StorageError: its caches could not be laid.
    """
    # Before anything starts, so that what it shows here is in no text that it prints.
    told_of = [described(label, request) for label in request.commands]
    asked = asked_in_words(request)
    began_s = time.perf_counter()
    started_at = datetime.now(UTC).isoformat(timespec="seconds")
    place = environment.collect()
    starts: list[CommandStart] = []
    complete = True
    ended: ColdwarmError | None = None
    with ExitStack() as stack:
        stack.enter_context(terminable())
        work = stack.enter_context(temporary.made())
        guard = stack.enter_context(Guard())
        runner = Runner(request, guard, work)
        try:
            if request.given is None:  # with which it has just been started
                _try_each(runner, listener)
            for one in _rounds(runner, listener, began_s):
                starts.append(one)  # noqa: PERF402 - kept where a later one is interrupted
        except KeyboardInterrupt:
            complete = False
        except ColdwarmError as error:
            if not starts:
                raise
            complete, ended = False, error
    labels = [*request.commands]
    made = CommandBench(
        harness_version=coldwarm.__version__,
        started_at=started_at,
        complete=complete,
        environment=place,
        ready=request.ready.kind,
        ready_when=request.ready.what,
        request=asked,
        commands=told_of,
        starts=starts,
        threshold=request.threshold,
        figures=figures(labels, starts),
        savings=savings(labels, starts),
        verdicts=verdicts(labels, starts, request.threshold),
        limitations=limitations(starts),
    )
    return made, ended


def described(label: str, request: CommandRequest) -> MeasuredCommand:
    """Return a command as it may be shown."""
    values, withheld = told(request.variables.get(label, {}))
    return MeasuredCommand(
        label=label,
        command=_shown(request.commands[label]),
        variables=values,
        withheld_variables=withheld,
    )


def asked_in_words(request: CommandRequest) -> str:
    """Return what is asked of a command, without what is secret in it."""
    return request.asked if _is_url(request.asked) else _shown(request.asked)


def _shown(command: str) -> str:
    """Return a command as it is given, or without the values of secret options."""
    parts = shlex.split(command)
    shown = command_line(parts)
    return command if shown == parts else shlex.join(shown)


def _is_url(what: str) -> bool:
    return what.startswith(("http://", "https://"))


def _try_each(runner: Runner, listener: Listener) -> None:
    """Start each command once, in no figure.

    Raises:
        ProgramFailedError: it fails.
    """
    for label in runner.request.commands:
        listener.process(label, "trying it", 1, 1)
        root = runner.work / "trial"
        tried = runner.start(label, EMPTY, 0, root)
        runner.discard(root)
        refuse_failed(tried)


def refuse_failed(tried: CommandStart) -> None:
    """Refuse a command that does not become ready.

    Raises:
        ProgramFailedError: its start has failed.
    """
    if tried.status == "failed" and tried.reason is not None:
        last = (tried.output_tail or "").strip().rpartition("\n")[2]
        text = f"{tried.command}: {words(tried.reason)}"
        raise ProgramFailedError(f"{text}; it printed last: {shorten(last)}" if last else text)


def _rounds(runner: Runner, listener: Listener, began_s: float) -> Iterator[CommandStart]:
    """Yield the starts of all rounds, as long as there is time for one more."""
    request = runner.request
    shuffle = random.Random(request.seed).sample  # noqa: S311 - an order, not a secret
    labels = [*request.commands]
    for round_ in range(request.rounds):
        round_began_s = time.perf_counter()
        for label in shuffle(labels, len(labels)):
            root = runner.work / f"round-{round_}-{labels.index(label)}"
            for mode in MODES if request.given is None else shuffle(MODES, len(MODES)):
                listener.process(label, mode, round_ + 1, request.rounds)
                if request.given is not None:
                    runner.discard(root)
                    if mode == FILLED:
                        request.given.lay(root)
                given = request.given.owners if request.given and mode == FILLED else ()
                yield runner.start(label, mode, round_, root, given=given)
            runner.discard(root)
        now_s = time.perf_counter()
        budget_s = request.time_budget_s
        if budget_s is not None and now_s + (now_s - round_began_s) > began_s + budget_s:
            return


class _Laid(NamedTuple):
    """The caches of a start."""

    root: Path
    variables: Mapping[str, str]
    listed: tuple[Mapping[str, Listing], Mapping[str, Listing]]
    """Before and after it, by owner."""
    given: frozenset[str]


@dataclass
class Runner:
    """Starts commands one by one."""

    request: CommandRequest
    guard: Guard
    work: Path
    seen: Watched | None = None
    """What the processes of the last start have told; ``None``: nothing."""
    _order: int = 0
    _used: dict[Path, set[str]] = field(default_factory=lambda: defaultdict(set))
    """By folder of caches, the owners that something was asked of there."""

    def start(  # noqa: PLR0913 - what a start depends on
        self,
        label: str,
        mode: CacheMode,
        round_: int,
        root: Path,
        *,
        given: Collection[str] = (),
        settings: Mapping[str, str] | None = None,
    ) -> CommandStart:
        """Start a command with the caches in a folder, until it is ready and then until it ends.

        Args:
            label: Which command.
            mode: What its caches are to be.
            round_: Number of the round.
            root: Where its caches are.
            given: Owners of caches that were laid there, and of which something is to be read.
            settings: Variables that it has besides.

        Raises:
            UsageError: it cannot be started, or something is ready before it.
        """
        request, self._order = self.request, self._order + 1
        journal = self.work / f"journal-{self._order}"
        variables = {**self.variables(label, mode, root, journal), **(settings or {})}
        # What is done beside it is not watched, and does not touch its caches; what it leaves
        # running ends with the run.
        mark = {MARK: self.guard.mark_value}
        beside = {**os.environ, **request.variables.get(label, {}), **mark}
        _shell(request.prepare, beside, "--prepare")
        request.ready.refuse_early()
        before = _listings(root)
        started_at = datetime.now(UTC).isoformat(timespec="seconds")
        process = CommandProcess(request.commands[label], variables, self.guard)
        ready_s, requests, why = None, [], None
        try:
            ready_s = process.until(request.ready, request.timeout_s)
            requests = self._ask(beside)
        except ProcessFailedError as error:
            why = error.reason
        finally:
            ended = process.stop(request.stop)
        if why is None and process.ended_by_itself and ended.status and request.ready.kind != "end":
            why = because("ended_by_itself", status=str(ended.status))
        after = _listings(root)
        _shell(request.conclude, beside, "--conclude")
        made = CommandStart(
            command=label,
            cache_mode=mode,
            round=round_,
            order=self._order,
            started_at=started_at,
            status="ok" if why is None else "failed",
            reason=why,
            output_tail=None if why is None else process.output_tail,
            ready_s=ready_s,
            requests_s=requests,
            **_how(ended),
            null_reasons={} if ready_s is not None or why is None else {"ready_s": why},
        )
        if why is not None:
            return made
        try:
            seen = watch.read(journal)
        except UsageError:  # none of its processes was a Python
            seen = None
        laid = _Laid(root, variables, (before, after), frozenset(given))
        made = self._proved(made, seen, laid)
        self.seen = seen
        return made if seen is None else _divided(made, seen, process.spawned_s)

    def discard(self, root: Path) -> None:
        """Remove the caches in a folder: the next start there finds none."""
        isolation.discard(root)
        self._used.pop(root, None)

    def _ask(self, variables: Mapping[str, str]) -> list[float]:
        """Ask a first request, and others for a while.

        Raises:
            ProcessFailedError: one fails.
        """
        if self.request.asks is None:
            return []
        seconds = [self.request.asks(variables)]
        ends_s = time.perf_counter() + _REQUESTS_S
        while len(seconds) < _REQUESTS and time.perf_counter() < ends_s:
            seconds.append(self.request.asks(variables))
        return seconds

    def variables(self, label: str, mode: CacheMode, root: Path, journal: Path) -> dict[str, str]:
        """Return the environment of a command; makes the folders of its caches."""
        found = isolation.process_variables(
            {**os.environ, **self.request.variables.get(label, {})},
            BACKEND,
            device="gpu" if environment.gpu_may_be_used() else "cpu",
            threads=None,
            mode=mode,
            root=root,
            mark=self.guard.mark_value,
            deterministic=False,
        )
        if self.request.given is not None:  # which is found by the user's own settings
            for name in self.request.given.settings():
                found.pop(name, None)
                found |= {name: os.environ[name]} if name in os.environ else {}
        if self.request.ready.kind == "log":  # a line is to be seen when it is printed
            found["PYTHONUNBUFFERED"] = "1"
        return watch.environment(journal, found) | {LOOKED_FOR: STARTS}

    def _proved(
        self,
        made: CommandStart,
        seen: Watched | None,
        laid: _Laid,
    ) -> CommandStart:
        """Add what its processes and its caches have told, and judge its cache mode by that."""
        root, variables, listed, given = laid
        asked = {} if seen is None else _asked(seen)
        evidence = [
            _evidence(owner, calls, listed)
            for owner, calls in asked.items()
            if calls or owner in self._used[root]
        ]
        known = self._used[root] | {one.owner for one in evidence}
        unseen = [name for name in _kept_by_files(listed[1]) if name not in known]
        if seen is not None:
            unseen += _moved(seen, variables)
        evidence += [_evidence(name, (), listed) for name in _uncounted(listed)]
        self._used[root] |= {one.owner for one in evidence}
        judgement = (
            _judge_given([one for one in evidence if one.owner in given])
            if given
            else modes.judge(made.cache_mode, evidence, compiles=True)
        )
        if unseen:
            judgement = refuted("command_unseen", owner_names=sorted(set(unseen)))
        return msgspec.structs.replace(
            made,
            evidence=evidence,
            judgement=judgement,
            status="ok" if judgement.proved else "rejected",
            reason=None if judgement.proved else judgement.reason,
            null_reasons={"parts": because("no_python")} if seen is None else {},
        )


def _judge_given(evidence: Sequence[CacheEvidence]) -> Judgement:
    """Judge a start with given caches: something of each was read, whatever else was compiled."""
    n_hits, n_compiles = (sum(getattr(one, name) or 0 for one in evidence) for name in _READ)
    if not evidence or not all(one.hits for one in evidence):
        return refuted("given_unread")
    return proved("given_read", n_hits=n_hits, n_compiles=n_compiles)


_READ = ("hits", "compiles")


def _divided(made: CommandStart, seen: Watched, spawned_s: float) -> CommandStart:
    """Return a start with the parts of its time."""
    first, *others = seen.processes
    whole_s = (made.ready_s or 0.0) + sum(made.requests_s[:1])
    return msgspec.structs.replace(
        made,
        parts=_parts(_until(first, spawned_s + whole_s), spawned_s, whole_s),
        n_processes=len(seen.processes),
        compiling_beside_s=sum(map(compiling_s, others)),
    )


def _how(ended: Ended) -> dict[str, Any]:
    return {"wall_s": ended.wall_s, "exit_status": ended.status, "notes": ended.notes}


def _shell(command: str, variables: Mapping[str, str], option: str) -> None:
    """Run a command of the shell beside a start.

    Raises:
        ProgramFailedError: it ended with an error.
    """
    if not command:
        return
    line = ["/bin/sh", "-c", command]
    done = subprocess.run(  # noqa: S603 - as the user asks
        line, env=dict(variables), stdin=subprocess.DEVNULL, stdout=sys.stderr, check=False
    )
    if done.returncode:
        text = f"{option}: it ended with exit status {done.returncode}; mend it first"
        raise ProgramFailedError(text)


def _listings(root: Path) -> dict[str, Listing]:
    return {one.name: listing.take(root / one.name) for one in modes.of_programs()}


def _asked(seen: Watched) -> dict[str, list[CompiledCall]]:
    """Return, by owner that counts, the calls that asked for a program in its cache."""
    found: dict[str, list[CompiledCall]] = {}
    for framework, owner in modes.readable().items():
        calls = [one for trace in seen.processes for one in trace.calls if one.compiled]
        found[owner.name] = [
            one
            for one in calls
            if one.framework == framework
            and one.keeps is not False
            # Of a graph without an operation TorchInductor compiles nothing.
            and (framework != "torch" or one.hit or one.own_s.get("compile"))
        ]
    return found


def kept_in(root: Path) -> list[str]:
    """Return the owners that have programs in the caches of a folder."""
    return _kept_by_files(_listings(root))


def _kept_by_files(listed: Mapping[str, Listing]) -> list[str]:
    """Return the owners whose processes tell of programs, and that have some on the disk."""
    return [
        one.name
        for one in modes.readable().values()
        if any(not name.startswith(_BESIDE) for name in listed[one.name].sizes)
    ]


def _moved(seen: Watched, variables: Mapping[str, str]) -> list[str]:
    """Return the owners of which a process used another folder than the one that is watched."""
    owners, found = modes.readable(), []
    for trace in seen.processes:
        used = {one.framework for one in trace.calls if one.compiled and one.keeps is not False}
        for row in trace.rows_of(DebugSettings):
            for framework in used & row.caches.keys():
                ours = variables.get(owners[framework].variable)
                folder = row.caches[framework]
                if ours is None or os.path.realpath(folder) != os.path.realpath(ours):
                    found.append(owners[framework].name)
    return found


def _evidence(
    owner: str,
    calls: Sequence[CompiledCall],
    listed: tuple[Mapping[str, Listing], Mapping[str, Listing]],
) -> CacheEvidence:
    """Return what is known of a cache, by its files and by what its framework has told."""
    before, after = (one[owner] for one in listed)
    n_hits = sum(one.hit for one in calls)
    new_files = after.new_since(before)
    n_new = len(calls) - n_hits
    if owner == "jax":  # a process that is not watched tells of its programs by their files
        n_new = max(n_new, sum(one.endswith(_ENTRY) for one in after.sizes.keys() - before.sizes))
    counts: dict[str, Any] = {
        "requests": n_hits + n_new,
        "hits": n_hits,
        "misses": n_new,
        "compiles": n_new,
        "bypasses": 0,
        "writes": n_new if new_files else 0,
    }
    known = owner in {one.name for one in modes.readable().values()}
    reasons = {} if known else dict.fromkeys(counts, because("not_told", by=owner))
    return CacheEvidence(
        owner=owner,
        **(counts if known else {}),
        files_before=before.count,
        files_after=after.count,
        bytes_before=before.total_bytes,
        bytes_after=after.total_bytes,
        new_files=new_files,
        null_reasons=reasons,
    )


def _uncounted(listed: tuple[Mapping[str, Listing], Mapping[str, Listing]]) -> list[str]:
    """Return the owners that count nothing and have files."""
    counting = {one.name for one in modes.readable().values()}
    return [name for name, found in listed[1].items() if found.count and name not in counting]


def _until(trace: ProcessTrace, at_s: float) -> ProcessTrace:
    """Return a record of a process up to a moment."""
    rows = [row for row in trace.rows if row.at_s <= at_s]
    return type(trace)(rows, (), trace.sources)


def _parts(trace: ProcessTrace, spawned_s: float, whole_s: float) -> StartParts:
    """Divide the time until a command was ready, or had answered."""
    begin_s = min(trace.rows[0].at_s - spawned_s, whole_s) if trace.rows else whole_s
    found = account(trace, spawned_s, spawned_s + whole_s)
    parts = {
        "interpreter_s": max(0.0, begin_s),
        "import_s": found.import_s or 0.0,
        "trace_s": found.trace_s,
        "lower_s": found.lower_s,
        "compile_s": found.compile_s,
        "cache_read_s": found.cache_s,
    }
    return StartParts(**parts, rest_s=max(0.0, whole_s - sum(parts.values())))


def limitations(starts: Sequence[CommandStart]) -> list[Reason]:
    """Return what of these starts was not controlled."""
    owners = dict.fromkeys(one.owner for start in starts for one in start.evidence)
    found = [because(code) for code in ("command_watched", "command_pages", "command_home")]
    if not owners and all(one.judgement is None or one.judgement.proved for one in starts):
        found.append(because("command_cache_unknown"))
    return distinct([*found, *modes.limitations(owners)])
