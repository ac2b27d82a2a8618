"""A bench of a user's own functions side by side, each as a case of what its inspection found."""

from __future__ import annotations

import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from coldwarm.caches import HOME, listing, modes
from coldwarm.contracts.base import EMPTY, FILLED, WARM
from coldwarm.contracts.reasons import RefusedError, because
from coldwarm.contracts.result import OwnCandidate
from coldwarm.errors import UsageError
from coldwarm.functions import sensitivity
from coldwarm.registry import Source, WorkloadSpec, unknown
from coldwarm.runner import suite, temporary
from coldwarm.runner.case_list import COLD, Case, Options, ReferenceAnswer
from coldwarm.runner.directory import refuse_content
from coldwarm.runner.effort import Budget
from coldwarm.runner.functions import targets
from coldwarm.runner.functions.candidates import (
    BACKEND,
    CrashedError,
    Inspected,
    Setting,
    ask,
    inspect,
    program_of,
    specification,
)
from coldwarm.runner.functions.revisions import checked_out, uncommitted
from coldwarm.runner.ledger import Listener
from coldwarm.runner.replies import Inspection, Marked, Moves, OthersReply
from coldwarm.runner.spawn import Guard, terminable
from coldwarm.runner.user_input import told
from coldwarm.stats.intervals import FEWEST_FOR_CONFIDENCE
from coldwarm.worker import gate

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from coldwarm.contracts.reasons import Reason
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
        if request.judged and len(found) == 1:
            text = "a limit needs two candidates, and here is one: name a second function, or"
            raise UsageError(f"{text} --before REV for an old commit")
        _tell_commits(request, found, listener or Listener())
        if not asked.leave_out_private:
            asked = replace(asked, own=request.asked())
        bench = FunctionBench(found, setting, asked, chosen, goes_on=True)
        return bench.run(out_dir, began_s, listener or Listener())


@dataclass(frozen=True)
class FunctionBench:
    """A user's own functions side by side, from wherever they were given."""

    candidates: Sequence[Target]
    setting: Setting
    options: Options
    reference: str
    """The label of the candidate that the others are compared with."""
    answer: Sequence[NDArray[Any]] | None = None
    """Answer to compare with; ``None``: the reference's own."""
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
        setting, options = self.setting, self.options
        labels = [target.label for target in self.candidates]
        listener.note(because("inspecting", candidate_names=labels))
        crashed: dict[str, CrashedError] = {}
        inspected = inspect(self.candidates, setting, crashed if self.goes_on else None)
        blind = [one.target.label for one in inspected if not one.found.arguments]
        if blind and len(inspected) > 1:
            listener.note(because("no_arguments_given", candidate_names=blind))
        for names, loaded in _sharing(inspected) if set(options.cache_modes) - {WARM} else ():
            values = {"candidate_names": names, "framework_names": loaded}
            listener.note(because("imports_shared", **values))
        reference = next((one for one in inspected if one.target.label == self.reference), None)
        reference = reference or inspected[0]
        _write_moves(inspected, reference, setting)
        _write_others(reference, setting)
        if self.answer is not None and reference.found.repeats:
            self._hold_against(self.answer, reference)
        cases = _cases(inspected, reference.target.label, setting)
        failed = [target for target in self.candidates if target.label in crashed]
        failures = _failures(failed, inspected[0].found, cases[0], setting, crashed)
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
        path = self.setting.answer(given.target.label)
        np.savez(path, *answer)
        _write_moves([reference, given], given, self.setting)
        path.replace(self.setting.answer(label))


def _tell_commits(request: Request, found: Sequence[Target], listener: Listener) -> None:
    """Say which files are the same on both sides, and which are on none; that commits are one."""
    if of_today := sorted({one.shown for one in found if one.of_today}):
        listener.note(because("files_of_today", file_names=of_today))
    if request.after is None:
        return
    first = request.parsed()[0]
    changed = uncommitted(first.path.parent if first.path else Path.cwd())
    if changed:
        listener.note(because("not_committed", n_files=len(changed), file_names=changed[:1]))
    if len({one.revision for one in found}) == 1:
        listener.note(because("one_commit"))


