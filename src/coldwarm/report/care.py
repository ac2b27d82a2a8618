"""Caveats: the cautions of many cases, joined by kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from coldwarm.contracts.base import WARM
from coldwarm.report import units
from coldwarm.report.headline import (
    cold_figure,
    cold_summary,
    comparison,
    group_name,
    headline,
    peak_memory,
    reached,
)
from coldwarm.report.sentences import (
    CAUTION_ADVICE,
    KEEPS_MEMORY,
    advice,
    caution_words,
    counted,
    with_advice,
    words,
)
from coldwarm.report.words import KINDS, MARKS, MODE_NAMES, mode_name
from coldwarm.stats.cautions import severity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from coldwarm.contracts.answer import Caution, CautionKind
    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.reasons import Reason
    from coldwarm.contracts.result import CaseResult, ColdSummary, WarmSummary

    OfCases = list[tuple[CaseResult, Caution]]


_DRIFTS = "drifts_across"
_WORST_FIRST = [*KINDS.values(), "undecided"]
"""Labels of remarks; others come before all, for they say what is missing."""
_FRAMEWORKS = ("jax", "numba", "torch")
_BASES = {
    "shared_processes": "processes that call both",
    "forked_processes": "processes that call both",
    "starts_in_turns": "starts that take turns",
    "block_pairs": "rounds that both have",
    "common_rounds": "rounds that both have",
}
"""Where a ratio is from, if not from all processes, by the code of that."""
_OTHERWISE = {"shared_otherwise": "warm call", "turns_otherwise": "start"}
"""What is told of where two designs disagree, by the code of that."""
_MOST_BRIEF = 2
"""Caveats of a short list."""


class Remark(NamedTuple):
    """Remark: in a word or two, in a sentence, and what to do about it."""

    label: str
    text: str
    cure: str = ""
    short: str = ""
    """For one line, where the text is too long for that."""
    like: str = ""
    """Label of remarks that are as bad, where its own is none of them."""

    @property
    def whole(self) -> str:
        """The sentence with what to do."""
        return "; ".join(filter(None, (self.text, self.cure)))


def brief(
    groups: Sequence[tuple[str, Sequence[Remark]]], of_all: Sequence[Remark]
) -> tuple[tuple[str, str], ...]:
    """Return the worst remark of each label, in short where it has that, without its cure."""
    found: dict[str, str] = {}
    for one in sorted([*(one for _, r in groups for one in r), *of_all], key=_badness):
        found.setdefault(one.label, one.short or one.text)
    return tuple(found.items())


def shortened(lines: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the first of these lines, and one that says how to see more."""
    n_left = len(lines) - _MOST_BRIEF
    more = f"{counted(n_left, 'caveat')}, " if n_left > 0 else ""
    return [*lines[:_MOST_BRIEF], ("more", f"{more}what the columns mean: --verbose")]


def _badness(remark: Remark) -> int:
    """Return the place of a remark, the worst first: what makes figures wrong or missing."""
    label = remark.like or remark.label
    return _WORST_FIRST.index(label) if label in _WORST_FIRST else -1


def joined(
    groups: Sequence[tuple[str, Sequence[Remark]]], of_all: Sequence[Remark]
) -> tuple[tuple[str, str], ...]:
    """Return the remarks of groups and those of all as one list, each cure once.

    The name of a group stands before what is of it alone, where there are several.
    """
    found: dict[tuple[str, str], dict[str, list[str]]] = {}
    for title, remarks in groups:
        for one in remarks:
            texts = found.setdefault((one.label, one.cure), {})
            texts.setdefault(one.text, []).append(title)
    listed = []
    for (label, cure), texts in found.items():
        said = [
            text if len(groups) == 1 else f"{_where(where, len(groups))}: {text}"
            for text, where in texts.items()
        ]
        said[-1] = "; ".join(filter(None, (said[-1], cure)))
        listed += [("" if place else label, text) for place, text in enumerate(said)]
    labels = [one.label for one in of_all]
    named = ["" if one in labels[:place] else one for place, one in enumerate(labels)]
    texts_of_all = [one.whole for one in of_all]
    return (*listed, *zip(named, texts_of_all, strict=True))


