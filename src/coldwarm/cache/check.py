"""Runs a program with a copy of a cache, and says what it found of it."""

from __future__ import annotations

import os
import posixpath
from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, get_args

from msgspec.structs import replace

import coldwarm
from coldwarm.cache import image
from coldwarm.caches import listing, modes
from coldwarm.caches.differing import why_missed
from coldwarm.caches.inductor import GRAPHS
from coldwarm.caches.jax_entries import bare_name
from coldwarm.caches.kept import CacheContents, contents
from coldwarm.contracts import codec
from coldwarm.contracts.cache import (
    CacheCheck,
    CacheComparison,
    CacheListing,
    CheckedLine,
    ComparedProgram,
)
from coldwarm.contracts.doctor import MissKind
from coldwarm.contracts.reasons import because, distinct
from coldwarm.doctor import watch
from coldwarm.doctor.trace import DebugSettings, SourceLine
from coldwarm.errors import ProgramFailedError, StorageError, UsageError
from coldwarm.frameworks.jax import KEPT_FROM_S
from coldwarm.runner import temporary
from coldwarm.runner.user_input import command_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from coldwarm.contracts.cache import CacheOutcome
    from coldwarm.contracts.kept_entry import KeptEntry
    from coldwarm.contracts.reasons import Reason
    from coldwarm.doctor.trace import CompiledCall
    from coldwarm.doctor.watch import ProgramEnd, Watched

_KEPT_FROM = "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"
_STDERR = 2
_OLDEST = (3, 11)
"""The oldest Python that tells what it compiles."""
_ORDER: dict[CacheOutcome, int] = {"missed": 0, "elsewhere": 1, "not_kept": 2, "found": 3}


def look(folder: Path) -> CacheContents:
    """Return what lies in a folder.

    Raises:
        UsageError: it is no folder, or cannot be read.
    """
    if not folder.is_dir():
        raise UsageError(f"{folder} is no folder; name the folder of a compilation cache")
    readers = [one.read for one in modes.readable().values() if one.read is not None]
    try:
        return contents(folder, readers)
    except OSError as error:
        text = f"{error.filename or folder} cannot be read: {error.strerror}; name another folder"
        raise UsageError(text) from None


def listed(folder: Path) -> CacheListing:
    """Return the list of what lies in a folder.

    Raises:
        UsageError: it is no folder, or cannot be read.
    """
    found = look(folder)
    return CacheListing(
        harness_version=coldwarm.__version__,
        folder=str(folder),
        entries=[*found.programs],
        n_others=found.n_others,
        others_bytes=found.others_bytes,
    )


def compare(a: Path, b: Path) -> CacheComparison:
    """Return what differs between two caches, or results of ``check``, program by program.

    Raises:
        UsageError: one of them is neither, cannot be read, or holds no program that is known.
        ContractError: a file is no result of ``check``.
    """
    kept, new = (_by_name(_entries(one)) for one in (a, b))
    found = [_compared(name, kept.get(name, []), new.get(name, [])) for name in {**kept, **new}]
    return CacheComparison(
        harness_version=coldwarm.__version__,
        a=str(a),
        b=str(b),
        programs=sorted(found, key=lambda one: (not one.why, one.owner, one.program)),
    )


def _entries(place: Path) -> Sequence[KeptEntry]:
    """Return the programs in a cache, or in that of a result."""
    if place.is_file():
        found: Sequence[KeptEntry] = codec.load_as(CacheCheck, place).entries
    else:  # as a result has them
        found = [codec.without_secrets(one) for one in look(place).programs]
    refuse_empty(place, found)
    return found


def _compared(
    name: tuple[str, str], kept: Sequence[KeptEntry], new: Sequence[KeptEntry]
) -> ComparedProgram:
    same = {one.key for one in kept} & {one.key for one in new}
    lacking, added = ([one for one in side if one.key not in same] for side in (kept, new))
    # Where one side alone has more, these are held against what both have.
    sides = lacking or kept, added or new
    why = why_missed(*sides) if (lacking or added) and all(sides) else []
    return ComparedProgram(
        owner=name[0],
        program=name[1],
        n_same=len(same),
        n_kept=len(lacking),
        n_new=len(added),
        why=why,
    )


