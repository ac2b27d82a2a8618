"""Backends and workloads, found by entry point and by scanning a folder.

Nothing here runs a candidate. A declaration, which is a class or a module, is read once into a
plain specification; the measured process is sent which file to load. A plug-in that fails to
import, or a name taken twice, is an error.
"""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from functools import cache
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import coldwarm.workloads
from coldwarm.contracts.base import LONGEST, is_name
from coldwarm.errors import PluginError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from coldwarm.backends.base import Backend


@dataclass(frozen=True)
class Source:
    """A module on disk, as it is sent to the measured process."""

    module: str
    path: Path

    shared: tuple[Path, ...] = ()
    """Further files that it consists of: what several workloads have in common."""

    def named(self) -> dict[str, str]:
        """Return what the measured process needs to load it."""
        return {"module": self.module, "path": str(self.path)}

    def read(self) -> bytes:
        """Return the source text, for its hash."""
        return b"".join(path.read_bytes() for path in (self.path, *self.shared))


@dataclass(frozen=True)
class BackendSpec:
    """A backend's declaration: how a framework executes, on what, with which caches."""

    name: str
    title: str
    """The first line of its documentation."""
    framework: str
    source: Source
    class_name: str
    """Name that the measured process takes from the source."""
    modules: tuple[str, ...]
    distributions: tuple[str, ...]
    devices: tuple[str, ...]
    dtypes: tuple[str, ...]
    device_suffix: bool
    caches: tuple[str, ...]
    compiles: bool
    sync_policy: str
    variant: bool
    scenarios: bool
    prepares: bool
    replaces: bool
    keeps_on_request: bool
    builders: tuple[str, ...]
    """The names under which a workload may have its candidate; the first that is there decides."""
    environment: Callable[[str, int | None], Mapping[str, str]]
    """Variables that a process needs, by device and count of threads."""
    programs: Callable[[str], tuple[str, ...]]
    """Programs that must be on PATH, by device."""
    sharing: Callable[[], Mapping[str, str]] = dict
    """Variables that let several processes share a GPU, unless the user has set one of them."""

    def named(self) -> dict[str, str]:
        """Return what the measured process needs to load its class."""
        return {**self.source.named(), "object": self.class_name}

    def candidate(self, device: str) -> str:
        """Return the candidate's name on a device, such as ``jax_jit_cpu``."""
        return f"{self.name}_{device}" if self.device_suffix else self.name


@dataclass(frozen=True)
class WorkloadSpec:
    """A workload's declaration: a job at several sizes and dtypes, and who has a candidate."""

    name: str
    title: str
    """The first line of its documentation."""
    source: Source
    sizes: tuple[int, ...]
    dtypes: tuple[str, ...]
    """By their short names."""
    tolerances: Mapping[str, float] = field(hash=False)
    """Tolerances of the error of each number over its magnitude, by dtype."""
    layout: str
    baselines: Mapping[str, str] = field(hash=False)
    """The candidate that the others are compared with, by dtype."""
    scenario: bool = False
    """Whether a call of it is a whole loop of many steps."""
    builders: Mapping[str, bool] = field(default_factory=dict, hash=False)
    """The builders that it names, and whether there is one: ``for_numba = None`` says that there
    is none, although the framework has one."""

    def has(self, backend: BackendSpec) -> bool:
        """Say whether it has a candidate for a backend, which may not run whole scenarios."""
        if self.scenario and not backend.scenarios:
            return False
        named = (self.builders[name] for name in backend.builders if name in self.builders)
        return next(named, False)


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
    "torch_megacache",
    "torch_aot",
    "numba",
)


_READ_OTHERWISE = {"source", "class_name", "title", "builders"}
"""Fields of a backend's specification that its class does not declare under these names."""


def backend_spec(kind: type[Backend], source: Source) -> BackendSpec:
    """Return what a backend's class declares.

    Raises:
        PluginError: a declaration is missing.
    """
    names = {field.name for field in fields(BackendSpec)} - _READ_OTHERWISE
    absent = sorted(name for name in names if not hasattr(kind, name))
    if absent:
        text = f"backend {kind.__module__}:{kind.__qualname__} declares no {', '.join(absent)}"
        raise PluginError(f"{text}; see 'Adding a workload or a backend'")
    declared: dict[str, Any] = {name: getattr(kind, name) for name in names}
    for name, value in declared.items():
        if isinstance(value, list):
            declared[name] = tuple(value)
    declared["title"] = _first_line(kind.__doc__, kind.name)
    declared["builders"] = kind.builders()
    return BackendSpec(source=source, class_name=kind.__name__, **declared)


