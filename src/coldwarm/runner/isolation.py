"""Place of a process: its environment, a home and caches of its own, its view of files.

A view lacks certain files of the user's folders. The kernel lays a folder of ours over each of
them, in a namespace that the process and its children have alone: the program finds all but the
hidden files, and what it writes goes into our folder. The user's files stay as they are. It needs a
Linux that lets this user have such a namespace, as most do, and containers often do not.
"""

from __future__ import annotations

import ctypes
import errno
import hashlib
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import warnings
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from coldwarm.caches import HOME, bytecode, inductor, made, modes
from coldwarm.contracts.reasons import RefusedError, because
from coldwarm.errors import storage_error
from coldwarm.runner import temporary
from coldwarm.runner.guard import MARK

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from coldwarm.contracts.base import CacheMode, CacheSettings
    from coldwarm.registry import BackendSpec


_PLACES = ("/var/tmp", "/dev/shm")  # noqa: S108 - only folders of our own are used there
_NAMESPACE, _USER = 0x00020000, 0x10000000
_PRIVATE, _BIND = 0x4000 | 0x40000, 0x1000 | 0x4000
_PROBE_S = 10.0


@dataclass(frozen=True)
class Overlay:
    """Overlay over folders, for one process and those that find what it has left."""

    layers: tuple[tuple[str, str, str], ...]
    """Folders of the user's, each with one for what is written and one for the kernel's use."""
    hidden: tuple[str, ...]
    """Files that are removed from it; none where a process before has used it."""
    kept: tuple[str, ...]
    """Folders of ours that stay what they are, also where they lie in one of the user's."""
    user: bool
    """Whether this user needs a namespace of users besides."""

    def enter(self) -> None:
        """Make it the view of this process, which was forked and has done nothing else yet.

        Raises:
            OSError: the kernel refuses.
        """
        folder = os.getcwd()  # noqa: PTH109 - between fork and exec little should be loaded
        who = os.getuid(), os.getgid()
        _call("unshare", _NAMESPACE | (_USER if self.user else 0))
        if self.user:
            _write("/proc/self/setgroups", "deny")
            _write("/proc/self/uid_map", f"{who[0]} {who[0]} 1")
            _write("/proc/self/gid_map", f"{who[1]} {who[1]} 1")
        _call("mount", None, b"/", None, _PRIVATE, None)
        kept = [(os.open(path, os.O_PATH), path) for path in self.kept]
        for lower, upper, work in self.layers:
            names = f"lowerdir={lower},upperdir={upper},workdir={work}"
            options = names + (",userxattr" if self.user else "")
            _call("mount", b"coldwarm", os.fsencode(lower), b"overlay", 0, os.fsencode(options))
        for number, path in kept:
            _call("mount", f"/proc/self/fd/{number}".encode(), os.fsencode(path), None, _BIND, None)
            os.close(number)
        os.chdir(folder)  # which was that below the new one
        for name in self.hidden:
            with suppress(FileNotFoundError):
                os.unlink(name)  # noqa: PTH108 - as above


def make_view(
    root: Path, hidden: Collection[str], kept: Collection[str], *, again: bool = False
) -> Overlay | None:
    """Return the view of a process whose caches are under ``root``; ``None``: there can be none.

    ``again``: that of an earlier process, if it had one, with what it has left.
    """
    name = _name(root)
    if again:
        return _known.get(name)
    lowers = tuple(_lowers(hidden))
    place = _place(lowers) if lowers else None
    if place is None:
        return None
    layers = []
    for number, lower in enumerate(lowers):
        folder = temporary.folder(place[0]) / name / str(number)
        for part in ("upper", "work"):
            (folder / part).mkdir(parents=True)
        shutil.copymode(lower, folder / "upper")
        layers.append((lower, str(folder / "upper"), str(folder / "work")))
    inside = [one for one in kept if any(Path(one).is_relative_to(lower) for lower in lowers)]
    made = Overlay(tuple(layers), tuple(sorted(hidden)), tuple(inside), place[1])
    _known[name] = Overlay(made.layers, (), made.kept, made.user)
    return made


