"""Two results held against each other, each of one run or several: refused, or judged as a whole.

Runs of coldwarm are compared case by case. Where one side at least is another tool's, benchmarks
are, by their names. Nothing of what makes two results of coldwarm comparable is known of another
tool's: how it was called and waited for, which caches were filled, whether its answer was right. So
only the unit, the kind of figure and, where both sides tell it, the processor must agree, and all
else is said. Its processes share no rounds with any other, so the two sides are never paired.
"""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches
from itertools import combinations
from typing import TYPE_CHECKING, Literal, NamedTuple

from coldwarm.contracts.comparison import (
    ComparedSide,
    KnownNoise,
    LeftOutCase,
    RunComparison,
    SideDifference,
)
from coldwarm.contracts.reasons import because, brief
from coldwarm.contracts.result import Benchmarks, Measured
from coldwarm.errors import NothingComparableError, UsageError, printable, shorten
from coldwarm.stats.comparable import (
    FAILED,
    FIELDS,
    are_unit,
    between_runs,
    cautions,
    common_cases,
    disagreements,
    failure,
    known_noise,
    labelled,
    software_differences,
)
from coldwarm.stats.compared_figures import PairedFigure, Side, judge, judge_counts, metrics, worded
from coldwarm.stats.summarise import joined_counts

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from coldwarm.contracts.answer import CountVerdict
    from coldwarm.contracts.base import Difference
    from coldwarm.contracts.bench import NoiseReport
    from coldwarm.contracts.comparison import ComparedMetric, UnshownLimit
    from coldwarm.contracts.policy import Policy
    from coldwarm.contracts.reasons import Reason
    from coldwarm.contracts.result import BenchmarkSamples

    Files = Sequence[Benchmarks]


_SHOWN = 3
"""Names of a side that an error tells."""
_LONGEST_SHOWN = 60
_TIME, _MEMORY = "elsewhere.time_s", "elsewhere.memory_bytes"
_KINDS = {"cold": "whole starts", "warm": "calls within a process", "memory": "memory"}


class IncomparableError(UsageError):
    """Two results that cannot be compared as they are; ``report.compare`` has the words."""

    def __init__(
        self, differences: Sequence[SideDifference], failed: Sequence[LeftOutCase]
    ) -> None:
        """Refuse because of these differences and failed cases."""
        self.differences, self.failed = differences, failed
        self.fields = [*dict.fromkeys([FAILED for _ in failed] + [it.field for it in differences])]
        super().__init__(f"A and B cannot be compared as they are: {', '.join(self.fields)}")


class NothingValidError(NothingComparableError):
    """Two results without a figure to compare; ``report.compare.refusals`` has the words."""

    def __init__(self, a: str, b: str, reason: Reason, left_out: Sequence[LeftOutCase]) -> None:
        """Say so of the results at these two places."""
        self.a, self.b, self.reason, self.left_out = a, b, reason, left_out
        super().__init__(f"nothing valid to compare in {a} and {b}: {brief(reason)}")


class SameRunError(NothingComparableError):
    """A run was to be compared with itself."""


def compare_results(  # noqa: PLR0913 - two sides, and each choice by name
    a: Sequence[Measured] | Sequence[Benchmarks],
    b: Sequence[Measured] | Sequence[Benchmarks],
    policy: Policy,
    allow: Collection[str] = (),
    *,
    reports: Sequence[NoiseReport] = (),
    pairs: Iterable[str] = (),
) -> RunComparison:
    """Judge B against A in everything that all their runs, or all their files, have.

    Args:
        a: What is compared with, such as the runs before a change.
        b: What is judged, of the same kind.
        policy: Which differences matter, and which fail.
        allow: ``FIELDS`` that may differ; ``failed`` leaves failed cases out.
        reports: Of the noise of this machine, by which single runs are judged.
        pairs: ``A=B``: names of benchmarks to compare, where they are called otherwise in B.

    Raises:
        SameRunError: a run is there twice, or two files hold the same samples.
        IncomparableError: a field differs that must agree, or a case failed.
        UsageError: a pair, ``allow`` or a pattern of the policy names nothing, or two benchmarks
            are not the same kind of figure.
        NothingComparableError: no figure is left to compare.
    """
    _refuse_unknown(allow)
    before, now = ([one for one in side if isinstance(one, Measured)] for side in (a, b))
    if before and now:
        return _compare_runs(before, now, policy, allow, reports)
    first, second = ([one for one in side if isinstance(one, Benchmarks)] for side in (a, b))
    return _compare_benchmarks(first, second, policy, allow, pairs)


def _refuse(
    differing: Sequence[SideDifference], failed: Sequence[LeftOutCase], allow: Collection[str]
) -> None:
    """Refuse what differs, and what failed, where it was not allowed to."""
    refused = [item for item in differing if item.field not in allow]
    refused_failures = failed if FAILED not in allow else []
    if refused or refused_failures:
        raise IncomparableError(refused, refused_failures)


