"""A bench of a user's own functions side by side, on the engine that measures a suite."""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from coldwarm.contracts.base import FILLED, WARM
from coldwarm.contracts.reasons import because
from coldwarm.errors import UsageError
from coldwarm.registry import unknown
from coldwarm.runner import suite, temporary
from coldwarm.runner.case_list import COLD, Options
from coldwarm.runner.directory import refuse_content
from coldwarm.runner.effort import Budget
from coldwarm.runner.functions import candidates, targets
from coldwarm.runner.functions.candidates import CrashedError, Setting
from coldwarm.runner.functions.revisions import checked_out
from coldwarm.runner.ledger import Listener
from coldwarm.runner.replies import Marked
from coldwarm.runner.spawn import Guard, terminable
from coldwarm.stats.intervals import FEWEST_FOR_CONFIDENCE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from coldwarm.runner.case_list import Case
    from coldwarm.runner.functions.candidates import Inspected
    from coldwarm.runner.functions.targets import Request, Target
    from coldwarm.runner.suite import Outcome


def run(request: Request, out_dir: Path, *, listener: Listener | None = None) -> Outcome:
    """Measure what was asked for on the command line.

    Raises:
        UsageError: a candidate, an input or a commit is not what it should be.
        RunDirectoryError: the directory cannot be used.
        StorageError: a file could not be written.
    """
    began_s = time.perf_counter()
    asked = request.options
    refuse_content(out_dir)  # before anything is inspected in vain
    with ExitStack() as stack:
        stack.enter_context(terminable())
        work = stack.enter_context(temporary.made())
        guard = stack.enter_context(Guard())
        guard.ends_s = Budget(asked.time_budget_s, began_s).ends_s
        found, setting, chosen = _candidates(request, guard, work, stack)
        if not asked.leave_out_private:
            asked = replace(asked, own=request.asked())
        bench = FunctionBench(found, setting, asked, guard, work, chosen, goes_on=True)
        return bench.run(out_dir, began_s, listener or Listener())


@dataclass(frozen=True)
class FunctionBench:
    """A user's own functions side by side, from wherever they were given."""

    candidates: Sequence[Target]
    setting: Setting
    options: Options
    guard: Guard
    work: Path
    """A folder for what the processes share."""
    reference: str
    """The label of the candidate that the others are compared with."""
    answer: Sequence[NDArray[Any]] | None = None
    """What answers are held against; ``None``: the reference's own."""
    goes_on: bool = False
    """Whether the others are measured where one crashes as it is inspected."""

    def run(self, out_dir: Path, began_s: float, listener: Listener) -> Outcome:
        """Inspect every candidate, then measure them interleaved.

        ``began_s``: when that began, on the clock of ``time.perf_counter``.

        Raises:
            RefusedError: a candidate cannot be used.
            RunDirectoryError: the directory cannot be used.
            StorageError: a file could not be written.
        """
        setting, guard, work, options = self.setting, self.guard, self.work, self.options
        labels = [target.label for target in self.candidates]
        listener.note(because("inspecting", candidate_names=labels))
        crashed: dict[str, CrashedError] = {}
        inspected = candidates.inspect(
            self.candidates, setting, guard, work, crashed if self.goes_on else None
        )
        reference = next((one for one in inspected if one.target.label == self.reference), None)
        reference = reference or inspected[0]
        candidates.write_moves(inspected, reference, setting, guard, work)
        candidates.write_others(reference, setting, guard, work)
        if self.answer is not None and reference.found.repeats:
            self._hold_against(self.answer, reference)
        cases = candidates.cases(inspected, reference.target.label, setting, work)
        failed = [target for target in self.candidates if target.label in crashed]
        failures = candidates.failures(failed, inspected[0].found, cases[0], setting, crashed)
        cases += [case for case, _ in failures]
        if len(inspected) == 1:  # there is no verdict to wait for
            options = replace(options, decide=None)
        spent_s = time.perf_counter() - began_s
        _tell_short_budget(options, cases, spent_s, listener)
        return suite.run(
            options, out_dir, listener=listener, cases=cases, spent_s=spent_s, failures=failures
        )

    def _hold_against(self, answer: Sequence[NDArray[Any]], reference: Inspected) -> None:
        """Put an answer in the place of the inspection's, for others to be held against."""
        label = reference.target.label
        given = replace(reference, target=replace(reference.target, label=f"{label}-asked"))
        path = self.work / f"{given.target.label}.npz"
        np.savez(path, *answer)
        candidates.write_moves([reference, given], given, self.setting, self.guard, self.work)
        path.replace(self.work / f"{label}.npz")


