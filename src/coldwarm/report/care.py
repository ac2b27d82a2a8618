"""What to read with care: the cautions of many cases, told as one for each kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from coldwarm.contracts.base import WARM
from coldwarm.report import units
from coldwarm.report.figures import (
    cold_figure,
    cold_summary,
    group_name,
    headline,
    peak_memory,
    reached,
)
from coldwarm.report.words import KINDS, MODES, mode_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.result import (
        CaseResult,
        Caution,
        CautionKind,
        ColdSummary,
        Comparison,
        WarmSummary,
    )

    Told = list[tuple[CaseResult, Caution]]


@dataclass(frozen=True)
class Remark:
    """What to heed: in a word or two, and in a sentence."""

    label: str
    text: str


def of_group(cases: Sequence[CaseResult], modes: Sequence[CacheMode]) -> tuple[Remark, ...]:
    """Return what holds for candidates of one group, validity first."""
    remarks = [
        Remark("warned", f"{case.candidate}: {case.reason}")
        for case in cases
        if case.status == "warn" and case.reason
    ]
    remarks += _missing(cases, modes)
    for kind in ("rejected", "failed"):
        remarks += [
            Remark(KINDS[kind], f"{case.candidate}, {mode_name(one.subject)}: {_whole(one)}")
            for case, one in _of_kind(cases, kind)
        ]
    remarks += _by_candidate(cases, "unsteady", "the warm call did not settle")
    remarks += _by_candidate(cases, "bimodal", "the warm call has two levels")
    remarks += _by_candidate(cases, "compiled", "left out, for programs were compiled meanwhile")
    remarks += _by_candidate(cases, "bytecode", "loaded modules were parsed by every process")
    return tuple(remarks + _second_call(cases))


def of_suite(cases: Sequence[CaseResult]) -> tuple[Remark, ...]:
    """Return what holds for the machine, or for figures and verdicts of all groups."""
    return (*_noisy(cases), *_precision(cases), *_few(cases), *_undecided(cases))


def _of_kind(cases: Iterable[CaseResult], kind: CautionKind) -> Told:
    return [(case, one) for case in cases for one in case.warnings if one.kind == kind]


def _whole(caution: Caution) -> str:
    return f"{caution.text}; {caution.advice}"


def _missing(cases: Sequence[CaseResult], modes: Sequence[CacheMode]) -> list[Remark]:
    """Return why cells of the main table are empty, each reason once."""
    found: dict[tuple[str, str], list[str]] = {}
    for case in cases:
        for mode in modes:
            if headline(case, mode) is None:
                key = (MODES[mode], _why_missing(case, mode))
                found.setdefault(key, []).append(case.candidate)
        if peak_memory(case) is None and set(modes) != {WARM}:
            reasons = [r for s in case.cold for r in _reasons(s, "peak_rss_bytes")]
            reason = next(iter(reasons), case.reason or "no fresh process was measured")
            found.setdefault(("peak memory", reason), []).append(case.candidate)
    told = [f"{what} of {', '.join(names)}: {why}" for (what, why), names in found.items()]
    return [Remark("no figure", "; ".join(told))] if told else []


def _why_missing(case: CaseResult, mode: CacheMode) -> str:
    """Find the reason for a missing figure where its record keeps it."""
    cold = cold_summary(case, mode)
    of_cold = _reasons(cold, cold_figure(case), "seconds")
    reasons = [
        *(_reasons(case.warm, "call_s") if mode == WARM else of_cold),
        *_reasons(case, mode, "warm" if mode == WARM else "cold"),
    ]
    if not reasons and mode not in case.protocol.cache_modes:
        reasons = ["not asked for"]
    if not reasons and case.reason:
        reasons = [case.reason]
    return reasons[0] if reasons else "no process gave a valid result"


def _reasons(record: CaseResult | ColdSummary | WarmSummary | None, *keys: str) -> list[str]:
    if record is None:
        return []
    return [record.null_reasons[key] for key in keys if key in record.null_reasons]


def _by_candidate(cases: Sequence[CaseResult], kind: CautionKind, what: str) -> list[Remark]:
    """Tell a kind once, the candidates of equal figures together."""
    told = _of_kind(cases, kind)
    if not told:
        return []
    figures: dict[str, list[str]] = {}
    for case, one in told:
        figures.setdefault(one.figure or "", []).append(case.candidate)
    names = [
        ", ".join(candidates) + (f" ({figure})" if figure else "")
        for figure, candidates in figures.items()
    ]
    # The first one names what is counted; that is enough.
    names[1:] = [name.replace(" processes)", ")") for name in names[1:]]
    return [Remark(KINDS[kind], f"{', '.join(names)}: {what}; {told[0][1].advice}")]


def _second_call(cases: Sequence[CaseResult]) -> list[Remark]:
    told = _of_kind(cases, "second_call")
    if not told:
        return []
    names = ", ".join(case.candidate for case, _ in told)
    ratio = _range([one.value for _, one in told if one.value is not None], units.times)
    advice = told[0][1].advice
    return [Remark(KINDS["second_call"], f"{ratio} a steady one in {names}; {advice}")]


def _range(values: Sequence[float], write: Callable[[float], str]) -> str:
    """Write the smallest and the largest value, or the only one."""
    if not values:
        return units.MISSING
    ends = dict.fromkeys(write(value) for value in (min(values), max(values)))
    return " to ".join(ends)


def _noisy(cases: Sequence[CaseResult]) -> list[Remark]:
    """Tell each disturbance of the machine once, with its largest figure."""
    told = [one for _, one in _of_kind(cases, "noisy")]
    if not told:
        return []
    watched = sum(o.telemetry is not None for case in cases for o in case.observations)
    parts = []
    for subject in dict.fromkeys(one.subject for one in told):
        same = [one for one in told if one.subject == subject]
        worst = max(same, key=lambda one: one.value or 0.0)
        seen = sum(one.n_processes for one in same)
        what = subject.replace("…", f"up to {worst.figure}", 1)
        parts.append(f"{what} ({seen} of {max(watched, seen)} processes)")
    return [Remark(KINDS["noisy"], f"{', '.join(parts)}; {told[0].advice}")]


def _precision(cases: Sequence[CaseResult]) -> list[Remark]:
    told = [one for _, one in _of_kind(cases, "precision")]
    if not told:
        return []
    asked = {round(100 * case.protocol.effort.precision, 6) for case in cases}
    figures = [reached(case, mode) for case in cases for mode in case.protocol.cache_modes]
    n_figures = sum(figure is not None for figure in figures)
    wanted = _range(sorted(asked), "{:g}".format)
    text = f"±{wanted}% asked for, not reached by {len(told)} of {n_figures} figures"
    return [Remark(KINDS["precision"], f"{text}; {told[0].advice}")]


def _few(cases: Sequence[CaseResult]) -> list[Remark]:
    """Tell which groups rest on few processes; none at all is told as a missing figure."""
    told = [(case, one) for case, one in _of_kind(cases, "few") if one.n_processes]
    if not told:
        return []
    counts: dict[str, set[int]] = {}
    for case, one in told:
        counts.setdefault(group_name(case), set()).add(one.n_processes)
    n_groups = len({group_name(case) for case in cases})
    if len(counts) == n_groups and len({frozenset(n) for n in counts.values()}) == 1:
        where = f"{_counts(next(iter(counts.values())))} per figure"
    else:
        where = ", ".join(f"{_counts(n)} per figure in {name}" for name, n in counts.items())
    return [Remark(KINDS["few"], f"{where}: wide intervals, or none; {told[0][1].advice}")]


def _counts(numbers: Iterable[int]) -> str:
    return f"only {' or '.join(map(str, sorted(numbers)))}"


def _undecided(cases: Sequence[CaseResult]) -> list[Remark]:
    """Explain all undecided verdicts at once, and those that could not be judged by reason."""
    judged = [(case, one) for case in cases for one in case.comparisons]
    open_ = [(case, one) for case, one in judged if one.verdict == "undecided"]
    seen = [one.smallest_detectable for _, one in open_ if one.smallest_detectable is not None]
    remarks = []
    if seen:
        remarks.append(
            f"{len(seen)} of {len(judged)} verdicts: the interval of the ratio is too wide; the "
            f"smallest difference that this run could have shown is {_range(seen, _difference)}; "
            "more processes narrow it"
        )
    remarks += _unjudged([pair for pair in open_ if pair[1].smallest_detectable is None])
    return [Remark("undecided", text) for text in remarks]


def _difference(relative: float) -> str:
    return units.times(1 + relative)


def _unjudged(pairs: Sequence[tuple[CaseResult, Comparison]]) -> list[str]:
    reasons: dict[str, list[str]] = {}
    for case, one in pairs:
        reasons.setdefault(one.reason, []).append(case.candidate)
    return [f"{', '.join(dict.fromkeys(names))}: {why}" for why, names in reasons.items()]
