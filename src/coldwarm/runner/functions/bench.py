"""Measures functions of the user's own side by side, on the engine that measures a suite."""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from coldwarm.contracts.base import FILLED, WARM
from coldwarm.contracts.reasons import because
from coldwarm.errors import UsageError
from coldwarm.registry import unknown
from coldwarm.runner import suite, temporary
from coldwarm.runner.cases import COLD
from coldwarm.runner.directory import refuse_content
from coldwarm.runner.effort import Budget
from coldwarm.runner.functions import candidates, inspection, targets
from coldwarm.runner.functions.inspection import CrashedError, Setting
from coldwarm.runner.functions.revisions import checked_out
from coldwarm.runner.replies import Marked
from coldwarm.runner.spawn import Guard, terminable
from coldwarm.stats.intervals import FEWEST_FOR_CONFIDENCE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from coldwarm.runner.cases import Case, Options
    from coldwarm.runner.functions.request import Request
    from coldwarm.runner.functions.targets import Target
    from coldwarm.runner.ledger import Listener
    from coldwarm.runner.suite import Outcome


@dataclass(frozen=True)
class Part:
    """What one of several benches left, and how long all of it took."""

    outcome: Outcome
    total_s: float


def run(request: Request, out_dir: Path, *, listener: Listener | None = None) -> Outcome:
    """Inspect every candidate, then measure them interleaved.

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
        if listener is not None:
            listener.note(because("inspecting", candidate_names=[target.label for target in found]))
        crashed: dict[str, CrashedError] = {}
        inspections = inspection.inspect(found, setting, guard, work, crashed)
        usable = [target for target in found if target.label not in crashed]
        if set(asked.cache_modes) & set(COLD):
            inspection.refuse_own_caches(usable, inspections)
        if chosen in crashed:
            chosen = usable[0].label
        reference = next(target for target in usable if target.label == chosen)
        seen = list(zip(usable, (one for one, _ in inspections), strict=True))
        inspection.tell_noise(seen, reference, setting, guard, work)
        inspected = next(one for target, one in seen if target.label == chosen)
        inspection.tell_others(reference, inspected, setting, guard, work)
        cases = candidates.cases(usable, inspections, chosen, setting, work)
        failed = [one for one in found if one.label in crashed]
        failures = candidates.failures(failed, inspections[0][0], cases[0], setting, crashed)
        cases += [case for case, _ in failures]
        if not asked.leave_out_private:
            asked = replace(asked, own=request.asked())
        if len(usable) == 1:  # there is no verdict to wait for
            asked = replace(asked, decide=None)
        spent_s = time.perf_counter() - began_s
        if listener is not None:
            _tell_short_budget(asked, cases, spent_s, listener)
        return suite.run(
            asked, out_dir, listener=listener, cases=cases, spent_s=spent_s, failures=failures
        )


def _tell_short_budget(
    asked: Options, cases: Sequence[Case], spent_s: float, listener: Listener
) -> None:
    """Say, before the time is spent, that it is too little for any verdict."""
    needed_s = spent_s + FEWEST_FOR_CONFIDENCE * round_s(cases, asked)
    if asked.time_budget_s is not None and needed_s > asked.time_budget_s:
        values = {"budget_s": asked.time_budget_s, "needed_s": needed_s}
        listener.note(because("budget_short", n_rounds=FEWEST_FOR_CONFIDENCE, **values))


def round_s(cases: Sequence[Case], asked: Options) -> float:
    """Return the seconds that a round of all cases will take, by their inspections.

    A process whose warm calls are timed shows a start with filled caches on the way.
    """
    modes = asked.cache_modes
    starts = len([mode for mode in modes if mode != FILLED or WARM not in modes])
    warm_s = asked.block_s * asked.blocks if WARM in modes else 0.0
    return sum(starts * (case.inspected_s or 0.0) + warm_s for case in cases)


def run_each(
    requests: Mapping[str, Request], out_dir: Path, *, listener: Listener | None = None
) -> list[Part]:
    """Run benches one after the other, each in a folder of its name; until one is interrupted.

    Raises:
        As ``run`` does.
    """
    parts: list[Part] = []
    for name, request in requests.items():
        began_s = time.perf_counter()
        outcome = run(request, out_dir / name, listener=listener)
        parts.append(Part(outcome, time.perf_counter() - began_s))
        if outcome.interrupted:
            break
    return parts


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
    found = targets.labelled(named)
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
        sync=request.sync,
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
        reply, _ = inspection.ask(Marked, read, setting, guard, work / "marked")
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
