"""A user's own functions as cases: looked at first, then measured like any other."""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import msgspec

from coldwarm.contracts.protocol import OwnCandidate
from coldwarm.errors import UsageError
from coldwarm.own import backend as own_backend
from coldwarm.registry import BackendEntry, Source, WorkloadEntry
from coldwarm.runner.plan import Case
from coldwarm.runner.process import MeasuredProcess, OutOfTimeError, ProcessFailedError
from coldwarm.runner.variables import build

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coldwarm.runner.guarded import Guard
    from coldwarm.runner.launch import Place
    from coldwarm.runner.targets import Target

_AT_ONCE = 2
"""Nothing is measured yet, so they may share the machine."""
_PAUSE_S = 0.02
_OWNER_OF = {"jax": "jax", "inductor": "torch", "numba": "numba"}
TOLERANCES = {"float64": 1e-8, "complex128": 1e-8, "float16": 1e-2}
"""Of the least precise output; whole numbers and flags must agree exactly."""
TOLERANCE = 1e-4


@dataclass(frozen=True)
class Setting:
    """What all candidates of a bench share."""

    name: str
    inputs: Sequence[Mapping[str, Any]]
    placement: str | None
    """``numpy``, ``jax`` or ``torch``; ``None``: as each function's module suggests."""
    check: bool
    tolerance: float | None
    threads: int | None
    seed: int
    timeout_s: float
    arguments: str | None = None
    """The folder with the arguments of the call, handed over; ``None``: made of ``inputs``."""
    against: str | None = None
    """What answers are held against, where it is no candidate's."""


class Seen(msgspec.Struct, frozen=True):
    """What a look at a candidate has found; see ``own.look``."""

    kind: str
    file: str | None
    placement: str | None
    arguments: list[str]
    outputs: list[str]
    input_sha256: str
    mutates: bool
    repeats: bool
    further: int
    device: str
    frameworks: list[str]
    counters: dict[str, dict[str, Any]]
    versions: dict[str, str]
    own_cache: str | None
    """The cache that its module has set by itself; ``None``: none."""
    first_s: float
    second_s: float
    wall_s: float
    """Of the process that looked."""


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
    notes: list[str] = field(default_factory=list)
    caches: Path | None = None
    """Where the look at it left what it compiled."""

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
    def filled(self) -> Path | None:
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
        if self.seen.kind == "function":
            place.inputs[self.group] = self.seen.input_sha256
        return self.seen.input_sha256

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


def specification(target: Target, setting: Setting) -> dict[str, Any]:
    """Return what a measured process is told of a candidate."""
    return {
        "module": target.module,
        "path": None if target.path is None else str(target.path),
        "search": list(target.search),
        "name": target.name,
        "inputs": [dict(one) for one in setting.inputs],
        "placement": setting.placement,
        "arguments": setting.arguments,
        "calls": target.calls,
    }


def _job(role: str, target: Target, setting: Setting, answer: str | None) -> dict[str, Any]:
    return {
        "role": role,
        "device": "cpu",
        "threads": setting.threads,
        "seed": setting.seed,
        "answer": answer,
        "own": specification(target, setting),
    }