_forking = threading.Lock()
"""Filters of warnings are those of all threads."""
_known: dict[str, Overlay] = {}
"""By the name of its folder, what another process of the same caches is to see."""


def can_hide(hidden: Collection[str]) -> bool:
    """Say whether a process can have a view in which these files are missing."""
    lowers = tuple(_lowers(hidden))
    return bool(lowers) and _place(lowers) is not None


def written_in_view(root: Path, name: str) -> Path | None:
    """Return where a process has written a file of its view; ``None``: it had none of it."""
    found = _known.get(_name(root))
    for lower, upper, _ in found.layers if found else ():
        if Path(name).is_relative_to(lower):
            return Path(upper, Path(name).relative_to(lower))
    return None


def discard(root: Path) -> None:
    """Remove the caches of processes, and what these have written into their views.

    What resists is left for the end of the run.
    """
    shutil.rmtree(root, ignore_errors=True)
    temporary.unlink(root)
    found = _known.pop(_name(root), None)
    for _, upper, work in found.layers if found else ():
        with suppress(OSError):
            Path(work, "work").chmod(0o700)
        shutil.rmtree(Path(upper).parent, ignore_errors=True)


def _name(root: Path) -> str:
    return f"view-{hashlib.sha256(os.fsencode(root)).hexdigest()[:12]}"


def _lowers(hidden: Collection[str]) -> Iterator[str]:
    """Yield the folders that hold the files, none inside another."""
    folders = sorted({os.path.dirname(name) for name in hidden} - {"/"})  # noqa: PTH120 - texts
    last = None
    for folder in folders:
        if last is None or not Path(folder).is_relative_to(last):
            yield (last := folder)


@cache
def _place(lowers: tuple[str, ...]) -> tuple[str, bool] | None:
    """Return where files can be laid over these folders, and whether that needs another user."""
    if any(sign in lower for lower in lowers for sign in ",:\\"):
        return None  # which the kernel's options cannot say
    for place in dict.fromkeys((tempfile.gettempdir(), *_PLACES)):
        if any(Path(place).is_relative_to(lower) for lower in lowers):
            continue
        for user in (False, True):
            with suppress(OSError, subprocess.SubprocessError):
                _try(lowers, place, user=user)
                return place, user
    return None


def _try(lowers: tuple[str, ...], place: str, *, user: bool) -> None:
    """Start a process with such a view that writes nothing.

    Raises:
        OSError: nothing can be written in that place.
        subprocess.SubprocessError: the kernel refuses.
    """
    with tempfile.TemporaryDirectory(dir=temporary.folder(place)) as folder:
        layers = []
        for number, lower in enumerate(lowers):
            upper, work = (Path(folder, f"{number}-{part}") for part in ("upper", "work"))
            upper.mkdir()
            work.mkdir()
            layers.append((lower, str(upper), str(work)))
        view = Overlay(tuple(layers), (), (), user)
        with forking(view):
            subprocess.run(
                [sys.executable, "-I", "-S", "-c", ""],
                check=True,
                timeout=_PROBE_S,
                preexec_fn=view.enter,
            )
        for layer in layers:
            with suppress(OSError):
                Path(layer[2], "work").chmod(0o700)


@contextmanager
def forking(view: Overlay | None) -> Iterator[None]:
    """Start a process with a view: nobody who is loaded here warns of the fork, as JAX would.

    What is forked asks the kernel for its view, and is replaced by another program.
    """
    if view is None:
        yield
        return
    with _forking, warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"os\.fork\(\) was called", RuntimeWarning)
        warnings.filterwarnings("ignore", r"This process .* is multi-threaded", DeprecationWarning)
        yield


def _write(path: str, text: str) -> None:
    number = os.open(path, os.O_WRONLY)
    os.write(number, text.encode())
    os.close(number)


_LIBRARY = ctypes.CDLL(None, use_errno=True)


def _call(name: str, *given: object) -> None:
    """Call a function of the C library.

    Raises:
        OSError: it failed.
    """
    if getattr(_LIBRARY, name)(*given):
        number = ctypes.get_errno() or errno.EINVAL
        raise OSError(number, os.strerror(number))


