"""All that the rules find, those that cost most first. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.contracts.doctor import Finding
from coldwarm.stats.doctor.rules import modules
from coldwarm.stats.doctor.small import is_small

if TYPE_CHECKING:
    from collections.abc import Iterable

    from coldwarm.stats.doctor.drafts import Draft
    from coldwarm.stats.doctor.seen import Seen

_WITHOUT_COST = {"doctor_ended": -1, "doctor_once": 2}
"""By the reason why there is no cost: where such a finding stands, if not in the middle."""


def ranked(found: Iterable[Finding], total_s: float) -> list[Finding]:
    """Return findings in the order in which they matter: those that cost most first.

    What ended the program comes first of all. What makes a figure or a result wrong costs no time,
    and comes before what costs little; what may be meant as it is comes behind it.
    """

    def rank(one: Finding) -> tuple[int, float]:
        if is_small(one, total_s):
            return 3, -(one.cost_s or 0.0)
        if one.cost_s is None:
            reason = one.null_reasons.get("cost_s")
            return _WITHOUT_COST.get(reason.code if reason is not None else "", 1), 0.0
        return 0, -one.cost_s

    return sorted(found, key=rank)


def findings(seen: Seen) -> list[Finding]:
    """Return what every rule finds."""
    drafts = [draft for rule in modules() for draft in rule.findings(seen)]
    drafts.sort(key=lambda one: (-(one.cost_s or 0.0), one.site, one.pattern))
    return [_finding(seen, one) for one in drafts]


def _finding(seen: Seen, one: Draft) -> Finding:
    return Finding(
        pattern=one.pattern,
        framework=one.framework,
        path=one.site.path,
        line=one.site.line,
        function=one.site.function,
        source=seen.sources.line(one.site.path, one.site.line),
        n=one.n,
        cost_s=one.cost_s,
        saving_s=one.saving_s,
        saving_from=one.saving_from,
        says=one.says,
        after=one.after,
        cause=one.cause,
        null_reasons=one.null_reasons,
    )
