"""Results of which one at least is another tool's: benchmarks by name, by their samples. Pure.

Nothing of what makes two results of coldwarm comparable is known of another tool's: how it was
called and waited for, which caches were filled, whether its answer was right. So only the unit, the
kind of figure and, where both sides tell it, the processor must agree, and all else is said. Its
processes share no rounds with any other, so the two sides are never paired.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Literal, NamedTuple

from coldwarm.contracts.comparison import (
    ComparedSide,
    KnownNoise,
    LeftOutCase,
    RunComparison,
    SideDifference,
)
from coldwarm.contracts.reasons import because
from coldwarm.errors import NothingComparableError, UsageError, printable, shorten
from coldwarm.stats.compare.comparable import FAILED
from coldwarm.stats.compare.metrics import Named, Side, figure, worded
from coldwarm.stats.compare.results import IncomparableError, SameRunError, refuse_unknown
from coldwarm.stats.compare.runs import are_unit, lone
from coldwarm.stats.intervals import FEWEST_FOR_CONFIDENCE

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from coldwarm.contracts.policy import Policy
    from coldwarm.contracts.reasons import Reason
    from coldwarm.contracts.result import Benchmark, Benchmarks
    from coldwarm.stats.compare.metrics import Figure

    Files = Sequence[Benchmarks]

_SHOWN = 3
"""Names of a side that an error tells."""
_LONGEST_SHOWN = 60
_TIME, _MEMORY = "elsewhere.time_s", "elsewhere.memory_bytes"
_KINDS = {"cold": "whole starts", "warm": "calls within a process", "memory": "memory"}


class _Pair(NamedTuple):
    """Two benchmarks that are compared: their names in A and in B."""

    a: str
    b: str

    @property
    def name(self) -> str:
        """The name of the comparison."""
        return self.a if self.a == self.b else f"{self.b} against {self.a}"


def compare_benchmarks(
    a: Files,
    b: Files,
    policy: Policy,
    allow: Collection[str] = (),
    pairs: Iterable[str] = (),
) -> RunComparison:
    """Judge B against A in every benchmark that all their files have.

    Args:
        a: What is compared with.
        b: What is judged.
        policy: Which differences matter, and which fail.
        allow: As for runs; here ``machine`` and ``failed`` have an effect.
        pairs: ``A=B``: names of benchmarks to compare, where they are called otherwise in B.

    Raises:
        SameRunError: two files hold the same samples.
        IncomparableError: the processors differ, or runs of a benchmark failed.
        UsageError: a pair, ``allow`` or a pattern of the policy names nothing, or two benchmarks
            are not the same kind of figure.
        NothingComparableError: no name is common.
    """
    refuse_unknown(allow)
    _refuse_same((*a, *b))
    failed = _failed(a, b)
    differing = [*_processors(a, b)]
    refused = [item for item in differing if item.field not in allow]
    refused_failures = failed if FAILED not in allow else []
    if refused or refused_failures:
        raise IncomparableError(refused, refused_failures)
    asked = [_asked(text, a, b) for text in pairs]
    matched = asked or _common(a, b)
    if not matched:
        raise NothingComparableError(_why_none(a, b))
    whole = are_unit(len(a), len(b))
    judged, unshown = worded([_figure(pair, a, b, policy, whole=whole) for pair in matched])
    policy.refuse_unmatched({(item.case, item.metric, item.kind) for item in judged})
    several = len(a) + len(b) > len("AB")
    return RunComparison(
        a=_side(a[0]),
        b=_side(b[0]),
        a_runs=[_side(one) for one in a if several],
        b_runs=[_side(one) for one in b if several],
        unit="run" if whole else "process",
        noise=None if whole else KnownNoise(n_reports=0, shares={}),
        unshown=unshown,
        metrics=judged,
        allowed=differing,
        software=[],
        left_out=[*failed, *([] if asked else _left_out(a, b, matched))],
        warnings=_cautions(a, b, matched, whole=whole),
        n_failing=sum(item.fails_beyond is not None for item in judged),
    )


def _figure(pair: _Pair, a: Files, b: Files, policy: Policy, *, whole: bool) -> Figure:
    sides = ([_found(one, pair.a) for one in a], [_found(one, pair.b) for one in b])
    first, *others = [one for side in sides for one in side if one is not None]
    for other in others:
        if other.kind != first.kind:
            kinds = f"{_KINDS[first.kind]} and {_KINDS[other.kind]}"
            raise UsageError(f"{pair.name} are {kinds}, which are not the same figure; name others")
    named = Named(pair.name, _MEMORY if first.kind == "memory" else _TIME, first.kind)
    limits = policy.limits(*named)
    values = ([_values(one) for one in side] for side in sides)
    return figure(named, (next(values), next(values)), limits, whole=whole, further_s=None)


def _values(one: Benchmark | None) -> Side:
    if one is None:
        return Side({})
    samples = {str(place): list(values) for place, values in enumerate(one.processes)}
    return Side(samples, tuple(one.states))


def _found(one: Benchmarks, name: str) -> Benchmark | None:
    """Return a benchmark by its name, or by the short one that a run has for its warm calls."""
    return one.benchmarks.get(name) or one.benchmarks.get(one.short_names.get(name, ""))


def _common(a: Files, b: Files) -> list[_Pair]:
    """Return the names that all files have; a short name where all of that name are calls."""
    names = {name: None for one in (*a, *b) for name in (*one.benchmarks, *one.short_names)}
    matched = []
    for name in names:
        found = [_found(one, name) for one in (*a, *b)]
        short = any(name in one.short_names for one in (*a, *b))
        if all(one is not None and (one.kind == "warm" or not short) for one in found):
            matched.append(_Pair(name, name))
    return matched


def _asked(text: str, a: Files, b: Files) -> _Pair:
    """Return the pair that a text such as ``A=B`` names; a name may hold an equals sign."""
    for place, character in enumerate(text):
        if character == "=":
            pair = _Pair(text[:place].strip(), text[place + 1 :].strip())
            if _in_all(a, pair.a) and _in_all(b, pair.b):
                return pair
    raise UsageError(f"--pair {_short(text)!r} names no two benchmarks as in A=B; {_names(a, b)}")


def _in_all(files: Files, name: str) -> bool:
    return all(_found(one, name) is not None for one in files)


def _why_none(a: Files, b: Files) -> str:
    names = f"no benchmark has one name in A and in B: {_names(a, b)}"
    return f"{names}; name two that belong together with --pair 'NAME IN A=NAME IN B'"


def _names(a: Files, b: Files) -> str:
    """Say which benchmarks there are."""
    told = []
    for label, files in (("A", a), ("B", b)):
        names = [name for name in files[0].benchmarks if _in_all(files, name)]
        more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
        shown = ", ".join(map(_short, names[:_SHOWN])) or "none in all its files"
        told.append(f"{label} has {shown}{more}")
    return ", ".join(told)


def _short(name: str) -> str:
    return shorten(printable(name), _LONGEST_SHOWN)


def _labelled(a: Files, b: Files) -> list[tuple[Literal["A", "B"], Benchmarks]]:
    return [*(("A", one) for one in a), *(("B", one) for one in b)]


def _refuse_same(files: Files) -> None:
    for one, other in combinations(files, 2):
        if one.tool == other.tool and one.benchmarks == other.benchmarks:
            both = f"{one.path} and {other.path} hold the same samples"
            raise SameRunError(f"{both}, which says nothing of a difference; give two results")


def _processors(a: Files, b: Files) -> Iterator[SideDifference]:
    """Yield the processors of which both sides tell another one."""
    known = [
        (label, " ".join(one.cpu.split())) for label, one in _labelled(a, b) if one.cpu is not None
    ]
    for label, cpu in known[1:]:
        if cpu != known[0][1]:
            yield SideDifference(
                field="machine",
                name="cpu.model",
                a=known[0][1],
                b=cpu,
                of_a=known[0][0],
                of_b=label,
                cases=[],
            )


def _failed(a: Files, b: Files) -> list[LeftOutCase]:
    """Return what failed on a side and is there on the other."""
    found = []
    for label, one in _labelled(a, b):
        others = b if label == "A" else a
        for name, reason in one.failed.items():
            if any(_found(other, name) or name in other.failed for other in others):
                found.append(LeftOutCase(case=name, side=label, reason=reason, failed=True))
    return found


def _left_out(a: Files, b: Files, matched: Sequence[_Pair]) -> Iterator[LeftOutCase]:
    """Yield what one side alone has, and what has no samples that could be compared."""
    used = {name for pair in matched for name in pair}
    seen: set[str] = set()
    for label, one in _labelled(a, b):
        lacking: Literal["A", "B"] = "B" if label == "A" else "A"
        called = {full: short for short, full in one.short_names.items()}
        for name in one.benchmarks:
            if used.isdisjoint({name, called.get(name, name)}) and name not in seen:
                seen.add(name)
                yield LeftOutCase(case=name, side=lacking, reason=because("only_in", side=label))
        for name, reason in one.left_out.items():
            yield LeftOutCase(case=name, side=label, reason=reason)


def _cautions(a: Files, b: Files, matched: Sequence[_Pair], *, whole: bool) -> list[Reason]:
    """Return what is not known, and what makes the comparison weaker."""
    measured: dict[str, list[str]] = {}
    exported: dict[str, list[str]] = {}
    alone: dict[str, list[str]] = {}
    reasons: dict[str, Reason] = {}
    for label, one in _labelled(a, b):
        if not one.complete:
            reasons[label] = because("incomplete", side=label)
        if one.tool is None:
            continue
        _add(exported if one.is_export else measured, one.tool, label)
        found = [_found(one, pair.a if label == "A" else pair.b) for pair in matched]
        if not whole and any(seen is not None and len(seen.processes) == 1 for seen in found):
            _add(alone, "coldwarm" if one.is_export else one.tool, label)
    by_code = {
        "measured_elsewhere": measured,
        "exported_elsewhere": exported,
        "one_process_elsewhere": alone,
    }
    told = [
        because(code, side=" and ".join(labels), tool=tool)
        for code, tools in by_code.items()
        for tool, labels in tools.items()
    ]
    ends = [because("ends_differ")] if any(_ends(pair, a, b) for pair in matched) else []
    return [*told, *ends, *reasons.values(), *_between(len(a), len(b), whole=whole)]


def _ends(pair: _Pair, a: Files, b: Files) -> bool:
    """Say whether starts end at a result in one file and with the process in another."""
    found = [*(_found(one, pair.a) for one in a), *(_found(one, pair.b) for one in b)]
    return len({one.to_its_end for one in found if one is not None}) > 1


def _add(labels: dict[str, list[str]], tool: str, label: str) -> None:
    known = labels.setdefault(tool, [])
    if label not in known:
        known.append(label)


def _between(n_a: int, n_b: int, *, whole: bool) -> Iterator[Reason]:
    """Yield what single runs leave open: what changed between A and B."""
    if whole:
        yield from filter(None, [lone(n_b, n_a)])
        return
    yield because("sides_apart")
    if n_a + n_b > len("AB"):
        yield because("few_runs", n_a=n_a, n_b=n_b, n_needed=FEWEST_FOR_CONFIDENCE)


def _side(one: Benchmarks) -> ComparedSide:
    return ComparedSide(
        path=one.path,
        run_id=one.run_id,
        started_at=one.started_at,
        environment_sha256=one.environment_sha256,
        n_cases=len(one.benchmarks),
        tool=one.tool,
    )
