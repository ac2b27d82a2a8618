"""Two stored results held against each other: refused, or judged as a whole."""

from __future__ import annotations

from difflib import get_close_matches
from types import MappingProxyType
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
    software_differences,
)
from coldwarm.stats.compare.counts import judge as count_verdicts
from coldwarm.stats.compare.counts import n_failing
from coldwarm.stats.compare.metrics import judge, metrics

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from coldwarm.contracts.comparison import SideDifference
    from coldwarm.contracts.measured import Measured
    from coldwarm.contracts.policy import Policy
    from coldwarm.contracts.reasons import Reason
    from coldwarm.contracts.result import CaseResult
    from coldwarm.stats.compare.counts import CountLimit


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


def compare_results(
    a: Measured,
    b: Measured,
    policy: Policy,
    allow: Collection[str] = (),
    guarded: Mapping[str, CountLimit] = MappingProxyType({}),
) -> RunComparison:
    """Judge B against A in every case and metric that both have.

    Args:
        a: What is compared with, such as the result before a change.
        b: What is judged.
        policy: Which differences matter, and which fail.
        allow: ``FIELDS`` that may differ; ``failed`` leaves failed cases out.
        guarded: Limits of counts.

    Raises:
        IncomparableError: a field differs that must agree, or a case failed.
        UsageError: ``allow`` or a pattern of the policy names nothing.
        NothingComparableError: no figure is left to compare.
    """
    _refuse_unknown(allow)
    common = common_cases(a, b)
    failed = [item for name in common for item in _failures(name, a.cases[name], b.cases[name])]
    missing = [*_missing(a, b, "A"), *_missing(b, a, "B")]
    missing += [item for name in common for item in _unmeasured(a.cases[name], b.cases[name])]
    out = {item.case for item in (*failed, *missing)}
    live = [name for name in common if name not in out]
    differing = disagreements(a, b, live)
    refused = [item for item in differing if item.field not in allow]
    refused_failures = failed if FAILED not in allow else []
    if refused or refused_failures:
        raise IncomparableError(refused, refused_failures)
    judged = [item for name in live for item in judge(a.cases[name], b.cases[name], policy)]
    if all(item.ratio is None for item in judged):
        reason = judged[0].reason if judged else because("no_valid_process")
        raise NothingValidError(a.path, b.path, reason, [] if judged else [*failed, *missing])
    policy.refuse_unmatched({(item.case, item.metric, item.kind) for item in judged})
    counts = [
        verdict
        for name in live
        for verdict in count_verdicts(name, a.cases[name].counts, b.cases[name].counts, guarded)
    ]
    return RunComparison(
        a=_side(a),
        b=_side(b),
        metrics=judged,
        counts=counts,
        allowed=differing,
        software=software_differences(a, b, live),
        left_out=[*failed, *missing],
        warnings=cautions(a, b, live),
        n_failing=sum(item.fails_beyond is not None for item in judged) + n_failing(counts),
    )


def _refuse_unknown(allow: Collection[str]) -> None:
    for name in allow:
        if name not in FIELDS:
            near = get_close_matches(name, FIELDS, n=2, cutoff=0.5)
            hint = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(FIELDS)}"
            message = f"--allow: no field is called {name!r}; {hint}"
            raise UsageError(message)


def _failures(name: str, one: CaseResult, other: CaseResult) -> Iterator[LeftOutCase]:
    reasons = failure(one), failure(other)
    why = reasons[0] or reasons[1]
    if why:
        side: Literal["A", "B", "both"] = "both" if all(reasons) else "A" if reasons[0] else "B"
        yield LeftOutCase(case=name, side=side, reason=why, failed=True)


def _missing(side: Measured, other: Measured, label: Literal["A", "B"]) -> Iterator[LeftOutCase]:
    """Yield the cases that only this side has measured, as missing in the other."""
    lacking: Literal["A", "B"] = "B" if label == "A" else "A"
    for name, case in side.cases.items():
        if name not in other.cases and case.status != "warn":
            yield LeftOutCase(case=name, side=lacking, reason=because("only_in", side=label))


def _unmeasured(one: CaseResult, other: CaseResult) -> Iterator[LeftOutCase]:
    # A case that lacks one of its modes has figures of the others.
    empty = [case for case in (one, other) if case.status == "warn" and not metrics(case)]
    if empty:
        side: Literal["A", "B", "both"] = "A" if empty[0] is one else "B"
        reason = empty[0].reason or because("no_valid_process")
        yield LeftOutCase(case=one.case, side="both" if len(empty) > 1 else side, reason=reason)


def _side(side: Measured) -> ComparedSide:
    return ComparedSide(
        path=side.path,
        run_id=side.suite.run_id if side.suite else None,
        started_at=side.suite.started_at if side.suite else None,
        environment_sha256=side.environment_sha256,
        n_cases=len(side.cases),
    )
