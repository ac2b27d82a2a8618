"""Cases that can be measured, the choice by options, and the plan of blocks of warm calls."""

from __future__ import annotations

import math
import os
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, final, get_args

import msgspec

from coldwarm import registry
from coldwarm.contracts.base import CACHE_MODES, DTYPE_NAMES, MOST_S, CacheMode, Dtype, group_name
from coldwarm.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from coldwarm.contracts.reasons import Reason
    from coldwarm.contracts.result import OwnCandidate
    from coldwarm.registry import BackendSpec, WorkloadSpec


SHORT_CALL_S = 100e-6
"""Calls below this are batched: reading the clock would be seen in them."""
BATCH_WINDOW_S = 500e-6
BLOCK_LIMIT = 1000
_BLOCK_S, _BLOCKS_OF_RUN, BLOCKS = 0.02, 8, 24
"""Short blocks that alternate, so that a neighbour's burst falls on all candidates. So many in the
first process of a case, and in others at most; more in a bench, for its finer verdicts."""
_LONGEST_BLOCK_S = 2.0
_ALIKE = 2.0
"""How many times as long calls may be that have blocks of the same length."""


def batch_for(call_s: float) -> int:
    """Return how many calls one sample holds, so that the clock's own cost is lost in it."""
    if call_s >= SHORT_CALL_S:
        return 1
    return 1 << math.ceil(math.log2(BATCH_WINDOW_S / max(call_s, 1e-9)))


def block_seconds(call_s: float, wanted_s: float) -> float:
    """Return how long a block lasts: as wanted, or three calls where those are longer."""
    return min(max(wanted_s, 3 * call_s), _LONGEST_BLOCK_S)


def planned_calls(call_s: Mapping[str, float]) -> dict[str, float]:
    """Return for each case how many seconds a call is planned with: the longest of what is alike.

    A burst may strike the calls that the plan is made of. Sides of which one had longer blocks for
    that, or other batches, differ by it, as the first call after another process is slower.
    """
    return {
        name: max(other for other in call_s.values() if other <= _ALIKE * seconds)
        for name, seconds in call_s.items()
    }


COLD: tuple[CacheMode, ...] = ("cold_process_cold_cache", "cold_process_warm_cache")
_MOST_RUNS = 10_000
_Seconds = Annotated[float, msgspec.Meta(gt=0.0, lt=MOST_S)]
_Runs = Annotated[int, msgspec.Meta(ge=1, le=_MOST_RUNS)]
DEFAULT_MODES: tuple[CacheMode, ...] = (*COLD, "warm_process")


@dataclass(frozen=True)
class Options:
    """Request of a run."""

    suite: str = "quick"
    cases: tuple[str, ...] = ()
    backends: tuple[str, ...] = ()
    cache_modes: tuple[CacheMode, ...] = DEFAULT_MODES
    deterministic: bool = False
    seed: int = 0
    threads: int | None = None
    precision: float = 0.05
    min_runs: _Runs = 3
    max_runs: _Runs = 5
    time_budget_s: _Seconds | None = None
    timeout_s: _Seconds = 300.0
    block_s: _Seconds = _BLOCK_S
    blocks: _Runs = _BLOCKS_OF_RUN
    calls_together: bool = True
    """Whether processes also call the functions of both sides in turns, where they can."""
    decide: float | None = None
    """Measure until every verdict against the baseline is settled: the relative difference
    that matters. ``None``: until every median is as precise as asked for."""
    limits: dict[str, float] = field(default_factory=dict)
    """By kind of figure, ``cold`` or ``warm``, the relative difference that a build is guarded
    at, where it is more than ``decide``: a verdict has to be surely below it or beyond."""
    leave_out_private: bool = False
    """Write nothing that could identify a person or a firm, as far as a figure does not need it."""
    own: dict[str, Any] | None = None
    """Further request of a bench of a user's own functions; ``None``: it is none, or that was left
    out."""
    option_origins: dict[str, str] = field(default_factory=dict)
    """For each option whose value came from a project's file, the name of the file."""

    def asked(self) -> dict[str, object]:
        """Return the options as plain values, for the journal and for ``--resume``."""
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in vars(self).items()
        }

    @property
    def affinity(self) -> list[int]:
        """The processors that measured processes may run on."""
        allowed = sorted(os.sched_getaffinity(0))
        return allowed[: self.threads] if self.threads else allowed

    @classmethod
    def recorded(cls, asked: Mapping[str, Any]) -> Options:
        """Return the options that ``asked`` wrote down.

        Raises:
            msgspec.ValidationError: they are no options, or another version's.
        """
        return msgspec.convert(asked, cls)


@dataclass(frozen=True)
class ReferenceAnswer:
    """An answer that is there before the run, against which a group is checked."""

    path: str | None
    """``None``: nothing is to be checked."""
    inputs_sha256: str