def refuse_empty(folder: Path | str, found: Sequence[KeptEntry]) -> None:
    """Refuse a cache without a program that is known.

    Raises:
        UsageError: it is so.
    """
    if not found:
        text = f"{folder} holds no program of JAX, torch.compile or Numba; fill it first"
        raise UsageError(text)


def fill(folder: Path, command: Sequence[str], python: str) -> CacheCheck:
    """Run a program with a cache that it fills, and then with a copy of that.

    Returns what the second run found. Programs that compile quickly are kept, too.

    Raises:
        UsageError: it is no Python program, or nothing is kept of what it compiles.
        ProgramFailedError: it ended with an error.
        StorageError: nothing can be written there.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(f"{folder} cannot be made: {error.strerror}; name another") from None
    owners = [one.name for one in modes.readable().values()]
    settings = for_use(folder, owners) | _kept_quick(owners)
    with temporary.made() as place:
        ended = watch.run(command, place / "journal", python, settings=settings, stdout=_STDERR)
    if ended.status:
        text = f"the program ended with exit status {ended.status}; mend it first"
        raise ProgramFailedError(text)
    filled = look(folder).programs
    if not filled:
        text = "the program compiles nothing that is kept, or sets the folder of its cache itself"
        raise UsageError(f"{folder} is empty: {text}")
    return check(folder, command, python, for_use(folder, sorted({one.owner for one in filled})))


def for_use(folder: Path, owners: Sequence[str]) -> dict[str, str]:
    """Return the variables with which a program uses caches that ``fill`` has filled.

    What is set already stays, but for the folder.
    """
    found = [modes.owner(name) for name in owners]
    moving = {k: os.environ.get(k, value) for one in found for k, value in one.moves.items()}
    return {one.variable: str(folder.absolute()) for one in found} | moving


def _kept_quick(owners: Sequence[str]) -> dict[str, str]:
    """Return the variables with which what compiles quickly is kept, too."""
    return {k: v for name in owners for k, v in modes.owner(name).keeps_quick.items()}


def check(
    folder: Path, command: Sequence[str], python: str, settings: Mapping[str, str] | None = None
) -> CacheCheck:
    """Run a program with a copy of a cache at another place, and say what it found of it.

    Args:
        folder: The cache, which nothing is written into.
        command: What stands behind ``python``: a file or ``-m`` and a module, and arguments.
        python: The interpreter.
        settings: Variables of the program, besides those that name the copy.

    Raises:
        UsageError: no program that is known lies in the folder, or the command is no Python
            program.
        StorageError: the copy cannot be written.
    """
    before = look(folder)
    owners = _owners(str(folder), before)
    started_at = datetime.now(UTC).isoformat(timespec="seconds")
    with temporary.made() as place:
        copy = place / "copied"
        listing.copied(folder, copy)
        settings = {**(settings or {}), **_settings(owners, str(copy))}
        ended = watch.run(command, place / "journal", python, settings=settings, stdout=_STDERR)
        watched, least_s = watch.read(place / "journal"), _kept_from_s(os.environ)
        ran = _Ran(started_at, [python, *command], ended, watched, settings, least_s)
        found = _judged(str(folder), before, look(copy), ran)
    in_place = [_in_place(one, str(copy), str(folder.absolute())) for one in found.entries]
    return replace(found, entries=in_place)


def check_image(name: str, folder: Path, command: Sequence[str], python: str) -> CacheCheck:
    """Run a program in a container of an image, and say what it found of a cache in there.

    Args:
        name: The image.
        folder: The cache in the image.
        command: What stands behind ``python``.
        python: The interpreter in the image.

    Raises:
        UsageError: there is no engine, image or folder of that name, no program that is known lies
            in it, or the command is no Python program.
        StorageError: the cache cannot be copied out.
    """
    if not folder.is_absolute():
        raise UsageError(f"{folder} is no path in an image; write it from /")
    started_at = datetime.now(UTC).isoformat(timespec="seconds")
    line = [python, *command]
    kept_quick = _kept_quick([one.name for one in modes.readable().values()])
    with temporary.made() as place, image.made(name, line, kept_quick, place) as container:
        container.copy_out(str(folder), place / "before")
        before = look(place / "before")
        settings = _settings(_owners(str(folder), before), str(folder))
        unset = [one for one in settings if not container.variables.get(one)]
        ended = container.run(place / "journal")
        container.copy_out(str(folder), place / "after")
        watched = watch.read(place / "journal")
        used = watched.processes[0].process.python
        if tuple(map(int, (used or "0.0").split(".")[:2])) < _OLDEST:
            raise UsageError(f"{name}: Python {used} cannot be watched; use one of 3.11 or later")
        kept_from_s = _kept_from_s(container.variables)
        ran = _Ran(started_at, line, ended, watched, settings, kept_from_s, unset)
        found = _judged(str(folder), before, look(place / "after"), ran)
    return replace(found, image=name)


class _Ran(NamedTuple):
    """A run of a program with a cache."""

    started_at: str
    command: Sequence[str]
    ended: ProgramEnd
    watched: Watched
    settings: Mapping[str, str]
    kept_from_s: float
    """Seconds of compiling from which JAX keeps a program, as the user has set them."""
    unset: Sequence[str] | None = None
    """Those of the settings that an image is to have, and lacks; ``None``: it ran here."""


def _owners(folder: str, before: CacheContents) -> list[str]:
    """Return whose programs lie in a cache.

    Raises:
        UsageError: nobody's that is known, or some that no other place can have.
    """
    refuse_empty(folder, before.programs)
    if any("/" not in one.path for one in before.of("numba")):
        text = f"{folder} has programs of Numba's beside their source, which stay there; name"
        raise UsageError(f"{text} what NUMBA_CACHE_DIR names")
    return sorted({one.owner for one in before.programs})


def _judged(folder: str, before: CacheContents, after: CacheContents, ran: _Ran) -> CacheCheck:
    """Say what a program has found of a cache."""
    owners = sorted({one.owner for one in before.programs})
    watched = ran.watched
    shown = command_line(ran.command)
    report = watch.report(watched, ran.ended, ran.started_at, command=shown)
    elsewhere = _elsewhere(watched, ran.settings, ran.unset)
    known = {(one.owner, one.path) for one in before.programs}
    added = [one for one in after.programs if (one.owner, one.path) not in known]
    judge = _Judge(_by_name(before.programs), _by_name(added), elsewhere, ran.kept_from_s)
    return CacheCheck(
        harness_version=coldwarm.__version__,
        started_at=ran.started_at,
        command=shown,
        exit_status=ran.ended.status,
        folder=folder,
        frameworks=owners,
        versions=report.versions,
        n_kept=len(before.programs),
        kept_bytes=sum(one.n_bytes for one in before.programs),
        lines=_lines(watched, judge, owners),
        left_out=_left_out(watched, owners),
        entries=[*after.programs],
        unseen=[one for one in report.unseen if one.code != "needs_monitoring"],
    )


def _settings(owners: Sequence[str], copy: str) -> dict[str, str]:
    """Return the variables with which a program looks for programs in a folder.

    What is missed is written, so that it can be compared with what lies there.
    """
    return {modes.owner(name).variable: copy for name in owners} | _kept_quick(owners)


def _in_place(one: KeptEntry, copy: str, folder: str) -> KeptEntry:
    """Return an entry with the path of the folder, where it has that of its copy."""
    return replace(one, options={k: v.replace(copy, folder) for k, v in one.options.items()})


def _left_out(watched: Watched, owners: Sequence[str]) -> list[str]:
    """Return frameworks that compiled something and have no program in the cache."""
    calls = [one for trace in watched.processes for one in trace.calls if one.compiled]
    found = {one.framework for one in calls if _owner(one.framework) not in owners}
    return sorted(found)


@dataclass(frozen=True)
class _Judge:
    """Judges calls by what lay in the cache before, and what the process has written."""

    kept: Mapping[tuple[str, str], Sequence[KeptEntry]]
    new: Mapping[tuple[str, str], Sequence[KeptEntry]]
    elsewhere: Mapping[str, Reason]
    """By framework, why the program does not look there."""
    kept_from_s: float

    def outcome(self, call: CompiledCall) -> tuple[CacheOutcome, list[Reason]] | None:
        """Return what became of a call, and why; ``None``: it needed nothing of the cache."""
        if not call.compiled:
            return None
        if call.framework in self.elsewhere:
            return "elsewhere", [self.elsewhere[call.framework]]
        if call.framework == "jax":
            return self._of_jax(call)
        if call.hit:
            return "found", []
        if call.framework == "numba":
            return self._of_numba(call)
        return ("missed", self._of_graphs) if call.own_s.get("compile") else None

    @cached_property
    def _of_graphs(self) -> list[Reason]:
        """Why graphs of PyTorch's were missed; it does not tell which is of which call."""
        kept = self.kept.get(GRAPHS, ())
        told = [why_missed(kept, [one]) for one in self.new.get(GRAPHS, ()) if kept]
        return told[0] if told and told == told[:1] * len(told) else [because("key_absent_graph")]

    def _of_jax(self, call: CompiledCall) -> tuple[CacheOutcome, list[Reason]] | None:
        name = "jax", bare_name(call.told)
        kept, new = self.kept.get(name, ()), self.new.get(name, ())
        if call.hit:  # else the process reads what it has written itself
            return ("found", []) if kept else None
        if not new:
            return "not_kept", [because("key_never_written")]
        quick = call.own_s.get("compile", 0.0) < self.kept_from_s
        why = why_missed(kept, new)
        if quick and why[0].code in {"key_absent", "key_program"}:
            return "not_kept", [because("key_quick", least_s=self.kept_from_s)]
        return "missed", why

    def _of_numba(self, call: CompiledCall) -> tuple[CacheOutcome, list[Reason]] | None:
        if not call.keeps:
            return None  # the program does not ask for it
        kind = call.missed if call.missed in get_args(MissKind) else "unknown"
        return "missed", [because(f"numba_{kind}")]


