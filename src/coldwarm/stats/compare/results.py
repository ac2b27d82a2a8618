"""Two stored results held against each other: refused, or judged as a whole."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Literal

from coldwarm.contracts.comparison import (
    ComparedSide,
    LeftOutCase,
    RunComparison,
    SideDifference,
)
from coldwarm.errors import NothingComparableError, UsageError
from coldwarm.stats.compare.comparable import (
    WAYS_ON,
    Disagreement,
    cautions,
    common_cases,
    disagreements,
    failure,
    software_differences,
)
from coldwarm.stats.compare.metrics import judge, metrics

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from coldwarm.contracts.files.reader import Measured
    from coldwarm.contracts.policy import Policy
    from coldwarm.contracts.result import CaseResult

FAILED = "failed"
_SHOWN_CASES = 2


def compare_results(
    a: Measured, b: Measured, policy: Policy, allow: Collection[str] = ()
) -> RunComparison:
    """Judge B against A in every case and metric that both have.

    Args:
        a: What is compared with, such as the result before a change.
        b: What is judged.
        policy: Which differences matter, and which fail.
        allow: Fields of ``WAYS_ON`` that may differ; ``failed`` leaves failed cases out.

    Raises:
        UsageError: a field differs that must agree, a case failed, or ``allow`` or a pattern of
            the policy names nothing.
        NothingComparableError: no figure is left to compare.
    """
    _refuse_unknown(allow)
    common = common_cases(a, b)
    failed = [item for name in common for item in _failures(name, a.cases[name], b.cases[name])]
    missing = [*_missing(a, b, "A"), *_missing(b, a, "B")]
    missing += [item for name in common for item in _unmeasured(a.cases[name], b.cases[name])]
    out = {item.case for item in (*failed, *missing)}
    live = [name for name in common if name not in out]
    found = [*_as_disagreements(failed), *disagreements(a, b, live)]
    _refuse([item for item in found if item.field not in allow])
    judged = [item for name in live for item in judge(a.cases[name], b.cases[name], policy)]
    if all(item.ratio is None for item in judged):
        raise _nothing(a, b, [*failed, *missing], judged[0].reason if judged else None)
    policy.refuse_unmatched({(item.case, item.metric, item.kind) for item in judged})
    return RunComparison(
        a=_side(a),
        b=_side(b),
        metrics=judged,
        allowed=[
            SideDifference(field=item.field, text=item.text, cases=list(item.cases))
            for item in found
            if item.field != FAILED
        ],
        software=software_differences(a, b, live),
        left_out=[*failed, *missing],
        warnings=cautions(a, b, live),
        n_failing=sum(item.fails_beyond is not None for item in judged),
    )


def _refuse_unknown(allow: Collection[str]) -> None:
    for name in allow:
        if name not in WAYS_ON:
            near = get_close_matches(name, WAYS_ON, n=2, cutoff=0.5)
            hint = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(WAYS_ON)}"
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
            yield LeftOutCase(case=name, side=lacking, reason=f"only in {label}")


def _unmeasured(one: CaseResult, other: CaseResult) -> Iterator[LeftOutCase]:
    # A case that lacks one of its modes has figures of the others.
    empty = [case for case in (one, other) if case.status == "warn" and not metrics(case)]
    if empty:
        side: Literal["A", "B", "both"] = "A" if empty[0] is one else "B"
        reason = empty[0].reason or "not measured"
        yield LeftOutCase(case=one.case, side="both" if len(empty) > 1 else side, reason=reason)


def _as_disagreements(failed: Sequence[LeftOutCase]) -> list[Disagreement]:
    sides = {"A": "A", "B": "B", "both": "A and B"}
    return [
        Disagreement(FAILED, f"in {sides[item.side]}: {item.reason}", (item.case,))
        for item in failed
    ]


def _refuse(refused: Sequence[Disagreement]) -> None:
    if not refused:
        return
    lines = ["A and B cannot be compared as they are:"]
    lines += [f"  {item.field}: {item.text}{_of(item.cases)}" for item in refused]
    fields = list(dict.fromkeys(item.field for item in refused))
    lines += [f"to mend {field}: {WAYS_ON[field]}" for field in fields]
    effect = "compares all the same, with a warning"
    if FAILED in fields:
        others = ", and compares the others with a warning" if len(fields) > 1 else ""
        effect = f"leaves failed cases out{others}"
    lines.append(f"--allow {','.join(fields)} {effect}")
    raise UsageError("\n".join(lines))


def _of(cases: Sequence[str]) -> str:
    """Name cases, the first ones of many."""
    if not cases:
        return ""
    more = len(cases) - _SHOWN_CASES
    return f" ({', '.join(cases[:_SHOWN_CASES])}{f' and {more} more' if more > 0 else ''})"


def _nothing(
    a: Measured, b: Measured, out: Sequence[LeftOutCase], reason: str | None
) -> NothingComparableError:
    told = [f"{item.case}: {item.reason} ({item.side})" for item in out][:3]
    why = reason or "; ".join(told) or "no cache mode has a valid process"
    return NothingComparableError(f"nothing valid to compare in {a.path} and {b.path}: {why}")


def _side(side: Measured) -> ComparedSide:
    return ComparedSide(
        path=side.path,
        run_id=side.suite.run_id if side.suite else None,
        started_at=side.suite.started_at if side.suite else None,
        environment_sha256=side.environment_sha256,
        n_cases=len(side.cases),
    )