_PROBE_BYTES = 256 * 1024
_LITTLE_BYTES = 256 * 1024 * 1024
"""With less left than this, a process that complains of a full disk is believed."""
_FULL = (errno.ENOSPC, errno.EDQUOT)


def check_disk(work: Path, said: str) -> None:
    """Look at the disk after a process failed with the words ``said``.

    Raises:
        StorageError: nothing can be written under ``work``, or hardly anything and the
            process said so.
    """
    try:
        _write_probe(work / "space.part")
    except OSError as error:
        raise storage_error(work, error) from error
    code = next((number for number in _FULL if os.strerror(number) in said), None)
    if code is not None and shutil.disk_usage(work).free < _LITTLE_BYTES:
        raise storage_error(work, OSError(code, os.strerror(code)))


def is_little(folder: Path) -> bool:
    """Say whether a file written there may be cut, as Python cuts the bytecode that it writes."""
    longest, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        free = shutil.disk_usage(folder).free
    except OSError:
        return True
    return 0 <= longest < _PROBE_BYTES or free < _PROBE_BYTES


def _write_probe(path: Path) -> None:
    try:
        with path.open("wb") as file:
            file.write(bytes(_PROBE_BYTES))
            file.flush()
            os.fsync(file.fileno())
    finally:
        path.unlink(missing_ok=True)


_CACHE = ".cache"


def lay_home(base: Mapping[str, str], folder: Path, hidden: Collection[str] = ()) -> dict[str, str]:
    """Make the folders under ``folder`` and return the variables that name them.

    Raises:
        OSError: they cannot be made.
    """
    found: dict[str, str] = {}
    for variable, real in _folders(base).items():
        own = folder / variable.lower()
        found[variable] = str(own)
        _link(real, own, hidden, home=variable == "HOME")
    if "HOME" in found:
        found.setdefault("XDG_CACHE_HOME", f"{found['HOME']}/{_CACHE}")
    return found


def in_own_folder(base: Mapping[str, str], name: str) -> bool:
    """Say whether a file lies in a folder of which each process has its own."""
    return written_at_home(base, Path(), name) is not None


def written_at_home(base: Mapping[str, str], folder: Path, name: str) -> Path | None:
    """Return where a process with folders under ``folder`` has written a file of the user's."""
    for variable, real in _folders(base).items():
        for inside in ("", _CACHE):  # which may be a link to somewhere else
            place = os.path.realpath(real / inside)
            if Path(name).is_relative_to(place):
                return folder / variable.lower() / inside / Path(name).relative_to(place)
    return None


def _folders(base: Mapping[str, str]) -> dict[str, Path]:
    """Return the user's home, and the cache folder where it is another one than that in it."""
    home, cache = (base.get(name) or "" for name in ("HOME", "XDG_CACHE_HOME"))
    usual = os.path.join(home, _CACHE)  # noqa: PTH118 - either may be empty
    found = {"HOME": home}
    if cache and os.path.realpath(cache) != os.path.realpath(usual):
        found["XDG_CACHE_HOME"] = cache
    return {name: Path(place) for name, place in found.items() if Path(place).is_absolute()}


def _link(real: Path, own: Path, hidden: Collection[str], *, home: bool = False) -> None:
    """Link the entries of a folder into another, but what is hidden.

    Folders on the way to that are made, and so is the cache folder of a home.
    """
    if own.is_symlink():  # an earlier process had all of it
        return
    own.mkdir(parents=True, exist_ok=True)
    base = Path(os.path.realpath(real))
    below = [Path(one) for one in hidden if Path(one).is_relative_to(base)]
    divided = {one.relative_to(base).parts[0] for one in below if one != base}
    divided |= {_CACHE} if home else set()
    try:
        names = {entry.name for entry in os.scandir(base)}
    except OSError:  # there is none yet, or nobody may look into it
        names = set()
    for name in names | ({_CACHE} if home else set()):
        if str(base / name) in hidden:
            continue
        if name in divided:
            _link(base / name, own / name, hidden)
            continue
        with suppress(FileExistsError):
            (own / name).symlink_to(base / name)