def ask(  # noqa: PLR0913 - what a process needs
    role: str,
    target: Target,
    setting: Setting,
    guard: Guard,
    caches: Path,
    *,
    answer: str | None = None,
) -> dict[str, Any]:
    """Ask a process under the candidate's interpreter for a look, or for what is marked.

    What it compiles goes into ``caches``.

    Raises:
        UsageError: it cannot be imported, found or called; the message says why.
    """
    variables = build(
        {**os.environ, **target.variables},
        own_backend.Own,
        device="cpu",
        threads=setting.threads,
        mode="cold_process_cold_cache",
        root=caches,
        mark=guard.mark_value,
        deterministic=False,
    )
    # What a look imports may leave its bytecode, as any program of the user's does.
    del variables["PYTHONDONTWRITEBYTECODE"]
    try:
        process = MeasuredProcess(
            _job(role, target, setting, answer),
            variables,
            guard,
            timeout_s=setting.timeout_s,
            python=target.python,
        )
    except OSError as error:
        text = f"{target.label}: {target.python} cannot be started: {error.strerror}"
        raise UsageError(f"{text}; name another --python") from error
    try:
        said = process.receive("look" if role == "look" else "marked")
        said["wall_s"] = process.wait().wall_s
    except ProcessFailedError as error:
        raise UsageError(_why(target, error)) from error
    except OutOfTimeError as error:
        text = f"the time budget was over while {target.label} was looked at, which calls it"
        raise UsageError(f"{text} twice; give a longer --time-budget") from error
    finally:
        process.kill()
    return said


def _why(target: Target, error: ProcessFailedError) -> str:
    """Return one line on why a candidate cannot be used."""
    reason = error.reason.removeprefix("exception: ")
    for own in ("TargetError: ", "IncomparableError: "):
        if reason.startswith(own):
            return f"{target.label}: {reason.removeprefix(own)}"
    # A syntax error names the place itself.
    place = "" if ", line " in reason else _last_line_of(target, error.detail)
    return f"{target.label} ({target.text}) failed before it was measured: {reason}{place}"


def _last_line_of(target: Target, detail: str) -> str:
    """Return where in the user's file the error came from, if the traceback tells."""
    if target.path is None:
        return ""
    lines = [line.strip() for line in detail.splitlines() if f'"{target.path}"' in line]
    number = lines[-1].split(", ")[1] if lines and ", line " in lines[-1] else ""
    return f" ({target.path.name}, {number})" if number else ""


def caches_of(target: Target, work: Path) -> Path:
    """Return where a look at a candidate leaves what it compiles."""
    return work / f"caches-{target.label}"


def look(targets: Sequence[Target], setting: Setting, guard: Guard, work: Path) -> list[Seen]:
    """Look at every candidate, two at once.

    Raises:
        UsageError: one of them cannot be used.
    """

    def one(target: Target) -> Seen:
        answer = str(work / f"{target.label}.npz") if setting.check else None
        said = ask("look", target, setting, guard, caches_of(target, work), answer=answer)
        return msgspec.convert({k: v for k, v in said.items() if k != "type"}, Seen)

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        looks = [pool.submit(one, target) for target in targets]
        try:
            for done in as_completed(looks):
                done.result()  # the first that fails ends all
            return [done.result() for done in looks]
        except BaseException:
            for waiting in looks:
                waiting.cancel()
            # The pool would wait for processes nobody wants, one of them about to start.
            while any(running.running() for running in looks):
                guard.sweep()
                time.sleep(_PAUSE_S)
            raise


def refuse_own_caches(targets: Sequence[Target], seen: Sequence[Seen]) -> None:
    """Refuse candidates whose cache cannot be made a private one: none would be cold.

    Raises:
        UsageError: a module sets its cache itself.
    """
    for target, one in zip(targets, seen, strict=True):
        if one.own_cache is not None:
            text = f"{target.label}: {target.module} sets {one.own_cache} by itself, so that no"
            text += " process of it starts with a cache of known state: leave that to the"
            raise UsageError(f"{text} environment, or give --warm-only")


def _refuse_elsewhere(target: Target, file: Path) -> None:
    """Refuse a module that was not imported from the tree whose function is wanted."""
    places = [Path(place).resolve() for place in target.search]
    if places and not any(file.resolve().is_relative_to(place) for place in places):
        text = f"{target.label}: {target.module} was imported from {file}, not from"
        raise UsageError(f"{text} {places[-1]}: name its file instead, FILE.py:NAME")


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
        _refuse_elsewhere(target, file)
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
                notes=_notes(one, owners),
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
        if asked and owner in _OWNER_OF:
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