def _sharing(inspected: Sequence[Inspected]) -> Iterator[tuple[list[str], list[str]]]:
    """Yield candidates of one file that all load frameworks which not all of them need."""
    by_file: dict[str, list[Inspected]] = {}
    for one in inspected:
        if one.target.carried:  # with imports of its own
            continue
        by_file.setdefault(one.found.file or one.target.label, []).append(one)
    for members in by_file.values():
        counters = [one.found.counters for one in members]
        loaded = {
            name for one in counters for name in one if all(name in each for each in counters)
        }
        spared = sorted(
            name for name in loaded if not all(each[name].compiles for each in counters)
        )
        if len({one.target.name for one in members}) > 1 and spared:
            yield [one.target.label for one in members], [modes.owner(n).framework for n in spared]


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
    """Return the seconds that a round of all cases will take at least, by their inspections.

    With filled caches a first call may take no time. A start with empty caches shows one with
    filled ones where there is none to fill, and so does a process whose warm calls are timed.
    """
    modes, warm_s = set(asked.cache_modes), 0.0
    if WARM in modes:
        modes, warm_s = modes - {FILLED}, asked.block_s * asked.blocks
    total_s = 0.0
    for case in cases:
        start_s = case.inspected_s or 0.0
        keeps = EMPTY not in modes or not set(case.backend.caches) <= {HOME}
        filled_s = max(0.0, start_s - (case.inspected_call_s or 0.0))
        total_s += len(modes - {FILLED}) * start_s + (FILLED in modes and keeps) * filled_s + warm_s
    return total_s


def _candidates(
    request: Request, guard: Guard, work: Path, stack: ExitStack
) -> tuple[list[Target], Setting, str]:
    """Return what is to be measured, what all share, and the label of the reference.

    Commits stay checked out as long as ``stack`` is open.
    """
    named, setting, marked = _marked(request, guard, work)
    found = targets.labelled([replace(target, sync=request.sync) for target in named])
    if request.before is not None or request.after is not None:
        before = request.before or "HEAD"
        found = stack.enter_context(checked_out(found, before, request.after, work))
    found = request.equipped(found)
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


def _setting(request: Request, guard: Guard, work: Path) -> Setting:
    return Setting(
        name=request.name,
        inputs=targets.parse_inputs(request.inputs),
        placement=request.placement,
        check=request.check,
        tolerance=request.tolerance,
        threads=request.options.threads,
        seed=request.options.seed,
        timeout_s=request.options.timeout_s,
        guard=guard,
        work=work,
        cold=bool(set(request.options.cache_modes) & set(COLD)),
    )


def _marked(
    request: Request, guard: Guard, work: Path
) -> tuple[list[Target], Setting, Target | None]:
    """Put the functions that a file marks in the place of a target that names only the file.

    Returns them, the setting with the inputs that marks give, and the marked reference.
    """
    named, setting = request.parsed(), _setting(request, guard, work)
    found: list[Target] = []
    references: list[Target] = []
    given: list[Mapping[str, str]] = []
    for target in named:
        if target.name:
            found.append(target)
            continue
        read = request.to_be_read(target)
        reply, _ = ask(Marked, read, setting, work / "marked")
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


def _write_moves(inspected: Sequence[Inspected], reference: Inspected, setting: Setting) -> None:
    """Have it written beside the reference's answer how far that moves, where answers differ.

    The answers of all lie in its ``work``; where a process cannot tell it, nothing is written.
    """
    if not setting.check:
        return
    own, path = reference.found.precision, str(setting.answer(reference.target.label))
    answers = [(setting.answer(one.target.label), one.found.precision) for one in inspected]
    if not all(_is_alike(path, answer, (kind, own)) for answer, kind in answers):
        _write_beside(Moves, reference, setting)


def _write_others(reference: Inspected, setting: Setting) -> None:
    """Have the reference's answers to other data written by a process of their own.

    That is done where one is the same as its usual answer: it may be what that call has left.
    """
    if (
        setting.check
        and reference.found.repeats
        and _stays(str(setting.answer(reference.target.label)))
    ):
        _write_beside(OthersReply, reference, setting)


def _write_beside(
    what: type[Moves | OthersReply],
    reference: Inspected,
    setting: Setting,
) -> None:
    target, precision = reference.target, reference.found.precision
    path = str(setting.answer(target.label))
    with suppress(RefusedError):
        caches = setting.caches(target)
        ask(what, target, setting, caches, answer=path, precision=precision)


def _stays(path: str) -> bool:
    """Say whether an answer to some other data is the usual one."""
    usual, _ = gate.stored(path)
    others = [gate.stored(str(file))[0] for file in Path(path + gate.OTHERS).glob("[0-9].npz")]
    return any(gate.compare(one, usual, 0.0, finite=False)["passed"] for one in others)


_CLEARLY = 0.01
"""Share of the tolerance, an error that others may have as well for all that is known."""


def _is_alike(reference: str, answer: Path, kinds: Iterable[str]) -> bool:
    """Say whether all numbers are so near to the reference's that noise is of no account."""
    arrays, _ = gate.stored(str(answer))
    references, _ = gate.stored(reference)
    allowed = _CLEARLY * max(map(sensitivity.tolerance, kinds))
    return bool(gate.compare(arrays, references, allowed, finite=False)["passed"])