def _tell_short_budget(
    asked: Options, cases: Sequence[Case], spent_s: float, listener: Listener
) -> None:
    """Say, before the time is spent, that it is too little for any verdict."""
    needed_s = spent_s + FEWEST_FOR_CONFIDENCE * _round_s(cases, asked)
    if asked.max_runs < FEWEST_FOR_CONFIDENCE or asked.time_budget_s is None:
        return
    if needed_s > asked.time_budget_s:
        values = {"budget_s": asked.time_budget_s, "needed_s": needed_s}
        listener.note(because("budget_short", n_rounds=FEWEST_FOR_CONFIDENCE, **values))


def _round_s(cases: Sequence[Case], asked: Options) -> float:
    """Return the seconds that a round of all cases will take, by their inspections.

    A process whose warm calls are timed shows a start with filled caches on the way.
    """
    modes = asked.cache_modes
    starts = len([mode for mode in modes if mode != FILLED or WARM not in modes])
    warm_s = asked.block_s * asked.blocks if WARM in modes else 0.0
    return sum(starts * (case.inspected_s or 0.0) + warm_s for case in cases)


def _candidates(
    request: Request, guard: Guard, work: Path, stack: ExitStack
) -> tuple[list[Target], Setting, str]:
    """Return what is to be measured, what all share, and the label of the reference.

    Commits stay checked out as long as ``stack`` is open.
    """
    targets.withhold_values(request.variables)
    named = [targets.parse(text) for text in request.targets]
    labels = [target.label for target in named if target.label]
    twice = next((label for label in labels if labels.count(label) > 1), None)
    if twice is not None:
        raise UsageError(f"two candidates are called {twice!r}; give each a label of its own")
    named, setting, marked = _marked(named, request, guard, work)
    found = targets.labelled([replace(target, sync=request.sync) for target in named])
    if request.before is not None or request.after is not None:
        before = request.before or "HEAD"
        found = stack.enter_context(checked_out(found, before, request.after, work))
    found = targets.with_pythons(found, request.pythons)
    found = targets.with_variables(found, request.variables)
    reference = _reference(found, request.reference, marked)
    if request.control and found[0].elsewhere is not None:
        found = [*found, _control(found, reference)]
    targets.refuse_long(found)
    return found, setting, reference


def _control(found: Sequence[Target], reference: str) -> Target:
    """Return the reference once more: the same code, in processes of its own."""
    taken = {target.label for target in found}
    label = "control" if "control" not in taken else f"{reference}.control"
    same = next(target for target in found if target.label == reference)
    return replace(same, label=label, control_of=reference)


def _setting(request: Request) -> Setting:
    return Setting(
        name=request.name,
        inputs=targets.parse_inputs(request.inputs),
        placement=request.placement,
        check=request.check,
        tolerance=request.tolerance,
        threads=request.options.threads,
        seed=request.options.seed,
        timeout_s=request.options.timeout_s,
        cold=bool(set(request.options.cache_modes) & set(COLD)),
    )


def _marked(
    named: Sequence[Target], request: Request, guard: Guard, work: Path
) -> tuple[list[Target], Setting, Target | None]:
    """Put the functions that a file marks in the place of a target that names only the file.

    Returns them, the setting with the inputs that marks give, and the marked reference.
    """
    setting = _setting(request)
    found: list[Target] = []
    references: list[Target] = []
    given: list[Mapping[str, str]] = []
    for target in named:
        if target.name:
            found.append(target)
            continue
        read = targets.to_be_read(target, request.pythons, request.variables)
        reply, _ = candidates.ask(Marked, read, setting, guard, work / "marked")
        marks = reply.marked
        if not marks:
            text = f"{target.path} marks no function; name one: {target.path}:NAME, or put"
            raise UsageError(f"{text} @coldwarm.workload above it")
        given += [mark["inputs"] for mark in marks if mark["inputs"]]
        for mark in marks:
            found.append(replace(target, name=mark["name"], tolerance=mark["tolerance"]))
            if mark["reference"]:
                references.append(found[-1])
    if len(references) > 1:
        names = ", ".join(one.text for one in references)
        raise UsageError(f"{names} are all marked as the reference; leave one")
    if given and not setting.inputs:
        setting = replace(setting, inputs=_inputs_of(given))
    return found, setting, references[0] if references else None


def _inputs_of(given: Sequence[Mapping[str, str]]) -> list[dict[str, Any]]:
    """Return the inputs that marks give; those that give any must agree."""
    if any(other != given[0] for other in given):
        raise UsageError("functions are marked with different inputs; they are to do one job")
    return targets.parse_inputs(f"{name}={what}" for name, what in given[0].items())


def _reference(found: Sequence[Target], asked: str | None, marked: Target | None) -> str:
    """Return the label of the reference: the one asked for, or marked, or the first."""
    labels = [target.label for target in found]
    if asked is not None and asked not in labels:
        raise unknown("candidate", asked, labels)
    if asked is None and marked is not None:
        what = (marked.module, marked.name)
        return next(one.label for one in found if (one.module, one.name) == what)
    return asked or labels[0]
