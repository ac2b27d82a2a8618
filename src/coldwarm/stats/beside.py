"""What another setting would change: freed memory kept, or caches as a framework fills them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.contracts.answer import DefaultSettings, KeptMemory
from coldwarm.contracts.base import FILLED
from coldwarm.contracts.observation import published
from coldwarm.contracts.reasons import because
from coldwarm.stats import faults
from coldwarm.stats.distribution import summary
from coldwarm.stats.selection import (
    WarmProcess,
    claims,
    counts,
    filled_by_default,
    keeping,
    warm_processes,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from coldwarm.contracts.answer import Comparison, Summary
    from coldwarm.contracts.observation import Observation
    from coldwarm.contracts.reasons import Reason


def kept_memory(
    observations: Sequence[Observation],
    plain: Sequence[WarmProcess],
    compare: Callable[[Sequence[Observation], Sequence[Observation]], Comparison],
) -> tuple[KeptMemory, None] | tuple[None, Reason]:
    """Summarise warm calls where freed memory is kept, and hold them against those as they come.

    ``plain`` are the processes that the published figure is from; ``compare`` judges the second
    observations against the first.
    """
    other = keeping(observations)
    kept = warm_processes(other)
    if kept and plain:
        made = KeptMemory(
            n_processes=len(kept),
            call_s=summary([process.steadiness.samples for process in kept]),
            page_faults=faults.median_per_call(p.blocks for p in kept),
            comparison=compare(published(observations), other),
        )
        return made, None
    few = faults.median_per_call(p.blocks for p in plain)
    if few is not None and not any(faults.gives_back(process.blocks) for process in plain):
        return None, because("few_page_faults", n_faults=round(few))
    return None, because("memory_not_compared")


def by_default(
    observations: Sequence[Observation],
    figure: Callable[[Observation, str], float | None],
    names: Sequence[str],
) -> tuple[DefaultSettings, None] | tuple[None, Reason]:
    """Summarise starts with caches that the framework's own settings have filled."""
    seen = [one for one in filled_by_default(observations) if claims(one, FILLED)]
    valid = [one for one in seen if counts(one, FILLED)]
    if valid:
        seconds: dict[str, Summary] = {}
        for name in names:
            values = [value for one in valid if (value := figure(one, name)) is not None]
            if values:
                seconds[name] = summary([[value] for value in values])
        rejected = sum(one.status != "failed" for one in seen) - len(valid)
        return DefaultSettings(n_ok=len(valid), n_rejected=rejected, seconds=seconds), None
    kept = {e.kept_by_default for one in published(observations) for e in one.evidence}
    if kept <= {"all", None} and "all" in kept:
        return None, because("same_by_default")
    return None, because("not_measured_by_default")