def _lines(watched: Watched, judge: _Judge, owners: Sequence[str]) -> list[CheckedLine]:
    """Return what became of the calls of each line and function."""
    groups: dict[tuple[str, ...], list[tuple[CompiledCall, CacheOutcome, list[Reason]]]] = {}
    for call in (one for trace in watched.processes for one in trace.calls):
        found = judge.outcome(call) if _owner(call.framework) in owners else None
        if found is not None:
            at = call.site or call.definition or SourceLine("", 0, "")
            key = at.path, str(at.line), call.framework, call.name
            groups.setdefault(key, []).append((call, *found))
    lines = [_line(key, group) for key, group in groups.items()]
    return sorted(lines, key=lambda one: (_ORDER[one.outcome], -one.compile_s))


def _line(
    key: tuple[str, ...], group: Sequence[tuple[CompiledCall, CacheOutcome, list[Reason]]]
) -> CheckedLine:
    path, line, framework, function = key
    outcome = min((one for _, one, _ in group), key=_ORDER.__getitem__)
    return CheckedLine(
        framework=framework,
        path=path,
        line=int(line),
        function=function,
        outcome=outcome,
        n_found=sum(one == "found" for _, one, _ in group),
        n_missed=sum(one in {"missed", "elsewhere"} for _, one, _ in group),
        n_not_kept=sum(one == "not_kept" for _, one, _ in group),
        compile_s=sum(call.total_s for call, *_ in group),
        why=distinct(why for _, one, told in group if one == outcome for why in told),
    )


