"""The environment of a measured process: the user's own, with every cache moved."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from coldwarm.caches import bytecode, files, inductor, made, modes
from coldwarm.contracts.reasons import RefusedError, because
from coldwarm.runner.process import home, temporary
from coldwarm.runner.process.guarded import MARK

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from coldwarm.contracts.base import CacheMode, CacheSettings
    from coldwarm.specs import BackendSpec

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
    variables.update(home.lay(base, root / files.OWNER, hidden))
    if device == "gpu":
        variables.update(shared(base, backend))
    variables.update(settings(backend, device, threads, deterministic=deterministic))
    variables[MARK] = mark
    # What an owner or a backend sets to nothing must not be set at all; what the user has
    # set to nothing (no CUDA device, say) is a setting.
    return {name: value for name, value in variables.items() if value or base.get(name) == ""}
