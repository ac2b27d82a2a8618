"""The place of a measurement: the machine, the interpreter and everything installed.

The record holds what a reader needs to judge a figure or to set the same thing up
again. What changes from minute to minute (load, steal) is either left out or left out of
the fingerprint. It holds no secrets: variables are an allow-list, texts are masked, and paths
below a home directory begin with ``~``.
"""

from __future__ import annotations

import hashlib
from typing import Any, Literal

import msgspec

from coldwarm.contracts.base import Count, Difference, Record, Seconds
from coldwarm.contracts.reasons import Reason

ENVIRONMENT = "environment.json"
"""Its file, beside what was measured there."""


class CpuCache(Record, frozen=True, kw_only=True):
    """One level of processor cache, as the first processor sees it."""

    level: Count
    kind: str
    """``data``, ``instruction`` or ``unified``."""
    size_bytes: Count


class Frequency(Record, frozen=True, kw_only=True):
    """The frequency policy; the momentary frequency is not an environment."""

    governor: str | None = None
    driver: str | None = None
    min_hz: Count | None = None
    max_hz: Count | None = None
    boost: bool | None = None
    """Whether the processor may run above its nominal frequency."""
    null_reasons: dict[str, Reason] = {}


class Cpu(Record, frozen=True, kw_only=True):
    """The processor."""

    model: str | None = None
    architecture: str
    physical_cores: Count | None = None
    logical_cores: Count | None = None
    usable_cores: Count | None = None
    """Logical processors that this process may run on (its affinity)."""
    caches: list[CpuCache] | None = None
    frequency: Frequency
    null_reasons: dict[str, Reason] = {}


class Limits(Record, frozen=True, kw_only=True):
    """Limits of the control group, which may be less than the machine has.

    ``cpu_quota`` is in processors (1.5: one and a half); ``None`` with the reason
    ``unlimited`` where there is no bound.
    """

    cgroup_version: int | None = None
    cpu_quota: float | None = None
    memory_bytes: Count | None = None
    null_reasons: dict[str, Reason] = {}


class System(Record, frozen=True, kw_only=True):
    """The operating system and what it runs on."""

    os: str
    kernel: str
    libc: str | None = None
    ram_bytes: Count | None = None
    swap_bytes: Count | None = None
    virtualization: str | None = None
    """The hypervisor or cloud product; ``none`` where none shows itself."""
    container: str | None = None
    """``docker``, ``podman``, …; ``none`` where none shows itself."""
    steal_share: float | None = None
    """Share of processor time since boot that a hypervisor gave to others."""
    clock_source: str | None = None
    clock_resolution_s: Seconds
    """Resolution of the monotonic clock, as the interpreter states it."""
    null_reasons: dict[str, Reason] = {}


class Python(Record, frozen=True, kw_only=True):
    """The interpreter that runs the harness."""

    version: str
    implementation: str
    build: str
    compiler: str
    executable_kind: str
    """``virtual environment``, ``conda``, ``system`` or ``standalone``."""
    optimized: bool | None = None
    """Built with profile-guided optimisation."""
    link_time_optimized: bool | None = None
    debug: bool
    free_threaded: bool
    null_reasons: dict[str, Reason] = {}


class ThreadPool(Record, frozen=True, kw_only=True):
    """One BLAS or OpenMP thread pool that is loaded together with NumPy."""

    user_api: str
    internal_api: str
    library: str
    """File name of the library, without its folder."""
    version: str | None = None
    threads: Count
    threading_layer: str | None = None
    architecture: str | None = None
    null_reasons: dict[str, Reason] = {}


class Compiler(Record, frozen=True, kw_only=True):
    """The C++ compiler that ``torch.compile`` would run on this machine."""

    command: str
    version: str | None = None
    null_reasons: dict[str, Reason] = {}


class Gpu(Record, frozen=True, kw_only=True):
    """One GPU, as its driver describes it."""

    model: str
    driver: str
    cuda: str | None = None
    """Highest CUDA version that the driver supports."""
    memory_bytes: Count | None = None
    compute_capability: str | None = None
    persistence: bool | None = None
    mig: bool | None = None
    null_reasons: dict[str, Reason] = {}


class Ptxas(Record, frozen=True, kw_only=True):
    """One ``ptxas`` that a framework could run, in the order in which they are found."""

    kind: Literal["path", "toolkit", "wheel", "triton"]
    version: str | None = None
    null_reasons: dict[str, Reason] = {}


class Harness(Record, frozen=True, kw_only=True):
    """This coldwarm, and the state of its own checkout where it runs from one."""

    version: str
    git_commit: str | None = None
    git_dirty: bool | None = None
    null_reasons: dict[str, Reason] = {}


