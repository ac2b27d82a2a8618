"""Inspects a user's functions: each in a process of its own, before any is measured."""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from coldwarm.errors import UsageError
from coldwarm.functions import backend
from coldwarm.registry import backend_spec
from coldwarm.runner.process.isolation import build
from coldwarm.runner.process.spawn import MeasuredProcess, OutOfTimeError, ProcessFailedError
from coldwarm.specs import Source

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coldwarm.runner.functions.targets import Target
    from coldwarm.runner.process.guarded import Guard

_AT_ONCE = 2
"""Nothing is measured yet, so they may share the machine."""
_PAUSE_S = 0.02
BACKEND = backend_spec(backend.UserFunction, Source(backend.__name__, Path(backend.__file__)))
"""Whatever frameworks a user's function takes; each candidate's caches are its own."""


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
    """The folder with the arguments of the call, transferred; ``None``: made of ``inputs``."""
    against: str | None = None
    """What answers are held against, where it is no candidate's."""


class Inspection(msgspec.Struct, frozen=True):
    """What the inspection of a candidate has found; see ``coldwarm.functions.inspection``."""

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
    counters: dict[str, dict[str, Any]]
    strays: list[str]
    """Modules of the user's checkout that were imported where a commit's are wanted."""
    own_cache: str | None
    """The cache that its module has set by itself; ``None``: none."""
    wall_s: float
    """Of the process that inspected it."""


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
        "elsewhere": None if target.elsewhere is None else str(target.elsewhere),
    }


def _job(role: str, target: Target, setting: Setting, answer: str | None) -> dict[str, Any]:
    return {
        "role": role,
        "device": "cpu",
        "threads": setting.threads,
        "seed": setting.seed,
        "answer": answer,
        "function": specification(target, setting),
    }


def ask(  # noqa: PLR0913 - what a process needs
    role: Literal["inspect", "marked"],
    target: Target,
    setting: Setting,
    guard: Guard,
    caches: Path,
    *,
    answer: str | None = None,
) -> dict[str, Any]:
    """Ask a process under the candidate's interpreter to inspect it, or what is marked.

    What it compiles goes into ``caches``.

    Raises:
        UsageError: it cannot be imported, found or called; the message says why.
    """
    variables = build(
        {**os.environ, **target.variables},
        BACKEND,
        device="cpu",
        threads=setting.threads,
        mode="cold_process_cold_cache",
        root=caches,
        mark=guard.mark_value,
        deterministic=False,
    )
    # What an inspection imports may leave its bytecode, as any program of the user's does.
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
        reply = process.receive(role)
        reply["wall_s"] = process.wait().wall_s
    except ProcessFailedError as error:
        raise UsageError(_why(target, error)) from error
    except OutOfTimeError as error:
        text = f"the time budget was over while {target.label} was looked at, which calls it"
        raise UsageError(f"{text} twice; give a longer --time-budget") from error
    finally:
        process.kill()
    return reply


def _why(target: Target, error: ProcessFailedError) -> str:
    """Return one line on why a candidate cannot be used."""
    reason = error.reason.removeprefix("exception: ")
    for name in ("TargetError: ", "IncomparableError: ", "UnfinishedError: "):
        if reason.startswith(name):
            return f"{target.label}: {reason.removeprefix(name)}"
    # A syntax error names the place itself.
    place = "" if ", line " in reason else _last_line_of(target, error.detail)
    who = f"{target.label} ({target.text})" if target.name else target.text.removesuffix(":")
    return f"{who} failed before it was measured: {reason}{place}"


def _last_line_of(target: Target, detail: str) -> str:
    """Return where in the user's file the error came from, if the traceback tells."""
    if target.path is None:
        return ""
    lines = [line.strip() for line in detail.splitlines() if f'"{target.path}"' in line]
    number = lines[-1].split(", ")[1] if lines and ", line " in lines[-1] else ""
    return f" ({target.path.name}, {number})" if number else ""


def caches_of(target: Target, work: Path) -> Path:
    """Return where the inspection of a candidate leaves what it compiles."""
    return work / f"caches-{target.label}"


def inspect(
    targets: Sequence[Target], setting: Setting, guard: Guard, work: Path
) -> list[Inspection]:
    """Inspect every candidate, two at once.

    Raises:
        UsageError: one of them cannot be used.
    """

    def inspected(target: Target) -> Inspection:
        answer = str(work / f"{target.label}.npz") if setting.check else None
        reply = ask("inspect", target, setting, guard, caches_of(target, work), answer=answer)
        return msgspec.convert({k: v for k, v in reply.items() if k != "type"}, Inspection)

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        running = [pool.submit(inspected, target) for target in targets]
        try:
            for done in as_completed(running):
                done.result()  # the first that fails ends all
            return [done.result() for done in running]
        except BaseException:
            for future in running:
                future.cancel()
            # The pool would wait for processes nobody wants, one of them about to start.
            while any(future.running() for future in running):
                guard.sweep()
                time.sleep(_PAUSE_S)
            raise


def refuse_own_caches(targets: Sequence[Target], inspections: Sequence[Inspection]) -> None:
    """Refuse candidates whose cache cannot be made a private one: none would be cold.

    Raises:
        UsageError: a module sets its cache itself.
    """
    for target, inspected in zip(targets, inspections, strict=True):
        if inspected.own_cache is not None:
            text = f"{target.label}: {target.module} sets {inspected.own_cache} by itself, so that"
            text += " no process of it starts with a cache of known state: leave that to the"
            raise UsageError(f"{text} environment, or give --warm-only")
