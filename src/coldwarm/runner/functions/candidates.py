"""A user's own functions as cases, made of what a look at each has found (``looks``)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from coldwarm.contracts.protocol import OwnCandidate
from coldwarm.contracts.reasons import because
from coldwarm.errors import UsageError
from coldwarm.functions import backend as own_backend
from coldwarm.registry import BackendEntry, Source, WorkloadEntry
from coldwarm.runner.functions.inspection import caches_of, specification
from coldwarm.runner.schedule.suites import Case

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coldwarm.contracts.reasons import Reason
    from coldwarm.runner.functions.inspection import Seen, Setting
    from coldwarm.runner.functions.targets import Target
    from coldwarm.runner.running import Place

TOLERANCES = {
    **dict.fromkeys(("float64", "complex128", "float96", "float128"), 1e-8),
    **dict.fromkeys(("complex192", "complex256"), 1e-8),
    **dict.fromkeys(("float16", "bfloat16"), 1e-2),
}
"""Of the least precise output; whole numbers and flags must agree exactly."""
TOLERANCE = 1e-4


@dataclass(frozen=True)
class OwnCase(Case):
    """A candidate that a user named."""

    target: Target
    setting: Setting
    seen: Seen
    reference: str
    """The label of the candidate that the others are checked against."""
    answer: str | None
    """The file with its answer; ``None``: nothing is checked."""
    tolerance: float
    inputs_sha256: str
    """Of the inputs that all functions are given; the reference's own, where it is a factory's."""
    caches: Path
    """Where the look at it left what it compiled."""
    notes: list[Reason]

    @property
    def group(self) -> str:
        """What it is compared within: the one bench."""
        return self.setting.name

    @property
    def id(self) -> str:
        """Its label."""
        return self.target.label

    @property
    def is_baseline(self) -> bool:
        """Whether the others are compared with it."""
        return self.target.label == self.reference

    @property
    def python(self) -> str:
        """The interpreter that its processes run under."""
        return self.target.python

    @property
    def variables(self) -> Mapping[str, str]:
        """What its processes have in their environment besides."""
        return self.target.variables

    @property
    def batches(self) -> bool:
        """Whether short calls may be repeated inside one sample: not if each uses them up."""
        return not self.seen.mutates

    @property
    def details(self) -> Mapping[str, Any]:
        """What its job holds besides."""
        kind = {"kind": self.seen.kind, "mutates": self.seen.mutates}
        return {
            "own": {**specification(self.target, self.setting), **kind},
            "repeats": self.seen.repeats,
        }

    @property
    def filled(self) -> Path:
        """Caches that the look at it has filled."""
        return self.caches

    @property
    def looked_s(self) -> float:
        """The seconds that the process took in which it was looked at."""
        return self.seen.wall_s

    @property
    def new_shapes(self) -> bool:
        """Whether its fresh processes also call it with other shapes."""
        return self.seen.further > 0

    def give_answer(self, place: Place) -> str:
        """Tell the place what answers are checked against; return the hash of the inputs."""
        place.references[self.group] = self.answer
        place.inputs[self.group] = self.inputs_sha256
        return self.inputs_sha256

    @property
    def shares_inputs(self) -> bool:
        """Whether its inputs must be those of the others: a factory makes its own."""
        return self.seen.kind == "function"

    @property
    def described(self) -> OwnCandidate:
        """What the protocol says of it."""
        checked = f"against {self.setting.against or self.reference}, to {self.tolerance:g}"
        return OwnCandidate(
            target=self.target.text,
            kind="factory" if self.seen.kind == "factory" else "function",
            python=self.target.python,
            variables=dict(self.target.variables),
            revision=self.target.revision,
            placement=self.seen.placement,
            arguments=self.seen.arguments,
            outputs=self.seen.outputs,
            renewed=self.seen.mutates,
            checked=checked if self.answer else "not checked: --no-check was given",
            last_checked=bool(self.answer) and self.seen.repeats,
        )


def _refuse_elsewhere(target: Target, file: Path, strays: Sequence[str]) -> None:
    """Refuse modules that were not imported from the tree whose function is wanted."""
    places = [Path(place).resolve() for place in target.search]
    if places and not any(file.resolve().is_relative_to(place) for place in places):
        text = f"{target.label}: {target.module} was imported from {file}, not from"
        raise UsageError(f"{text} {places[-1]}: name its file instead, FILE.py:NAME")
    if strays:
        some = ", ".join(strays[:3]) + (", …" if len(strays) > 3 else "")  # noqa: PLR2004 - to see
        text = f"{target.label}: {some} came from the files as they are now, not from the commit:"
        raise UsageError(f"{text} a commit's modules are found in its src/ and its root alone")


def cases(
    targets: Sequence[Target], seen: Sequence[Seen], reference: str, setting: Setting, work: Path
) -> list[Case]:
    """Return the candidates as cases, from what a look at each has found.

    Raises:
        UsageError: a candidate's file is not to be found again.
    """
    place = next(s for t, s in zip(targets, seen, strict=True) if t.label == reference)
    tolerance = setting.tolerance
    if tolerance is None:
        tolerance = max(
            map(_tolerance, {o.partition("[")[0] for s in seen for o in s.outputs}), default=0.0
        )
    answer = str(work / f"{reference}.npz") if setting.check else None
    given = next((one for one in seen if one.kind == "function"), place).input_sha256
    made: list[Case] = []
    for target, one in zip(targets, seen, strict=True):
        owners = kept(one)
        kind = type(
            own_backend.Own.__name__,
            (own_backend.Own,),
            {"name": target.label, "caches": tuple(owners), "compiles": compiles(one)},
        )
        source = Source(own_backend.__name__, Path(own_backend.__file__))
        file = Path(one.file) if one.file else None
        if file is None or not file.is_file():
            raise UsageError(f"{target.label}: {target.module} has no source file to be named by")
        _refuse_elsewhere(target, file, one.strays)
        allowed = tolerance
        if target.tolerance is not None and setting.tolerance is None:
            allowed = target.tolerance
        workload = _workload(setting, place, reference, Source(target.module, file), allowed)
        made.append(
            OwnCase(
                BackendEntry(target.label, kind, source),
                one.device,
                workload,
                size=1,
                dtype="own",
                target=target,
                setting=setting,
                seen=one,
                reference=reference,
                answer=answer,
                tolerance=allowed,
                inputs_sha256=given,
                notes=[because("stated", text=note) for note in _notes(one, owners)],
                caches=caches_of(target, work),
            )
        )
    return made


def _tolerance(dtype: str) -> float:
    if dtype in TOLERANCES:
        return TOLERANCES[dtype]
    return TOLERANCE if dtype.startswith(("float", "complex")) else 0.0


def kept(seen: Seen) -> list[str]:
    """Return the caches that a candidate keeps from one process to the next."""
    found = []
    for owner, said in seen.counters.items():
        asked = (said.get("requests") or 0) + (said.get("writes") or 0)
        if asked and owner in own_backend.Own.caches:
            found.append(owner)
    return found


def compiles(seen: Seen) -> bool:
    """Say whether a first call compiles something."""
    return any(said.get("compiles") for said in seen.counters.values())


def _notes(seen: Seen, owners: Sequence[str]) -> list[str]:
    """Return what cannot be controlled, or was not, for this candidate."""
    notes = [
        f"{owner}: what this candidate compiles is not kept for another process"
        + (" (numba.njit without cache=True)" if owner == "numba" else "")
        for owner, said in seen.counters.items()
        if said.get("compiles") and owner not in owners
    ]
    if not seen.repeats:
        notes.append(
            "a second call with the same arguments gave another answer: it keeps a state or"
            " draws random numbers, and only its first answer was checked; where each process"
            " draws others, seed it or give --no-check"
        )
    if seen.mutates:
        notes.append(
            "its calls change their arguments: each gets new ones, made outside the window"
        )
    return notes


def _workload(
    setting: Setting, place: Seen, reference: str, source: Source, tolerance: float
) -> WorkloadEntry:
    """Return the declaration of a bench, as a workload file would have it."""
    module = ModuleType(setting.name)
    module.__doc__ = f"{setting.name}: functions of the user's own"
    vars(module).update(
        NAME=setting.name,
        SIZES=(1,),
        SIZE_MEANING="the inputs that were given",
        DTYPES=("own",),
        TOLERANCE={"own": tolerance},
        LAYOUT=", ".join(place.arguments) or "no arguments",
        BASELINE=reference,
    )
    return WorkloadEntry(setting.name, module, source)
