"""A whole run: from options to the files it leaves, resumable at any moment."""

from __future__ import annotations

import hashlib
import os
import uuid
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import msgspec

from coldwarm.clock import Clock
from coldwarm.contracts import codec, run_journal
from coldwarm.contracts.base import MOST_S
from coldwarm.contracts.environment import ENVIRONMENT, differences, fingerprint
from coldwarm.contracts.observation import Observation
from coldwarm.contracts.reasons import RefusedError, because
from coldwarm.contracts.result import CaseResult, Making
from coldwarm.contracts.run_journal import Fault, Header, JournalEntry
from coldwarm.errors import ContractError, ResumeError, printable
from coldwarm.runner import (
    case_list as cases,
)
from coldwarm.runner import (
    environment,
    harness,
    identifying,
    isolation,
    ledger,
    machine_settings,
    recompute,
    results,
)
from coldwarm.runner.case_list import choose
from coldwarm.runner.directory import JOURNAL, RunDirectory
from coldwarm.runner.effort import Budget, Estimates, RoundChooser
from coldwarm.runner.harness import harness_sha256
from coldwarm.runner.launch import RunContext, reason_against
from coldwarm.runner.ledger import Ledger, Listener, used_s
from coldwarm.runner.rounds import Rounds
from coldwarm.runner.spawn import Guard, OutOfTimeError, ProcessFailedError, terminable
from coldwarm.stats import outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from coldwarm.contracts.environment import Environment
    from coldwarm.contracts.result import SuiteResult
    from coldwarm.runner.case_list import Case, Options
    from coldwarm.runner.effort import Wanted


_MOST_EVENTS = 10_000


@dataclass
class _Earlier:
    """Contents of an earlier part's journal."""

    header: Header
    ledger: Ledger = field(default_factory=Ledger)
    places: dict[int, str] = field(default_factory=dict)
    """Every process and block by its place in the order in which they ran."""
    events: list[dict[str, Any]] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    """Lines that cannot be used."""

    def add(self, seen: Observation) -> None:
        """Add a process; one that was killed from outside may be tried again."""
        self.ledger.add(ledger.as_tried(seen))
        self.places.update(_places_of(seen))

    def order(self, path: Path) -> list[str]:
        """Return the processes and blocks in their order.

        Raises:
            ResumeError: nothing is known of most of them.
        """
        return _order(self.places, path)

    def used_s(self, cases: Iterable[Case]) -> float:
        """Return the seconds in which a process of one of these cases ran."""
        return sum(
            sum(used_s(one) for one in self.ledger.of(case))
            + sum(making.wall_s for making in self.ledger.made(case))
            for case in cases
        )


def _read_earlier(lines: Iterable[JournalEntry | Fault], header: Header, path: Path) -> _Earlier:
    """Return what the lines of a journal in ``path`` say, which began with ``header``.

    What was killed from outside counts as tried and not as failed: it may be tried again.

    Raises:
        ResumeError: they say what no run has written.
    """
    earlier = _Earlier(header)
    _event({"total_s": header.options.get("time_budget_s")}, path)
    for line in lines:
        if isinstance(line, Fault):
            earlier.faults.append(line)
            continue
        record = line.record
        if isinstance(record, Observation):
            earlier.add(record)
        elif isinstance(record, Making):
            earlier.ledger.add_making(record)
            earlier.places[record.order] = f"{record.case} make"
        elif line.kind == "event":
            earlier.events.append(_event(record, path))
            if len(earlier.events) > _MOST_EVENTS:
                raise ResumeError(f"{path}: the journal has more events than any run; {_ADVICE}")
    earlier.order(path)
    return earlier


_ENDED = {"event": "ended"}
"""Word of the journal where a part of a run came to its own end."""


def _budget_event(total_s: float | None) -> dict[str, Any]:
    """Return what the journal says of the time that a resumed run has in all."""
    return {"event": "budget", "total_s": total_s}


