"""A user's functions as candidates: each is inspected in a process of its own."""

from __future__ import annotations

import ast
import errno
import hashlib
import os
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from coldwarm.caches import HOME, modes
from coldwarm.contracts.reasons import RefusedError, because
from coldwarm.errors import ExitCode
from coldwarm.frameworks import opened
from coldwarm.functions import backend, values
from coldwarm.functions.target import MissingNameError, TargetError
from coldwarm.registry import Source, backend_spec
from coldwarm.runner import environment, isolation, ledger, replies, temporary
from coldwarm.runner.isolation import (
    process_variables,
    program_name,
    refuse_unnameable,
    sharing_variables,
)
from coldwarm.runner.replies import Facts, Inspection, Marked, Moves, OthersReply
from coldwarm.runner.spawn import MeasuredProcess, OutOfTimeError, ProcessFailedError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from concurrent.futures import Future

    from coldwarm.contracts.reasons import Reason
    from coldwarm.runner.functions.targets import Target
    from coldwarm.runner.spawn import Guard


_AT_ONCE = 2
"""Nothing is measured yet, so they may share the machine."""
_PAUSE_S = 0.02
_CRASHES = {"killed", "signal", "exited", "pipe_closed", "output_flood", "garbage", "timeout"}
"""Codes of reasons why a process has not answered that was not asked anything wrong."""
_OF_TARGETS = {
    kind.__name__
    for kind in (
        TargetError,
        MissingNameError,
        values.NotNumericError,
    )
}
"""Errors of the measured side whose message is for the user as it is."""
_OF_READING = {"name_missing", "failed_before", "not_for_commit", "unusable", "other_arguments"}
"""Refusals of a program's file that is read anew, which a pickle does not have."""
_UNFINISHED = {
    "lazy_result",
    "opaque_result",
    "computes_when_asked",
    "arrays_unfinished",
    "gpu_unfinished",
    "threads_at_work",
    "processes_at_work",
    "tasks_unfinished",
    "busy_afterwards",
    "functions_at_exit",
    "signal_pending",
}
"""Codes that refuse a result that is not there when a call returns."""
_TRIALS, _TRIALS_S = 6, 60.0
"""How often a program is tried without files that it read, and for how long in all, besides so
many times as long as its inspection took."""
_SLOWER, _SLOWER_S = 2.0, 0.05
"""From what on a first call is far slower."""
_LOOKED_AT_BYTES = 2**13
_Reply = TypeVar("_Reply", bound=Inspection | Marked | Facts | Moves | OthersReply)
BACKEND = replace(
    backend_spec(backend.UserFunction, Source(backend.__name__, Path(backend.__file__))),
    caches=modes.of_functions(),
)
"""Whatever frameworks a user's function takes; each candidate's caches are its own."""


class CrashedError(RefusedError):
    """The process of an inspection has ended without an answer: that candidate has failed."""

    exit_code = ExitCode.FAILED


@dataclass(frozen=True)
class Setting:
    """Setting that all candidates of a bench share."""

    name: str
    inputs: Sequence[Mapping[str, Any]]
    placement: str | None
    """``numpy``, ``jax`` or ``torch``; ``None``: as each function's module suggests."""
    check: bool
    tolerance: float | None
    threads: int | None
    seed: int
    timeout_s: float
    guard: Guard
    work: Path
    """A folder for what the processes share."""
    input_sha256: str | None = None
    """Hash of the arguments that were written down; ``None``: none were."""
    against: str | None = None
    """Reference for answers, where it is no candidate's."""
    cold: bool = True
    """Whether first results are asked for, so that it matters what a program keeps by itself."""
    since_ns: int = field(default_factory=time.time_ns)
    """When the first process may have begun that runs a candidate, on the clock of files."""

    def caches(self, target: Target) -> Path:
        """Return where the inspection of a candidate leaves what it compiles."""
        return self.work / f"caches-{target.label}"

    def answer(self, label: str) -> Path:
        """Return where the answer of a candidate lies."""
        return self.work / f"{label}.npz"


@dataclass(frozen=True)
class Inspected:
    """A candidate, and what its inspection has found."""

    target: Target
    found: Inspection


def specification(target: Target, setting: Setting) -> dict[str, Any]:
    """Return what a measured process is sent of a candidate."""
    return {
        "module": target.module,
        "path": None if target.path is None else str(target.path),
        "search": list(target.search),
        "name": target.name,
        "inputs": [dict(one) for one in setting.inputs],
        "placement": setting.placement,
        "arguments": target.arguments,
        "calls": target.calls,
        "carried": target.carried,
        "sync": target.sync,
        "elsewhere": None if target.elsewhere is None else str(target.elsewhere),
        "cache_places": modes.places(),
    }


def _job(
    role: str, target: Target, setting: Setting, answer: str | None, precision: str
) -> dict[str, Any]:
    return {
        "role": role,
        "device": "cpu",
        "threads": setting.threads,
        "seed": setting.seed,
        "answer": answer,
        "precision": precision,
        "function": specification(target, setting),
    }


