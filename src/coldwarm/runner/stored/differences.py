"""Where a stored case and the same case computed again differ. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from coldwarm.private import masking
from coldwarm.runner.stored.wrong import Wrong
from coldwarm.stats.selection import claims

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from coldwarm.contracts.answer import Summary
    from coldwarm.contracts.base import CacheMode, Record
    from coldwarm.contracts.observation import Observation
    from coldwarm.contracts.result import CaseResult
    from coldwarm.runner.stored.wrong import At

_COMPUTED = ("status", "reason", "cold", "warm", "comparisons", "warnings", "filled_by", "counts")
_JUDGED = ("status", "reason", "judgements", "also_modes")
_COUNTS = ("n_ok", "n_rejected", "n_failed", "n_processes")
_POINTS = ("n_processes", "n_samples", "median", "minimum", "maximum", "p95")
_DERIVED = {"start", "new_shape", "ttfr", "ttfr_process"}
"""Figures that another version may have put together from other parts."""
_ROUNDING = 1e-9


def of_case(stored: CaseResult, again: CaseResult) -> Iterator[Wrong]:
    """Yield each difference in what is judged, and in what is computed from that."""
    for place, (one, other) in enumerate(zip(stored.observations, again.observations, strict=True)):
        for name in _JUDGED:
            at = ("observations", place, name)
            yield from apart(at, _plain(one, name), _plain(other, name))
    for name in _COMPUTED:
        yield from apart((name,), _plain(stored, name), _plain(again, name))


def n_computed(case: CaseResult) -> int:
    """Return how many values of a case are computed of its observations."""
    return sum(_n_values(_plain(case, name)) for name in _COMPUTED)


def _n_values(value: object) -> int:
    if isinstance(value, dict | list):
        inner = value.values() if isinstance(value, dict) else value
        return sum(map(_n_values, inner))
    return value is not None


def between(stored: Record, again: Record) -> Iterator[Wrong]:
    """Yield each difference of two records of a kind."""
    yield from apart((), msgspec.to_builtins(stored), msgspec.to_builtins(again))


def of_any_version(stored: CaseResult, again: CaseResult) -> Iterator[Wrong]:
    """Yield the differences that no other rules explain: in counts and in plain figures.

    ``again`` is made of the processes that the stored case itself counts.
    """
    for one in of_case(stored, again):
        if _is_plain(one.at):
            yield one
    for place, cold in enumerate(stored.cold):
        derived = {name: one for name, one in cold.seconds.items() if name in _DERIVED}
        yield from _derived(("cold", place, "seconds"), derived, stored, cold.cache_mode)
    if stored.warm is not None and stored.warm.call_s is not None:
        yield from _warm(stored.warm.call_s, stored)


def _is_plain(at: At) -> bool:
    """Say whether what stands there is a count, a median, or an extreme of what was measured."""
    match at:
        case ("cold", int(), str(name)):
            return name in _COUNTS
        case ("cold", int(), "seconds", str(name), str(point)):
            return name not in _DERIVED and point in _POINTS
    return False


def _derived(
    at: At, derived: Mapping[str, Summary], stored: CaseResult, mode: CacheMode
) -> Iterator[Wrong]:
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
                yield Wrong((*at, name, point), what)


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


def _warm(call_s: Summary, stored: CaseResult) -> Iterator[Wrong]:
    """Hold a warm call against all samples: which of them count, versions may see differently."""
    blocks = [block for one in stored.observations for block in one.blocks]
    samples = [sample for block in blocks for sample in block.samples_s]
    if not samples or not min(samples) <= call_s.median <= max(samples):
        what = f"says {call_s.median:g}, which lies outside its samples"
        yield Wrong(("warm", "call_s", "median"), what)


def out_of_order(case: CaseResult) -> Iterator[Wrong]:
    """Yield each stored distribution whose figures cannot be in that order."""
    found: list[tuple[At, Summary]] = [
        (("cold", place, "seconds", name), one)
        for place, cold in enumerate(case.cold)
        for name, one in cold.seconds.items()
    ]
    if case.warm is not None and case.warm.call_s is not None:
        found.append((("warm", "call_s"), case.warm.call_s))
    for at, one in found:
        if not one.minimum <= one.median <= one.maximum:
            yield Wrong((*at, "median"), f"is {one.median:g}, outside its minimum and maximum")
        if one.low is not None and one.high is not None and not one.low <= one.median <= one.high:
            yield Wrong(
                (*at, "low"), f"is {one.low:g}, the median {one.median:g} and high {one.high:g}"
            )
        if not one.n_samples or not one.n_processes:
            yield Wrong((*at, "n_samples"), "is a figure of no samples")


def apart(at: At, said: object, held: object) -> Iterator[Wrong]:
    """Yield the innermost places where two plain values differ, which stand at ``at``."""
    if isinstance(said, dict) and isinstance(held, dict) and said.keys() == held.keys():
        for name, value in said.items():
            yield from apart((*at, name), value, held[name])
    elif isinstance(said, list) and isinstance(held, list) and len(said) == len(held):
        for place, pair in enumerate(zip(said, held, strict=True)):
            yield from apart((*at, place), *pair)
    elif not _same(said, held):
        what = f"says {_short(said)}, but its observations say {_short(held)}"
        yield Wrong(at, f"{what}")


def without_comparisons(case: CaseResult) -> CaseResult:
    """Return a case without what only its baseline could tell."""
    return msgspec.structs.replace(case, comparisons=[])


def _plain(record: object, name: str) -> object:
    return msgspec.to_builtins(getattr(record, name))


def same_apart_from_masks(one: object, other: object) -> bool:
    """Say whether two plain values are the same, whatever was masked in their texts."""
    if isinstance(one, dict) and isinstance(other, dict):
        pairs = zip(_besides(one, other), _besides(other, one), strict=False)
        named = ((one[name], other[name]) for name in one.keys() & other.keys())
        same = all(same_apart_from_masks(*pair) for pair in (*named, *pairs))
        return len(one) == len(other) and same
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        pairs = zip(one, other, strict=False)
        return len(one) == len(other) and all(same_apart_from_masks(*pair) for pair in pairs)
    if isinstance(one, str) and isinstance(other, str):
        return masking.alike(one, other)
    return one == other


def _besides(mapping: dict[object, object], other: dict[object, object]) -> list[object]:
    """Return the items whose names the other lacks, as a name may have been masked there."""
    return [[name, value] for name, value in mapping.items() if name not in other]


def _same(said: object, held: object) -> bool:
    if type(said) is not type(held):
        # A whole number may stand where a number with a point is meant, and no truth.
        return {type(said), type(held)} == {int, float} and said == held
    if isinstance(said, float) and isinstance(held, float):
        return abs(said - held) <= _ROUNDING * max(abs(said), abs(held))
    if isinstance(said, str) and isinstance(held, str):
        # What was written is without the names of this user: it is masked here as it was there.
        # What is masked in it already stands for itself alone, and not for any text.
        return said == held or masking.cleaned(said) == masking.cleaned(held)
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