def _where(titles: Sequence[str], n_groups: int) -> str:
    return "all groups" if len(titles) == n_groups else ", ".join(titles)


def of_group(cases: Sequence[CaseResult], modes: Sequence[CacheMode]) -> tuple[Remark, ...]:
    """Return what holds for candidates of one group, validity first."""
    remarks = [
        Remark("warned", f"{case.candidate}: {words(case.reason)}", advice(case.reason))
        for case in cases
        if case.status == "warn" and case.reason
    ]
    remarks += _untried(cases) + _missing(cases, modes)
    for kind in ("rejected", "failed", "kept"):
        remarks += [
            Remark(
                KINDS[kind],
                f"{case.candidate}, {mode_name(caution.cache_mode or '')}:"
                f" {caution_words(caution)}",
                advice(caution.reason) or CAUTION_ADVICE[kind],
            )
            for case, caution in _of_kind(cases, kind)
        ]
    remarks += _by_candidate(cases, "unsteady", "the warm call did not become steady")
    remarks += _drifting(cases) + _weak_ratios(cases, modes)
    remarks += _by_candidate(cases, "bimodal", "the warm call has two levels")
    remarks += [
        Remark(
            KINDS["uneven"], f"{case.candidate}: {words(caution.reason)}", CAUTION_ADVICE["uneven"]
        )
        for case, caution in _of_kind(cases, "uneven")
    ]
    remarks += _by_candidate(cases, "compiled", "left out, for programs were compiled meanwhile")
    remarks += _settings(cases)
    remarks += _counted_apart(cases)
    remarks += _by_candidate(cases, "bytecode", "loaded modules were parsed by every process")
    # Who asks for warm calls alone asks for no start, and not what comes right after it.
    second = _second_call(cases) if {*modes} - {WARM} else []
    return tuple(remarks + _memory(cases) + second + _other_calls(cases))


def _weak_ratios(cases: Sequence[CaseResult], modes: Sequence[CacheMode]) -> list[Remark]:
    """Tell where a ratio is not that of the medians beside it, or was found otherwise, too."""
    return _of_other_rounds(cases, modes) + [
        Remark("ratio", f"{_OTHERWISE[part.code]} of {case.candidate}: {words(part)}")
        for case in cases
        for verdict in case.comparisons
        for part in _every(verdict.reason)
        if part.code in _OTHERWISE
    ]


def _of_other_rounds(cases: Sequence[CaseResult], modes: Sequence[CacheMode]) -> list[Remark]:
    """Name the figures whose medians have a ratio outside the interval that is told of it."""
    base = next((case for case in cases if case.baseline), None)
    each = [(case, base, mode) for case in cases for mode in modes if base is not None]
    return [one for sides in each if (one := _of_medians(*sides)) is not None]


def _of_medians(case: CaseResult, base: CaseResult, mode: CacheMode) -> Remark | None:
    """Say where a ratio is from that the two medians do not have; ``None``: they have it."""
    told, ours, theirs = comparison(case, mode), headline(case, mode), headline(base, mode)
    if told is None or told.ratio is None or told.low is None or told.high is None:
        return None
    if ours is None or theirs is None or not theirs.median:
        return None
    by_medians = ours.median / theirs.median
    where = next((_BASES[one.code] for one in _every(told.reason) if one.code in _BASES), None)
    is_told = told.verdict in {"faster", "slower"}
    if where is None or not is_told or told.low <= by_medians <= told.high:
        return None
    what = f"{case.candidate}, {'warm call' if mode == WARM else mode_name(mode)}"
    ratio, other = _times(told.ratio), _times(by_medians)
    text = f"{what}: {ratio} in {where}, {other} by the medians of all rounds"
    short = f"{what}: {ratio}, by medians {other}"
    return Remark("ratio", text, short=short, like=KINDS["bimodal"])


def _times(ratio: float) -> str:
    return units.factor(ratio, ratio, "slower" if ratio > 1 else "faster")