def ask(  # noqa: PLR0913 - what a process needs
    due: type[_Reply],
    target: Target,
    setting: Setting,
    caches: Path,
    *,
    answer: str | None = None,
    precision: str = "",
    without: Collection[str] = (),
    timeout_s: float | None = None,
) -> tuple[_Reply, float]:
    """Ask a process under the candidate's interpreter to inspect it, or for what is marked.

    What it compiles goes into ``caches``. Returns the reply and the seconds that the process ran.
    ``without``: files that it is to find missing, as far as this system can let it.

    Raises:
        RefusedError: it cannot be imported, found or called.
        CrashedError: the process has ended without an answer.
    """
    variables = process_variables(
        {**os.environ, **target.variables},
        BACKEND,
        device="cpu",
        threads=setting.threads,
        mode="cold_process_cold_cache",
        root=caches,
        mark=setting.guard.mark_value,
        deterministic=False,
        hidden=without,
    )
    if environment.gpu_may_be_used():
        variables.update({k: v for k, v in sharing_variables(variables, BACKEND).items() if v})
    # What an inspection imports may leave its bytecode, as any program of the user's does.
    if not isolation.is_little(Path.cwd() if target.path is None else target.path.parent):
        del variables["PYTHONDONTWRITEBYTECODE"]
    ours = [os.path.realpath(caches.parent), *temporary.own()]
    watch = {"before_ns": time.time_ns(), "folders": ours, "offline": bool(without)}
    job = _job(str(due.__struct_config__.tag), target, setting, answer, precision)
    try:
        view = isolation.make_view(caches, without, ours)
        with isolation.forking(view):
            process = MeasuredProcess(
                {**job, "watch": watch, "asked_ns": time.perf_counter_ns()},
                variables,
                setting.guard,
                timeout_s=setting.timeout_s if timeout_s is None else timeout_s,
                python=program_name(target.python, BACKEND),
                enter=None if view is None else view.enter,
            )
    except OSError as error:
        if error.errno in {errno.EAGAIN, errno.ENOMEM}:  # that is no fault of its interpreter
            raise
        text = error.strerror or str(error)
        reason = because("cannot_start", label=target.label, program=target.python, text=text)
        raise RefusedError(reason) from error
    try:
        return replies.receive(process, due), process.wait().wall_s
    except ProcessFailedError as error:
        refuse_unnameable(caches, [BACKEND])
        kind = CrashedError if error.reason.code in _CRASHES else RefusedError
        raise kind(_why(target, error)) from error
    except OutOfTimeError as error:
        raise RefusedError(because("inspection_late", label=target.label)) from error
    finally:
        process.kill()


def _why(target: Target, error: ProcessFailedError) -> Reason:
    raised = error.reason.values
    if error.reason.code in _UNFINISHED:
        return because("unfinished", error.reason, label=target.label)
    kind = raised.get("error")
    if kind in _OF_TARGETS:
        code = "name_missing" if kind == MissingNameError.__name__ else "unusable"
        return because(code, label=target.label, text=raised["text"])
    if kind == ImportError.__name__ and target.path and _is_relative(target.path):
        folder = target.path.parent.name
        module = f"{folder}.{target.path.stem}:{target.name}".removesuffix(":")
        return because("relative_imports", label=target.label, folder=folder, module=module)
    where = f"{target.path.name}, line {error.line}" if target.path and error.line else ""
    file = target.path.name if target.path else str(target.module)
    label = f"{target.label} ({target.text})" if target.name else file
    if target.of_today and target.revision is not None:
        names = {"file": target.shown, "commit": target.revision[:12]}
        return because("not_for_commit", error.reason, label=target.label, where=where, **names)
    return because("failed_before", error.reason, label=label, where=where)


def _is_relative(path: Path) -> bool:
    """Say whether a file imports relatively, and lies in no package that Python would know."""
    if (path.parent / "__init__.py").is_file():
        return False
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return False
    return any(isinstance(one, ast.ImportFrom) and one.level for one in ast.walk(tree))


def program_of(target: Target) -> str:
    """Return what a candidate's program is known by, from one run to the next."""
    return hashlib.sha256(os.fsencode(str(target.path or target.module))).hexdigest()[:16]


def inspect(
    targets: Sequence[Target],
    setting: Setting,
    crashed: dict[str, CrashedError] | None = None,
) -> list[Inspected]:
    """Inspect every candidate, two at once where there is no GPU to share.

    Those that crash are left out, and put into ``crashed`` under their labels, if there is one
    and another does not crash.

    Raises:
        RefusedError: one of them cannot be used.
        CrashedError: one, or all of them, crashed.
    """
    at_once = 1 if environment.gpu_may_be_used() else _AT_ONCE
    with ThreadPoolExecutor(at_once) as pool:
        running = [pool.submit(_inspected, one, setting) for one in targets]
        try:
            for done in as_completed(running):
                if crashed is None or not isinstance(done.exception(), CrashedError):
                    done.result()  # the first that fails ends all
            if crashed is not None:
                _collect(targets, running, crashed)
            return [done.result() for done in running if done.exception() is None]
        except BaseException:
            for future in running:
                future.cancel()
            # The pool would wait for processes nobody wants, one of them about to start.
            while any(future.running() for future in running):
                setting.guard.sweep()
                time.sleep(_PAUSE_S)
            raise


