"""A user's own functions as cases, made of what an inspection of each has found."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from coldwarm.contracts.protocol import OwnCandidate
from coldwarm.errors import UsageError
from coldwarm.runner.functions.inspection import BACKEND, caches_of, specification
from coldwarm.runner.schedule.case import Answer, Case
from coldwarm.specs import Source, WorkloadSpec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.runner.functions.inspection import Inspection, Setting
    from coldwarm.runner.functions.targets import Target

TOLERANCES = {
    **dict.fromkeys(("float64", "complex128", "float96", "float128"), 1e-8),
    **dict.fromkeys(("complex192", "complex256"), 1e-8),
    **dict.fromkeys(("float16", "bfloat16"), 1e-2),
}
"""Of the least precise output; whole numbers and flags must agree exactly."""
TOLERANCE = 1e-4


def cases(
    targets: Sequence[Target],
    inspections: Sequence[Inspection],
    reference: str,
    setting: Setting,
    work: Path,
) -> list[Case]:
    """Return the candidates as cases, from what an inspection of each has found.

    Raises:
        UsageError: a candidate's file is not to be found again.
    """
    pairs = list(zip(targets, inspections, strict=True))
    referred = next(inspected for target, inspected in pairs if target.label == reference)
    # A factory makes its own inputs; all functions are given the same.
    given = next((one for one in inspections if one.kind == "function"), referred)
    path = str(work / f"{reference}.npz") if setting.check else None
    answer = Answer(path, given.input_sha256)
    tolerance = setting.tolerance
    if tolerance is None:
        dtypes = {output.partition("[")[0] for one in inspections for output in one.outputs}
        tolerance = max(map(_tolerance, dtypes), default=0.0)
    made: list[Case] = []
    for target, inspected in pairs:
        allowed = tolerance
        if target.tolerance is not None and setting.tolerance is None:
            allowed = target.tolerance
        workload = WorkloadSpec(
            name=setting.name,
            title=f"{setting.name}: functions of the user's own",
            source=Source(target.module, _file(target, inspected)),
            sizes=(1,),
            size_meaning="the inputs that were given",
            dtypes=("own",),
            tolerances={"own": allowed},
            layout=", ".join(referred.arguments) or "no arguments",
            baselines={"own": reference},
        )
        made.append(_case(target, inspected, workload, setting, answer, caches_of(target, work)))
    return made


def _case(  # noqa: PLR0913, PLR0917 - what a case is made of
    target: Target,
    inspected: Inspection,
    workload: WorkloadSpec,
    setting: Setting,
    answer: Answer,
    caches: Path,
) -> Case:
    owners = kept(inspected)
    backend = replace(
        BACKEND, name=target.label, caches=tuple(owners), compiles=compiles(inspected)
    )
    kind = {"kind": inspected.kind, "mutates": inspected.mutates}
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
        },
        filled=caches,
        inspected_s=inspected.wall_s,
        new_shapes=inspected.further > 0,
        shares_inputs=inspected.kind == "function",
        mutates=inspected.mutates,
        answer=answer,
        described=_described(target, inspected, workload, setting),
        notes=tuple(_notes(inspected, owners)),
    )


def _described(
    target: Target, inspected: Inspection, workload: WorkloadSpec, setting: Setting
) -> OwnCandidate:
    """Return what the protocol says of a candidate."""
    reference, tolerance = workload.baselines["own"], workload.tolerances["own"]
    checked = f"against {setting.against or reference}, to {tolerance:g}"
    return OwnCandidate(
        target=target.text,
        kind="factory" if inspected.kind == "factory" else "function",
        python=target.python,
        variables=dict(target.variables),
        revision=target.revision,
        placement=inspected.placement,
        arguments=inspected.arguments,
        outputs=inspected.outputs,
        renewed=inspected.mutates,
        checked=checked if setting.check else "not checked: --no-check was given",
        last_checked=setting.check and inspected.repeats,
    )


def _file(target: Target, inspected: Inspection) -> Path:
    """Return the file that a candidate was imported from.

    Raises:
        UsageError: there is none, or it is not of the tree whose function is wanted.
    """
    file = Path(inspected.file) if inspected.file else None
    if file is None or not file.is_file():
        raise UsageError(f"{target.label}: {target.module} has no source file to be named by")
    places = [Path(place).resolve() for place in target.search]
    if places and not any(file.resolve().is_relative_to(place) for place in places):
        text = f"{target.label}: {target.module} was imported from {file}, not from"
        raise UsageError(f"{text} {places[-1]}: name its file instead, FILE.py:NAME")
    if inspected.strays:
        more = ", …" if len(inspected.strays) > 3 else ""  # noqa: PLR2004 - enough to see
        some = ", ".join(inspected.strays[:3]) + more
        text = f"{target.label}: {some} came from the files as they are now, not from the commit:"
        raise UsageError(f"{text} a commit's modules are found in its src/ and its root alone")
    return file


def _tolerance(dtype: str) -> float:
    if dtype in TOLERANCES:
        return TOLERANCES[dtype]
    return TOLERANCE if dtype.startswith(("float", "complex")) else 0.0


def kept(inspected: Inspection) -> list[str]:
    """Return the caches that a candidate keeps from one process to the next."""
    used = [
        owner
        for owner, counts in inspected.counters.items()
        if (counts.get("requests") or 0) + (counts.get("writes") or 0)
    ]
    return [owner for owner in used if owner in BACKEND.caches]


def compiles(inspected: Inspection) -> bool:
    """Say whether a first call compiles something."""
    return any(counts.get("compiles") for counts in inspected.counters.values())


def _notes(inspected: Inspection, owners: Sequence[str]) -> list[str]:
    """Return what cannot be controlled, or was not, for this candidate."""
    notes = [
        f"{owner}: what this candidate compiles is not kept for another process"
        + (" (numba.njit without cache=True)" if owner == "numba" else "")
        for owner, counts in inspected.counters.items()
        if counts.get("compiles") and owner not in owners
    ]
    if not inspected.repeats:
        notes.append(
            "a second call with the same arguments gave another answer: it keeps a state or"
            " draws random numbers, and only its first answer was checked; where each process"
            " draws others, seed it or give --no-check"
        )
    if inspected.mutates:
        notes.append(
            "its calls change their arguments: each gets new ones, made outside the window"
        )
    return notes
