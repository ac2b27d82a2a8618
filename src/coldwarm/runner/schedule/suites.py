"""What will be measured: options, cases, and the suites by name. Pure."""

from __future__ import annotations

import sys
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import msgspec

from coldwarm import registry
from coldwarm.contracts.base import CACHE_MODES, DTYPE_NAMES, CacheMode, Dtype
from coldwarm.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from coldwarm.registry import BackendEntry, WorkloadEntry

PACKAGE = Path(__file__).resolve().parents[2]
DEFAULT_MODES: tuple[CacheMode, ...] = (
    "cold_process_cold_cache",
    "cold_process_warm_cache",
    "warm_process",
)


@dataclass(frozen=True)
class Case:
    """A candidate of a workload at one size and dtype."""

    backend: BackendEntry
    device: str
    workload: WorkloadEntry
    size: int
    dtype: Dtype

    @property
    def candidate(self) -> str:
        """The candidate's name, such as ``jax_jit_cpu``."""
        return self.backend.candidate(self.device)

    @property
    def group(self) -> str:
        """What it is compared within: workload, size and dtype."""
        return f"{self.workload.name}_{self.size}_{self.dtype}"

    @property
    def id(self) -> str:
        """The case's id, such as ``jax_jit_cpu_matmul_512_f32``."""
        return f"{self.candidate}_{self.group}"

    @property
    def numpy_dtype(self) -> str:
        """The dtype of the inputs on the host: NumPy has no bfloat16."""
        return "float32" if self.dtype == "bf16" else DTYPE_NAMES[self.dtype]

    @property
    def python(self) -> str:
        """The interpreter that its processes run under."""
        return sys.executable

    @property
    def variables(self) -> Mapping[str, str]:
        """What its processes have in their environment besides."""
        return {}

    @property
    def details(self) -> Mapping[str, Any]:
        """What its job holds besides; see ``runner.own``."""
        return {}

    @property
    def filled(self) -> Path | None:
        """Caches that an earlier process has filled; ``None``: there are none yet."""
        return None

    @property
    def looked_s(self) -> float | None:
        """The seconds that a process took in which it was looked at; ``None``: none was."""
        return None

    @property
    def new_shapes(self) -> bool:
        """Whether its fresh processes also call it with other shapes."""
        return False

    @property
    def shares_inputs(self) -> bool:
        """Whether its inputs must be those of the others of its group."""
        return True

    @property
    def batches(self) -> bool:
        """Whether short calls may be repeated inside one sample."""
        return not self.workload.scenario

    @property
    def is_baseline(self) -> bool:
        """Whether the others of its group are compared with it."""
        return self.candidate == self.workload.baseline(self.dtype)


@dataclass(frozen=True)
class Suite:
    """A named choice of groups, and the effort that suits it."""

    name: str
    purpose: str
    groups: tuple[str, ...] | None
    """Ids of groups in the order they run; ``None``: every one there is."""
    time_budget_s: float | None
    min_runs: int
    max_runs: int


SUITES = {
    suite.name: suite
    for suite in (
        Suite(
            "quick",
            "two short workloads, for a first look: at most 4 minutes on two cores",
            ("matmul_512_f32", "mlp_train_step_128_f32"),
            time_budget_s=200.0,
            min_runs=2,
            max_runs=5,
        ),
        Suite(
            "ml",
            "five workloads in float32, all cache modes: about 8 minutes on two cores",
            (
                "matmul_512_f32",
                "matmul_1024_f32",
                "matmul_chain_512_f32",
                "elementwise_chain_1000000_f32",
                "mlp_train_step_128_f32",
            ),
            time_budget_s=None,
            min_runs=3,
            max_runs=5,
        ),
        Suite(
            "scenarios",
            "whole loops with their compiles inside, at their small sizes",
            (
                "hyperparameter_sweep_256_f32",
                "small_fits_100_f64",
                "interactive_session_10000_f32",
                "short_ablations_256_f32",
                "variable_length_64_f32",
                "variable_length_padded_64_f32",
                "variable_length_bucketed_64_f32",
            ),
            time_budget_s=None,
            min_runs=3,
            max_runs=5,
        ),
        Suite(
            "full",
            "every workload at every size and dtype",
            None,
            time_budget_s=None,
            min_runs=3,
            max_runs=8,
        ),
    )
}


