"""Two stored results held against each other: refused, or judged as a whole."""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches
from itertools import combinations
from typing import TYPE_CHECKING, Literal

from coldwarm.contracts.comparison import ComparedSide, LeftOutCase, RunComparison
from coldwarm.contracts.reasons import because, brief
from coldwarm.errors import NothingComparableError, UsageError
from coldwarm.stats.compare.comparable import (
    FAILED,
    FIELDS,
    cautions,
    common_cases,
    disagreements,
    failure,
    labelled,
    software_differences,
)
from coldwarm.stats.compare.counts import judge as count_verdicts
from coldwarm.stats.compare.counts import n_failing
from coldwarm.stats.compare.known import known_noise
from coldwarm.stats.compare.metrics import judge, metrics, worded
from coldwarm.stats.compare.runs import are_unit
from coldwarm.stats.counts import joined

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from coldwarm.contracts.answer import CountVerdict
    from coldwarm.contracts.bench import NoiseReport
    from coldwarm.contracts.comparison import SideDifference
    from coldwarm.contracts.policy import Policy
    from coldwarm.contracts.reasons import Reason
    from coldwarm.contracts.result import Measured


class IncomparableError(UsageError):
    """Two results that cannot be compared as they are; ``report.compare`` has the words."""

    def __init__(
        self, differences: Sequence[SideDifference], failed: Sequence[LeftOutCase]
    ) -> None:
        """Refuse because of these differences and failed cases."""
        self.differences, self.failed = differences, failed
        self.fields = [*dict.fromkeys([FAILED for _ in failed] + [it.field for it in differences])]
        super().__init__(f"A and B cannot be compared as they are: {', '.join(self.fields)}")


class NothingValidError(NothingComparableError):
    """Two results without a figure to compare; ``report.compare.refusals`` has the words."""

    def __init__(self, a: str, b: str, reason: Reason, left_out: Sequence[LeftOutCase]) -> None:
        """Say so of the results at these two places."""
        self.a, self.b, self.reason, self.left_out = a, b, reason, left_out
        super().__init__(f"nothing valid to compare in {a} and {b}: {brief(reason)}")


class SameRunError(NothingComparableError):
    """A run was to be compared with itself."""


def compare_results(
    a: Sequence[Measured],
    b: Sequence[Measured],
    policy: Policy,
    allow: Collection[str] = (),
    reports: Sequence[NoiseReport] = (),
) -> RunComparison:
    """Judge B against A in every case and metric that all their runs have.

    Args:
        a: What is compared with, such as the runs before a change.
        b: What is judged.
        policy: Which differences matter, and which fail.
        allow: ``FIELDS`` that may differ; ``failed`` leaves failed cases out.
        reports: Of the noise of this machine, by which single runs are judged.

    Raises:
        SameRunError: a run is there twice.
        IncomparableError: a field differs that must agree, or a case failed.
        UsageError: ``allow`` or a pattern of the policy names nothing.
        NothingComparableError: no figure is left to compare.
    """
    refuse_unknown(allow)
    sides = {"A": a, "B": b}
    _refuse_same(sides)
    common = common_cases(a, b)
    failed = [item for name in common for item in _failures(name, a, b)]
    missing = [*_missing(a, b, "A"), *_missing(b, a, "B")]
    missing += [item for name in common for item in _unmeasured(name, a, b)]
    out = {item.case for item in (*failed, *missing)}
    live = [name for name in common if name not in out]
    differing = disagreements(sides, live)
    refused = [item for item in differing if item.field not in allow]
    refused_failures = failed if FAILED not in allow else []
    if refused or refused_failures:
        raise IncomparableError(refused, refused_failures)
    noise = None if are_unit(len(a), len(b)) else known_noise(reports, a[0].environment)
    noisy = replace(policy, noise=noise.shares) if noise else policy
    judged, unshown = worded(judge(a, b, live, noisy))
    if all(item.ratio is None for item in judged):
        reason = judged[0].reason if judged else because("no_valid_process")
        left_out = [] if judged else [*failed, *missing]
        raise NothingValidError(a[0].path, b[0].path, reason, left_out)
    policy.refuse_unmatched({(item.case, item.metric, item.kind) for item in judged})
    several = len(a) + len(b) > len(sides)
    counts = [verdict for name in live for verdict in _counts(name, a, b, policy)]
    return RunComparison(
        a=_side(a[0]),
        b=_side(b[0]),
        a_runs=[_side(run) for run in a if several],
        b_runs=[_side(run) for run in b if several],
        unit="process" if noise else "run",
        noise=noise,
        unshown=unshown,
        metrics=judged,
        counts=counts,
        allowed=differing,
        software=software_differences(a[0], b[0], live),
        left_out=[*failed, *missing],
        warnings=cautions(sides, live, noise),
        n_failing=sum(item.fails_beyond is not None for item in judged) + n_failing(counts),
    )


