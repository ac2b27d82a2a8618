"""Whether the summaries of a published result are those of the numbers that it lists. Pure."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from msgspec import UNSET

from coldwarm.runner.stored.wrong import Wrong

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from msgspec import UnsetType

    from coldwarm.contracts.published import NextstatResult, Quantiles
    from coldwarm.runner.stored.wrong import At

_ROUNDING = 1e-9


def wrong(result: NextstatResult) -> Iterator[Wrong]:
    """Yield what cannot be true of a published result, whichever version wrote it."""
    cold, warm, config = result.timing.cold, result.timing.warm, result.config
    n_runs, n_calls = len(cold.runs), len(warm.calls_s)
    counts: list[tuple[At, int | UnsetType, int]] = [
        (("timing", "cold", "n_runs"), cold.n_runs, n_runs),
        (("timing", "warm", "n_iters"), warm.n_iters, n_calls),
        (("config", "cold_runs"), config.cold_runs, n_runs),
        (("config", "warm_iters"), config.warm_iters, n_calls),
    ]
    for at, said, held in counts:
        if said is not UNSET and said != held:
            yield Wrong(at, f"says {said}, but {held} are listed")
    runs = [run for run in cold.runs if run.status == "ok"]
    for name, values in (
        ("import_s", [run.import_s for run in runs]),
        ("first_call_s", [run.first_call_s for run in runs]),
        ("ttfr_s", [run.import_s + run.first_call_s for run in runs]),
        ("total_s", [run.total_s for run in runs]),
    ):
        yield from _quantiles(("timing", "cold", name), getattr(cold, name), values)
    yield from _quantiles(("timing", "warm", "call_s"), warm.call_s, warm.calls_s)


def _quantiles(at: At, said: Quantiles | UnsetType, values: Sequence[float]) -> Iterator[Wrong]:
    if said is UNSET:
        return
    if not values:
        yield Wrong(at, "is a summary of no number")
        return
    wrong_points = False
    for name, held in (("min", min(values)), ("median", statistics.median(values))):
        told = getattr(said, name)
        if abs(told - held) > _ROUNDING * max(told, held):
            wrong_points = True
            yield Wrong((*at, name), f"says {told:g}, but the listed numbers say {held:g}")
    if not wrong_points and not said.median * (1 - _ROUNDING) <= said.p95 <= max(values) * (
        1 + _ROUNDING
    ):
        yield Wrong((*at, "p95"), f"is {said.p95:g}, below the median or above every number")
