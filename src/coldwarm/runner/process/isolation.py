"""The environment of a measured process: the user's own, with every cache moved. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.caches import bytecode, made, modes
from coldwarm.runner.process.guarded import MARK

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

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
) -> dict[str, str]:
    """Return the variables of one process; creates the directories they name.

    Every cache that anyone here knows lies under ``root``, also those that this backend
    does not use, and so do temporary files.
    """
    variables = {name: value for name, value in base.items() if name != "PYTHONPYCACHEPREFIX"}
    # No measured process changes the bytecode that the next one finds.
    variables["PYTHONDONTWRITEBYTECODE"] = "1"
    temporary = root / "tmp"
    temporary.mkdir(parents=True, exist_ok=True)
    variables["TMPDIR"] = str(temporary)
    for name, owner in modes.owners().items():
        if name == bytecode.OWNER and mode != "first_ever":
            continue
        folder = root / name
        folder.mkdir(exist_ok=True)
        variables.update(modes.variables(owner, folder, cache_settings))
    variables.update(settings(backend, device, threads, deterministic=deterministic))
    variables[MARK] = mark
    # What an owner or a backend sets to nothing must not be set at all; what the user has
    # set to nothing (no CUDA device, say) is a setting.
    return {name: value for name, value in variables.items() if value or base.get(name) == ""}