def _total_s(
    events: Sequence[Mapping[str, Any]],
    recorded_s: float | None,
    used_s: float,
    more_s: float | None,
) -> float | None:
    """Return the seconds that a run has in all, those used already included.

    ``more_s`` is what was asked for now, for what is still to come. Without it, a run that was
    interrupted has what was left of its budget, and one that had come to its own end has the
    budget it was begun with once more. ``None``: no limit.
    """
    if more_s is not None:
        return used_s + more_s
    if recorded_s is None:
        return None
    if events and events[-1] == _ENDED:
        return used_s + recorded_s
    budgets = [event["total_s"] for event in events if event.get("event") == "budget"]
    return budgets[-1] if budgets and budgets[-1] is not None else recorded_s


def _places_of(seen: Observation) -> dict[int, str]:
    """Return the process of an observation and its blocks by their places in the order."""
    blocks = {block.order: f"{seen.case} block" for block in seen.blocks}
    return {seen.order: f"{seen.case} {seen.cache_mode} round {seen.round}", **blocks}


def _in_order(places: Mapping[int, str]) -> list[str]:
    """Return what has a place in the order of it.

    Of a process that was in flight when the run ended there is no record but its place.
    """
    return [places.get(place, "not recorded") for place in range(max(places, default=-1) + 1)]


_ADVICE = "restore the journal, or start a new run in another --out"
_MOST_MISSING = 1000
"""Processes of which there is no record, each in flight when a part of the run ended."""


def _event(record: dict[str, Any], path: Path) -> dict[str, Any]:
    total_s = record.get("total_s")
    if total_s is None or (isinstance(total_s, int | float) and 0 <= total_s < MOST_S):
        return record
    raise ResumeError(
        printable(f"{path}: the journal gives a budget of {total_s!r:.40}; {_ADVICE}")
    )


def _order(places: dict[int, str], path: Path) -> list[str]:
    """Return the processes and blocks of an earlier part of a run in their order."""
    last = max(places, default=-1)
    if last >= len(places) + _MOST_MISSING:
        text = f"{path}: the journal says that something ran as number {last}, of {len(places)}"
        raise ResumeError(f"{text}; {_ADVICE}")
    return _in_order(places)


def _restored_observations(ledger: Ledger, folder: Path, *, trusted: bool) -> list[Observation]:
    """Return observations of the case files in ``folder`` that a journal has lost.

    ``trusted``: the index agrees with the files.

    Raises:
        ResumeError: there are some, and no index that vouches for them.
    """
    lost: list[Observation] = []
    for file in sorted(folder.glob("*.json")):
        try:
            record = codec.decode(codec.read_bytes(file), str(file))
        except ContractError:  # what cannot be read is no loss
            continue
        held = record.observations if isinstance(record, CaseResult) else []
        missing = [seen for seen in held if not ledger.holds(seen)]
        if missing and not trusted:
            what = f"{file} has {len(missing)} observations that the journal lacks"
            text = f"{what}, and would be overwritten by less; {_ADVICE}"
            raise ResumeError(printable(text))
        lost += missing
    return lost


_TYPED = {"min_runs": "rounds", "max_runs": "max-rounds", "timeout_s": "timeout"}
"""What is typed for an option whose field has another name."""


def _refuse_changes(first: Header, now: dict[str, Any], machine: Environment) -> None:
    """Refuse to go on where the parts of a run would not belong together.

    How long it may go on, and where a value was written, is no part of what it was begun with.

    Raises:
        ResumeError: the options, the environment or a source changed since.
    """
    changed = [
        f"--{_TYPED.get(name, name.replace('_', '-'))} was {first.options.get(name)} and is {value}"
        for name, value in now["options"].items()
        if first.options.get(name) != value and name not in {"time_budget_s", "option_origins"}
    ]
    if first.harness_sha256 != now["harness_sha256"]:
        changed.append("the harness's own source")
    changed += [
        f"the source of {name}"
        for name, sha256 in now["sources"].items()
        if first.sources.get(name) != sha256
    ]
    if first.fingerprint != now["fingerprint"]:
        told = first.environment
        document = told.encode() if isinstance(told, str) else msgspec.json.encode(told)
        before = codec.decode(document, "the journal's environment")
        differing = differences(before, machine) if isinstance(before, type(machine)) else []
        changed += [f"{d.name}: {d.a} became {d.b}" for d in differing] or ["the environment"]
    if changed:
        text = (
            f"this run cannot be resumed, as something has changed: {'; '.join(changed[:4])};"
            " put it back (without options a run is resumed with its own), or name another --out"
        )
        raise ResumeError(text)