def _compare_runs(
    a: Sequence[Measured],
    b: Sequence[Measured],
    policy: Policy,
    allow: Collection[str],
    reports: Sequence[NoiseReport],
) -> RunComparison:
    sides = {"A": a, "B": b}
    _refuse_same_runs(sides)
    common = common_cases(a, b)
    failed = [item for name in common for item in _failures(name, a, b)]
    missing = [*_missing(a, b, "A"), *_missing(b, a, "B")]
    missing += [item for name in common for item in _unmeasured(name, a, b)]
    out = {item.case for item in (*failed, *missing)}
    live = [name for name in common if name not in out]
    differing = disagreements(sides, live)
    _refuse(differing, failed, allow)
    noise = None if are_unit(len(a), len(b)) else known_noise(reports, a[0].environment)
    noisy = replace(policy, noise=noise.shares) if noise else policy
    judged, unshown = worded(judge(a, b, live, noisy))
    if all(item.ratio is None for item in judged):
        reason = judged[0].reason if judged else because("no_valid_process")
        left_out = [] if judged else [*failed, *missing]
        raise NothingValidError(a[0].path, b[0].path, reason, left_out)
    return _written(
        a,
        b,
        policy,
        metrics=judged,
        unshown=unshown,
        counts=[verdict for name in live for verdict in _counts(name, a, b, policy)],
        noise=noise,
        allowed=differing,
        software=software_differences(a[0], b[0], live),
        left_out=[*failed, *missing],
        warnings=cautions(sides, live, noise),
    )


def _written(  # noqa: PLR0913 - a record's parts, by their names
    a: Sequence[Measured | Benchmarks],
    b: Sequence[Measured | Benchmarks],
    policy: Policy,
    *,
    metrics: list[ComparedMetric],
    unshown: list[UnshownLimit],
    noise: KnownNoise | None,
    allowed: list[SideDifference],
    left_out: list[LeftOutCase],
    warnings: list[Reason],
    counts: Sequence[CountVerdict] = (),
    software: Sequence[Difference] = (),
) -> RunComparison:
    """Write down what was judged; the run is the unit where no noise of single runs counts."""
    policy.refuse_unmatched({(item.case, item.metric, item.kind) for item in metrics})
    several = len(a) + len(b) > len("AB")
    failing = [item.fails_beyond for item in metrics] + [item.fails_beyond for item in counts]
    return RunComparison(
        a=_side(a[0]),
        b=_side(b[0]),
        a_runs=[_side(one) for one in a if several],
        b_runs=[_side(one) for one in b if several],
        unit="process" if noise else "run",
        noise=noise,
        unshown=unshown,
        metrics=metrics,
        counts=list(counts),
        allowed=allowed,
        software=list(software),
        left_out=left_out,
        warnings=warnings,
        n_failing=sum(limit is not None for limit in failing),
    )


def _counts(
    name: str, a: Sequence[Measured], b: Sequence[Measured], policy: Policy
) -> list[CountVerdict]:
    """Judge what was compiled, as all runs of a side counted it."""
    before, now = (joined_counts([run.cases[name].counts for run in side]) for side in (a, b))
    return judge_counts(name, before, now, policy.counts)


def _refuse_same_runs(sides: Mapping[str, Sequence[Measured]]) -> None:
    for (one, first), (other, second) in combinations(labelled(sides), 2):
        ids = [run.suite and run.suite.run_id for run in (first, second)]
        if (ids[0] is not None and ids[0] == ids[1]) or (
            first.files and first.files == second.files
        ):
            what = f"{one} and {other} are one run ({first.path})"
            raise SameRunError(f"{what}, which says nothing of a difference; give two runs")


def _refuse_unknown(allow: Collection[str]) -> None:
    """Refuse fields that are none.

    Raises:
        UsageError: there is one.
    """
    for name in allow:
        if name not in FIELDS:
            near = get_close_matches(name, FIELDS, n=2, cutoff=0.5)
            hint = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(FIELDS)}"
            message = f"--allow: no field is called {name!r}; {hint}"
            raise UsageError(message)


def _failures(name: str, a: Sequence[Measured], b: Sequence[Measured]) -> Iterator[LeftOutCase]:
    found = [[failure(run.cases[name]) for run in side] for side in (a, b)]
    reasons = [next((why for why in side if why), None) for side in found]
    if why := reasons[0] or reasons[1]:
        yield LeftOutCase(case=name, side=_where(*reasons), reason=why, failed=True)


def _where(a: object, b: object) -> Literal["A", "B", "both"]:
    """Say on which side there is something."""
    return "both" if a and b else "A" if a else "B"


