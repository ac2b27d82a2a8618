"""What ``coldwarm.bench`` returns: the summaries, the raw samples, and tables to look at."""

from __future__ import annotations

import html
import textwrap
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import Reason
from coldwarm.errors import printable
from coldwarm.report import filled, units
from coldwarm.report.figures import around
from coldwarm.report.markdown import escaped
from coldwarm.report.sentences import CAUTION_ADVICE, caution_words, counted, with_advice, words
from coldwarm.report.words import mode_name
from coldwarm.runner.cases import COLD

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.contracts.answer import Caution, Summary
    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.observation import Observation
    from coldwarm.contracts.result import CaseResult, ColdSummary, WarmSummary

NOT_ASKED = "not_asked"
"""The code of figures that nobody asked for: nothing is said of them."""
_WIDTH = 88
_LINES = 5
"""Of what a process that failed has printed."""
_COLUMNS = ("", "median", "95 % interval", "from")
_COLD_WORDS: dict[CacheMode, str] = {
    "cold_process_cold_cache": "first result, empty caches",
    "cold_process_warm_cache": "first result, filled caches",
}
_FRESH, _IN_PROCESS = "warm call, fresh processes", "warm call, this process"
_WORDS = {**{str(k): v for k, v in _COLD_WORDS.items()}, "warm_fresh": _FRESH, "warm": _IN_PROCESS}


@dataclass(frozen=True, repr=False)
class BenchResult:
    """What ``coldwarm.bench`` has found out; what is ``None`` has its reason in ``missing``.

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
        """What to know of the function, and caveats, as sentences."""
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

    def remarks(self) -> list[str]:
        """Return what is to be said under the table."""
        remarks = []
        if self.warm is not None:
            first = units.duration(self.first_call_s)
            remarks.append(
                f"in this process: the first call took {first}; {_steady(self.warm)}; one process,"
                " so no interval"
            )
        by_reason: dict[str, list[str]] = {}
        for what, reason in self.reasons.items():
            if self._is_asked(what):
                by_reason.setdefault(reason, []).append(what)
        remarks += [f"no {_listed(parts)}: {reason}" for reason, parts in by_reason.items()]
        printed = self.output.partition("Traceback (most recent call last)")[0].split("\n")
        last = [line.strip() for line in printed if line.strip()][-_LINES:]
        remarks += [f"the process that failed printed last: {' / '.join(last)}"] if last else []
        return [*remarks, *self.notes, *self._settings()]

    def _settings(self) -> list[str]:
        """Say what filled caches need, and what they give without it."""
        needed = filled.of_cases([self.case] if self.case else [])
        if not needed:
            return []
        own = filled.by_default([self.case] if self.case else [])
        codes = [one.code for one in needed if one.code]
        texts = [f"{filled.FILLED_TITLE}{': ' if codes else ''}{', '.join(codes)}"]
        return texts + [f"{filled.BY_DEFAULT}: {figure}" for _, figure in own]

    def _to_copy(self) -> list[str]:
        """Return the lines that a shell takes, which are not to be broken."""
        needed = filled.of_cases([self.case] if self.case else [])
        return [one.line for one in needed if one.line]

    def __repr__(self) -> str:
        """Return the table as text."""
        rows = [_COLUMNS, *self.rows()]
        widths = [max(len(row[place]) for row in rows) for place in range(len(_COLUMNS))]
        lines = [
            "  ".join(
                cell.rjust(width) if place == 1 else cell.ljust(width)
                for place, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in rows
        ]
        remarks = [
            part
            for text in self.remarks()
            for part in textwrap.wrap(printable(text), _WIDTH, subsequent_indent="  ")
        ]
        return "\n".join(map(printable, [self.name, *lines, *remarks, *self._to_copy()]))

    def _repr_markdown_(self) -> str:
        """Return the table as Markdown."""
        head = f"| {' | '.join(_COLUMNS)} |\n|---|---:|---|---|"
        lines = [f"| {' | '.join(row)} |" for row in self.rows()]
        remarks = [f"- {escaped(text)}" for text in self.remarks()]
        copied = [f"- `{text}`" for text in self._to_copy()]
        return "\n".join([f"**{escaped(self.name)}**", "", head, *lines, "", *remarks, *copied])

    def _repr_html_(self) -> str:
        """Return the table for a notebook."""
        head = "".join(f"<th>{html.escape(one)}</th>" for one in _COLUMNS)
        lines = "".join(
            f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row)}</tr>"
            for row in self.rows()
        )
        remarks = "".join(f"<li>{html.escape(text)}</li>" for text in self.remarks())
        remarks += "".join(f"<li><code>{html.escape(one)}</code></li>" for one in self._to_copy())
        return (
            f"<b>{html.escape(self.name)}</b>"
            f"<table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>"
            f"<ul>{remarks}</ul>"
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