def _inspected(target: Target, setting: Setting) -> Inspected:
    """Inspect a candidate in the first way in which it can be had.

    Raises:
        RefusedError: it cannot be used.
    """
    try:
        return _inspected_so(target, setting)
    except RefusedError as error:
        if target.otherwise is None or error.reason.code not in _OF_READING:
            raise
        try:
            return _inspected(target.otherwise, setting)
        except RefusedError as later:
            if later.reason.code != error.reason.code:
                raise
        raise  # what fails either way is told with its place in the file


def _inspected_so(target: Target, setting: Setting) -> Inspected:
    answer = str(setting.answer(target.label)) if setting.check else None
    caches = setting.caches(target)
    found, took_s = ledger.retry_killed(
        lambda: ask(Inspection, target, setting, caches, answer=answer), RefusedError
    )
    if setting.cold:
        found = _tried(target, (found, took_s), setting)
        if found.own_cache is not None:  # it cannot be made a private one: none would be cold
            names = {"label": target.label, "module": target.module}
            raise RefusedError(because("own_cache", **names, setting=found.own_cache))
    # A pickle says itself what it holds.
    if not target.carried and setting.input_sha256 not in {None, found.input_sha256}:
        raise RefusedError(because("other_arguments"))
    return Inspected(target, found)


def _tried(target: Target, seen: tuple[Inspection, float], setting: Setting) -> Inspection:
    """Try which of the files that it read a program makes by itself where they are missing.

    Those are left in ``again``, as caches that somebody has filled before; what fails without a
    file needs it. In ``before`` are left those of which nothing was found out.
    """
    found, took_s = seen
    base = {**os.environ, **target.variables}
    wrote = [name for name in found.wrote if isolation.can_hide([name])]
    opened.mark(set(found.wrote) - set(wrote), program_of(target))
    left = {n for n in found.before if isolation.can_hide([n]) or isolation.in_own_folder(base, n)}
    unknown, again = set(found.before) - left, set[str]()
    ends_s = time.perf_counter() + _TRIALS_S + _TRIALS * took_s
    for number in range(_TRIALS):
        left_s = ends_s - time.perf_counter()
        if not left or left_s <= 0:
            break
        caches = setting.work / f"caches-{target.label}-without-{number}"
        limit_s = min(setting.timeout_s, left_s)
        try:
            tried, _ = ask(Inspection, target, setting, caches, without=left, timeout_s=limit_s)
        except RefusedError as error:
            left -= _needed(error.__cause__, left, base, caches)
            continue
        slower = (tried.first_s or 0.0) > _SLOWER * (found.first_s or 0.0) + _SLOWER_S
        again = {name for name in left if _is_made(name, base, caches, slower=slower)}
        left = set()
        isolation.discard(caches)
    known = {"again": sorted(again), "before": sorted(unknown | left), "wrote": wrote}
    return msgspec.structs.replace(found, **known)


def _needed(
    error: BaseException | None, names: Collection[str], base: Mapping[str, str], caches: Path
) -> set[str]:
    """Return the files without which a program failed: that which it missed last, or the oldest.

    What lies beside it and is named alike is needed, too. None where it did not fail by itself.
    """
    if not isinstance(error, ProcessFailedError) or error.reason.code != "exception":
        return set()
    missed = error.missed
    own = {str(isolation.written_at_home(base, caches / HOME, name)): name for name in names}
    told = [own.get(name, name) for name in missed if own.get(name, name) in names]
    if not told:
        return {min(names, key=_changed_ns)}
    one = Path(told[-1])
    return {n for n in names if (Path(n).parent, Path(n).suffix) == (one.parent, one.suffix)}


def _changed_ns(name: str) -> int:
    try:
        return Path(name).stat().st_mtime_ns
    except OSError:
        return 0


def _is_made(name: str, base: Mapping[str, str], caches: Path, *, slower: bool) -> bool:
    """Say whether a program has made a file again that was hidden from it.

    A text that is another one then is a setting with its defaults, unless that took far longer.
    """
    for place in (
        isolation.written_in_view(caches, name),
        isolation.written_at_home(base, caches / HOME, name),
    ):
        if place is not None and place.is_file() and not place.is_symlink():
            with suppress(OSError):
                made, kept = place.read_bytes(), Path(name).read_bytes()
                return slower or made == kept or b"\0" in kept[:_LOOKED_AT_BYTES]
    return False


def _collect(
    targets: Sequence[Target],
    running: Sequence[Future[Inspected]],
    crashed: dict[str, CrashedError],
) -> None:
    """Put into ``crashed`` what did.

    Raises:
        CrashedError: all have crashed.
    """
    errors = [done.exception() for done in running]
    for target, error in zip(targets, errors, strict=True):
        if isinstance(error, CrashedError):
            crashed[target.label] = error
    if crashed and len(crashed) == len(targets):
        raise next(iter(crashed.values()))
