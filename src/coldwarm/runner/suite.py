"""A whole run: from options to the files it leaves, resumable at any moment."""

from __future__ import annotations

import hashlib
import os
import uuid
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import msgspec

from coldwarm.clock import Clock
from coldwarm.contracts import codec, journal
from coldwarm.contracts.environment import ENVIRONMENT, fingerprint
from coldwarm.contracts.reasons import because
from coldwarm.runner import identifying, recompute, references, results, resuming
from coldwarm.runner.directory import JOURNAL, RunDirectory
from coldwarm.runner.harness import harness_sha256
from coldwarm.runner.listener import Listener
from coldwarm.runner.machine import environment, ptxas, settings
from coldwarm.runner.process import isolation
from coldwarm.runner.process.guarded import Guard, terminable
from coldwarm.runner.process.spawn import OutOfTimeError, ProcessFailedError
from coldwarm.runner.rounds import Rounds
from coldwarm.runner.running import Place
from coldwarm.runner.schedule import availability, budget, killed, suites
from coldwarm.runner.schedule.budget import Budget, Estimates, left, wanting
from coldwarm.runner.schedule.effort import Effort
from coldwarm.runner.schedule.ledger import Ledger
from coldwarm.stats import outcome

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from coldwarm.contracts.environment import Environment
    from coldwarm.contracts.reasons import RefusedError
    from coldwarm.contracts.result import CaseResult, SuiteResult
    from coldwarm.runner.schedule.budget import Wanted
    from coldwarm.runner.schedule.options import Options
    from coldwarm.runner.schedule.suites import Case