def _every(reason: Reason) -> Iterator[Reason]:
    """Yield a reason and all that are inside it."""
    yield reason
    for part in reason.parts:
        yield from _every(part)


def of_suite(cases: Sequence[CaseResult]) -> tuple[Remark, ...]:
    """Return what holds for the machine, or for figures and verdicts of all groups."""
    return (*_shared(cases), *_noisy(cases), *_precision(cases), *_few(cases), *_undecided(cases))


def _shared(cases: Sequence[CaseResult]) -> Iterator[Remark]:
    """Yield candidates of one file that all load frameworks which not all of them need."""
    by_file: dict[str, list[CaseResult]] = {}
    for case in cases:
        if case.cold and case.protocol.own is not None and case.protocol.own.target:
            by_file.setdefault(case.protocol.own.target.rpartition(":")[0], []).append(case)
    by_file.pop("__main__", None)  # functions of a notebook come with the imports of their own
    for file, members in by_file.items():
        targets = {case.protocol.own and case.protocol.own.target for case in members}
        seen = [one for case in members for one in case.observations if one.status == "ok"]
        loaded = [one for one in _FRAMEWORKS if seen and all(one in o.versions for o in seen)]
        spared = [one for one in loaded if not all(_compiles_with(one, case) for case in members)]
        if len(targets) > 1 and spared:
            text = f"each first result has the import of {', '.join(spared)}, as {file} has it"
            cure = "give each candidate a file of its own"
            yield Remark("shared file", text, cure, like=KINDS["few"])


def _compiles_with(framework: str, case: CaseResult) -> bool:
    """Say whether a process of a case compiled something with a framework."""
    found = (one for seen in case.observations for one in seen.evidence)
    return any(one.owner == framework and one.compiles for one in found)


def _of_kind(cases: Iterable[CaseResult], kind: CautionKind) -> OfCases:
    return [(case, caution) for case in cases for caution in case.warnings if caution.kind == kind]


def _missing(cases: Sequence[CaseResult], modes: Sequence[CacheMode]) -> list[Remark]:
    """Return why cells of the main table are empty, each reason once."""
    lacking: dict[tuple[str, str], list[str]] = {}
    for case in cases:
        for mode in modes:
            if headline(case, mode) is None:
                key = (MODE_NAMES[mode], _why_missing(case, mode))
                lacking.setdefault(key, []).append(case.candidate)
        if peak_memory(case) is None and set(modes) != {WARM}:
            reasons = [r for s in case.cold for r in _reasons(s, "peak_rss_bytes")]
            reasons += [words(case.reason)] if case.reason else ["no fresh process was measured"]
            lacking.setdefault(("peak memory", reasons[0]), []).append(case.candidate)
    parts = [f"{what} of {', '.join(names)}: {why}" for (what, why), names in lacking.items()]
    return [Remark("no figure", "; ".join(parts))] if parts else []


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
        reasons = [words(case.reason)]
    return reasons[0] if reasons else "no process gave a valid result"


def _reasons(record: CaseResult | ColdSummary | WarmSummary | None, *keys: str) -> list[str]:
    if record is None:
        return []
    return [words(record.null_reasons[key]) for key in keys if key in record.null_reasons]


def _counted_apart(cases: Sequence[CaseResult]) -> list[Remark]:
    """Say which counts are not the same in all processes, though they should be."""
    found = [
        f"{case.candidate}: {words(caution.reason)}" for case, caution in _of_kind(cases, "counts")
    ]
    return (
        [Remark(KINDS["counts"], f"{'; '.join(found)}; {CAUTION_ADVICE['counts']}")]
        if found
        else []
    )