_SHOWN = 3


def _cases(candidates: Sequence[Inspected], reference: str, setting: Setting) -> list[Case]:
    """Return the candidates as cases, from the inspection of each.

    Raises:
        RefusedError: a candidate's file is not to be found again.
    """
    known = [one.found for one in candidates]
    referred = next(one.found for one in candidates if one.target.label == reference)
    # A factory makes its own inputs; all functions are given the same.
    given = next((found for found in known if found.kind == "function"), referred)
    path = str(setting.answer(reference)) if setting.check else None
    answer = ReferenceAnswer(path, given.input_sha256)
    made: list[Case] = []
    for one in candidates:
        target, inspected = one.target, one.found
        allowed = _tolerance(target, inspected, referred, setting)
        # Beside the answer of the process that asked, there is none of its own.
        alone = setting.check and setting.against is None
        own = str(setting.answer(target.label)) if alone else None
        workload = WorkloadSpec(
            name=setting.name,
            title=f"{setting.name}: functions of the user's own",
            source=Source(target.module, _file(target, inspected)),
            sizes=(1,),
            dtypes=("own",),
            tolerances={"own": allowed},
            layout=", ".join(referred.arguments) or "no arguments",
            baselines={"own": reference},
        )
        owners = _kept(inspected, setting.caches(target))
        case = _case(target, inspected, workload, setting, answer, owners=owners)
        made.append(
            replace(
                case,
                job={
                    **case.job,
                    "own_answer": own,
                    "changing_reference": None if referred.repeats else reference,
                },
                filled=setting.caches(target),
                program=program_of(target),
                since_ns=setting.since_ns,
                hidden=frozenset(inspected.again),
                wrote=frozenset(inspected.wrote),
                inspected_s=inspected.start_s,
                inspected_call_s=inspected.first_s,
                in_threads=inspected.in_threads,
            )
        )
    return _with_starts(made, candidates)


def _with_starts(cases: Sequence[Case], candidates: Sequence[Inspected]) -> list[Case]:
    """Name for each case the first one whose processes do the same before their function is met.

    A module that makes its functions when they are asked for may import something else for each.
    """
    starts = [one.target.start if one.found.in_module else None for one in candidates]
    told = []
    for case, start in zip(cases, starts, strict=True):
        is_shared = start is not None and starts.count(start) > 1
        first = candidates[starts.index(start)].target.label if is_shared else None
        own = case.described and msgspec.structs.replace(case.described, starts_as=first)
        told.append(replace(case, described=own))
    return told


def _failures(
    targets: Sequence[Target],
    like: Inspection,
    other: Case,
    setting: Setting,
    crashed: Mapping[str, RefusedError],
) -> list[tuple[Case, RefusedError]]:
    """Return the candidates whose inspection crashed as cases, each with the reason.

    What nobody has seen of them is taken to be as it is of another candidate.
    """
    nothing = {"counters": {}, "further": 0, "mutates": False, "repeats": True}
    seen = msgspec.structs.replace(like, **nothing)
    return [
        (
            _case(
                target,
                seen,
                other.workload,
                setting,
                other.answer or ReferenceAnswer(None, ""),
                owners=BACKEND.caches,
            ),
            crashed[target.label],
        )
        for target in targets
    ]


def _case(  # noqa: PLR0913 - what a case is made of
    target: Target,
    inspected: Inspection,
    workload: WorkloadSpec,
    setting: Setting,
    answer: ReferenceAnswer,
    *,
    owners: Sequence[str],
) -> Case:
    backend = replace(
        BACKEND, name=target.label, caches=tuple(owners), compiles=_compiles(inspected)
    )
    names = ("kind", "mutates", "positional")
    kind = {name: getattr(inspected, name) for name in names}
    return Case(
        backend,
        inspected.device,
        workload,
        size=1,
        dtype="own",
        label=target.label,
        python=target.python,
        variables=target.variables,
        job={
            "function": {**specification(target, setting), **kind},
            "repeats": inspected.repeats,
            "strict": inspected.kind == "function" and target.arguments is None,
        },
        new_shapes=inspected.further > 0,
        shares_inputs=inspected.kind == "function",
        mutates=inspected.mutates,
        answer=answer,
        described=_described(target, inspected, workload, setting),
        notes=tuple(_notes(target, inspected, owners)),
    )