def _missing(
    side: Sequence[Measured], other: Sequence[Measured], label: Literal["A", "B"]
) -> Iterator[LeftOutCase]:
    """Yield the cases that a run of this side has measured, as missing in one of the other."""
    lacking: Literal["A", "B"] = "B" if label == "A" else "A"
    measured = {
        name: None for run in side for name, case in run.cases.items() if case.status != "warn"
    }
    for name in measured:
        if any(name not in run.cases for run in other):
            yield LeftOutCase(case=name, side=lacking, reason=because("only_in", side=label))


def _unmeasured(name: str, a: Sequence[Measured], b: Sequence[Measured]) -> Iterator[LeftOutCase]:
    # A case that lacks one of its modes has figures of the others.
    sides = [[run.cases[name] for run in side] for side in (a, b)]
    empty = [[it for it in side if it.status == "warn" and not metrics(it)] for side in sides]
    first = next((case for side in empty for case in side), None)
    if first is not None:
        reason = first.reason or because("no_valid_process")
        yield LeftOutCase(case=name, side=_where(*empty), reason=reason)


class _Pair(NamedTuple):
    """Two benchmarks that are compared: their names in A and in B."""

    a: str
    b: str

    @property
    def name(self) -> str:
        """The name of the comparison."""
        return self.a if self.a == self.b else f"{self.b} against {self.a}"


def _compare_benchmarks(
    a: Files, b: Files, policy: Policy, allow: Collection[str], pairs: Iterable[str]
) -> RunComparison:
    _refuse_same_files((*a, *b))
    failed = _failed_benchmarks(a, b)
    differing = [*_processors(a, b)]
    _refuse(differing, failed, allow)
    asked = [_named_pair(text, a, b) for text in pairs]
    matched = asked or _common(a, b)
    if not matched:
        raise NothingComparableError(_why_none(a, b))
    whole = are_unit(len(a), len(b))
    judged, unshown = worded([_figure(pair, a, b, policy, whole=whole) for pair in matched])
    return _written(
        a,
        b,
        policy,
        metrics=judged,
        unshown=unshown,
        noise=None if whole else KnownNoise(n_reports=0, shares={}),
        allowed=differing,
        left_out=[*failed, *([] if asked else _left_out(a, b, matched))],
        warnings=_cautions_of_files(a, b, matched, whole=whole),
    )


def _figure(pair: _Pair, a: Files, b: Files, policy: Policy, *, whole: bool) -> PairedFigure:
    sides = ([_found(one, pair.a) for one in a], [_found(one, pair.b) for one in b])
    first, *others = [one for side in sides for one in side if one is not None]
    for other in others:
        if other.kind != first.kind:
            kinds = f"{_KINDS[first.kind]} and {_KINDS[other.kind]}"
            raise UsageError(f"{pair.name} are {kinds}, which are not the same figure; name others")
    metric = _MEMORY if first.kind == "memory" else _TIME
    limits = policy.limits(pair.name, metric, first.kind)
    before, now = ([_values(one) for one in side] for side in sides)
    return PairedFigure(pair.name, metric, first.kind, before, now, limits, whole)


def _values(one: BenchmarkSamples | None) -> Side:
    if one is None:
        return Side({})
    samples = {str(place): list(values) for place, values in enumerate(one.processes)}
    return Side(samples, tuple(one.states))


def _found(one: Benchmarks, name: str) -> BenchmarkSamples | None:
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


def _named_pair(text: str, a: Files, b: Files) -> _Pair:
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


def _refuse_same_files(files: Files) -> None:
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


def _failed_benchmarks(a: Files, b: Files) -> list[LeftOutCase]:
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


def _cautions_of_files(
    a: Files, b: Files, matched: Sequence[_Pair], *, whole: bool
) -> list[Reason]:
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
    return [*told, *ends, *reasons.values(), *between_runs(len(a), len(b), whole=whole)]


def _ends(pair: _Pair, a: Files, b: Files) -> bool:
    """Say whether starts end at a result in one file and with the process in another."""
    found = [*(_found(one, pair.a) for one in a), *(_found(one, pair.b) for one in b)]
    return len({one.to_its_end for one in found if one is not None}) > 1


def _add(labels: dict[str, list[str]], tool: str, label: str) -> None:
    known = labels.setdefault(tool, [])
    if label not in known:
        known.append(label)


def _side(one: Measured | Benchmarks) -> ComparedSide:
    if isinstance(one, Benchmarks):
        return ComparedSide(
            path=one.path,
            run_id=one.run_id,
            started_at=one.started_at,
            environment_sha256=one.environment_sha256,
            n_cases=len(one.benchmarks),
            tool=one.tool,
        )
    return ComparedSide(
        path=one.path,
        run_id=one.suite.run_id if one.suite else None,
        started_at=one.suite.started_at if one.suite else None,
        environment_sha256=one.environment_sha256,
        n_cases=len(one.cases),
    )
