"""What a change has brought, in words."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from coldwarm.report import units
from coldwarm.report.sentences import counted, words
from coldwarm.report.shown import line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.text import Text

    from coldwarm.contracts.doctor import Fix
    from coldwarm.contracts.reasons import Reason

_CACHES = {
    "empty": "compilation caches on disk empty for each process",
    "filled": "compilation caches on disk filled by a run of the same side before",
}
_LONGEST = 60


def lines(fix: Fix) -> Iterator[Text]:
    """Yield the answer, what it is from, and what to know before it is believed."""
    yield line(answer(fix), "bold")
    yield line(
        f"{counted(len(fix.before_s), 'round')} of both in turns, before: {fix.before};"
        f" {_CACHES[fix.caches]}",
        "dim",
    )
    if fix.comparison.verdict == "undecided":
        yield line(words(fix.comparison.reason), "dim")
    if fix.output == "differs":
        before, after = (repr(one)[:_LONGEST] for one in fix.differing)
        yield line(f"its output is another: {before}, now {after}", "yellow")
    elif fix.output == "varies" and not any(map(_is_uncompared, fix.limitations)):
        text = "Some output lines differ from run to run; all others are unchanged."
        yield line(text, "dim")
    for one in fix.limitations:
        yield line(words(one), "dim")


def _is_uncompared(one: Reason) -> bool:
    return one.code in {"output_not_compared", "output_all_varies"}


def answer(fix: Fix) -> str:
    """Return what the change has brought in one sentence."""
    text = f"after the change the whole program {_takes(fix)}"
    if fix.programs_before != fix.programs_after:
        text += (
            f", and needs {counted(fix.programs_after, 'compiled program')}"
            f" in place of {fix.programs_before}"
        )
    return text


def _takes(fix: Fix) -> str:
    low, high = fix.saved_low_s, fix.saved_high_s
    of = f"(of {units.duration(median(fix.before_s))})"
    if low is None or high is None:
        return f"was measured too seldom {of}"
    verdict = fix.comparison.verdict
    if verdict == "faster" and low > 0:
        return f"takes {units.between(low, high)} less {of}"
    if verdict == "slower" and high < 0:
        return f"takes {units.between(-high, -low)} longer {of}"
    if verdict == "same":
        return f"takes the same time {of}: {_span(low, high)}"
    return f"takes a time that cannot be told apart {of}: {_span(low, high)}"


def _span(low: float, high: float) -> str:
    """Write bounds around zero, such as ``between 0.1 s longer and 0.2 s less``."""
    ends = [f"{units.duration(abs(one))} {'less' if one >= 0 else 'longer'}" for one in (low, high)]
    return f"between {ends[0]} and {ends[1]}"