@dataclass(frozen=True)
class Outcome:
    """What a run ended with."""

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
    chosen = suites.choose(options) if cases is None else list(cases)
    settings.refuse(chosen, os.environ)
    isolation.refuse_unnameable(out_dir.absolute(), [case.backend for case in chosen])
    with RunDirectory(out_dir, resume=resume) as directory, terminable():
        session = _Session(
            options, chosen, directory, listener or Listener(), clock or Clock(), spent_s, failures
        )
        return session.run(resume=resume, more_s=more_s)


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
    """What the journal is to say of a resumed run, once it measures anything."""
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
            place = Place(self.options, guard, self.clock, self.directory.work, order=self.order)
            place.measured_s = previous_s
            guard.ends_s = budget.ends_s
            if any(case.device == "gpu" for case in runnable):
                place.gpu_search_path = ptxas.search_path(os.environ.get("PATH", ""))
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
        self, place: Place, runnable: Sequence[Case], facts: results.RunFacts, budget: Budget
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
        costs = Estimates(runnable, rounds.cost_s)
        total = len(runnable) * len(self.options.cache_modes) * self.options.min_runs
        self.listener.started(total, budget.limit_s)
        groups = suites.groups(runnable)
        for name, round_, chosen in self._rounds(rounds, groups, costs, budget):
            self._goes_on()
            rounds.measure(name, chosen, round_)
            for case in groups[name]:
                self.listener.case_updated(results.case_result(case, self.ledger, facts))
            now_s = self.clock.now_s()
            left_s = budget.left_s(now_s)  # all of it is used, but where nothing is open any more
            if left_s is None:
                left_s = left(runnable, self.options, self.ledger, rounds.cost_s)
            self.listener.estimate(*budget.estimate(left_s, now_s))

    def _rounds(
        self, rounds: Rounds, groups: Mapping[str, Sequence[Case]], costs: Estimates, budget: Budget
    ) -> Iterator[tuple[str, int, Wanted]]:
        """Yield groups, the number of a round, and what it measures: first what all cases have."""
        cases = [case for members in groups.values() for case in members]
        tiers = suites.tiers(cases) if budget.limit_s is not None else [list(groups)]
        for round_, at_most_s, name in budget.turns(self.options.min_runs, tiers):
            if budget.spent(self.clock.now_s()):
                return
            chosen = self._missing(groups[name], round_, costs, budget, at_most_s)
            if any(chosen.values()) and name not in self.inputs:
                self._reference(rounds, name, groups[name])
                chosen = self._missing(groups[name], round_, costs, budget, at_most_s)
            if any(chosen.values()):
                yield name, round_, chosen
        effort = Effort(groups, self.options, self.ledger, costs.expected_s)
        while not budget.spent(self.clock.now_s()):
            found = effort.next(budget.left_s(self.clock.now_s()))
            if found is None:
                return
            name, wanted = found
            if name not in self.inputs:
                self._reference(rounds, name, groups[name])
            yield name, self.ledger.next_round(groups[name]), wanted

    def _missing(
        self,
        members: Sequence[Case],
        round_: int,
        costs: Estimates,
        budget: Budget,
        at_most_s: float | None,
    ) -> Wanted:
        """Return what of a round is not there yet, and fits into the time."""
        missing = {
            mode: [case for case in cases if not self.ledger.done(case, mode, round_)]
            for mode, cases in wanting(members, self.options, self.ledger).items()
        }
        together = self.options.decide is not None
        now_s = self.clock.now_s()
        return budget.fitting(
            missing, costs.expected_s, now_s, at_most_s=at_most_s, together=together
        )

    def _goes_on(self) -> None:
        """Say in the journal how long a resumed run has, before it measures."""
        if self.resumed is not None:
            self.directory.append("event", self.resumed)
        self.resumed, self.ended = None, False

    def _reference(self, rounds: Rounds, group: str, members: Sequence[Case]) -> None:
        """Compute a group's float64 answer; without one the group has failed as a whole."""
        try:
            self.inputs[group] = killed.again(
                lambda: references.compute(rounds.place, members[0]), ProcessFailedError
            )
        except ProcessFailedError as error:
            for case in members:
                rounds.fail(case, error)

    def _facts(self, machine: Environment, header: dict[str, Any]) -> results.RunFacts:
        sha256 = self.directory.write(ENVIRONMENT, codec.encode(machine))
        backends = {case.backend.name: case.backend for case in self.cases}.values()
        found = availability.probe(
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
        found = journal.read_header(self.directory.path / JOURNAL)
        if found is None:  # it ended before it had begun
            self.directory.append("header", header)
            return 0.0
        earlier = resuming.read(self.directory.entries(), found, self.directory.path)
        for fault in earlier.faults:
            self.listener.note(because("line_left_out", n_line=fault.line, text=fault.what))
        resuming.refuse_changes(found, header, machine)
        cases = self.directory.path / results.CASES
        for seen in resuming.restored(earlier.ledger, cases, trusted=indexed):
            self.directory.append("observation", seen)
            earlier.add(seen)
        header.update(run_id=found.run_id, started_at=found.started_at)
        self.ledger, self.order = earlier.ledger, earlier.order(self.directory.path)
        spent_s = earlier.used_s(self.cases)
        asked_s = found.options.get("time_budget_s")
        total_s = budget.total_s(earlier.events, asked_s, spent_s, more_s)
        self.resumed = budget.given(total_s)
        self.ended = earlier.events[-1:] == [budget.ENDED]
        self.options = replace(self.options, time_budget_s=total_s)
        return spent_s

    def _finish(
        self, facts: results.RunFacts, place: Place, *, interrupted: bool, wall_s: float
    ) -> Outcome:
        made = [results.case_result(case, self.ledger, facts) for case in self.cases]
        made = outcome.with_comparisons(made, self.options.decide)
        # What is shown is what is written.
        made = [codec.without_secrets(one) for one in made]
        suite = results.write(
            self.directory.write,
            made,
            facts,
            finished_at=None if interrupted else self.clock.date(),
            order=place.order,
            wall_s=wall_s,
            measured_s=place.measured_s,
        )
        if not interrupted and not self.ended:
            self.directory.append("event", budget.ENDED)
        self.directory.require(ENVIRONMENT, results.INDEX, *(row.path for row in suite.cases))
        # Whoever goes on makes its caches anew; those that are there hold names and paths.
        self.directory.clean()
        return Outcome(suite, made, self.directory.path, interrupted)