class Environment(Record, frozen=True, kw_only=True):
    """Everything about the place of a measurement that could change its figures."""

    schema_version: Literal["coldwarm.environment.v2"] = "coldwarm.environment.v2"
    collected_at: str
    """UTC, ISO 8601."""
    cpu: Cpu
    limits: Limits
    system: System
    python: Python
    thread_pools: list[ThreadPool] | None = None
    distributions: dict[str, str]
    """Every installed distribution with its version, or those that figures depend on."""
    n_distributions_left_out: Count = 0
    """Others that are installed, left out by ``--leave-out-private``."""
    variables: dict[str, str]
    """The environment variables that matter to a measurement, of an allow-list; masked."""
    withheld_variables: list[str] = []
    """Names of those among them whose value could be private: it is not told."""
    compiler: Compiler | None = None
    gpus: list[Gpu] | None = None
    """Empty where a driver answers that there is none; ``None`` where no driver is."""
    ptxas: list[Ptxas] | None = None
    harness: Harness
    null_reasons: dict[str, Reason] = {}

    @property
    def platform(self) -> str:
        """Operating system, kernel, architecture and C library in one line."""
        parts = (self.system.os, self.system.kernel, self.cpu.architecture, self.system.libc)
        return ", ".join(part for part in parts if part)


class Identifying(Record, frozen=True, kw_only=True):
    """Something in an artifact that could identify a person or a firm."""

    field: str
    """The file, and the field in it."""
    holds: str
    """Its value here, or what it will be."""
    left_out: Literal["null", "shortened", "counted", "name alone", "kept"]
    """Treatment by ``--leave-out-private``."""


class PrivateReport(Record, frozen=True, kw_only=True):
    """Identifying parts of artifacts: what is left that could identify a person or a firm."""

    schema_version: Literal["coldwarm.private_report.v1"] = "coldwarm.private_report.v1"
    items: list[Identifying]


_GIB = 2**30


def _essentials(environment: Environment) -> dict[str, Any]:
    """Return what must agree before figures of two runs may be put together.

    Left out: times, steal, the reasons of missing values, and the harness's checkout
    (its source has a hash of its own in every protocol). Memory counts in whole GiB,
    since a kernel update moves it by a few MiB.
    """
    plain = msgspec.to_builtins(environment)
    kept: dict[str, Any] = {
        name: _without_reasons(plain[name])
        for name in ("cpu", "limits", "system", "python", "distributions", "variables")
    }
    kept["variables"] |= dict.fromkeys(environment.withheld_variables, "withheld")
    kept["system"].pop("steal_share")
    kept["system"].pop("swap_bytes")
    ram = environment.system.ram_bytes
    kept["system"]["ram_bytes"] = None if ram is None else round(ram / _GIB) * _GIB
    for name in ("thread_pools", "compiler", "gpus", "ptxas"):
        kept[name] = _without_reasons(plain[name])
    return kept


def fingerprint(environment: Environment) -> str:
    """Return the SHA-256 (64 hex digits) of the essentials of an environment."""
    text = msgspec.json.encode(_essentials(environment), order="sorted")
    return hashlib.sha256(text).hexdigest()


def differences(before: Environment, after: Environment) -> list[Difference]:
    """Return what differs in the essentials, values as JSON; empty for none.

    Of distributions that one side left out, nothing is known.
    """
    old, new = _flat("", _essentials(before)), _flat("", _essentials(after))
    if before.n_distributions_left_out or after.n_distributions_left_out:
        for name in old.keys() ^ new.keys():
            if name.startswith("distributions."):
                old.pop(name, None)
                new.pop(name, None)
    return [
        Difference(name=name, a=old.get(name, "absent"), b=new.get(name, "absent"))
        for name in sorted(old.keys() | new.keys())
        if old.get(name, "absent") != new.get(name, "absent")
    ]


def _without_reasons(value: Any) -> Any:
    """Drop ``null_reasons`` at every depth: the wording of a reason is no difference."""
    if isinstance(value, dict):
        return {k: _without_reasons(v) for k, v in value.items() if k != "null_reasons"}
    if isinstance(value, list):
        return [_without_reasons(item) for item in value]
    return value


def _flat(prefix: str, value: Any) -> dict[str, str]:
    """Return the leaves of nested containers under their dotted names, as JSON text."""
    if isinstance(value, dict) and value:
        items = [(f"{prefix}.{key}" if prefix else str(key), v) for key, v in value.items()]
    elif isinstance(value, list) and value:
        items = [(f"{prefix}[{place}]", v) for place, v in enumerate(value)]
    else:
        return {prefix: msgspec.json.encode(value).decode()}
    return {name: text for key, item in items for name, text in _flat(key, item).items()}
