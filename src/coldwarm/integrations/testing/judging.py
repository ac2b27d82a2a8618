"""Whether a first result comes later than it may: by intervals, never by two figures alone. Pure.

The verdict is that of ``coldwarm compare``; here it is held against the limit that a test gives.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from coldwarm.contracts.measured import Benchmarks, Measured
from coldwarm.contracts.policy import Policy
from coldwarm.errors import UsageError
from coldwarm.stats.compare import benchmarks, results
from coldwarm.stats.intervals import FEWEST_FOR_CONFIDENCE
from coldwarm.stats.ratio import CONFIDENCE

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from coldwarm.contracts.comparison import ComparedMetric, RunComparison
    from coldwarm.contracts.noise import NoiseReport
    from coldwarm.contracts.summary import Summary
    from coldwarm.integrations.testing.asked import Wanted

_SOURCE = "workload"
"""What differs where the function was changed, which is what a test is to see."""
_SHOWN = 5
_T = TypeVar("_T")


class Rules(NamedTuple):
    """How a first result is held against a stored one."""

    below: float
    """The ratio that may not be exceeded."""
    allow: Collection[str] = ()
    """What may differ between the two, besides the source of the function."""
    reports: Sequence[NoiseReport] = ()
    """Of the noise of this machine."""


@dataclass(frozen=True)
class Against:
    """A first result held against a stored one."""

    comparison: RunComparison
    metric: ComparedMetric
    below: float
    """The ratio that may not be exceeded."""

    @property
    def most(self) -> float:
        """The same, where the known noise between two runs makes it more."""
        noise = self.comparison.noise
        share = noise.shares.get("cold", 0.0) if noise else 0.0
        return max(self.below, min(self.below, 1.0) * (1.0 + share))

    @property
    def too_late(self) -> bool:
        """Whether the whole interval of the ratio lies above."""
        low = self.metric.low
        return low is not None and self.metric.confidence >= CONFIDENCE and low > self.most


def is_above(seconds: Summary, below_s: float) -> bool:
    """Say whether the whole interval of a median lies above so many seconds."""
    enough = seconds.n_processes >= FEWEST_FOR_CONFIDENCE
    return enough and seconds.low is not None and seconds.low > below_s


def _labels(baseline: Measured) -> dict[str, str]:
    """Return by target what a stored run calls it."""
    own = {name: case.protocol.own for name, case in baseline.cases.items()}
    return {one.target: name for name, one in own.items() if one is not None and one.target}


def by_target(made: Benchmarks, measured: Measured) -> Benchmarks:
    """Return the benchmarks of a run, each called by the target that was measured."""
    named = {label: target for target, label in _labels(measured).items()}
    return replace(
        made,
        benchmarks=_renamed(made.benchmarks, named),
        failed=_renamed(made.failed, named),
        left_out=_renamed(made.left_out, named),
        short_names={},
    )


def _renamed(of: Mapping[str, _T], named: Mapping[str, str]) -> dict[str, _T]:
    split = ((name.partition("/"), one) for name, one in of.items())
    return {f"{named.get(head, head)}{slash}{rest}": one for (head, slash, rest), one in split}


def label_in(baseline: Measured | Benchmarks, asked: Wanted) -> str | None:
    """Return what a stored run calls a target; ``None``: in this file it is called by itself.

    Raises:
        UsageError: it has no such target, but others, which are named.
    """
    of_run = _labels(baseline) if isinstance(baseline, Measured) else None
    there = list(baseline.benchmarks if isinstance(baseline, Benchmarks) else of_run or ())
    wanted = asked.name if of_run is None else asked.target
    if wanted not in there:
        more = f" and {len(there) - _SHOWN} more" if len(there) > _SHOWN else ""
        shown = ", ".join(there[:_SHOWN]) or "nothing"
        text = f"{baseline.path} has no result of {wanted}; it has {shown}{more}"
        raise UsageError(
            f"{text}. Make one with --coldwarm-save, or with coldwarm bench {asked.target}"
        )
    return None if of_run is None else of_run[asked.target]


def against(
    ours: Measured, baseline: Measured | Benchmarks, asked: Wanted, rules: Rules, made: Benchmarks
) -> Against:
    """Hold what was measured against a stored result, as ``coldwarm compare`` does.

    ``made`` is what was measured once more, as benchmarks.

    Raises:
        IncomparableError: a field differs that must agree.
        UsageError: ``allow`` names no field.
        NothingComparableError: there is no valid figure on one of the sides.
    """
    if isinstance(baseline, Measured):
        label = _labels(baseline)[asked.target]
        stored = replace(baseline, cases={label: baseline.cases[label]})
        allow = {_SOURCE, *rules.allow}
        compared = results.compare_results([stored], [ours], Policy(), allow, rules.reports)
        metric = next(one for one in compared.metrics if one.metric == f"{asked.mode}.ttfr_s")
        return Against(compared, metric, rules.below)
    (label,) = ours.cases
    pair = f"{asked.name}={label}/{asked.mode}/first_result"
    compared = benchmarks.compare_benchmarks([baseline], [made], Policy(), rules.allow, [pair])
    return Against(compared, compared.metrics[0], rules.below)