def _owner(framework: str) -> str:
    return modes.readable()[framework].name


def _by_name(programs: Sequence[KeptEntry]) -> dict[tuple[str, str], list[KeptEntry]]:
    found: dict[tuple[str, str], list[KeptEntry]] = defaultdict(list)
    for one in programs:
        name = bare_name(one.program) if one.owner == "jax" else one.program
        found[one.owner, name].append(one)
    return found


def _elsewhere(
    watched: Watched, settings: Mapping[str, str], unset: Sequence[str] | None
) -> dict[str, Reason]:
    """Return by framework why a program does not look into the cache."""
    found = {}
    place = os.path.realpath if unset is None else posixpath.normpath
    told = [one.caches for trace in watched.processes for one in trace.rows_of(DebugSettings)]
    hit = {one.framework for trace in watched.processes for one in trace.calls if one.hit}
    for framework, owner in modes.readable().items():
        folders = [one[framework] for one in told if framework in one]
        ours = place(settings.get(owner.variable, ""))
        others = [one for one in folders if place(one) != ours]
        if others and owner.variable in settings:
            found[framework] = because("key_elsewhere", folder=others[-1])
        elif owner.variable in (unset or ()) and not folders and framework not in hit:
            found[framework] = because("key_unset", variable=owner.variable, folder=ours)
    return found


def _kept_from_s(variables: Mapping[str, str]) -> float:
    """Return the seconds of compiling from which JAX keeps a program, as the user has set them."""
    try:
        return float(variables.get(_KEPT_FROM, KEPT_FROM_S))
    except ValueError:
        return KEPT_FROM_S
