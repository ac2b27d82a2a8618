"""What backends and workloads declare, as plain data: read once, by ``coldwarm.registry``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path


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
    """What a backend declares: how a framework executes, on what, with which caches."""

    name: str
    title: str
    """The first line of its documentation."""
    framework: str
    source: Source
    class_name: str
    """What the measured process takes from the source."""
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
    """What a workload declares: a job at several sizes and dtypes, and who has a candidate."""

    name: str
    title: str
    """The first line of its documentation."""
    source: Source
    sizes: tuple[int, ...]
    dtypes: tuple[str, ...]
    """By their short names."""
    tolerances: Mapping[str, float] = field(hash=False)
    """Of the error of each number over its magnitude, by dtype."""
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
