"""What the reports call things, the same in every view."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from coldwarm.contracts.base import CacheMode

MODES: dict[CacheMode, str] = {
    "first_ever": "first ever",
    "cold_process_cold_cache": "empty caches",
    "cold_process_warm_cache": "filled caches",
    "warm_process": "warm",
}
"""Short names of the cache modes, in the order in which a program lives through them."""

COLD_MODES: tuple[CacheMode, ...] = (
    "first_ever",
    "cold_process_cold_cache",
    "cold_process_warm_cache",
)

PARTS = {
    "import": "import",
    "wrap": "wrap",
    "first_call": "first call",
    "first_call.trace": "trace",
    "first_call.lower": "lower",
    "first_call.compile": "compile",
    "first_call.cache_read": "read",
    "first_call.rest": "rest",
    "ttfr_process": "in all",
}
"""Columns of the table of parts: keys of ``ColdSummary.seconds`` and their headings."""

WIDE_PARTS = frozenset({"wrap", "first_call"})
"""Columns that are shown only where there is room."""

MAIN_LEGEND = (
    (
        "first ever, empty caches, filled caches",
        (
            "time to the first result (import + first call) in a fresh process: nothing cached "
            "anywhere; compilation caches empty; compilation caches filled by an earlier run"
        ),
    ),
    ("warm call", "one call in the steady state of a process"),
    ("±", "half the width of the 95 % interval of the median, relative to the median"),
    ("peak memory", "highest resident memory of a process up to its first result"),
    (
        "faster, slower, same",
        "judged against the baseline; undecided: this run cannot tell, a note says why",
    ),
)
PARTS_LEGEND = (
    (
        "trace, lower, compile, read, rest",
        (
            "exclusive parts of the first call; read is reading a compilation cache, rest is "
            "dispatch, transfers and the first execution itself"
        ),
    ),
    ("in all", "from starting the process to the first result: what a person waits"),
    (
        "–",
        (
            "not measured, for the reason in the note beside it; among the parts also a step that "
            "the backend does not have or that did not happen"
        ),
    ),
)


def mode_name(mode: str) -> str:
    """Return the short name of a cache mode, or the mode itself where it has none."""
    return {str(key): name for key, name in MODES.items()}.get(mode, mode)
