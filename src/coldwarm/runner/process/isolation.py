"""The environment of a measured process: a home and caches of its own, and room for them."""

from __future__ import annotations

import errno
import os
import resource
import shutil
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from coldwarm.caches import bytecode, files, inductor, made, modes
from coldwarm.contracts.reasons import RefusedError, because
from coldwarm.errors import storage_error
from coldwarm.runner.process import temporary
from coldwarm.runner.process.guarded import MARK

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from coldwarm.contracts.base import CacheMode, CacheSettings
    from coldwarm.registry import BackendSpec


_PROBE_BYTES = 256 * 1024
_LITTLE_BYTES = 256 * 1024 * 1024
"""With less left than this, a process that complains of a full disk is believed."""
_FULL = (errno.ENOSPC, errno.EDQUOT)


def check(work: Path, said: str) -> None:
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


def lay(base: Mapping[str, str], folder: Path, hidden: Collection[str] = ()) -> dict[str, str]:
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


def reached(base: Mapping[str, str], name: str) -> bool:
    """Say whether a file lies in a folder of which each process has its own."""
    return written(base, Path(), name) is not None


def written(base: Mapping[str, str], folder: Path, name: str) -> Path | None:
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
        names.append(made.OWNER)
    if mode == "first_ever":
        names.append(bytecode.OWNER)
    return names


def settings(
    backend: BackendSpec, device: str, threads: int | None, *, deterministic: bool
) -> dict[str, str]:
    """Return what is set whatever the mode: published in the protocol."""
    fixed = _DETERMINISTIC if deterministic else {}
    return {**fixed, **backend.environment(device, threads)}


def shared(base: Mapping[str, str], backend: BackendSpec) -> dict[str, str]:
    """Return what lets several processes share a GPU, where the user has not said how."""
    found = dict(backend.sharing())
    return {} if any(base.get(name) for name in found) else found


def program(python: str, backend: BackendSpec) -> str:
    """Return the name by which an interpreter is started, plain where a compiler is told it."""
    return temporary.plain_program(python) if inductor.OWNER in backend.caches else python


def refuse_unnameable(folder: Path, backends: Iterable[BackendSpec]) -> None:
    """Refuse a folder for caches that the C++ compiler could not be told.

    Raises:
        RefusedError: its name has blanks or quotes, no link to it can be made, and one of the
            backends compiles C++.
    """
    told = any(inductor.OWNER in one.caches for one in backends)
    if told and not temporary.is_plain(temporary.plain(folder)):
        raise RefusedError(because("no_plain_folder", folder=str(folder)))


def build(  # noqa: PLR0913 - each is one independent fact of a process
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
        if name == bytecode.OWNER and mode != "first_ever":
            continue
        folder = root / name
        folder.mkdir(exist_ok=True)
        variables.update(modes.variables(owner, folder, cache_settings))
    variables["TMPDIR"] = str(temporary.link(Path(variables["TMPDIR"])))
    variables.update(lay(base, root / files.OWNER, hidden))
    if device == "gpu":
        variables.update(shared(base, backend))
    variables.update(settings(backend, device, threads, deterministic=deterministic))
    variables[MARK] = mark
    # What an owner or a backend sets to nothing must not be set at all; what the user has
    # set to nothing (no CUDA device, say) is a setting.
    return {name: value for name, value in variables.items() if value or base.get(name) == ""}
