"""What another setting would change: freed memory kept, or caches as a framework fills them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.contracts.base import FILLED, WARM
from coldwarm.contracts.reasons import because
from coldwarm.contracts.result import DefaultSettings, KeptMemory
from coldwarm.contracts.summary import Caution
from coldwarm.stats import faults
from coldwarm.stats.distribution import summary
from coldwarm.stats.pairs import log_ratios
from coldwarm.stats.ratio import compare, compare_pairs
from coldwarm.stats.selection import (
    WarmProcess,
    by_round,
    claims,
    counts,
    filled_by_default,
    keeping,
    published,
    warm_processes,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from coldwarm.contracts.observation import Observation
    from coldwarm.contracts.reasons import Reason
    from coldwarm.contracts.result import WarmSummary
    from coldwarm.contracts.summary import Comparison, Summary

AS_IT_IS = "as_it_is"


def kept_memory(
    observations: Sequence[Observation], plain: Sequence[WarmProcess], seed: int
) -> tuple[KeptMemory, None] | tuple[None, Reason]:
    """Summarise warm calls where freed memory is kept, and hold them against those as they come.

    ``plain`` are the processes that the published figure is from.
    """
    kept = warm_processes(keeping(observations))
    if kept and plain:
        made = KeptMemory(
            n_processes=len(kept),
            call_s=summary([process.steadiness.samples for process in kept], seed=seed),
            page_faults=faults.median_per_call(kept),
            comparison=_compared(kept, plain),
        )
        return made, None
    few = faults.median_per_call(plain)
    if few is not None and not any(faults.gives_back(process.blocks) for process in plain):
        return None, because("few_page_faults", n_faults=round(few))
    return None, because("memory_not_compared")


def _compared(kept: Sequence[WarmProcess], plain: Sequence[WarmProcess]) -> Comparison:
    pairs = log_ratios(kept, plain)
    if pairs is not None:
        return compare_pairs("warm.call_s", AS_IT_IS, pairs, threshold=faults.GAIN)
    sides = [
        by_round((p.observation, p.steadiness.samples) for p in side) for side in (kept, plain)
    ]
    return compare("warm.call_s", AS_IT_IS, *sides, threshold=faults.GAIN)


def memory_caution(warm: WarmSummary, plain: Sequence[WarmProcess]) -> list[Caution]:
    """Warn where calls are clearly faster with freed memory kept, or where that cannot be told."""
    kept, returned = warm.kept_memory, warm.page_faults
    if returned is None:
        return []
    affected = [process for process in plain if faults.gives_back(process.blocks)]
    n_faults = round(returned)
    if kept is not None and kept.comparison.verdict == "faster" and kept.comparison.ratio:
        gain = 1 / kept.comparison.ratio
        reason = because("memory_returned", gain_ratio=gain, n_faults=n_faults)
    elif affected and (kept is None or kept.comparison.verdict == "undecided"):
        reason = because("memory_may_be_returned", n_faults=n_faults)
    else:
        return []
    return [
        Caution(
            kind="allocator",
            cache_mode=WARM,
            n_processes=len(affected),
            of_processes=len(plain),
            reason=reason,
        )
    ]


def by_default(
    observations: Sequence[Observation],
    figure: Callable[[Observation, str], float | None],
    names: Sequence[str],
    seed: int,
) -> tuple[DefaultSettings, None] | tuple[None, Reason]:
    """Summarise starts with caches that the framework's own settings have filled."""
    seen = [one for one in filled_by_default(observations) if claims(one, FILLED)]
    valid = [one for one in seen if counts(one, FILLED)]
    if valid:
        seconds: dict[str, Summary] = {}
        for name in names:
            values = [value for one in valid if (value := figure(one, name)) is not None]
            if values:
                seconds[name] = summary([[value] for value in values], seed=seed)
        rejected = sum(one.status != "failed" for one in seen) - len(valid)
        return DefaultSettings(n_ok=len(valid), n_rejected=rejected, seconds=seconds), None
    kept = {e.kept_by_default for one in published(observations) for e in one.evidence}
    if kept <= {"all", None} and "all" in kept:
        return None, because("same_by_default")
    return None, because("not_measured_by_default")