def _by_candidate(cases: Sequence[CaseResult], kind: CautionKind, what: str) -> list[Remark]:
    """Say a kind once, the candidates of equal figures together."""
    figures: dict[str, list[str]] = {}
    for case, caution in _of_kind(cases, kind):
        if caution.reason.code == _DRIFTS:
            continue
        figures.setdefault(_figure(caution), []).append(case.candidate)
    if not figures:
        return []
    # The first one names what is counted; that is enough.
    nouns = [" processes" if kind in {"unsteady", "bimodal"} else "", *[""] * len(figures)]
    names = [
        f"{', '.join(candidates)} ({figure}{noun})"
        for (figure, candidates), noun in zip(figures.items(), nouns, strict=False)
    ]
    return [Remark(KINDS[kind], f"{what}: {', '.join(names)}", CAUTION_ADVICE[kind])]


def _drifting(cases: Sequence[CaseResult]) -> list[Remark]:
    """Say whose warm calls change by themselves, by how much."""
    found = [one for one in _of_kind(cases, "unsteady") if one[1].reason.code == _DRIFTS]
    texts = [f"{case.candidate}: {words(caution.reason)}" for case, caution in found]
    advice_ = CAUTION_ADVICE["unsteady"]
    return [Remark(KINDS["unsteady"], f"{'; '.join(texts)}; {advice_}")] if texts else []


def _settings(cases: Sequence[CaseResult]) -> list[Remark]:
    """Say under which settings candidates were measured, those of equal ones together."""
    having: dict[str, list[str]] = {}
    for case, caution in _of_kind(cases, "settings"):
        having.setdefault(words(caution.reason), []).append(case.candidate)
    parts = [f"{', '.join(candidates)}: {said}" for said, candidates in having.items()]
    cure = CAUTION_ADVICE["settings"]
    return [Remark(KINDS["settings"], "; ".join(parts), cure)] if parts else []


def _figure(caution: Caution) -> str:
    values = caution.reason.values
    if caution.reason.code == "compiled_blocks":
        return f"{values['n_blocks']} blocks"
    if caution.reason.code == "no_bytecode":
        return f"{values['n_missing']} of {values['n_modules']}"
    return f"{caution.n_processes} of {caution.of_processes}"


def _memory(cases: Sequence[CaseResult]) -> list[Remark]:
    """Say whose calls would be faster if freed memory were kept, and what does that."""
    found = _of_kind(cases, "allocator")
    texts = [f"{case.candidate}: {words(caution.reason)}" for case, caution in found]
    cure = CAUTION_ADVICE["allocator"]
    names = ", ".join(case.candidate for case, _ in found)
    short = f"{names}: {KEEPS_MEMORY} before the loop may speed up calls"
    return [Remark(KINDS["allocator"], "; ".join(texts), cure, short)] if texts else []


def _second_call(cases: Sequence[CaseResult]) -> list[Remark]:
    slow = _of_kind(cases, "second_call")
    if not slow:
        return []
    names = ", ".join(case.candidate for case, _ in slow)
    ratio = _range([severity(caution.reason) for _, caution in slow], units.times)
    cure = CAUTION_ADVICE["second_call"]
    return [Remark(KINDS["second_call"], f"{ratio} a steady one in {names}", cure)]


def _other_calls(cases: Sequence[CaseResult]) -> list[Remark]:
    """Say whose calls cost more than the timed ones, and when."""
    return [
        Remark(
            KINDS["other_calls"],
            f"{case.candidate}: {words(caution.reason)}",
            advice(caution.reason),
        )
        for case, caution in _of_kind(cases, "other_calls")
    ]


