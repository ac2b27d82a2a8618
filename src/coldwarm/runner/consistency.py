"""Conflicts of a stored result with what follows from what was measured. Pure."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from coldwarm.caches import modes
from coldwarm.contracts.codec import cleaned
from coldwarm.contracts.observation import PARTS, first_result_s
from coldwarm.contracts.reasons import is_wrong
from coldwarm.runner import ledger
from coldwarm.runner.telemetry import must_be_flagged
from coldwarm.stats.selection import claims, keeping

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from coldwarm.contracts.answer import Summary
    from coldwarm.contracts.base import CacheMode, Record
    from coldwarm.contracts.observation import (
        Block,
        CacheEvidence,
        FirstCallParts,
        LoopAccount,
        Observation,
        Phase,
    )
    from coldwarm.contracts.result import CaseResult, Measured, SuiteResult


_At = tuple[str | int, ...]
"""Where a field stands: names and places, from the outermost."""


class Conflict(NamedTuple):
    """A field of a stored result that does not follow from what was measured."""

    at: _At
    what: str
    always: bool = False
    """Whether it is true of no version; else it contradicts the rules of today."""


_COMPUTED = ("status", "reason", "cold", "warm", "comparisons", "warnings", "filled_by", "counts")
_JUDGED = ("status", "reason", "judgements", "also_modes")
_COUNTS = ("n_ok", "n_rejected", "n_failed", "n_processes")
_POINTS = ("n_processes", "n_samples", "median", "minimum", "maximum", "p95")
_DERIVED = {"start", "new_shape", "ttfr", "ttfr_process"}
"""Figures that another version may have put together from other parts."""
_ROUNDING = 1e-9


def differences(
    stored: CaseResult, today: CaseResult, then: CaseResult, *, same: bool
) -> list[Conflict]:
    """Return what a case says otherwise than today's rules make of its observations.

    Args:
        stored: The case.
        today: What the rules make of it.
        then: What they make of the processes that the stored case itself counts.
        same: Whether this version has measured it; else counts and plain figures alone are true of
            no version.
    """
    wrongs = [*_of_case(stored, today)]
    if same or not wrongs:
        return wrongs
    always = [one._replace(always=True) for one in _of_any_version(stored, then)]
    places = {one.at for one in always}
    return [*always, *(one for one in wrongs if one.at not in places)]


def _of_case(stored: CaseResult, again: CaseResult) -> Iterator[Conflict]:
    """Yield each difference in what is judged, and in what is computed from that."""
    for place, (one, other) in enumerate(zip(stored.observations, again.observations, strict=True)):
        for name in _JUDGED:
            at = ("observations", place, name)
            yield from _apart(at, _plain(one, name), _plain(other, name))
    for name in _COMPUTED:
        yield from _apart((name,), _plain(stored, name), _plain(again, name))


def n_computed(case: CaseResult) -> int:
    """Return how many values of a case are computed of its observations."""
    return sum(_n_values(_plain(case, name)) for name in _COMPUTED)


def _n_values(value: object) -> int:
    if isinstance(value, dict | list):
        inner = value.values() if isinstance(value, dict) else value
        return sum(map(_n_values, inner))
    return value is not None


def between(stored: Record, again: Record) -> Iterator[Conflict]:
    """Yield each difference of two records of a kind."""
    yield from _apart((), msgspec.to_builtins(stored), msgspec.to_builtins(again))


def _of_any_version(stored: CaseResult, again: CaseResult) -> Iterator[Conflict]:
    """Yield the differences that no other rules explain: in counts and in plain figures."""
    for one in _of_case(stored, again):
        if _is_plain(one.at):
            yield one
    for place, cold in enumerate(stored.cold):
        derived = {name: one for name, one in cold.seconds.items() if name in _DERIVED}
        yield from _derived(("cold", place, "seconds"), derived, stored, cold.cache_mode)
    if stored.warm is not None and stored.warm.call_s is not None:
        yield from _warm(stored.warm.call_s, stored)


def _is_plain(at: _At) -> bool:
    """Say whether what stands there is a count, a median, or an extreme of what was measured."""
    match at:
        case ("cold", int(), str(name)):
            return name in _COUNTS
        case ("cold", int(), "seconds", str(name), str(point)):
            return name not in _DERIVED and point in _POINTS
    return False


def _derived(
    at: _At, derived: Mapping[str, Summary], stored: CaseResult, mode: CacheMode
) -> Iterator[Conflict]:
    """Hold figures against all that could be put together of what the processes took."""
    seen = [one for one in stored.observations if claims(one, mode) and one.phases]
    for name, one in derived.items():
        bounds = [_possible(name, process) for process in seen]
        least = min((low for low, _ in bounds), default=0.0) * (1 - _ROUNDING)
        most = max((high for _, high in bounds), default=0.0) * (1 + _ROUNDING)
        for point in ("minimum", "median", "maximum"):
            said = getattr(one, point)
            if not least <= said <= most:
                what = f"says {said:g}, but its processes make {least:g} to {most:g}"
                yield Conflict((*at, name, point), what)


def _possible(name: str, process: Observation) -> tuple[float, float]:
    """Return the least and the most seconds that any parts of a process make of a figure."""
    ends_s = max(phase.start_s + phase.duration_s for phase in process.phases)
    most_s = max(process.wall_s, ends_s)
    call_s = process.phase_s("first_call") or 0.0
    if name == "ttfr":
        return call_s, most_s
    if name == "ttfr_process":
        return call_s + (process.phase_s("import") or 0.0), most_s
    return 0.0, most_s - call_s


def _warm(call_s: Summary, stored: CaseResult) -> Iterator[Conflict]:
    """Hold a warm call against all samples: which of them count, versions may see differently."""
    seen = [one for one in stored.observations if one.blocks]
    n_processes = len(seen) - len(keeping(seen))
    if call_s.n_processes > n_processes:
        what = f"says {call_s.n_processes}, but its observations say {n_processes}"
        yield Conflict(("warm", "call_s", "n_processes"), what)
    blocks = [block for one in stored.observations for block in one.blocks]
    samples = [sample for block in blocks for sample in block.samples_s]
    if not samples or not min(samples) <= call_s.median <= max(samples):
        what = f"says {call_s.median:g}, which lies outside its samples"
        yield Conflict(("warm", "call_s", "median"), what)


def _out_of_order(case: CaseResult) -> Iterator[Conflict]:
    """Yield each stored distribution whose figures cannot be in that order."""
    found: list[tuple[_At, Summary]] = [
        (("cold", place, "seconds", name), one)
        for place, cold in enumerate(case.cold)
        for name, one in cold.seconds.items()
    ]
    if case.warm is not None and case.warm.call_s is not None:
        found.append((("warm", "call_s"), case.warm.call_s))
    for at, one in found:
        if not one.minimum <= one.median <= one.maximum:
            yield Conflict((*at, "median"), f"is {one.median:g}, outside its minimum and maximum")
        if one.low is not None and one.high is not None and not one.low <= one.median <= one.high:
            yield Conflict(
                (*at, "low"), f"is {one.low:g}, the median {one.median:g} and high {one.high:g}"
            )
        if not one.n_samples or not one.n_processes:
            yield Conflict((*at, "n_samples"), "is a figure of no samples")


def _apart(at: _At, said: object, held: object) -> Iterator[Conflict]:
    """Yield the innermost places where two plain values differ, which stand at ``at``."""
    if isinstance(said, dict) and isinstance(held, dict) and said.keys() == held.keys():
        for name, value in said.items():
            yield from _apart((*at, name), value, held[name])
    elif isinstance(said, list) and isinstance(held, list) and len(said) == len(held):
        for place, pair in enumerate(zip(said, held, strict=True)):
            yield from _apart((*at, place), *pair)
    elif not _same(said, held):
        what = f"says {_short(said)}, but its observations say {_short(held)}"
        yield Conflict(at, what)


def _plain(record: object, name: str) -> object:
    return msgspec.to_builtins(getattr(record, name))


def _same(said: object, held: object) -> bool:
    if type(said) is not type(held):
        # A whole number may stand where a number with a point is meant, and no truth.
        return {type(said), type(held)} == {int, float} and said == held
    if isinstance(said, float) and isinstance(held, float):
        return abs(said - held) <= _ROUNDING * max(abs(said), abs(held))
    if isinstance(said, str) and isinstance(held, str):
        # What was written is without the names of this user: it is masked here as it was there.
        # What is masked in it already stands for itself alone, and not for any text.
        return said == held or cleaned(said) == cleaned(held)
    return bool(said == held)


def _short(value: object) -> str:
    """Return a value in a few words; of a list how many, of a mapping its names."""
    if isinstance(value, dict):
        code = value.get("code") or value.get("kind") or value.get("verdict")
        return str(code or f"{{{', '.join(map(str, value))}}}")[:60]
    if isinstance(value, list):
        return f"{len(value)} of them" if _nested(value) else repr(value)[:60]
    return f"{value:g}" if isinstance(value, float) else repr(value)[:60]


def _nested(values: Iterable[object]) -> bool:
    return any(isinstance(value, dict | list) for value in values)


_SUM_ROUNDING, _CLOCK_S = 1e-9, 1e-6
"""By how much sums of the same numbers may differ: of the sum, and in seconds."""


def wrong_case(case: CaseResult) -> Iterator[Conflict]:
    """Yield what a case contradicts itself in, and what this version writes differently."""
    for check in (_impossible, _out_of_order, _of_cautions):
        for one in check(case):
            yield one._replace(always=True)
    for check in (_inconsistent, _limitations, _inspected):
        yield from check(case)


def _impossible(case: CaseResult) -> Iterator[Conflict]:
    """Yield what holds of no case, also where another version of coldwarm wrote it."""
    seen: dict[tuple[str, int, int], int] = {}
    for place, one in enumerate(case.observations):
        at: _At = ("observations", place)
        if one.case != case.case:
            yield Conflict((*at, "case"), f"is of {one.case!r}, in the file of {case.case!r}")
        key = (one.cache_mode, one.round, one.attempt)
        if key in seen:
            what = f"is the process of observations[{seen[key]}] once more"
            yield Conflict(at, f"{what} (cache_mode, round and attempt are the same)")
        seen.setdefault(key, place)
        yield from _of_blocks(one.blocks, at)
        yield from _of_shared(one, at)
        yield from _of_gate(one, at)
        yield from _of_files(one.evidence, at)
    for place, made in enumerate(case.made):
        if made.case != case.case:
            yield Conflict(("made", place, "case"), f"is of {made.case!r}, not of {case.case!r}")


def _inconsistent(case: CaseResult) -> Iterator[Conflict]:
    """Yield what this version writes differently: where it wrote the case, that was changed."""
    yield from _identity(case)
    if not case.observations and (case.status != "warn" or case.reason is None):
        yield Conflict(("status",), f"says {case.status!r}, but nothing was observed")
    if is_wrong(case.reason):
        yield from _of_a_wrong_answer(case)
        return
    orders: dict[int, _At] = {}
    for place, one in enumerate(case.observations):
        at: _At = ("observations", place)
        yield from _of_phases(one, at)
        yield from _of_first_result(one, at)
        yield from _of_telemetry(one, at)
        if one.loop is not None:
            yield from _of_loop(one.loop, (*at, "loop"))
        owners = [found.owner for found in one.evidence]
        caches = [*(case.protocol.caches or ()), *["bytecode"] * (one.cache_mode == "first_ever")]
        if one.phases and sorted(owners) != sorted(caches):
            what = f"is of {_names(owners)}, but its caches are {_names(caches)}"
            yield Conflict((*at, "evidence"), what)
        unknown = sorted({*owners} - modes.owners().keys())
        if unknown:
            what = f"is of {_names(unknown)}, which is no cache that can be judged here"
            yield Conflict((*at, "evidence"), what)
        if one.status == "failed":  # its place is that of the process before it
            continue
        for where, order in [
            ((*at, "order"), one.order),
            *(((*at, "blocks", n, "order"), block.order) for n, block in enumerate(one.blocks)),
        ]:
            if order in orders:
                yield Conflict(where, f"is {order}, the place of another process or block")
            orders[order] = where


def _of_a_wrong_answer(case: CaseResult) -> Iterator[Conflict]:
    for place, one in enumerate(case.observations):
        for name in ("ttfr_s", "ttfr_process_s", "first_call_parts", "loop", "phases", "blocks"):
            if getattr(one, name):
                yield Conflict(("observations", place, name), "times a case whose answer was wrong")


def _identity(case: CaseResult) -> Iterator[Conflict]:
    declared = case.protocol
    for name in ("workload", "backend", "candidate", "size", "dtype"):
        said, held = getattr(declared, name), getattr(case, name)
        if said != held:
            yield Conflict(("protocol", name), f"says {said!r}, but the case says {held!r}")
    if declared.own is None:
        for name, held in (
            ("candidate", f"{case.backend}_{case.device}"),
            ("case", f"{case.candidate}_{case.group}"),
            ("dataset_id", f"{case.group}_seed{declared.seed}"),
        ):
            said = getattr(case, name)
            # A backend of one device need not name it.
            if said != held and not (name == "candidate" and said == case.backend):
                yield Conflict((name,), f"says {said!r}, but its parts make {held!r}")


def _of_blocks(blocks: list[Block], at: _At) -> Iterator[Conflict]:
    for place, block in enumerate(blocks):
        where: _At = (*at, "blocks", place)
        if not block.samples_s:
            yield Conflict((*where, "samples_s"), "is empty; a block has samples")
            continue
        low = min(block.samples_s)
        if low <= 0:
            number = block.samples_s.index(low)
            yield Conflict((*where, "samples_s", number), f"is {low:g} s; a call takes time")
        total_s = block.batch * sum(block.samples_s)
        if block.wall_s is not None and not _fits(total_s, block.wall_s):
            what = f"is {block.wall_s:g} s, but its samples took {total_s:g} s"
            yield Conflict((*where, "wall_s"), what)
    for place, (before, after) in enumerate(pairwise(blocks), start=1):
        if after.start_s < before.start_s or after.order <= before.order:
            yield Conflict((*at, "blocks", place), "begins before the block that stands before it")


def _of_shared(one: Observation, at: _At) -> Iterator[Conflict]:
    for place, turns in enumerate(one.shared_calls):
        where: _At = (*at, "shared_calls", place)
        if len(turns.own_s) != len(turns.other_s):
            what = f"has {len(turns.own_s)} calls of one side and {len(turns.other_s)} of the other"
            yield Conflict(where, what)
        elif turns.own_s and min(*turns.own_s, *turns.other_s) <= 0:
            yield Conflict(where, "has a call of 0 s; a call takes time")
        total_s = turns.own_batch * sum(turns.own_s) + turns.other_batch * sum(turns.other_s)
        if not _fits(total_s, one.wall_s):
            what = f"took {total_s:g} s, and the process {one.wall_s:g} s"
            yield Conflict(where, what)


def _of_gate(one: Observation, at: _At) -> Iterator[Conflict]:
    gate = one.gate
    if gate is None:
        return
    error = gate.error
    if gate.passed and error is not None and not error <= gate.tolerance:
        what = f"says true, but the error {error:g} is above the tolerance {gate.tolerance:g}"
        yield Conflict((*at, "gate", "passed"), what)
    if not gate.passed and one.status != "failed":
        yield Conflict((*at, "status"), f"says {one.status!r}, but its answer was wrong")


def _of_files(evidence: list[CacheEvidence], at: _At) -> Iterator[Conflict]:
    owners = [found.owner for found in evidence]
    for place, found in enumerate(evidence):
        where: _At = (*at, "evidence", place)
        if owners.index(found.owner) != place:
            yield Conflict(where, f"is of {found.owner!r}, of which there is another one")
        before, after = found.files_before, found.files_after
        new = sum(found.new_files.values())
        if before is not None and after is not None and not new <= after <= before + new:
            what = f"is {after}, but {before} files before and {new} new ones cannot make that"
            yield Conflict((*where, "files_after"), what)


def _of_phases(one: Observation, at: _At) -> Iterator[Conflict]:
    end_s = 0.0
    names = [phase.name for phase in one.phases]
    for place, phase in enumerate(one.phases):
        where: _At = (*at, "phases", place)
        if names.index(phase.name) != place:
            yield Conflict(where, f"is {phase.name!r} for a second time")
        if phase.start_s < end_s - _CLOCK_S:
            yield Conflict((*where, "start_s"), "lies in the phase before it")
        end_s = phase.start_s + phase.duration_s
    if not _fits(end_s, one.wall_s):
        what = f"is {one.wall_s:g} s, but its phases end after {end_s:g} s"
        yield Conflict((*at, "wall_s"), what)


def _of_first_result(one: Observation, at: _At) -> Iterator[Conflict]:
    phases: dict[str, Phase] = {phase.name: phase for phase in one.phases}
    try:
        whole_s, process_s = first_result_s(phases)
    except KeyError:
        if one.status == "ok":
            yield Conflict((*at, "phases"), "has no import or first call, and yet its status is ok")
        return
    for name, said, held in (
        ("ttfr_s", one.ttfr_s, whole_s),
        ("ttfr_process_s", one.ttfr_process_s, process_s),
    ):
        if said is None or not _equal(said, held):
            yield Conflict((*at, name), f"says {said} s, but its phases say {held:g} s")
    if one.first_call_parts is not None:
        where = (*at, "first_call_parts")
        yield from _of_parts(one.first_call_parts, phases["first_call"].duration_s, where)


def _of_parts(parts: FirstCallParts, whole_s: float, at: _At) -> Iterator[Conflict]:
    known = [value for name in PARTS if (value := getattr(parts, name)) is not None]
    total_s = sum(known) + parts.rest_s
    if not _equal(total_s, whole_s):
        yield Conflict(at, f"add up to {total_s:g} s, but the whole took {whole_s:g} s")


def _of_loop(loop: LoopAccount, at: _At) -> Iterator[Conflict]:
    yield from _of_parts(loop.parts, loop.loop_s, (*at, "parts"))
    if not _fits(sum(loop.steps_s), loop.loop_s):
        yield Conflict((*at, "steps_s"), f"are longer together than the loop, {loop.loop_s:g} s")
    if not _fits(loop.loop_s, loop.total_s):
        yield Conflict((*at, "total_s"), f"is shorter than the loop, {loop.loop_s:g} s")
    compiling = loop.compiling_steps or []
    if compiling != sorted({*compiling}) or any(n >= len(loop.steps_s) for n in compiling):
        yield Conflict((*at, "compiling_steps"), "are no places of its steps")
    known = [value for name in PARTS if (value := getattr(loop.parts, name)) is not None]
    share = sum(known) / loop.total_s if known and loop.total_s else None
    said = loop.compiling_share
    if (said is None) != (share is None) or (said and share and not _equal(said, share)):
        yield Conflict((*at, "compiling_share"), f"says {said}, but its parts say {share}")


def _of_telemetry(one: Observation, at: _At) -> Iterator[Conflict]:
    """Hold what was flagged against the readings that it was flagged for."""
    seen = one.telemetry
    if seen is None:
        return
    readings = {
        "foreign_cpu": ("foreign_processors", seen.foreign_cpu),
        "foreign_cpu_warm": ("foreign_processors", seen.warm_foreign_cpu),
        "steal": ("steal_share", seen.steal_share),
        "throttled": ("throttled_s", seen.throttled_s),
        "throttled_warm": ("throttled_s", seen.warm_throttled_s),
        "thermal": ("n_throttles", seen.thermal_throttles),
    }
    for flag in seen.flags:
        name, reading = readings.get(flag.code, ("", None))
        if name and flag.values[name] != reading:
            what = f"say {flag.code} of {flag.values[name]}, but the reading is {reading}"
            yield Conflict((*at, "telemetry", "flags"), what)
    flagged = {flag.code for flag in seen.flags}
    warm_s = sum(block.wall_s or 0.0 for block in one.blocks)
    for code in sorted(must_be_flagged(seen, one.ttfr_process_s, warm_s, one.wall_s) - flagged):
        what = f"do not say {code}, although the reading is {readings[code][1]}"
        yield Conflict((*at, "telemetry", "flags"), what)


def _fits(part_s: float, whole_s: float) -> bool:
    return part_s <= whole_s * (1 + _SUM_ROUNDING) + _CLOCK_S


def _equal(one: float, other: float) -> bool:
    return abs(one - other) <= _SUM_ROUNDING * max(abs(one), abs(other)) + _SUM_ROUNDING


def _names(names: list[str]) -> str:
    return ", ".join(sorted(names)) or "none"


_NOTED = {
    "benchmark_of_today",
    "not_kept",
    "carried",
    "state_carried",
    "not_compared",
    "second_call_compiled",
    "may_compute",
    "not_opened",
    "answers_differ",
    "arguments_changed",
    "files_hidden",
    "files_untried",
}
"""Notes that a function of the user's own may have, after what is noted of every one."""


