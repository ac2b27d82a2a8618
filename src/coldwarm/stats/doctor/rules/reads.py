"""Values that the host reads in a loop: each waits until the device is done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import because
from coldwarm.stats.doctor.code.flows import decides
from coldwarm.stats.doctor.drafts import Draft

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coldwarm.contracts.reasons import Reason
    from coldwarm.stats.doctor.seen import Line, Place, Seen

REASONS = {
    "doctor_reads": "the loop reads from the device {n_reads:# time}; the program waited for"
    " it {n_waited:# time}, {blocked_s:time} in all, which is {each_s:time} a read",
    "doctor_reads_ready": "the loop reads from the device {n_reads:# time}, and"
    " {n_ready:# time} the value was ready: it hardly waits here, and with a device that"
    " works beside the host it would",
    "doctor_overlap": "how much the host could do meanwhile is not known",
}
CHANGES = {
    "host-sync-in-loop": "keep the values on the device and read them after the loop, or every so"
    " many steps",
}

FEWEST = 20
_OFTEN = 0.5
"""Reads for each call of a compiled function in the same loop."""
_SELDOM = 0.05
"""Of reads: where fewer of them waited, the loop does not wait."""
_FEWEST_OPERATIONS = 3
"""For each read, in a loop that calls nothing compiled."""
_EACH_TURN = 0.9
"""Readings of a clock for each read, where every turn is timed."""


def findings(seen: Seen) -> Iterator[Draft]:
    """Name each line of a loop that reads from the device in nearly every turn."""
    for one in seen.places_of("read"):
        turned = seen.turned(one.stack)
        n = _n_reads(seen, one, turned) if turned is not None else 0
        if turned is None or n < FEWEST or _is_needed(seen, one, turned, n):
            continue
        says, cost_s = _says(n, min(n, one.counts[1]), one.counts[2] / 1e9)
        untold = {} if cost_s is not None else {"cost_s": because("doctor_few_waits")}
        yield Draft(
            pattern="host-sync-in-loop",
            framework="jax",
            site=one.site,
            n=n,
            cost_s=cost_s,
            saving_s=None,
            says=says,
            null_reasons={"saving_s": because("doctor_overlap"), **untold},
        )


def _says(n: int, n_waited: int, blocked_s: float) -> tuple[Reason, float | None]:
    """Return what is said of reads, and what they cost; ``None``: that is not known.

    Where few of them waited, that may have been for the program's first runs, which something
    waits for in any case.
    """
    if n_waited < _SELDOM * n:
        ready = because("doctor_reads_ready", n_reads=n, n_ready=n - n_waited)
        return ready, None if n_waited else blocked_s
    each_s = blocked_s / n
    return because(
        "doctor_reads", n_reads=n, n_waited=n_waited, blocked_s=blocked_s, each_s=each_s
    ), blocked_s


def _n_reads(seen: Seen, one: Place, turned: Line) -> int:
    """Return how often a loop that computes reads, where that is for every call or two; else 0.

    What is read with no call of a compiled function in between is read at once: the leaves of a
    tree, a dictionary of metrics. A loop that only takes an array apart, for a plot or a table,
    computes nothing.
    """
    n_compiled = seen.n_below(turned, "jitted")
    if n_compiled:
        n = one.counts[3]
        return n if n >= _OFTEN * n_compiled else 0
    n_operations = seen.n_below(turned, "operation", "concatenation")
    return one.n if n_operations >= _FEWEST_OPERATIONS * one.n else 0


def _is_needed(seen: Seen, one: Place, turned: Line, n: int) -> bool:
    """Say whether the program can't go on without what it reads, or times how long it takes."""
    if _is_timed(seen, turned, n):
        return True
    places = seen.places_of("jitted")
    calls = {line for each in places for line in seen.lines_within(each, turned)}
    return decides(seen.sources, turned.path, turned.line, calls, below=turned != one.site)


def _is_timed(seen: Seen, turned: Line, n: int) -> bool:
    """Say whether every turn is timed, and the read is what makes the clock wait."""
    clocks = [
        one.site
        for one in seen.places_of("clock")
        if one.n >= _EACH_TURN * n and one.site.line in seen.lines_within(one, turned)
    ]
    begun = any(one.line <= turned.line for one in clocks) or len(clocks) == 1
    return begun and any(
        one.line >= turned.line and seen.sources.ends_interval(one.path, one.line) for one in clocks
    )
