"""A user's own functions as cases, made of what an inspection of each has found."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from coldwarm.caches import files, listing
from coldwarm.contracts.reasons import RefusedError, because
from coldwarm.contracts.result import OwnCandidate
from coldwarm.functions import sensitivity
from coldwarm.registry import Source, WorkloadSpec
from coldwarm.runner.cases import Answer, Case
from coldwarm.runner.functions.inspection import BACKEND, caches_of, program_of, specification
from coldwarm.runner.user_input import told

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coldwarm.contracts.reasons import Reason
    from coldwarm.runner.functions.inspection import Setting
    from coldwarm.runner.functions.targets import Target
    from coldwarm.runner.replies import Inspection

_SHOWN = 3


def cases(
    targets: Sequence[Target],
    inspections: Sequence[tuple[Inspection, float]],
    reference: str,
    setting: Setting,
    work: Path,
) -> list[Case]:
    """Return the candidates as cases, from the inspection of each and the seconds that it took.

    Raises:
        RefusedError: a candidate's file is not to be found again.
    """
    known = [inspected for inspected, _ in inspections]
    pairs = list(zip(targets, known, strict=True))
    referred = next(inspected for target, inspected in pairs if target.label == reference)
    # A factory makes its own inputs; all functions are given the same.
    given = next((one for one in known if one.kind == "function"), referred)
    path = str(work / f"{reference}.npz") if setting.check else None
    answer = Answer(path, given.input_sha256)
    made: list[Case] = []
    for target, (inspected, took_s) in zip(targets, inspections, strict=True):
        allowed = tolerance(target, inspected, referred, setting)
        # Beside the answer of the process that asked, there is none of its own.
        alone = setting.check and setting.against is None
        own = str(work / f"{target.label}.npz") if alone else None
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
        owners = kept(inspected, caches_of(target, work))
        case = _case(target, inspected, workload, setting, answer, owners=owners)
        made.append(
            replace(
                case,
                job={
                    **case.job,
                    "own_answer": own,
                    "changing_reference": None if referred.repeats else reference,
                },
                filled=caches_of(target, work),
                program=program_of(target),
                since_ns=setting.since_ns,
                hidden=frozenset(inspected.again),
                wrote=frozenset(inspected.wrote),
                inspected_s=took_s,
                inspected_call_s=inspected.first_s,
            )
        )
    return made


def failures(
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
                other.answer or Answer(None, ""),
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
    answer: Answer,
    *,
    owners: Sequence[str],
) -> Case:
    backend = replace(
        BACKEND, name=target.label, caches=tuple(owners), compiles=compiles(inspected)
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
            "strict": inspected.kind == "function" and setting.arguments is None,
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
        renewed=inspected.mutates,
        checked=checked if setting.check else "not checked: --no-check was given",
        last_checked=setting.check and inspected.repeats,
        sync=setting.sync,
    )


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


def tolerance(
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


def kept(inspected: Inspection, caches: Path) -> list[str]:
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
    asked.add(files.OWNER)  # whatever it opens is looked at
    return [owner for owner in BACKEND.caches if owner in asked or _left(owner, caches)]


def _left(owner: str, caches: Path) -> bool:
    """Say whether files of an owner lie there; temporary files are anybody's."""
    names = listing.take(caches / owner).sizes
    return any(Path(name).parts[0] != "tmp" for name in names)


def compiles(inspected: Inspection) -> bool:
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
    if target.kept:
        notes.append(because("state_carried", state_names=list(target.kept)))
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
