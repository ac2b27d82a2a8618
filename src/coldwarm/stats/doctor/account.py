"""Where the time of a process went, in parts that do not overlap. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.contracts.doctor import Account
from coldwarm.contracts.reasons import because

if TYPE_CHECKING:
    from collections.abc import Iterable

    from coldwarm.contracts.reasons import Reason
    from coldwarm.stats.doctor.seen import Seen

STAGES = ("trace", "lower", "compile", "cache_read")


def account(seen: Seen, begin_s: float, end_s: float) -> Account:
    """Divide the time from when a process was started until it had ended.

    Both are on the clock that the process uses, in seconds. Imports inside of a stage belong to
    that stage; what overlaps in several threads is counted once, in the order of the parts.
    """
    main = {call.thread for call in seen.calls[:1]}
    calls = [call for call in seen.calls if call.thread in main]
    spans = sorted(span for call in calls for span in call.spans)
    total_s = max(0.0, end_s - begin_s)
    stages = {name: sum(call.own_s[name] for call in calls) for name in STAGES}
    import_s = sum(
        _outside(row["begin_s"], row["begin_s"] + row["seconds"], spans)
        for row in seen.of_kind("import")
    )
    devices = [row["seconds"] for row in seen.of_kind("devices")]
    devices_s = sum(devices) if seen.sees_calls else None
    run_s = _run_s(seen) if seen.sees_calls else None
    known_s = import_s + sum(stages.values()) + (devices_s or 0.0)
    if run_s is not None:  # of all threads; what overlaps is counted once
        run_s = min(run_s, max(0.0, total_s - known_s))
        known_s += run_s
    ends = [row["doctor_s"] for row in seen.of_kind("end")]
    why = because("needs_monitoring")
    reasons = {} if seen.sees_calls else {"devices_s": why, "run_s": why}
    if not ends:
        reasons["doctor_s"] = because("killed_before_its_end")
    before = unseen_before(seen)
    if "import_s" in before and not import_s:
        reasons["import_s"] = before["import_s"]
    if "devices_s" in before and not devices_s:
        reasons["devices_s"] = before["devices_s"]
    return Account(
        total_s=total_s,
        import_s=None if "import_s" in reasons else import_s,
        devices_s=None if "devices_s" in reasons else devices_s,
        trace_s=stages["trace"],
        lower_s=stages["lower"],
        compile_s=stages["compile"],
        cache_s=stages["cache_read"],
        run_s=run_s,
        other_s=max(0.0, total_s - known_s),
        doctor_s=sum(ends) if ends else None,
        null_reasons=reasons,
    )


def unseen_before(seen: Seen) -> dict[str, Reason]:
    """Return which parts of the time were over, all or most of them, before a block began."""
    block = next(seen.of_kind("block"), None)
    found: dict[str, Reason] = {}
    if block is None:
        return found
    if block["loaded"]:
        frameworks = ", ".join(map(str, block["loaded"]))
        found["import_s"] = because("imported_before", frameworks=frameworks)
    if block["devices"]:
        found["devices_s"] = because("devices_before")
    return found


def _outside(begin_s: float, end_s: float, spans: Iterable[tuple[float, float]]) -> float:
    """Return how much of an interval is in none of the others, which do not overlap."""
    inside = sum(max(0.0, min(end_s, b) - max(begin_s, a)) for a, b in spans)
    return max(0.0, end_s - begin_s - inside)


def _run_s(seen: Seen) -> float:
    """Return the seconds in compiled functions and in waiting for what they compute."""
    jitted = sum(one.counts[1] for one in seen.places_of("jitted"))
    waits = sum(one.counts[2] for one in seen.places_of("read"))
    waits += sum(one.counts[1] for one in seen.places_of("wait"))
    return (jitted + waits) / 1e9