@final
@dataclass(frozen=True)
class Case:
    """A candidate of a workload at one size and dtype.

    It is the same thing for a workload of the project's own and for a user's function. The
    fields with defaults are what a user's function may have besides.
    """

    backend: BackendSpec
    device: str
    workload: WorkloadSpec
    size: int
    dtype: Dtype
    label: str | None = None
    """Its whole name, where its group is named like the workload; ``None``: made of its parts."""
    python: str = sys.executable
    """The interpreter that its processes run under."""
    variables: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Variables in the environment of its processes besides."""
    job: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """Values sent to its processes besides; see ``runner.functions.candidates``."""
    filled: Path | None = None
    """Caches that an earlier process has filled; ``None``: there are none yet."""
    program: str = ""
    """Mark of files of earlier runs that its program wrote."""
    since_ns: int | None = None
    """When the first process began that ran it, on the clock of files; ``None``: with the run."""
    hidden: frozenset[str] = frozenset()
    """Files that were there and that it makes by itself where they are missing."""
    wrote: frozenset[str] = frozenset()
    """Files that its inspection wrote and that can be missing for a process."""
    inspected_s: float | None = None
    """Seconds to the first result of the process that inspected it; ``None``: none did."""
    inspected_call_s: float | None = None
    """Time of making and calling it for the first time when it was inspected."""
    in_threads: bool = False
    """Whether other threads computed beside its main thread when it was inspected."""
    new_shapes: bool = False
    """Whether its fresh processes also call it with other shapes."""
    shares_inputs: bool = True
    """Whether its inputs must be those of the others of its group."""
    mutates: bool = False
    """Whether a call changes its arguments, so that no sample may hold several calls."""
    answer: ReferenceAnswer | None = None
    """``None``: the answer of the workload's own reference."""
    described: OwnCandidate | None = field(default=None, hash=False)
    """Description of a user's function in the protocol."""
    notes: tuple[Reason, ...] = field(default=(), hash=False)
    """Limits of the control for this candidate."""

    @property
    def candidate(self) -> str:
        """The candidate's name, such as ``jax_jit_cpu``."""
        return self.backend.candidate(self.device)

    @property
    def group(self) -> str:
        """Group within which it is compared: workload, size and dtype."""
        if self.label is not None:
            return self.workload.name
        return group_name(self.workload.name, self.size, self.dtype)

    @property
    def id(self) -> str:
        """The case's id, such as ``jax_jit_cpu_matmul_512_f32``."""
        return self.label or f"{self.candidate}_{self.group}"

    @property
    def numpy_dtype(self) -> str:
        """The dtype of the inputs on the host: NumPy has no bfloat16."""
        return "float32" if self.dtype == "bf16" else DTYPE_NAMES[self.dtype]

    @property
    def batches(self) -> bool:
        """Whether short calls may be repeated inside one sample."""
        return not self.workload.scenario and not self.mutates

    @property
    def is_baseline(self) -> bool:
        """Whether the others of its group are compared with it."""
        return self.candidate == self.workload.baselines[self.dtype]


@dataclass(frozen=True)
class _Suite:
    """A named choice of groups, and the effort that suits it."""

    name: str
    purpose: str
    groups: tuple[str, ...] | None
    """Ids of groups in the order they run; ``None``: every one there is."""
    time_budget_s: float | None = None
    min_runs: int = 3
    max_runs: int = 5


SUITES = {
    suite.name: suite
    for suite in (
        _Suite(
            "quick",
            "two short workloads, for a first look: at most 4 minutes on two cores",
            ("matmul_512_f32", "mlp_train_step_128_f32"),
            time_budget_s=180.0,
            min_runs=1,
            max_runs=60,
        ),
        _Suite(
            "ml",
            "five workloads in float32, all cache modes: about 8 minutes on two cores",
            (
                "matmul_512_f32",
                "matmul_1024_f32",
                "matmul_chain_512_f32",
                "elementwise_chain_1000000_f32",
                "mlp_train_step_128_f32",
            ),
        ),
        _Suite(
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
        ),
        _Suite(
            "full",
            "every workload at every size and dtype",
            None,
            max_runs=8,
        ),
    )
}


def every_case() -> list[Case]:
    """Return all cases that can be named, group by group.

    Raises:
        PluginError: a plug-in cannot be loaded.
    """
    return [
        Case(backend, device, workload, size, dtype)
        for workload in registry.workloads().values()
        for dtype in get_args(Dtype)
        for size in workload.sizes
        for backend in registry.backends().values()
        if workload.has(backend) and dtype in workload.dtypes and dtype in backend.dtypes
        for device in backend.devices
    ]


def choose(options: Options) -> list[Case]:
    """Return the cases that the options ask for, in the suite's order.

    A suite that names its groups leaves out backends that are variants of others, unless
    they are asked for by name.

    Cases named one by one may be of any suite; a backend may be given by its own name
    (every device) or by a candidate's name.

    Raises:
        UsageError: an unknown suite, case or backend, with the nearest names, or options
            that leave nothing to run.
    """
    every = every_case()
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
        chosen = [case for case in chosen if not case.backend.variant]
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


def _of_suite(every: Sequence[Case], suite: _Suite) -> list[Case]:
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
