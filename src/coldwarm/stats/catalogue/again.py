"""The verdicts of stored claims, judged again, and how those of two results differ. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec

from coldwarm.stats.catalogue.claims import Seen, judged

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from coldwarm.contracts.catalogue import ClaimResult, ClaimVerdict
    from coldwarm.contracts.result import CaseResult


class Changed(NamedTuple):
    """A claim whose verdict is not the same in two results; ``None``: it is not there."""

    claim: str
    a: ClaimVerdict | None
    b: ClaimVerdict | None


def judged_again(
    stored: ClaimResult,
    rule: Callable[[Seen], str],
    cases: Mapping[str, Mapping[str, CaseResult]],
) -> ClaimResult:
    """Return a stored result with the verdict that its rule gives on its evidence.

    ``cases`` are those of its runs, by the name of the bench and by candidate. What was not tested
    or failed has no evidence, and stays as it is.
    """
    if stored.verdict in {"not_tested", "failed"}:
        return stored
    patterns = {one.pattern: one for one in stored.patterns}
    seen = Seen(cases=cases, sheets=stored.sheets, patterns=patterns)
    verdict, reason = judged(rule, seen)
    return msgspec.structs.replace(stored, verdict=verdict, reason=reason, figures=seen.asked)


def changed(a: Iterable[ClaimResult], b: Iterable[ClaimResult]) -> list[Changed]:
    """Return the claims whose verdicts differ, in the order of A and then of B."""
    first, second = ({one.claim: one.verdict for one in side} for side in (a, b))
    names = [*first, *(name for name in second if name not in first)]
    pairs = [Changed(name, first.get(name), second.get(name)) for name in names]
    return [pair for pair in pairs if pair.a != pair.b]
