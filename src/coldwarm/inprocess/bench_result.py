"""What ``coldwarm.bench`` returns, of one function: figures, raw samples, and a table."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from coldwarm.caches.modes import EVERY_CALL
from coldwarm.contracts.base import EMPTY
from coldwarm.contracts.reasons import Reason, because, is_wrong
from coldwarm.report import filled, html, markdown, terminal, units
from coldwarm.report.document import Document, Paragraph, table
from coldwarm.report.headline import around
from coldwarm.report.sentences import CAUTION_ADVICE, caution_words, counted, with_advice, words
from coldwarm.report.words import PARTS, mode_name
from coldwarm.runner.case_list import COLD
from coldwarm.stats.cautions import other_calls, partly_tried, two_levels, untried
from coldwarm.stats.selection import warm_processes
from coldwarm.stats.summarise import warm_summary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.contracts.answer import Caution, Summary
    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.observation import Observation
    from coldwarm.contracts.result import CaseResult, ColdSummary, WarmSummary
    from coldwarm.inprocess.warm_calls import InProcess


NOT_ASKED = "not_asked"
"""The code of figures that nobody asked for: nothing is said of them."""
_WIDTH = 88
_LINES = 5
"""Most lines of what a process that failed has printed."""
_COLUMNS = ("", "median", "95 % interval", "from")
_COLD_WORDS: dict[CacheMode, str] = {
    "cold_process_cold_cache": "first result, empty caches",
    "cold_process_warm_cache": "first result, filled caches",
}
_FRESH, _IN_PROCESS = "warm call, fresh processes", "warm call, this process"
_WORDS = {**{str(k): v for k, v in _COLD_WORDS.items()}, "warm_fresh": _FRESH, "warm": _IN_PROCESS}


class ShownResult:
    """A result that shows as its document: as text at a prompt, and in a notebook."""

    def _document(self, *, ratios: bool = False) -> Document:
        """Return the document; ``ratios``: with all verdicts, if it has any."""
        raise NotImplementedError

    def __repr__(self) -> str:
        """Return the answer and the tables as text."""
        return terminal.text(self._document(), _WIDTH)

    def _repr_markdown_(self) -> str:
        """Return the same as Markdown."""
        return markdown.text(self._document(ratios=True))

    def _repr_html_(self) -> str:
        """Return the same for a notebook."""
        return html.fragment(self._document())


@dataclass(frozen=True, repr=False)
class BenchResult(ShownResult):
    """Result of ``coldwarm.bench``; what is ``None`` has its reason in ``missing``.

    Attributes:
        name: What was measured.
        warm: The warm calls in this process: ``warm.call_s`` in seconds, ``warm.steady``.
            It is one process, so there is no interval over processes.
        warm_fresh: The same in the fresh processes, with an interval.
        cold: For ``cold_process_cold_cache`` and ``cold_process_warm_cache`` the figures of
            fresh processes, such as ``cold["cold_process_cold_cache"].seconds["ttfr"]``.
        first_call_s: The first call that was made in this process; whether it had to compile
            depends on what was called before.
        missing: Why ``warm``, ``warm_fresh`` or a mode of ``cold`` is missing, as codes with
            parameters; ``reasons`` has the sentences.
        cautions: What to know of the function, and caveats, likewise; ``notes``
            has the sentences.
        in_process: The observation of this process, with all its samples; ``None`` without warm
            calls.
        case: Everything about the fresh processes, their observations too.
        output: What a fresh process that failed printed last, and its traceback.
    """

    name: str
    warm: WarmSummary | None
    warm_fresh: WarmSummary | None
    cold: dict[CacheMode, ColdSummary | None]
    first_call_s: float
    missing: dict[str, Reason] = field(default_factory=dict)
    cautions: list[Reason | Caution] = field(default_factory=list)
    in_process: Observation | None = None
    case: CaseResult | None = None
    output: str = ""

    @property
    def samples_s(self) -> list[list[float]]:
        """The raw warm samples of this process in seconds, block by block."""
        blocks = [] if self.in_process is None else self.in_process.blocks
        return [list(block.samples_s) for block in blocks]

    @property
    def reasons(self) -> dict[str, str]:
        """Why ``warm``, ``warm_fresh`` or a mode of ``cold`` is missing, as sentences."""
        return {figure: with_advice(reason) for figure, reason in self.missing.items()}

    @property
    def notes(self) -> list[str]:
        """Notes on the function, and caveats, as sentences."""
        return [_note(caution) for caution in self.cautions]

    def rows(self) -> list[tuple[str, str, str, str]]:
        """Return the lines of the table: what, median, interval, and what it is from."""
        rows = {}
        for mode in COLD:
            cold = self.cold.get(mode)
            seconds = None if cold is None else cold.seconds.get("ttfr")
            rows[str(mode)] = _row(_COLD_WORDS[mode], seconds)
        fresh, warm = (one.call_s if one else None for one in (self.warm_fresh, self.warm))
        rows["warm_fresh"] = _row(_FRESH, fresh)
        rows["warm"] = _row(_IN_PROCESS, warm, alone=True)
        return [row for figure, row in rows.items() if self._is_asked(figure)]

    def _is_asked(self, figure: str) -> bool:
        reason = self.missing.get(figure)
        return reason is None or reason.code != NOT_ASKED

    def parts(self) -> str:
        """Return the parts of a first result with empty caches; empty where there is none."""
        cold = self.cold.get(EMPTY)
        if cold is None:
            return ""
        outside = {"start", "wrap", "ttfr_process"}
        found = {name: cold.seconds.get(key) for key, name in PARTS.items() if key not in outside}
        told = [f"{name} {units.duration(s.median)}" for name, s in found.items() if s and s.median]
        return f"first result, empty caches = {' + '.join(told)}"

    def remarks(self) -> list[str]:
        """Return what is to be said under the table."""
        remarks = [one for one in [self.parts()] if one]
        if self.warm is not None:
            first = units.duration(self.first_call_s)
            remarks.append(
                f"in this process: the first call took {first}, less where it was called before; "
                f"{_steady(self.warm)}; one process, so no interval"
            )
        by_reason: dict[str, list[str]] = {}
        for what, reason in self.reasons.items():
            if self._is_asked(what):
                by_reason.setdefault(reason, []).append(what)
        remarks += [f"no {_listed(parts)}: {reason}" for reason, parts in by_reason.items()]
        printed = self.output.partition("Traceback (most recent call last)")[0].split("\n")
        last = [line.strip() for line in printed if line.strip()][-_LINES:]
        remarks += [f"the process that failed printed last: {' / '.join(last)}"] if last else []
        return [*remarks, *self.notes]

    def _document(self, *, ratios: bool = False) -> Document:
        del ratios
        cases = [self.case] if self.case else []
        said = [Paragraph(text) for text in self.remarks()]
        return Document(
            "coldwarm bench",
            (
                Paragraph(self.name, "strong"),
                table(_COLUMNS, self.rows()),
                *said,
                *filled.blocks(filled.of_cases(cases), filled.by_default(cases)),
            ),
        )


def _row(what: str, seconds: Summary | None, *, alone: bool = False) -> tuple[str, str, str, str]:
    if seconds is None:
        return what, units.MISSING, units.MISSING, ""
    interval = around(seconds) or units.MISSING
    count, noun = (seconds.n_samples, "sample") if alone else (seconds.n_processes, "process")
    return what, units.duration(seconds.median), interval, counted(count, noun)


def _steady(warm: WarmSummary) -> str:
    """Say where the calls of one process became steady, or why not."""
    steady = warm.steady
    if not steady.steady:
        return words(steady.reason.parts[-1] if steady.reason.parts else steady.reason)
    count = steady.warmup_samples[0]
    if count == 0:
        return "steady from the first sample on"
    return f"steady after {counted(count, 'sample')}"


def _note(caution: Reason | Caution) -> str:
    if isinstance(caution, Reason):
        return words(caution)
    about = "" if caution.cache_mode is None else f", {mode_name(caution.cache_mode)}"
    cure = f"; {CAUTION_ADVICE[caution.kind]}" if caution.kind == "allocator" else ""
    return f"fresh processes{about}: {caution_words(caution)}{cure}"


def _listed(what: Sequence[str]) -> str:
    if set(what) >= {*_COLD_WORDS, "warm_fresh"}:
        return "figures from fresh processes"
    return ", ".join(_WORDS[one] for one in what)


_SHOWN = {"not_kept", "not_compared", "carried", "state_carried", "may_compute", "not_opened"}
"""Limitations that are said beside the figures."""
_SHOWN_BY_INTERVAL = {"few", "precision"}


def result_of(
    name: str, in_process: InProcess, case: CaseResult | None, why: Reason, output: str
) -> BenchResult:
    """Join them; ``why`` there is no ``case``, and what a process that failed has printed."""
    reasons: dict[str, Reason] = {}
    not_asked = because(NOT_ASKED)
    warm_calls = None
    if in_process.observation is None:
        reasons["warm"] = not_asked
    else:
        observed = [in_process.observation]
        warm_calls = warm_summary(observed, warm_processes(observed))
        if warm_calls.call_s is None:
            judged = in_process.observation.judgements["warm_process"].reason
            every = judged.code == EVERY_CALL
            reasons["warm"] = judged if every else warm_calls.null_reasons["call_s"]
            warm_calls = None
    failed = why if case is None else _failure(case)
    cold: dict[CacheMode, ColdSummary | None] = dict.fromkeys(COLD)
    if case is not None:
        cold.update({one.cache_mode: one for one in case.cold if one.n_ok})
    reasons.update({mode: failed for mode, one in cold.items() if one is None})
    warm_fresh = None if case is None else case.warm
    if warm_fresh is None or warm_fresh.call_s is None:
        reasons["warm_fresh"] = failed if in_process.observation is not None else not_asked
        warm_fresh = None
    return BenchResult(
        name=name,
        warm=warm_calls,
        warm_fresh=warm_fresh,
        cold=cold,
        first_call_s=in_process.first_call_s,
        missing=reasons,
        cautions=_cautions(in_process, case, warm_calls),
        in_process=in_process.observation,
        case=case,
        output=output if case is None else _printed(case),
    )


def _printed(case: CaseResult) -> str:
    """Return what the first fresh process that failed printed last."""
    failed = [one.stderr_tail for one in case.observations if one.status == "failed"]
    return next((text for text in failed if text), "")


def _failure(case: CaseResult) -> Reason:
    if case.reason is None:
        return because("no_valid_process")
    if is_wrong(case.reason) and not case.reason.parts:
        gates = [one.gate.reason for one in case.observations if one.gate and one.gate.reason]
        return because("fresh_answer_differs", *gates[:1])
    return case.reason


def _of_calls(observation: Observation, *, alone: bool) -> list[Reason]:
    """Return what the warm calls of this process have shown besides their median.

    ``alone``: there is no fresh process that can tell what an earlier call has left.
    """
    found = []
    for process in warm_processes([observation]):
        slower = process.steadiness.reason.code == "steady_slower"
        if slower or not process.steadiness.steady:
            found.append(process.steadiness.reason)
        if process.steadiness.levels is not None:
            found.append(two_levels([process.steadiness.levels]))
    seen = observation.other_calls
    if seen is None:
        return found
    if alone and seen.answer_changed is False:
        found.append(because("answer_stays"))
    fault = untried(seen) or partly_tried(seen)
    return [*found, *other_calls(seen), *([] if fault is None else [fault])]


def _cautions(
    in_process: InProcess, case: CaseResult | None, warm_calls: WarmSummary | None
) -> list[Reason | Caution]:
    cautions: list[Reason | Caution] = []
    if in_process.renewed:
        cautions.append(because("arguments_changed"))
    if in_process.doubt is not None and case is None:
        cautions.append(in_process.doubt)
    if not in_process.repeats:
        cautions.append(because("answers_differ"))
    blocks = in_process.observation.blocks if in_process.observation else []
    compiled = sum(bool(block.compiles) for block in blocks)
    if compiled and warm_calls is not None:
        cautions.append(because("in_process_compiled", n_blocks=compiled))
    if in_process.observation is not None:
        cautions += _of_calls(in_process.observation, alone=case is None)
    here = in_process.observation.settings if in_process.observation else {}
    if here:
        named = [f"{name}={value}" for name, value in here.items()]
        cautions.append(because("settings", setting_names=named))
    if case is not None:
        told = {getattr(one, "code", "") for one in cautions} & {"untried", "partly_tried"}
        cautions += [
            one
            for one in case.warnings
            if one.kind not in _SHOWN_BY_INTERVAL and one.reason.code not in told
        ]
        cautions += [one for one in case.limitations if one.code in _SHOWN]
    return cautions