_DETERMINISTIC = {
    "PYTHONHASHSEED": "0",
    "TF_CUDNN_DETERMINISTIC": "1",
    "CUBLAS_WORKSPACE_CONFIG": ":4096:8",
}


def owners_of(backend: BackendSpec, device: str, mode: CacheMode) -> list[str]:
    """Return the caches that a process of this backend, device and mode may use."""
    names = [*backend.caches]
    if device == "gpu" and "cuda" not in names:
        names.append("cuda")
    if device != "gpu" and "cuda" in names:
        names.remove("cuda")
    if backend.prepares:
        names.append(made.OWNER.name)
    if mode == "first_ever":
        names.append(bytecode.OWNER.name)
    return names


def fixed_variables(
    backend: BackendSpec, device: str, threads: int | None, *, deterministic: bool
) -> dict[str, str]:
    """Return what is set whatever the mode: published in the protocol."""
    fixed = _DETERMINISTIC if deterministic else {}
    return {**fixed, **backend.environment(device, threads)}


def sharing_variables(base: Mapping[str, str], backend: BackendSpec) -> dict[str, str]:
    """Return what lets several processes share a GPU, where the user has not said how."""
    found = dict(backend.sharing())
    return {} if any(base.get(name) for name in found) else found


def program_name(python: str, backend: BackendSpec) -> str:
    """Return the name by which an interpreter is started, plain where a compiler is told it."""
    return temporary.plain_program(python) if inductor.OWNER.name in backend.caches else python


def refuse_unnameable(folder: Path, backends: Iterable[BackendSpec]) -> None:
    """Refuse a folder for caches that the C++ compiler could not be told.

    Raises:
        RefusedError: its name has blanks or quotes, no link to it can be made, and one of the
            backends compiles C++.
    """
    told = any(inductor.OWNER.name in one.caches for one in backends)
    if told and not temporary.is_plain(temporary.plain(folder)):
        raise RefusedError(because("no_plain_folder", folder=str(folder)))


def process_variables(  # noqa: PLR0913 - each is one independent fact of a process
    base: Mapping[str, str],
    backend: BackendSpec,
    *,
    device: str,
    threads: int | None,
    mode: CacheMode,
    root: Path,
    mark: str,
    deterministic: bool,
    cache_settings: CacheSettings = "keep_all",
    hidden: Collection[str] = (),
) -> dict[str, str]:
    """Return the variables of one process; creates the directories they name.

    Every cache that anyone here knows lies under ``root``, also those that this backend
    does not use, and so do temporary files; where its name has a blank, they are called by a
    link's. ``hidden``: files that its home has not.
    """
    variables = {name: value for name, value in base.items() if name != "PYTHONPYCACHEPREFIX"}
    # No measured process changes the bytecode that the next one finds.
    variables["PYTHONDONTWRITEBYTECODE"] = "1"
    root.mkdir(parents=True, exist_ok=True)
    root = temporary.plain(root)
    folder = root / "tmp"
    folder.mkdir(exist_ok=True)
    variables["TMPDIR"] = str(folder)
    for name, owner in modes.owners().items():
        if name == bytecode.OWNER.name and mode != "first_ever":
            continue
        folder = root / name
        folder.mkdir(exist_ok=True)
        variables.update(owner.isolate(folder, by_default=cache_settings == "framework_default"))
    variables["TMPDIR"] = str(temporary.link(Path(variables["TMPDIR"])))
    variables.update(lay_home(base, root / HOME, hidden))
    if device == "gpu":
        variables.update(sharing_variables(base, backend))
    variables.update(fixed_variables(backend, device, threads, deterministic=deterministic))
    variables[MARK] = mark
    # What an owner or a backend sets to nothing must not be set at all; what the user has
    # set to nothing (no CUDA device, say) is a setting.
    return {name: value for name, value in variables.items() if value or base.get(name) == ""}
