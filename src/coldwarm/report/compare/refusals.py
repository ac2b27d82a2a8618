"""Why two results cannot be compared, and what to do about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.errors import printable
from coldwarm.report.compare.words import disagreement
from coldwarm.report.sentences import with_advice
from coldwarm.stats.compare.comparable import FAILED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.stats.compare.results import IncomparableError, NothingValidError

WAYS_ON = {
    "workload": "its source differs, so it is another job: measure both with the same source",
    "backend": (
        "its source differs, so candidates may be built, called or waited for in another way: "
        "measure both with the same backend"
    ),
    "identity": "it is not the same job under one name: measure the same size and dtype",
    "dataset": "the inputs differ: measure both with the same NumPy, which draws them",
    "seed": "the inputs differ: measure both with the same --seed",
    "data_layout": "the inputs lie in memory differently: measure both with the same source",
    "windows": "the clock is not read at the same places: measure both with one coldwarm",
    "sync_policy": "calls are not waited for in the same way: measure both with one coldwarm",
    "warmup_policy": "warm samples are taken differently: measure both with one coldwarm",
    "allocator": "the processes of one side keep freed memory: measure both with one coldwarm",
    "cache_settings": "caches keep other things: measure both with one coldwarm",
    "interleaving": "processes take turns differently: measure both with one coldwarm",
    "process": "modes mean other processes: measure both with one coldwarm",
    "threads": "measure both with the same --threads",
    "affinity": "the processors differ: measure both on the same ones (taskset, or --threads)",
    "environment_variables": "processes are set up differently: measure both with one coldwarm",
    "own": "the function is called in another way: give both the same arguments",
    "machine": "measure both on one machine",
    "failed": "a wrong or missing answer has no time: mend it, or leave the case out",
}
"""By field that must agree, what to do where it does not."""

_SHOWN_CASES = 2
_SHOWN_LEFT_OUT = 3


def refused(error: IncomparableError) -> str:
    """Return every difference, what to do about each field, and how to compare all the same."""
    lines = ["A and B cannot be compared as they are:"]
    for case in error.failed:
        side = "A and B" if case.side == "both" else case.side
        lines.append(f"  {FAILED}: in {side}: {with_advice(case.reason)} ({case.case})")
    lines += [f"  {disagreement(item)}{_of(item.cases)}" for item in error.differences]
    lines += [f"to mend {field}: {WAYS_ON[field]}" for field in error.fields]
    effect = "compares all the same, with a warning"
    if error.failed:
        others = ", and compares the others with a warning" if len(error.fields) > 1 else ""
        effect = f"leaves failed cases out{others}"
    lines.append(f"--allow {','.join(error.fields)} {effect}")
    return "\n".join(map(printable, lines))


def nothing_valid(error: NothingValidError) -> str:
    """Say why no figure of two results is left to compare."""
    out = [
        f"{item.case}: {with_advice(item.reason)} ({item.side})"
        for item in error.left_out[:_SHOWN_LEFT_OUT]
    ]
    why = "; ".join(out) or with_advice(error.reason)
    return f"nothing valid to compare in {error.a} and {error.b}: {why}"


def _of(cases: Sequence[str]) -> str:
    if not cases:
        return ""
    more = len(cases) - _SHOWN_CASES
    return f" ({', '.join(cases[:_SHOWN_CASES])}{f' and {more} more' if more > 0 else ''})"