@dataclass(frozen=True)
class Outcome:
    """Outcome of a run."""

    suite: SuiteResult
    cases: list[CaseResult]
    path: Path
    interrupted: bool


def run(  # noqa: PLR0913 - each is a choice of its own, and all but two have a default
    options: Options,
    out_dir: Path,
    *,
    resume: bool = False,
    more_s: float | None = None,
    listener: Listener | None = None,
    clock: Clock | None = None,
    cases: Sequence[Case] | None = None,
    spent_s: float = 0.0,
    failures: Sequence[tuple[Case, RefusedError]] = (),
) -> Outcome:
    """Measure what the options ask for and leave the artifacts in ``out_dir``.

    An interruption (Ctrl-C, SIGTERM) ends the processes in flight, writes the results of
    what was measured, and is part of the outcome. ``cases`` are measured instead of a suite's;
    ``spent_s`` of the time budget were used to find them, and ``failures`` are those of them that
    have failed already, with the reason of each.

    A run that is resumed has ``more_s`` seconds for what is still to come; without that, what
    its time budget had left, or the same budget once more where the run had come to its end.

    Raises:
        UsageError: the options name something unknown or leave nothing to run.
        PluginError: a plug-in cannot be loaded.
        RunDirectoryError: the directory cannot be used.
        ResumeError: there is nothing to resume, or something changed since.
        StorageError: a file could not be written.
    """
    chosen = choose(options) if cases is None else list(cases)
    _refuse_settings(chosen, os.environ)
    isolation.refuse_unnameable(out_dir.absolute(), [case.backend for case in chosen])
    with RunDirectory(out_dir, resume=resume) as directory, terminable():
        session = _Session(
            options, chosen, directory, listener or Listener(), clock or Clock(), spent_s, failures
        )
        return session.run(resume=resume, more_s=more_s)


def _refuse_settings(cases: Iterable[Case], base: Mapping[str, str]) -> None:
    """Refuse to measure backends under settings that make them another thing.

    Raises:
        RefusedError: there is such a setting; a user's own functions are never refused.
    """
    for case in cases:
        set_by_backend = case.backend.environment(case.device, None)
        found = machine_settings.of_user(base, {**base, **set_by_backend})
        if (reason := reason_against(case, found)) is not None:
            raise RefusedError(reason)