@dataclass(frozen=True)
class Options:
    """What a run was asked for."""

    suite: str = "quick"
    cases: tuple[str, ...] = ()
    backends: tuple[str, ...] = ()
    cache_modes: tuple[CacheMode, ...] = DEFAULT_MODES
    deterministic: bool = False
    seed: int = 0
    threads: int | None = None
    precision: float = 0.05
    min_runs: int = 3
    max_runs: int = 5
    time_budget_s: float | None = None
    timeout_s: float = 300.0
    block_s: float = 0.15
    blocks: int = 4
    decide: float | None = None
    """Measure until every verdict against the baseline is settled: the relative difference
    that matters. ``None``: until every median is as precise as asked for."""
    option_origins: dict[str, str] = field(default_factory=dict)
    """For each option whose value came from a project's file, the name of the file."""

    def asked(self) -> dict[str, object]:
        """Return the options as plain values, for the journal and for ``--resume``."""
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in vars(self).items()
        }

    @classmethod
    def recorded(cls, asked: Mapping[str, Any]) -> Options:
        """Return the options that ``asked`` wrote down.

        Raises:
            msgspec.ValidationError: they are no options, or another version's.
        """
        return msgspec.convert(asked, cls)


def every_case() -> list[Case]:
    """Return all cases that can be named, group by group.

    Raises:
        PluginError: a plug-in cannot be loaded.
    """
    return [
        Case(backend, device, workload, size, dtype)
        for workload in registry.workloads().values()
        for dtype in _dtypes(workload)
        for size in workload.sizes
        for backend in registry.backends().values()
        if workload.has(backend.kind) and dtype in backend.kind.dtypes
        for device in backend.kind.devices
    ]


def _dtypes(workload: WorkloadEntry) -> list[Dtype]:
    return [dtype for dtype in get_args(Dtype) if dtype in workload.dtypes]


def choose(options: Options, cases: Sequence[Case] | None = None) -> list[Case]:
    """Return the cases that the options ask for, in the suite's order.

    A suite that names its groups leaves out backends that are variants of others, unless
    they are asked for by name.

    Cases named one by one may be of any suite; a backend may be given by its own name
    (every device) or by a candidate's name.

    Raises:
        UsageError: an unknown suite, case or backend, with the nearest names, or options
            that leave nothing to run.
    """
    every = list(cases) if cases is not None else every_case()
    if options.suite not in SUITES:
        raise registry.unknown("suite", options.suite, SUITES)
    for mode in options.cache_modes:
        if mode not in CACHE_MODES:
            raise registry.unknown("cache mode", mode, CACHE_MODES)
    chosen = _named(every, options.cases) or _of_suite(every, SUITES[options.suite])
    if options.backends:
        names = {case.backend.name for case in every} | {case.candidate for case in every}
        for name in options.backends:
            if name not in names:
                raise registry.unknown("backend", name, sorted(names))
        wanted = set(options.backends)
        chosen = [case for case in chosen if {case.backend.name, case.candidate} & wanted]
    elif not options.cases and SUITES[options.suite].groups is not None:
        chosen = [case for case in chosen if not case.backend.kind.variant]
    if not chosen:
        text = "these options leave nothing to run; see 'coldwarm cases' for what there is"
        raise UsageError(text)
    return chosen


def _named(every: Sequence[Case], names: Iterable[str]) -> list[Case]:
    by_id = {case.id: case for case in every}
    by_group = groups(every)
    chosen: dict[str, Case] = {}
    for name in names:
        if name in by_id:
            chosen[name] = by_id[name]
        elif name in by_group:
            chosen.update((case.id, case) for case in by_group[name])
        else:
            raise registry.unknown("case", name, [*by_id, *by_group])
    return list(chosen.values())


def _of_suite(every: Sequence[Case], suite: Suite) -> list[Case]:
    by_group = groups(every)
    names = suite.groups if suite.groups is not None else tuple(by_group)
    return [case for name in names for case in by_group.get(name, [])]


def groups(cases: Iterable[Case]) -> dict[str, list[Case]]:
    """Return the cases by group: those that are measured interleaved and compared."""
    found: dict[str, list[Case]] = defaultdict(list)
    for case in cases:
        found[case.group].append(case)
    return dict(found)


def tiers(cases: Iterable[Case]) -> list[list[str]]:
    """Return the groups in tiers: the smallest of each workload, then what comes next in each.

    Where time is short, that order shows something of as many workloads as possible.
    """

    def rank(members: Sequence[Case]) -> tuple[int, int]:
        case = members[0]
        smaller = sum(size < case.size for size in case.workload.sizes)
        return smaller, case.workload.dtypes.index(case.dtype)

    found: dict[tuple[int, int], list[str]] = defaultdict(list)
    for name, members in groups(cases).items():
        found[rank(members)].append(name)
    return [found[place] for place in sorted(found)]


def source_paths() -> list[Path]:
    """Return the harness's own source files, whose hash is in every protocol."""
    folders = ("worker", "backends", "functions", "runner", "caches", "stats", "contracts")
    files = [path for folder in folders for path in (PACKAGE / folder).rglob("*.py")]
    return sorted([*files, PACKAGE / "wire.py"])