def _untried(cases: Sequence[CaseResult]) -> list[Remark]:
    """Say whose calls nothing is known of with other data, those of one reason together."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for case, caution in _of_kind(cases, "untried"):
        reason = caution.reason
        key = MARKS[reason.code][0], words(reason), advice(reason)
        found.setdefault(key, []).append(case.candidate)
    return [
        Remark(label, f"{', '.join(names)}: {said}", cure)
        for (label, said, cure), names in found.items()
    ]


def _range(values: Sequence[float], write: Callable[[float], str]) -> str:
    ends = dict.fromkeys(write(value) for value in (min(values), max(values)))
    return " to ".join(ends)


def _noisy(cases: Sequence[CaseResult]) -> list[Remark]:
    """Say each disturbance of the machine once, with its largest figure."""
    disturbances: dict[str, list[Caution]] = {}
    for _, caution in _of_kind(cases, "noisy"):
        disturbances.setdefault(caution.reason.code, []).append(caution)
    watched = sum(o.telemetry is not None for case in cases for o in case.observations)
    parts, cures = [], []
    short = ""
    for cautions in disturbances.values():
        worst = max((caution.reason for caution in cautions), key=severity)
        cures.append(advice(worst) or CAUTION_ADVICE["noisy"])
        noisy = sum(caution.n_processes for caution in cautions)
        said = f"{words(worst)} at worst"
        short = short or said
        parts.append(f"{said} ({noisy} of {max(watched, noisy)} processes)")
    cure = "; ".join(dict.fromkeys(cures))
    return [Remark(KINDS["noisy"], ", ".join(parts), cure, short)] if parts else []


def _precision(cases: Sequence[CaseResult]) -> list[Remark]:
    imprecise = _of_kind(cases, "precision")
    if not imprecise:
        return []
    asked = {round(100 * case.protocol.effort.precision, 6) for case in cases}
    figures = [reached(case, mode) for case in cases for mode in case.protocol.cache_modes]
    n_figures = sum(figure is not None for figure in figures)
    wanted = _range(sorted(asked), "{:g}".format)
    text = f"±{wanted}% asked for, not reached by {len(imprecise)} of {n_figures} figures"
    return [Remark(KINDS["precision"], text, CAUTION_ADVICE["precision"])]


def _few(cases: Sequence[CaseResult]) -> list[Remark]:
    """Say which groups rest on few processes; none at all is shown as a missing figure."""
    counts: dict[str, set[int]] = {}
    for case, caution in _of_kind(cases, "few"):
        if caution.n_processes:
            counts.setdefault(group_name(case), set()).add(caution.n_processes)
    if not counts:
        return []
    n_groups = len({group_name(case) for case in cases})
    if len(counts) == n_groups and len({frozenset(n) for n in counts.values()}) == 1:
        where = f"{_counts(next(iter(counts.values())))} per figure"
    else:
        where = ", ".join(f"{_counts(n)} per figure in {name}" for name, n in counts.items())
    return [Remark(KINDS["few"], f"{where}: wide intervals, or none", CAUTION_ADVICE["few"])]


def _counts(numbers: Iterable[int]) -> str:
    return f"only {' or '.join(map(str, sorted(numbers)))}"


def _why_open(reason: Reason) -> str:
    """Say why a verdict is open, without what weakens it besides."""
    first = reason.parts[0] if reason.code == "several" and reason.parts else reason
    found = first.parts[0].values.get("n_rounds") if first.parts else None
    if first.code == "few_for_verdict" and isinstance(found, int):
        return f"{counted(found, 'round')}, and a verdict needs {first.values['n_needed']}"
    return with_advice(first)


def _undecided(cases: Sequence[CaseResult]) -> list[Remark]:
    """Explain all undecided verdicts at once, and those that could not be judged by reason."""
    judged = [(case, verdict) for case in cases for verdict in case.comparisons]
    open_ = [(case, verdict) for case, verdict in judged if verdict.verdict == "undecided"]
    detectable = [
        verdict.smallest_detectable
        for _, verdict in open_
        if verdict.smallest_detectable is not None
    ]
    remarks = []
    if detectable:
        smallest = _range(detectable, lambda share: units.times(1 + share))
        short = f"{len(detectable)} of {len(judged)} verdicts: times scatter too much"
        text = (
            f"{short}; the smallest difference that this run could have shown is {smallest}; more "
            "processes tell more"
        )
        remarks.append(Remark("undecided", text, short=short))
    unjudged: dict[str, list[str]] = {}
    for case, verdict in open_:
        if verdict.smallest_detectable is None:
            unjudged.setdefault(_why_open(verdict.reason), []).append(case.candidate)
    return remarks + [
        Remark("undecided", f"{', '.join(dict.fromkeys(names))}: {why}")
        for why, names in unjudged.items()
    ]
