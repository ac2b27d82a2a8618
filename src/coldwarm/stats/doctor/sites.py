"""The lines at which something was compiled, added up. Pure."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from coldwarm.contracts.doctor import CallSite
from coldwarm.contracts.reasons import because
from coldwarm.stats.doctor.account import STAGES, beyond

if TYPE_CHECKING:
    from coldwarm.contracts.doctor import CauseKind
    from coldwarm.stats.doctor.account import Beyond
    from coldwarm.stats.doctor.seen import Call, Line, Seen


_FIRST: tuple[CauseKind, ...] = ("static", "tree", "shape")
"""Causes that count before others of the same call: a call with other shapes is another input,
whatever its dtypes are."""


def call_sites(seen: Seen) -> list[CallSite]:
    """Return the lines of the user's at which something was compiled, the slowest first."""
    groups: dict[tuple[Line, str], list[Call]] = {}
    for call in seen.calls:
        if call.site is not None:
            groups.setdefault((call.site, call.name), []).append(call)
    untold = beyond(seen)
    found = []
    for (line, _), calls in groups.items():
        slots = untold.keys() & {call.slot for call in calls}
        # Calls of one slot may have several names: what is left counts once.
        found.append(_site(seen, line, calls, [untold.pop(slot) for slot in slots]))
    return sorted(found, key=lambda one: -one.total_s)


def _site(seen: Seen, line: Line, calls: list[Call], untold: list[Beyond]) -> CallSite:
    parts = [*(one.own_s for one in calls), *(one.own_s for one in untold)]
    own_s = {name: sum(part[name] for part in parts) for name in STAGES}
    n_compiles = sum(one.compiled and not one.hit for one in calls)
    n_reads = sum(one.hit for one in calls)
    n_calls = _n_calls(seen, line, calls[0].name)
    n_slow = None if n_calls is None else min(n_calls, _n_slow(seen, line, calls, untold))
    largest = max(
        (one.memory for one in calls if one.memory), key=lambda one: one["temporary"], default=None
    )
    reasons = {}
    if n_calls is None:
        reasons["n_calls"] = reasons["n_slow_calls"] = because(
            "called_elsewhere" if seen.sees_calls else "needs_monitoring"
        )
    if untraced := _is_untraced(seen, calls, own_s["trace"]):
        reasons["trace_s"] = because("trace_untold")
    if largest is None:
        reasons["temporary_bytes"] = reasons["arguments_bytes"] = because("memory_not_shown")
    return CallSite(
        path=line.path,
        line=line.line,
        caller=line.function,
        framework=calls[0].framework,
        function=calls[0].name,
        is_operation=calls[0].is_frameworks,
        n_compiles=n_compiles + sum(one.n_compiles for one in untold),
        n_reads=n_reads + sum(one.n_reads for one in untold),
        n_calls=n_calls,
        n_slow_calls=n_slow,
        total_s=sum(own_s.values()),
        trace_s=None if untraced else own_s["trace"],
        lower_s=own_s["lower"],
        compile_s=own_s["compile"],
        cache_s=own_s["cache_read"],
        causes=dict(causes(calls)),
        misses=dict(Counter(one.missed for one in calls if one.missed)),  # type: ignore[arg-type] # of these kinds
        temporary_bytes=largest["temporary"] if largest else None,
        arguments_bytes=largest["arguments"] if largest else None,
        null_reasons=reasons,
    )


def _is_untraced(seen: Seen, calls: list[Call], trace_s: float) -> bool:
    """Say whether JAX has told of no tracing, though a call was compiled.

    Who follows calls sees it in any case.
    """
    compiled = any(one.compiled for one in calls)
    return compiled and not trace_s and not seen.sees_calls and calls[0].framework == "jax"


def _n_calls(seen: Seen, line: Line, name: str) -> int | None:
    if not seen.sees_calls:
        return None
    short = name.rpartition(".")[2]
    counted = [one.n for one in seen.places_at("jitted", line) if one.name == short]
    return sum(counted) if counted else None


def _n_slow(seen: Seen, line: Line, calls: list[Call], untold: list[Beyond]) -> int:
    """Return how many calls went through Python, but for those that something was compiled for."""
    short = calls[0].name.rpartition(".")[2]
    n = sum(one.counts[2] for one in seen.places_at("jitted", line) if one.name == short)
    return max(0, n - len(calls) - sum(one.n_compiles + one.n_reads for one in untold))


def causes(calls: list[Call]) -> Counter[CauseKind]:
    """Count the kinds of causes of calls that were compiled again."""
    found: Counter[CauseKind] = Counter()
    for one in calls:
        kind = kind_of(one)
        if kind is not None:
            found[kind] += 1
    return found


def kind_of(call: Call) -> CauseKind | None:
    """Return why a call was compiled again; ``None``: it was not compiled before."""
    kind = call.cause["kind"]
    if kind == "new_function":  # with other arguments it would be compiled in any case
        return None if call.differences else "new_function"
    if kind != "again":
        return None
    kinds: list[CauseKind] = [one["kind"] for one in call.differences]  # type: ignore[misc] # of these kinds
    if not kinds:
        return "guard" if call.guard else "unknown"
    return next((one for one in _FIRST if one in kinds), kinds[0])
