"""Every process as it was, one row each: what the page lets its readers download."""

from __future__ import annotations

from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, TypeVar

from coldwarm.contracts.observation import PARTS
from coldwarm.errors import printable
from coldwarm.report.charts.columns import Columns
from coldwarm.report.sentences import words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.contracts.observation import Observation
    from coldwarm.contracts.result import CaseResult

Row = dict[str, str | float | int | bool | None]
T = TypeVar("T")


def processes(cases: Sequence[CaseResult]) -> list[Row]:
    """Return all processes of the cases in their order, rejected and failed ones too."""
    return [_row(case, seen) for case in cases for seen in case.observations]


def samples(cases: Sequence[CaseResult]) -> Columns:
    """Return every sample of warm calls, those before the steady state too."""
    blocks = [
        (case.candidate, seen.order, block)
        for case in cases
        for seen in case.observations
        for block in seen.blocks
    ]
    each = [len(block.samples_s) for _, _, block in blocks]
    return Columns(
        {
            "candidate": _times(each, [candidate for candidate, _, _ in blocks]),
            "order": _times(each, [order for _, order, _ in blocks]),
            "block": _times(each, [block.order for _, _, block in blocks]),
            "batch": _times(each, [block.batch for _, _, block in blocks]),
            "call_s": list(chain.from_iterable(block.samples_s for _, _, block in blocks)),
        }
    )


def _times(numbers: Sequence[int], values: Sequence[T]) -> list[T]:
    """Return each value so many times."""
    return list(chain.from_iterable(map(repeat, values, numbers)))


def _row(case: CaseResult, seen: Observation) -> Row:
    row: dict[str, Any] = {
        "case": case.case,
        "candidate": case.candidate,
        "cache_mode": seen.cache_mode,
        "also_modes": " ".join(seen.also_modes),
        "round": seen.round,
        "attempt": seen.attempt,
        "order": seen.order,
        "allocator": seen.allocator,
        "cache_settings": seen.cache_settings,
        "status": seen.status,
        "reason": printable(words(seen.reason)) if seen.reason else None,
        "wall_s": seen.wall_s,
        "ttfr_s": seen.ttfr_s,
        "ttfr_process_s": seen.ttfr_process_s,
        "peak_rss_bytes": seen.peak_rss_bytes,
    }
    row |= {f"{phase.name}_s": phase.duration_s for phase in seen.phases}
    if seen.first_call_parts is not None:
        names = (*PARTS, "rest_s")
        row |= {f"first_call.{name}": getattr(seen.first_call_parts, name) for name in names}
    return row
