"""A negative control: what a change cannot touch must be the same, else nothing is judged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from coldwarm.contracts.reasons import because

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from coldwarm.contracts.answer import Comparison
    from coldwarm.contracts.reasons import Reason
    from coldwarm.contracts.result import CaseResult


def is_control(case: CaseResult) -> bool:
    """Say whether a case is another candidate once more."""
    return case.protocol.own is not None and case.protocol.own.control_of is not None


def withheld(comparisons: Sequence[Comparison], controls: Iterable[CaseResult]) -> list[Comparison]:
    """Return the comparisons, undecided where a control differs from the same baseline."""
    found_of = {(one.baseline, one.metric): (control, one) for control, one in differing(controls)}

    def judged(one: Comparison) -> Comparison:
        found = found_of.get((one.baseline, one.metric))
        if found is None or one.verdict == "undecided":
            return one
        reason = doubt(*found, one.reason)
        unknown = {"p_value": None, "smallest_detectable": None}
        return replace(one, verdict="undecided", reason=reason, **unknown)

    return [judged(one) for one in comparisons]


def differing(controls: Iterable[CaseResult]) -> list[tuple[CaseResult, Comparison]]:
    """Return each verdict by which a program differs from itself, and the control that has it."""
    return [
        (control, one)
        for control in controls
        for one in control.comparisons
        if one.verdict in {"faster", "slower"}
    ]


def doubt(control: CaseResult, one: Comparison, basis: Reason) -> Reason:
    """Return why a verdict with this basis is withheld: a control differs, too."""
    own = control.protocol.own
    of = (own and own.control_of) or one.baseline
    told: dict[str, Any] = {"control": control.candidate, "of": of, "control_ratio": one.ratio}
    return because("control_differs", basis, **told)
