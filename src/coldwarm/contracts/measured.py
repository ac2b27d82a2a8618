"""A result as it was read: a run's directory, the file of one case, or of another tool."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coldwarm.contracts.answer import Answers
    from coldwarm.contracts.base import Sha256
    from coldwarm.contracts.comparison import MetricKind
    from coldwarm.contracts.environment import Environment
    from coldwarm.contracts.reasons import Reason
    from coldwarm.contracts.result import CaseResult, SteadyState, SuiteResult
    from coldwarm.errors import ContractError


@dataclass(frozen=True)
class Measured:
    """The cases of a result by their names, and where they were measured."""

    path: str
    suite: SuiteResult | None
    """``None`` for the file of a single case."""
    cases: dict[str, CaseResult]
    files: dict[str, str]
    """The file of each case."""
    environment_sha256: str
    environment: Environment | None
    """``None`` where the file of a case has no ``environment.json`` of its run beside it."""
    answers: Answers | None = None
    """As they stand beside the index; ``None``: there are none."""
    otherwise: tuple[ContractError, ...] = ()
    """What its files say otherwise than the rules of today, as another version measured it: where,
    and what. The ``cases`` have what was computed anew."""


@dataclass(frozen=True)
class Benchmark:
    """The samples of one benchmark, in seconds or, where its kind is ``memory``, in bytes."""

    kind: MetricKind
    """``cold``: each sample is a whole start; ``warm``: a call in a process that is there."""
    processes: tuple[tuple[float, ...], ...]
    """Above 0, by process in the order in which they ran."""
    states: tuple[SteadyState, ...] = ()
    """Of warm calls of coldwarm's own: whether they were steady."""
    to_its_end: bool = False
    """Whether a start is timed to the end of its process, and not to a result."""


@dataclass(frozen=True)
class Benchmarks:
    """One file, or a run of coldwarm seen as one: its benchmarks by their names."""

    path: str
    tool: str | None
    """Whose file it is; ``None``: coldwarm itself."""
    benchmarks: Mapping[str, Benchmark]
    short_names: Mapping[str, str] = field(default_factory=dict)
    """Of a run of coldwarm: for each case, the name of its warm calls."""
    left_out: Mapping[str, Reason] = field(default_factory=dict)
    """Benchmarks without samples that can be compared, and why."""
    failed: Mapping[str, Reason] = field(default_factory=dict)
    """Benchmarks whose runs failed, or gave a wrong answer."""
    is_export: bool = False
    """Whether coldwarm measured what a file of another tool holds."""
    complete: bool = True
    """Of a run of coldwarm: whether it went to its end."""
    cpu: str | None = None
    """Model of the processor; ``None``: the file does not say."""
    run_id: str | None = None
    started_at: str | None = None
    environment_sha256: Sha256 | None = None