def _counts(
    name: str, a: Sequence[Measured], b: Sequence[Measured], policy: Policy
) -> list[CountVerdict]:
    """Judge what was compiled, as all runs of a side counted it."""
    before, now = (joined([run.cases[name].counts for run in side]) for side in (a, b))
    return count_verdicts(name, before, now, policy.counts)


def _refuse_same(sides: Mapping[str, Sequence[Measured]]) -> None:
    for (one, first), (other, second) in combinations(labelled(sides), 2):
        ids = [run.suite and run.suite.run_id for run in (first, second)]
        if (ids[0] is not None and ids[0] == ids[1]) or (
            first.files and first.files == second.files
        ):
            what = f"{one} and {other} are one run ({first.path})"
            raise SameRunError(f"{what}, which says nothing of a difference; give two runs")


def refuse_unknown(allow: Collection[str]) -> None:
    """Refuse fields that are none.

    Raises:
        UsageError: there is one.
    """
    for name in allow:
        if name not in FIELDS:
            near = get_close_matches(name, FIELDS, n=2, cutoff=0.5)
            hint = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(FIELDS)}"
            message = f"--allow: no field is called {name!r}; {hint}"
            raise UsageError(message)


def _failures(name: str, a: Sequence[Measured], b: Sequence[Measured]) -> Iterator[LeftOutCase]:
    found = [[failure(run.cases[name]) for run in side] for side in (a, b)]
    reasons = [next((why for why in side if why), None) for side in found]
    why = reasons[0] or reasons[1]
    if why:
        side: Literal["A", "B", "both"] = "both" if all(reasons) else "A" if reasons[0] else "B"
        yield LeftOutCase(case=name, side=side, reason=why, failed=True)


def _missing(
    side: Sequence[Measured], other: Sequence[Measured], label: Literal["A", "B"]
) -> Iterator[LeftOutCase]:
    """Yield the cases that a run of this side has measured, as missing in one of the other."""
    lacking: Literal["A", "B"] = "B" if label == "A" else "A"
    measured = {
        name: None for run in side for name, case in run.cases.items() if case.status != "warn"
    }
    for name in measured:
        if any(name not in run.cases for run in other):
            yield LeftOutCase(case=name, side=lacking, reason=because("only_in", side=label))


def _unmeasured(name: str, a: Sequence[Measured], b: Sequence[Measured]) -> Iterator[LeftOutCase]:
    # A case that lacks one of its modes has figures of the others.
    sides = [[run.cases[name] for run in side] for side in (a, b)]
    empty = [[it for it in side if it.status == "warn" and not metrics(it)] for side in sides]
    first = next((case for side in empty for case in side), None)
    if first is not None:
        side: Literal["A", "B", "both"] = "both" if all(empty) else "A" if empty[0] else "B"
        reason = first.reason or because("no_valid_process")
        yield LeftOutCase(case=name, side=side, reason=reason)


def _side(side: Measured) -> ComparedSide:
    return ComparedSide(
        path=side.path,
        run_id=side.suite.run_id if side.suite else None,
        started_at=side.suite.started_at if side.suite else None,
        environment_sha256=side.environment_sha256,
        n_cases=len(side.cases),
    )
