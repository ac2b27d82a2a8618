"""Names of things in reports, the same in every view."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.contracts.base import WARM

if TYPE_CHECKING:
    from collections.abc import Collection

    from coldwarm.contracts.answer import CautionKind
    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.reasons import Reason

MODE_NAMES: dict[CacheMode, str] = {
    "first_ever": "first ever",
    "cold_process_cold_cache": "empty caches",
    "cold_process_warm_cache": "filled caches",
    "warm_process": "warm",
}
"""Short names of the cache modes, in the order in which a program lives through them."""

COLD_MODES = tuple(mode for mode in MODE_NAMES if mode != WARM)

HEADINGS = {mode: ("first result", name) for mode, name in MODE_NAMES.items()}
HEADINGS[WARM] = ("", "warm call")
"""Headings of the main table's columns, in two lines."""

LOOP_HEADINGS = {mode: ("whole loop", name) for mode, name in MODE_NAMES.items()}
LOOP_HEADINGS[WARM] = ("loop again", "warm")
"""The same for a scenario."""

MOST_NAMED = 3
"""Candidates that are named in one place of a sentence; of more, their number is told."""

MADE_TITLE = "Compiled ahead of time, in a process of its own; part of no figure above"
"""Heading over what compiling ahead of time cost."""

PARTS = {
    "start": "start",
    "import": "import",
    "build": "build",
    "wrap": "wrap",
    "first_call.trace": "trace",
    "first_call.lower": "lower",
    "first_call.compile": "compile",
    "first_call.cache_read": "read",
    "first_call.rest": "rest",
    "ttfr_process": "in all",
}
"""Columns of the table of parts: keys of ``ColdSummary.seconds`` and their headings."""

LOOP_PARTS = {
    {"ttfr_process": "total"}.get(key, key.replace("first_call", "loop")): heading
    for key, heading in PARTS.items()
}
"""The same for a scenario: the parts are those of all its steps."""

KINDS: dict[CautionKind, str] = {
    "untried": "not tried",
    "kept": "kept by itself",
    "noisy": "noisy machine",
    "other_calls": "other calls",
    "rejected": "rejected",
    "failed": "failed",
    "few": "few processes",
    "unsteady": "not steady",
    "compiled": "compiled",
    "counts": "counts differ",
    "uneven": "slow calls",
    "bimodal": "two speeds",
    "allocator": "memory",
    "second_call": "second call",
    "settings": "settings",
    "precision": "precision",
    "bytecode": "no bytecode",
}
"""Name of each kind in a list of cautions, the worst first."""


def parts_title(unit: str, *, loop: bool = False) -> str:
    """Return the title of a table of parts in this unit."""
    whole = "loop" if loop else "start"
    return f"Where the whole {whole}'s time goes: the median of each part, in {unit}"


LOOP_TERM = (
    "whole loop",
    (
        "from the start of the process to the end of all steps, imports and compiles included; "
        "loop again: all steps once more in the running process"
    ),
)
"""Term that only scenarios have, and its meaning."""


NOT_YET = "?"
"""Behind what all rounds have shown where they are too few for a verdict."""
_RATIO = "bounds of the ratio to the baseline, at 97 %; from fewer than 5 rounds, all that was seen"


def legend(there: Collection[str], thresholds: Collection[float]) -> tuple[tuple[str, str], ...]:
    """Return terms and their meanings.

    Args:
        there: What is shown: first results (``first``, of functions that were ``built``, in the
            mode ``first_ever``), ``warm`` calls, figures with a ``half_width`` or of ``few``
            processes, a ``ratio`` or ``same`` as a verdict, or ``not_yet`` one, the parts
            ``start``, ``rest`` and ``in all``, something ``missing``.
        thresholds: The relative differences below which two figures were called the same.
    """
    ever = "; first ever: nothing at all is cached" if "first_ever" in there else ""
    within = " or ".join(f"{100 * threshold:g} %" for threshold in sorted(thresholds))
    first = (
        f"import + {'build + ' if 'built' in there else ''}first call of a fresh process, without "
        "the start of Python, devices, inputs and wrapping; compilation caches are empty, or "
        f"filled by an earlier run{ever}"
    )
    terms = {
        "first": ("first result", first),
        "warm": ("warm call", "one call in the steady state of a running process"),
        "half_width": ("±", "half the width of the median's 95 % interval"),
        "few": ("(2)", "from that many processes only: lowest–highest, no ±"),
        "ratio": ("2.1–2.4×", _RATIO),
        "not_yet": (f"2.1–2.4×{NOT_YET}", "all rounds agree, but a verdict needs 5"),
        "same": ("same", f"as the baseline: at most {within} apart"),
        "start": ("start", "Python itself, devices and inputs"),
        "rest": ("rest", "of the first call: dispatch, transfers, execution"),
        "in all": ("in all", "from the start of the process to the end of the first call"),
        "missing": ("–", "not measured, or there is no such step"),
    }
    return tuple(term for name, term in terms.items() if name in there)


def mode_name(mode: str) -> str:
    """Return the short name of a cache mode, or the mode itself where it has none."""
    return {str(key): name for key, name in MODE_NAMES.items()}.get(mode, mode)


def either(names: Collection[str]) -> str:
    """Write names of which one is meant: ``a, b or c``; of more than three, their number."""
    listed = list(names)
    if len(listed) > MOST_NAMED:
        return f"one of {len(listed)} candidates"
    return " or ".join(filter(None, (", ".join(listed[:-1]), *listed[-1:])))


MARKS = {
    "untried": ("not tried", "not tried with other data"),
    "unlike_for_others": ("answers differ", "answers otherwise for changed data"),
    "answers_kept": ("keeps answers", "keeps answers"),
}
"""Marks of a candidate that no headline rests on, by the code of the reason: beside its verdict,
and in a sentence."""


def marked(verdict: str, why: Reason | None) -> str:
    """Write a verdict, and beside it why no headline rests on it."""
    return verdict if why is None else f"{verdict} ({MARKS[why.code][0]})"