def _described(
    target: Target, inspected: Inspection, workload: WorkloadSpec, setting: Setting
) -> OwnCandidate:
    reference, tolerance = workload.baselines["own"], workload.tolerances["own"]
    variables = told(target.variables)
    checked = f"against {setting.against or reference}, to {tolerance:g}"
    return OwnCandidate(
        target=target.text,
        kind="factory" if inspected.kind == "factory" else "function",
        python=target.python,
        variables=variables.values,
        withheld_variables=variables.withheld,
        revision=target.revision,
        control_of=target.control_of,
        placement=inspected.placement,
        arguments=inspected.arguments,
        outputs=inspected.outputs,
        given=_given(inspected, setting),
        renewed=inspected.mutates,
        checked=checked if setting.check else "not checked: --no-check was given",
        last_checked=setting.check and inspected.repeats,
        sync=target.sync,
    )


def _given(inspected: Inspection, setting: Setting) -> dict[str, int | float]:
    """Return the numbers that a factory was given."""
    if inspected.kind != "factory":
        return {}
    values = {one["name"]: one.get("value") for one in setting.inputs}
    return {name: value for name, value in values.items() if isinstance(value, int | float)}


def _file(target: Target, inspected: Inspection) -> Path:
    """Return the file that a candidate was imported from.

    Raises:
        RefusedError: there is none, or it is not of the tree whose function is wanted.
    """
    file = Path(inspected.file) if inspected.file else None
    names = {"label": target.label, "module": target.module}
    if file is None or not file.is_file():
        raise RefusedError(because("no_source_file", **names))
    places = [Path(place).resolve() for place in target.search]
    if places and not any(file.resolve().is_relative_to(place) for place in places):
        where = {"file": str(file), "folder": str(places[-1])}
        raise RefusedError(because("imported_elsewhere", **names, **where))
    if inspected.strays:
        some = _some(inspected.strays)
        raise RefusedError(because("not_of_commit", label=target.label, module_names=some))
    return file


def _tolerance(
    target: Target, inspected: Inspection, reference: Inspection, setting: Setting
) -> float:
    """Return the largest error of a candidate's numbers: as asked for, as marked, or of a pair.

    A pair is as precise as the less precise of the two; another candidate has no say in it.
    """
    if setting.tolerance is not None:
        return setting.tolerance
    if target.tolerance is not None:
        return target.tolerance
    return max(sensitivity.tolerance(one.precision) for one in (inspected, reference))


def _kept(inspected: Inspection, caches: Path) -> list[str]:
    """Return the caches that a candidate keeps from one process to the next.

    Those that it asks, or that nobody counted, and those in whose folder under ``caches`` its
    inspection has left files.
    """
    counted = inspected.counters
    asked = {
        owner
        for owner, counts in counted.items()
        if counts.requests or counts.writes or "requests" in counts.reasons
    }
    asked.add(HOME)  # whatever it opens is looked at
    return [owner for owner in BACKEND.caches if owner in asked or _left(owner, caches)]


def _left(owner: str, caches: Path) -> bool:
    """Say whether files of an owner lie there; temporary files are anybody's."""
    names = listing.take(caches / owner).sizes
    return any(Path(name).parts[0] != "tmp" for name in names)


def _compiles(inspected: Inspection) -> bool:
    """Say whether a first call compiles something."""
    return any(counts.compiles for counts in inspected.counters.values())


def _some(names: Sequence[str]) -> list[str]:
    """Return the first of several names, and a sign that there are more."""
    return [*names[:_SHOWN], *(["…"] if len(names) > _SHOWN else [])]


def _notes(target: Target, inspected: Inspection, owners: Sequence[str]) -> list[Reason]:
    """Return what cannot be controlled, or was not, for this candidate."""
    notes = [because("own_memo")]
    if target.of_today:
        notes.append(because("benchmark_of_today"))
    notes += [
        because("not_kept", owner=owner)
        for owner, counts in inspected.counters.items()
        if counts.compiles and owner not in owners
    ]
    if target.carried:
        notes.append(because("carried"))
    if target.state:
        notes.append(because("state_carried", state_names=list(target.state)))
    if inspected.uncompared:
        notes.append(because("not_compared", part_names=_some(inspected.uncompared)))
    if inspected.compiled_again:
        notes.append(because("second_call_compiled", n_programs=inspected.compiled_again))
    if inspected.doubt is not None:
        notes.append(inspected.doubt)
    if not inspected.repeats:
        notes.append(because("answers_differ"))
    if inspected.mutates:
        notes.append(because("arguments_changed"))
    of_files = {"files_hidden": inspected.again, "files_untried": inspected.before}
    notes += [because(code, file_names=_some(names)) for code, names in of_files.items() if names]
    return notes
