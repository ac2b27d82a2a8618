"""The lines at which something was compiled, added up. Pure."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from coldwarm.contracts.doctor import CallSite
from coldwarm.contracts.reasons import because

if TYPE_CHECKING:
    from coldwarm.contracts.doctor import CauseKind
    from coldwarm.stats.doctor.seen import Call, Line, Seen


def call_sites(seen: Seen) -> list[CallSite]:
    """Return the lines of the user's at which something was compiled, the slowest first."""
    groups: dict[tuple[Line, str], list[Call]] = {}
    for call in seen.calls:
        if call.site is not None:
            groups.setdefault((call.site, call.name), []).append(call)
    found = [_site(seen, line, calls) for (line, _), calls in groups.items()]
    return sorted(found, key=lambda one: -one.total_s)


def _site(seen: Seen, line: Line, calls: list[Call]) -> CallSite:
    own_s = {name: sum(one.own_s[name] for one in calls) for name in ("trace", "lower", "compile")}
    cache_s = sum(one.own_s["cache_read"] for one in calls)
    n_compiles = sum(one.compiled and not one.hit for one in calls)
    n_reads = sum(one.hit for one in calls)
    total_s = sum(own_s.values()) + cache_s
    written = len(calls)
    counted, more_s = _beyond(seen, calls)
    n_compiles += max(0, counted - written)
    n_calls = _n_calls(seen, line, calls[0].name)
    why = because("called_elsewhere" if seen.sees_calls else "needs_monitoring")
    return CallSite(
        path=line.path,
        line=line.line,
        caller=line.function,
        framework=calls[0].framework,
        function=calls[0].name,
        n_compiles=n_compiles,
        n_reads=n_reads,
        n_calls=n_calls,
        total_s=total_s + more_s,
        trace_s=own_s["trace"],
        lower_s=own_s["lower"],
        compile_s=own_s["compile"],
        cache_s=cache_s,
        causes=dict(causes(calls)),
        null_reasons={} if n_calls is not None else {"n_calls": why},
    )


def _beyond(seen: Seen, calls: list[Call]) -> tuple[int, float]:
    """Return how many calls were counted at a line, and the seconds of those not written."""
    slot = calls[0].slot
    if slot is None or slot + 1 >= len(seen.counts):
        return len(calls), 0.0
    counted, all_ns = seen.counts[slot], seen.counts[slot + 1]
    if counted <= len(calls):
        return len(calls), 0.0
    return counted, max(0.0, all_ns / 1e9 - sum(one.total_s for one in calls))


def _n_calls(seen: Seen, line: Line, name: str) -> int | None:
    if not seen.sees_calls:
        return None
    short = name.rpartition(".")[2]
    counted = [one.n for one in seen.places_at("jitted", line) if one.name == short]
    return sum(counted) if counted else None


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
    if kind == "new_function":
        return "new_function"
    if kind != "again":
        return None
    kinds: list[CauseKind] = [one["kind"] for one in call.differences]  # type: ignore[misc] # of these kinds
    return kinds[0] if kinds else "unknown"