@dataclass
class _Session:
    options: Options
    cases: list[Case]
    directory: RunDirectory
    listener: Listener
    clock: Clock
    spent_s: float = 0.0
    failures: Sequence[tuple[Case, RefusedError]] = ()
    ledger: Ledger = field(default_factory=Ledger)
    inputs: dict[str, str] = field(default_factory=dict)
    order: list[str] = field(default_factory=list)
    resumed: dict[str, Any] | None = None
    """Entry of the journal about a resumed run, once it measures anything."""
    ended: bool = False
    """Whether the journal says already that the run came to its end."""

    def run(self, *, resume: bool, more_s: float | None = None) -> Outcome:
        began_s = self.clock.now_s()
        machine = environment.collect()
        if self.options.leave_out_private:
            machine = identifying.environment_without(machine)
        header = self._header(machine)
        previous_s = self._take_up(header, machine, more_s) if resume else 0.0
        if not resume:
            self.directory.append("header", header)
        self.directory.prepare()
        # An index is true of the files beside it, which from here on change.
        self.directory.remove(results.INDEX)
        facts = self._facts(machine, header)
        budget = Budget(self.options.time_budget_s, began_s - previous_s - self.spent_s)
        runnable = [case for case in self.cases if case.id not in facts.unavailable]
        interrupted = False
        with Guard() as guard:
            place = RunContext(
                self.options,
                guard,
                self.clock,
                self.directory.work,
                inputs=self.inputs,
                order=self.order,
            )
            place.measured_s = previous_s
            guard.ends_s = budget.ends_s
            if any(case.device == "gpu" for case in runnable):
                place.gpu_search_path = environment.ptxas_search_path(os.environ.get("PATH", ""))
            try:
                self._measure(place, runnable, facts, budget)
            except OutOfTimeError as error:
                what = str(error) or next(reversed(place.order), "the first process")
                self.listener.note(because("budget_ended", process=what))
            except KeyboardInterrupt:
                interrupted = True
            finally:
                guard.sweep()
        wall_s = self.spent_s + previous_s + self.clock.now_s() - began_s
        return self._finish(facts, place, interrupted=interrupted, wall_s=wall_s)

    def _measure(
        self, place: RunContext, runnable: Sequence[Case], facts: results.RunFacts, budget: Budget
    ) -> None:
        rounds = Rounds(
            place,
            self.directory,
            self.ledger,
            self.listener,
            late=lambda: budget.spent(self.clock.now_s()),
        )
        for case, error in self.failures:
            rounds.fail(case, ProcessFailedError(error.reason))
        costs = Estimates(runnable, self.options, self.ledger, rounds.cost_s)
        total = len(runnable) * len(self.options.cache_modes) * self.options.min_runs
        self.listener.started(total, budget.limit_s)
        groups = cases.groups(runnable)
        for name, round_, chosen, in_turns in self._rounds(rounds, groups, costs, budget):
            self._goes_on()
            rounds.measure(name, chosen, round_, in_turns=in_turns)
            for case in groups[name]:
                self.listener.case_updated(facts.case_result(case, self.ledger))
            now_s = self.clock.now_s()
            left_s = budget.left_s(now_s)  # all of it is used, but where nothing is open any more
            if left_s is None:
                left_s = costs.seconds_left()
            self.listener.estimate(*budget.estimate(left_s, now_s))

    def _rounds(
        self, rounds: Rounds, groups: Mapping[str, Sequence[Case]], costs: Estimates, budget: Budget
    ) -> Iterator[tuple[str, int, Wanted, bool]]:
        """Yield groups, the number of a round, what it measures, and whether that is in turns.

        First what all cases have.
        """
        every = [case for members in groups.values() for case in members]
        tiers = cases.tiers(every) if budget.limit_s is not None else [list(groups)]
        for round_, at_most_s, name in budget.turns(self.options.min_runs, tiers):
            if budget.spent(self.clock.now_s()):
                return
            chosen = self._missing(groups[name], round_, costs, budget, at_most_s)
            if any(chosen.values()) and name not in self.inputs:
                self._reference(rounds, groups[name])
                chosen = self._missing(groups[name], round_, costs, budget, at_most_s)
            if any(chosen.values()):
                yield name, round_, chosen, False
        effort = RoundChooser(groups, self.options, self.ledger, costs.expected_s, rounds.shares)
        while not budget.spent(self.clock.now_s()):
            found = effort.next(budget.left_s(self.clock.now_s()))
            if found is None:
                return
            name, wanted, in_turns = found
            if name not in self.inputs:
                self._reference(rounds, groups[name])
            yield name, self.ledger.next_round(groups[name]), wanted, in_turns

    def _missing(
        self,
        members: Sequence[Case],
        round_: int,
        costs: Estimates,
        budget: Budget,
        at_most_s: float | None,
    ) -> Wanted:
        """Return what of a round is not there yet, and fits into the time."""
        together = self.options.decide is not None
        now_s = self.clock.now_s()
        return budget.fitting(
            costs.missing(members, round_),
            costs.expected_s,
            now_s,
            at_most_s=at_most_s,
            together=together,
        )

    def _goes_on(self) -> None:
        """Say in the journal how long a resumed run has, before it measures."""
        if self.resumed is not None:
            self.directory.append("event", self.resumed)
        self.resumed, self.ended = None, False

    def _reference(self, rounds: Rounds, members: Sequence[Case]) -> None:
        """Compute a group's float64 answer; without one the group has failed as a whole."""
        try:
            ledger.retry_killed(
                lambda: rounds.place.compute_reference(members[0]), ProcessFailedError
            )
        except ProcessFailedError as error:
            for case in members:
                rounds.fail(case, error)

    def _facts(self, machine: Environment, header: dict[str, Any]) -> results.RunFacts:
        sha256 = self.directory.write(ENVIRONMENT, codec.encode(machine))
        backends = {case.backend.name: case.backend for case in self.cases}.values()
        found = harness.probe(
            backends,
            {case.workload.name: case.workload for case in self.cases}.values(),
            gpu=any(case.device == "gpu" for case in self.cases),
        )
        unavailable = {
            case.id: reason
            for case in self.cases
            if (reason := found.reason_against(case.backend, case.device)) is not None
        }
        return results.RunFacts(
            options=self.options,
            run_id=header["run_id"],
            started_at=header["started_at"],
            environment=machine,
            environment_sha256=sha256,
            unavailable=unavailable,
            inputs=self.inputs,
        )

    def _header(self, machine: Environment) -> dict[str, Any]:
        sources = {f"workload {case.workload.name}": case.workload.source for case in self.cases}
        sources |= {f"backend {case.backend.name}": case.backend.source for case in self.cases}
        return {
            "run_id": uuid.uuid4().hex,
            "started_at": self.clock.date(),
            "options": self.options.asked(),
            "harness_sha256": harness_sha256(),
            "sources": {
                name: hashlib.sha256(source.read()).hexdigest() for name, source in sources.items()
            },
            "fingerprint": fingerprint(machine),
            "environment": msgspec.to_builtins(machine),
        }

    def _take_up(self, header: dict[str, Any], machine: Environment, more_s: float | None) -> float:
        """Take up what a journal holds; return the seconds that the run has used.

        Raises:
            ContractError: the results that it has left are not those that it wrote.
            ResumeError: the options, the environment or a source changed since.
        """
        indexed = (self.directory.path / results.INDEX).exists()
        if indexed:
            recompute.read(self.directory.path)
        found = run_journal.read_header(self.directory.path / JOURNAL)
        if found is None:  # it ended before it had begun
            self.directory.append("header", header)
            return 0.0
        earlier = _read_earlier(self.directory.entries(), found, self.directory.path)
        for fault in earlier.faults:
            self.listener.note(because("line_left_out", n_line=fault.line, text=fault.what))
        _refuse_changes(found, header, machine)
        folder = self.directory.path / results.CASES
        for seen in _restored_observations(earlier.ledger, folder, trusted=indexed):
            self.directory.append("observation", seen)
            earlier.add(seen)
        header.update(run_id=found.run_id, started_at=found.started_at)
        self.ledger, self.order = earlier.ledger, earlier.order(self.directory.path)
        spent_s = earlier.used_s(self.cases)
        asked_s = found.options.get("time_budget_s")
        total_s = _total_s(earlier.events, asked_s, spent_s, more_s)
        self.resumed = _budget_event(total_s)
        self.ended = earlier.events[-1:] == [_ENDED]
        self.options = replace(self.options, time_budget_s=total_s)
        return spent_s

    def _finish(
        self, facts: results.RunFacts, place: RunContext, *, interrupted: bool, wall_s: float
    ) -> Outcome:
        made = [facts.case_result(case, self.ledger) for case in self.cases]
        made = outcome.with_comparisons(made, self.options.decide)
        # What is shown is what is written.
        made = [codec.without_secrets(one) for one in made]
        suite = facts.write(
            self.directory.write,
            made,
            finished_at=None if interrupted else self.clock.date(),
            order=place.order,
            wall_s=wall_s,
            measured_s=place.measured_s,
        )
        if not interrupted and not self.ended:
            self.directory.append("event", _ENDED)
        self.directory.require(ENVIRONMENT, results.INDEX, *(row.path for row in suite.cases))
        # Whoever goes on makes its caches anew; those that are there hold names and paths.
        self.directory.clean()
        return Outcome(suite, made, self.directory.path, interrupted)
