"""Every process as it was, one row each: what the page lets its readers download."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coldwarm.contracts.observation import PARTS
from coldwarm.report.reasons import words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coldwarm.contracts.observation import Observation
    from coldwarm.contracts.result import CaseResult

Row = dict[str, str | float | int | bool | None]


def processes(cases: Sequence[CaseResult]) -> list[Row]:
    """Return all processes of the cases in their order, rejected and failed ones too."""
    return [_row(case, seen) for case in cases for seen in case.observations]


def samples(cases: Sequence[CaseResult]) -> Iterator[Row]:
    """Yield every sample of warm calls, those before the steady state too."""
    for case in cases:
        for seen in case.observations:
            for block in seen.blocks:
                for place, seconds in enumerate(block.samples_s):
                    yield {
                        "candidate": case.candidate,
                        "order": seen.order,
                        "block": block.order,
                        "batch": block.batch,
                        "place": place,
                        "call_s": seconds,
                    }


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
        "reason": words(seen.reason) if seen.reason else None,
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
