"""Counts of what was compiled, held against those of others. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from coldwarm.contracts.answer import COUNT_NAMES, CountVerdict
from coldwarm.contracts.reasons import because

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coldwarm.contracts.observation import Counts
    from coldwarm.contracts.policy import CountLimit


def judge(
    case: str, reference: Counts, counts: Counts, limits: Mapping[str, CountLimit]
) -> list[CountVerdict]:
    """Hold the counts of a case against those of a reference; guarded ones are always there."""
    known = {*reference.numbers, *counts.numbers, *limits}
    return [
        _judged(case, name, reference, counts, limits.get(name))
        for name in COUNT_NAMES
        if name in known
    ]


def _judged(
    case: str, name: str, reference: Counts, counts: Counts, limit: CountLimit | None
) -> CountVerdict:
    before, now = reference.numbers.get(name), counts.numbers.get(name)
    verdict: Literal["more", "less", "same", "undecided"] = "undecided"
    reason = fails_beyond = None
    if before is None or now is None:
        told = [one.null_reasons.get(name) for one in (counts, reference)]
        reason = next((why for why in told if why is not None), because("not_counted"))
    else:
        verdict = "same" if now == before else "more" if now > before else "less"
        if limit is not None and now > limit.allowed(before):
            fails_beyond = limit.allowed(before)
    return CountVerdict(
        case=case,
        name=name,
        reference=before,
        count=now,
        verdict=verdict,
        reason=reason,
        guarded=limit is not None,
        fails_beyond=fails_beyond,
    )


def n_failing(verdicts: Sequence[CountVerdict]) -> int:
    """Return how many are beyond what was allowed."""
    return sum(one.fails_beyond is not None for one in verdicts)


def unheard(limits: Mapping[str, CountLimit], verdicts: Sequence[CountVerdict]) -> list[str]:
    """Return the guarded names that nothing has counted, which a build would guard in vain."""
    counted = {one.name for one in verdicts if one.reference is not None or one.count is not None}
    return [name for name in limits if name not in counted]