def _inspected(case: CaseResult) -> Iterator[Conflict]:
    """Yield what this version would have said otherwise of the inspection."""
    own = case.protocol.own is not None
    if case.inspected_call_s is None and own and not is_wrong(case.reason):
        yield Conflict(("inspected_call_s",), "is missing, and the function was inspected")
    if case.inspected_call_s is not None and not own:
        yield Conflict(("inspected_call_s",), "is of no function of the user's own")


def _of_cautions(case: CaseResult) -> Iterator[Conflict]:
    """Yield where a caution compares with another inspection than the case has."""
    for place, caution in enumerate(case.warnings):
        reason = caution.reason
        if reason.code == "faster_than_inspected":
            told = reason.values.get("inspected_s")
            if told != case.inspected_call_s:
                what = f"is {case.inspected_call_s}, but warnings[{place}] says {told}"
                yield Conflict(("inspected_call_s",), what)


def _limitations(case: CaseResult) -> Iterator[Conflict]:
    owners = {*(case.protocol.caches or ()), "bytecode"}
    if case.protocol.caches is None or not owners <= modes.owners().keys():
        return
    made = ledger.limitations(owners, case.protocol.cache_modes)
    n_noted = len(case.limitations) - len(made)
    noted = [reason.code for reason in case.limitations[: max(n_noted, 0)]]
    expected = noted[:1] == ["own_memo"] if case.protocol.own is not None else not noted
    plain = [msgspec.to_builtins(reason) for reason in (*case.limitations[len(noted) :], *made)]
    same = plain[: len(plain) // 2] == plain[len(plain) // 2 :] and n_noted >= 0
    if not same or not expected or not _NOTED.issuperset(noted[1:]):
        codes = ", ".join(reason.code for reason in made)
        said = ", ".join(reason.code for reason in case.limitations) or "none"
        yield Conflict(("limitations",), f"are {said}, but its caches and modes make {codes}")


def wrong_run(measured: Measured, suite: SuiteResult) -> Iterator[Conflict]:
    """Yield what is wrong with the index of a run, seen from its cases."""
    ended = suite.finished_at is not None
    if suite.complete != ended:
        what = f"says {suite.complete}, but finished_at says otherwise"
        yield Conflict(("complete",), what, always=suite.complete)
    if measured.answers is None:
        yield Conflict(("answers_path",), "is missing, and this version writes its answers")
    if suite.answers:
        yield Conflict(
            ("answers",), "stand in the index, and not in a file of their own", always=True
        )
    groups: dict[str, list[CaseResult]] = {}
    for case in measured.cases.values():
        groups.setdefault(case.group, []).append(case)
    for group, cases in groups.items():
        baselines = [case.case for case in cases if case.baseline]
        own = any(case.protocol.own is not None for case in cases)
        if len(baselines) > 1 or (own and not baselines):
            what = f"have {', '.join(baselines) or 'none'} as the baseline of {group}; there is one"
            yield Conflict(("cases",), what, always=True)
    for place, case in enumerate(measured.cases.values()):
        for name in ("seed", "deterministic"):
            said, held = getattr(suite, name), getattr(case.protocol, name)
            if said != held:
                yield Conflict((name,), f"says {said}, but the protocol of {case.case} says {held}")
        yield from _places(place, case, suite.order)


def _places(place: int, case: CaseResult, order: list[str]) -> Iterator[Conflict]:
    """Hold the places of a case's processes and blocks against the order of the run."""
    held = {made.order: f"{made.case} make" for made in case.made}
    for one in case.observations:
        if one.status != "failed":
            held[one.order] = f"{one.case} {one.cache_mode} round {one.round}"
            held |= dict.fromkeys((block.order for block in one.blocks), f"{one.case} block")
    for number, name in sorted(held.items()):
        said = order[number] if number < len(order) else "nothing"
        if said != name:
            what = f"says {said!r} at place {number}, where cases[{place}] has {name!r}"
            yield Conflict(("order",), what)
            return