def workload_spec(module: ModuleType, source: Source) -> WorkloadSpec:
    """Return what a workload's module declares.

    Raises:
        PluginError: a declaration is missing.
    """
    declared = vars(module)
    try:
        name, dtypes, baseline = declared["NAME"], tuple(declared["DTYPES"]), declared["BASELINE"]
        return WorkloadSpec(
            name=name,
            title=_first_line(module.__doc__, name),
            source=source,
            sizes=tuple(declared["SIZES"]),
            dtypes=dtypes,
            tolerances=dict(declared["TOLERANCE"]),
            layout=declared["LAYOUT"],
            baselines=(
                dict.fromkeys(dtypes, baseline) if isinstance(baseline, str) else dict(baseline)
            ),
            scenario=bool(declared.get("SCENARIO", False)),
            builders={key: declared[key] is not None for key in declared if key[:4] == "for_"},
        )
    except KeyError as error:
        text = f"workload {module.__name__} has no {error.args[0]}"
        raise PluginError(f"{text}; see 'Adding a workload or a backend'") from error


def _first_line(documentation: str | None, otherwise: str) -> str:
    return (documentation or otherwise).strip().splitlines()[0]


@cache
def backends() -> dict[str, BackendSpec]:
    """Return every backend by name, the project's own first.

    Raises:
        PluginError: an entry point fails to load, or a name is taken twice.
    """
    found: dict[str, BackendSpec] = {}
    for point in metadata.entry_points(group=BACKENDS):
        kind = _load(point)
        name = getattr(kind, "name", None)
        if name != point.name:
            text = f"backend {point.value} calls itself {name!r}, its entry point {point.name!r}"
            raise PluginError(text)
        _refuse_name(point.name, "backend", point.value)
        source = _source(point.module, kind)
        _refuse_twice(found, point.name, source, "backend")
        found[point.name] = backend_spec(kind, source)
    order = {name: index for index, name in enumerate(_ORDER)}
    return dict(sorted(found.items(), key=lambda item: (order.get(item[0], 99), item[0])))


@cache
def workloads() -> dict[str, WorkloadSpec]:
    """Return every workload by name: this project's folder, then the entry points.

    Raises:
        PluginError: a file fails to import, or a name is taken twice.
    """
    found: dict[str, WorkloadSpec] = {}
    infos = pkgutil.walk_packages(coldwarm.workloads.__path__, "coldwarm.workloads.")
    # By their own names, whatever folder a file lies in: that is the order of the cases.
    for name in sorted((info.name for info in infos), key=lambda name: name.rpartition(".")[2]):
        module = importlib.import_module(name)
        if hasattr(module, "NAME"):
            _add_workload(found, module)
    for point in metadata.entry_points(group=WORKLOADS):
        _add_workload(found, _load(point))
    return found


def _add_workload(found: dict[str, WorkloadSpec], module: ModuleType) -> None:
    name = getattr(module, "NAME", None)
    if not isinstance(name, str):
        text = f"workload {module.__name__} has no NAME; add one, such as NAME = 'matmul'"
        raise PluginError(text)
    _refuse_name(name, "workload", module.__name__)
    source = _source(module.__name__, module)
    _refuse_twice(found, name, source, "workload")
    found[name] = workload_spec(module, source)


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


def _refuse_name(name: str, kind: str, where: str) -> None:
    if not is_name(name):
        text = (
            f"{kind} {name!r} ({where}): a name has at most {LONGEST} characters, and all can be"
            " seen; give it another"
        )
        raise PluginError(text)


def _refuse_twice(found: dict[str, Any], name: str, source: Source, kind: str) -> None:
    if name in found:
        text = f"two {kind}s are called {name!r}: {found[name].source.path} and {source.path}"
        raise PluginError(text)


_FEW = 12
"""So many names at most are told as a list."""
_SHORTEST = 3
"""Characters of a part of a name that may be meant for it."""
_LISTED = {
    "backend": "coldwarm backends",
    "case": "coldwarm cases",
    "claim": "coldwarm claims list",
    "command": "coldwarm --help",
    "pattern": "coldwarm patterns list",
}
"""By kind, the command that lists the names."""


def near(name: str, known: Iterable[str]) -> list[str]:
    """Return the names that one may be meant for: those that it is part of, then those like it."""
    names = list(known)
    alike = get_close_matches(name, names, n=3)
    whole = [one for one in names if len(name) >= _SHORTEST and name in one]
    return list(dict.fromkeys((*sorted(whole, key=len), *alike)))[:3]


def unknown(kind: str, name: str, known: Iterable[str]) -> UsageError:
    """Return the error for a name nobody has, with the nearest names."""
    names = list(known)
    found = near(name, names)
    if found:
        hint = f"did you mean {' or '.join(found)}?"
    elif len(names) > _FEW and kind in _LISTED:
        hint = f"`{_LISTED[kind]}` lists them"
    else:
        more = f" and {len(names) - _FEW} more" if len(names) > _FEW else ""
        hint = f"known: {', '.join(names[:_FEW])}{more}"
    return UsageError(f"no {kind} is called {name!r:.200}; {hint}")
