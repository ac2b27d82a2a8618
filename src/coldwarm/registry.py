"""What exists: backends and workloads, found by entry point and by scanning a folder.

Nothing here runs a candidate; declarations are read, and the measured process is told
which file to load. A plug-in that fails to import, or a name taken twice, is an error.
"""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import coldwarm.workloads
from coldwarm.errors import PluginError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from coldwarm.backends.base import Backend

BACKENDS = "coldwarm.backends"
WORKLOADS = "coldwarm.workloads"
_ORDER = (
    "numpy",
    "jax_eager",
    "jax_jit",
    "jax_export",
    "jax_aot",
    "torch_eager",
    "torch_compile",
    "torch_compile_dynamic",
    "torch_compile_reduce_overhead",
    "numba",
)


@dataclass(frozen=True)
class Source:
    """A module on disk, as the measured process is told of it."""

    module: str
    path: Path

    shared: tuple[Path, ...] = ()
    """Further files that it consists of: what several workloads have in common."""

    def read(self) -> bytes:
        """Return the source text, for its hash."""
        return b"".join(path.read_bytes() for path in (self.path, *self.shared))


@dataclass(frozen=True)
class BackendEntry:
    """A backend's declaration and where it lies."""

    name: str
    kind: type[Backend]
    source: Source

    def candidate(self, device: str) -> str:
        """Return the candidate's name on a device, such as ``jax_jit_cpu``."""
        return f"{self.name}_{device}" if self.kind.device_suffix else self.name


@dataclass(frozen=True)
class WorkloadEntry:
    """A workload's declaration and where it lies."""

    name: str
    module: ModuleType
    source: Source

    @property
    def title(self) -> str:
        """The first line of its documentation."""
        return (self.module.__doc__ or self.name).strip().splitlines()[0]

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes it comes in."""
        return tuple(self.module.SIZES)

    @property
    def scenario(self) -> bool:
        """Whether a call of it is a whole loop of many steps."""
        return bool(getattr(self.module, "SCENARIO", False))

    @property
    def dtypes(self) -> tuple[str, ...]:
        """The dtypes it comes in, by their short names."""
        return tuple(self.module.DTYPES)

    def baseline(self, dtype: str) -> str:
        """Return the candidate that the others are compared with in a dtype."""
        declared = self.module.BASELINE
        return str(declared if isinstance(declared, str) else declared[dtype])

    def has(self, backend: type[Backend]) -> bool:
        """Say whether it has a candidate for a backend, which may not run whole scenarios.

        The first name that is there decides, and ``None`` there says that it has none.
        """
        if self.scenario and not backend.scenarios:
            return False
        there = (name for name in backend.builders() if hasattr(self.module, name))
        return getattr(self.module, next(there, ""), None) is not None


@cache
def backends() -> dict[str, BackendEntry]:
    """Return every backend by name, the project's own first.

    Raises:
        PluginError: an entry point fails to load, or a name is taken twice.
    """
    found: dict[str, BackendEntry] = {}
    for point in metadata.entry_points(group=BACKENDS):
        kind = _load(point)
        source = _source(point.module, kind)
        name = getattr(kind, "name", None)
        if name != point.name:
            text = f"backend {point.value} calls itself {name!r}, its entry point {point.name!r}"
            raise PluginError(text)
        _refuse_twice(found, point.name, source, "backend")
        found[point.name] = BackendEntry(point.name, kind, source)
    order = {name: index for index, name in enumerate(_ORDER)}
    return dict(sorted(found.items(), key=lambda item: (order.get(item[0], 99), item[0])))


@cache
def workloads() -> dict[str, WorkloadEntry]:
    """Return every workload by name: this project's folder, then the entry points.

    Raises:
        PluginError: a file fails to import, or a name is taken twice.
    """
    found: dict[str, WorkloadEntry] = {}
    for info in pkgutil.walk_packages(coldwarm.workloads.__path__, "coldwarm.workloads."):
        module = importlib.import_module(info.name)
        if hasattr(module, "NAME"):
            _add_workload(found, module)
    for point in metadata.entry_points(group=WORKLOADS):
        _add_workload(found, _load(point))
    return found


def _add_workload(found: dict[str, WorkloadEntry], module: ModuleType) -> None:
    name = getattr(module, "NAME", None)
    if not isinstance(name, str):
        text = f"workload {module.__name__} has no NAME; add one, such as NAME = 'matmul'"
        raise PluginError(text)
    source = _source(module.__name__, module)
    _refuse_twice(found, name, source, "workload")
    found[name] = WorkloadEntry(name, module, source)


def _load(point: metadata.EntryPoint) -> Any:  # noqa: ANN401 - whatever the entry point names
    try:
        return point.load()
    except Exception as error:
        package = point.dist.name if point.dist else point.module
        text = (
            f"plug-in {point.name!r} ({point.value}, from {package}) cannot be loaded:"
            f" {type(error).__name__}: {error}; mend it, or uninstall {package}"
        )
        raise PluginError(text) from error


def _source(module: str, thing: object) -> Source:
    loaded = importlib.import_module(module)
    if loaded.__file__ is None:
        text = f"{thing!r} has no source file, so no other process could load it"
        raise PluginError(text)
    shared = sorted(
        Path(part.__file__).resolve()
        for part in vars(loaded).values()
        if isinstance(part, ModuleType)
        and part.__name__.startswith(f"{coldwarm.workloads.__name__}.")
        and part.__name__.rpartition(".")[2].startswith("_")
        and part.__file__ is not None
    )
    return Source(module, Path(loaded.__file__).resolve(), tuple(shared))


def _refuse_twice(found: dict[str, Any], name: str, source: Source, kind: str) -> None:
    if name in found:
        text = f"two {kind}s are called {name!r}: {found[name].source.path} and {source.path}"
        raise PluginError(text)


def unknown(kind: str, name: str, known: Iterable[str]) -> UsageError:
    """Return the error for a name nobody has, with the nearest names."""
    names = list(known)
    near = get_close_matches(name, names, n=3, cutoff=0.4)
    hint = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(names)}"
    return UsageError(f"no {kind} is called {name!r}; {hint}")
