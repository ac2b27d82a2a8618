"""A negative control: what a change cannot touch must be the same, else nothing is judged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from coldwarm.contracts.reasons import because

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from coldwarm.contracts.result import CaseResult
    from coldwarm.contracts.summary import Comparison


def is_control(case: CaseResult) -> bool:
    """Say whether a case is another candidate once more."""
    return case.protocol.own is not None and case.protocol.own.control_of is not None


def withheld(comparisons: Sequence[Comparison], controls: Iterable[CaseResult]) -> list[Comparison]:
    """Return the comparisons, undecided where a control differs from the same baseline."""
    differing = {
        (one.baseline, one.metric): (control, one)
        for control in controls
        for one in control.comparisons
        if one.verdict in {"faster", "slower"}
    }

    def judged(one: Comparison) -> Comparison:
        found = differing.get((one.baseline, one.metric))
        if found is None or one.verdict == "undecided":
            return one
        reason = because("control_differs", one.reason, **_told(*found))
        return replace(one, verdict="undecided", p_value=None, reason=reason)

    return [judged(one) for one in comparisons]


def _told(control: CaseResult, one: Comparison) -> dict[str, Any]:
    own = control.protocol.own
    of = (own and own.control_of) or one.baseline
    return {"control": control.candidate, "of": of, "control_ratio": one.ratio}
