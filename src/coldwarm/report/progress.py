"""Display of what runs now, how long is left, and the table as it grows.

A display must not disturb what it shows. There is no refresh thread: the picture changes when
something happened, between measured processes, and each change costs a few milliseconds
(``tests/report/test_progress.py`` holds it below 5). So the clock stands still while a process is
measured. All goes to the console that is given, stderr as a rule, so that stdout stays clean.
"""

from __future__ import annotations

import html
import sys
import time
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from rich.live import Live
from rich.text import Text

from coldwarm.clock import TIME
from coldwarm.contracts.base import WARM
from coldwarm.errors import printable
from coldwarm.report import units
from coldwarm.report.headline import group_name, headline
from coldwarm.report.sentences import counted, with_advice
from coldwarm.report.words import mode_name
from coldwarm.runner.ledger import Listener
from coldwarm.stats.selection import is_beside, rejected

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console

    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.observation import Observation
    from coldwarm.contracts.reasons import Reason
    from coldwarm.contracts.result import CaseResult


_COLUMNS: tuple[CacheMode, ...] = ("cold_process_cold_cache", "cold_process_warm_cache", WARM)
_FIGURE_WIDTH = len("1.63 ms")
_FIGURES_WIDTH = len(_COLUMNS) * (_FIGURE_WIDTH + 1) + len("  failed")
_NARROWEST_NAME = 20
_LINES_AROUND_TABLE = 4
_NOTES_SHOWN = 3
_EXTRA_EVERY_S = 10.0
_EXTRA = (
    "extra rounds follow, until the figures are precise and the verdicts clear, or the time is"
    " over; Ctrl-C ends with what there is"
)

_Row = tuple[str, list[str], str]
"""Row of a case: its name, its figures, its status."""


class _Progress(Listener):
    """A listener that shows what it hears, and never raises because of it."""

    def __init__(self, console: Console) -> None:
        """Write to this console."""
        self._console = console
        self._share = _Share()

    def __enter__(self) -> Self:
        """Start showing."""
        return self

    def __exit__(self, *error: object) -> None:
        """Stop showing and leave the terminal as it was."""


def open_progress(console: Console) -> _Progress:
    """Return the live display for a terminal or a notebook, and plain lines for anything else."""
    display = _of_notebook()
    if display is not None:
        return _NotebookProgress(console, display)
    able = console.is_terminal and not console.is_dumb_terminal
    # Colors may be asked for where nothing can be drawn over.
    able = able and not (console.file is sys.stderr and not sys.stderr.isatty())
    return LiveProgress(console) if able else PlainProgress(console)


class PlainProgress(_Progress):
    """One line for each round, and one for each process that did not end well.

    Extra rounds, which may be of one process, have a line together every few seconds.
    """

    def __init__(self, console: Console) -> None:
        """Write to this console."""
        super().__init__(console)
        self._round = 0
        self._n_ended = 0
        """Processes of this round."""
        self._since_s = TIME.perf_counter()
        self._group = ""
        self._is_extra = False

    def __exit__(self, *error: object) -> None:
        """Print the line of what had none yet."""
        self._print_round("")

    def started(self, plan_total: int, budget_s: float | None) -> None:
        """Say what is planned."""
        self._since_s = TIME.perf_counter()
        self._share.plan(plan_total)
        budget = "" if budget_s is None else f", within {units.duration(budget_s)}"
        self._print(f"measuring with at least {plan_total} processes{budget}")

    def observed(self, observation: Observation) -> None:
        """Count a finished process; print how it ended, where it did not end well."""
        _ended(self._share, observation)
        self._round = observation.round + 1
        self._n_ended += 1
        shown = _what_it_shows(observation)
        if not shown.fine:
            kind = _kind(observation, shown.mode)
            self._print(f"{observation.case} · {kind}: {shown.outcome}")

    def case_updated(self, case_result: CaseResult) -> None:
        """Learn whose round it is."""
        self._group = group_name(case_result)

    def note(self, reason: Reason) -> None:
        """Print a note."""
        self._print(f"note: {with_advice(reason)}")

    def estimate(self, done: float, left_s: float | None) -> None:
        """Print the line of a round, which ends with an estimate."""
        self._share.estimated(done)
        extra = " for extra rounds" if self._share.value >= 1 else ""
        left = "" if left_s is None else f"; about {units.clock(left_s)} left{extra}"
        at_least_s = _EXTRA_EVERY_S if self._is_extra else 0.0
        if self._share.beyond and not self._is_extra:
            self._is_extra = True
            self._print(_EXTRA)
        self._print_round(left, at_least_s)

    def _print_round(self, left: str, at_least_s: float = 0.0) -> None:
        if not self._n_ended:
            return
        now_s = TIME.perf_counter()
        if now_s - self._since_s < at_least_s:
            return
        done = "[extra]" if self._share.beyond else f"[{100 * self._share.value:3.0f} %]"
        whose = f"{self._group}, " if self._group else ""
        count = counted(self._n_ended, "process")
        took = units.duration(now_s - self._since_s)
        self._print(f"{done} {whose}round {self._round}: {count}, {took}{left}")
        self._n_ended, self._since_s = 0, now_s

    def _print(self, line: str) -> None:
        with suppress(OSError):  # a full disk behind it is no reason to measure nothing
            self._console.print(printable(line), markup=False, highlight=False, soft_wrap=True)


class LiveProgress(_Progress):
    """A display that redraws itself when something happened."""

    def __init__(self, console: Console, clock: Callable[[], float] = time.monotonic) -> None:
        """Draw on this console; ``clock`` gives seconds."""
        super().__init__(console)
        self._clock = clock
        self._begin = clock()
        self._now = "preparing"
        self._left_s: float | None = None
        self._budget_s: float | None = None
        self._rows: dict[str, _Row] = {}
        self._notes: list[str] = []
        self._live = Live(
            console=console,
            auto_refresh=False,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
            vertical_overflow="crop",
        )

    def __enter__(self) -> Self:
        """Start drawing."""
        self._begin = self._clock()
        self._live.start()
        self._draw()
        return self

    def __exit__(self, *error: object) -> None:
        """Remove the display; notes stay."""
        self._live.stop()
        for text in self._notes:
            self._console.print(printable(f"note: {text}"), markup=False, highlight=False)

    def started(self, plan_total: int, budget_s: float | None) -> None:
        """Show what is planned."""
        self._budget_s = budget_s
        self._share.plan(plan_total)
        self._now = f"at least {plan_total} processes"
        self._draw()

    def process(self, case: str, mode: str, number: int, of: int) -> None:
        """Show what is measured now."""
        self._now = f"{case} · {mode_name(mode)} · {number} of {of}"
        self._draw()

    def observed(self, observation: Observation) -> None:
        """Show how a process ended, where it did not end well."""
        _ended(self._share, observation)
        shown = _what_it_shows(observation)
        if not shown.fine:
            where = f"{observation.case} · {_kind(observation, shown.mode)}"
            self._notes.append(f"{where}: {shown.outcome}")
        self._draw()

    def case_updated(self, case_result: CaseResult) -> None:
        """Show a case's figures so far; the case that changed last stands last."""
        self._rows.pop(case_result.case, None)
        self._rows[case_result.case] = _row(case_result)
        self._draw()

    def note(self, reason: Reason) -> None:
        """Show a note, and keep it when the display goes."""
        self._notes.append(with_advice(reason))
        self._draw()

    def estimate(self, done: float, left_s: float | None) -> None:
        """Show how far it got. The next event draws it."""
        self._share.estimated(done)
        self._left_s = left_s

    def _draw(self) -> None:
        self._live.update(self._picture(), refresh=True)

    def _picture(self) -> Text:
        """Write the whole display as one text: laying out tables would take too long."""
        notes = [printable(f"note: {text}") for text in self._notes[-_NOTES_SHOWN:]]
        room = max(1, self._console.height - _LINES_AROUND_TABLE - len(notes))
        name_width = max(_NARROWEST_NAME, self._console.width - _FIGURES_WIDTH)
        heading = _line("case", [mode_name(mode).split()[0] for mode in _COLUMNS], "", name_width)
        rows = [_line(*row, name_width) for row in list(self._rows.values())[-room:]]
        text = self._bar().append(f"now: {printable(self._now)}\n", "bold")
        text.append(f"{heading}\n", "dim").append("\n".join(rows))
        return text.append("".join(f"\n{note}" for note in notes), "dim")

    def _bar(self) -> Text:
        left = "" if self._left_s is None else f" · about {units.clock(self._left_s)} left"
        budget = "" if self._budget_s is None else f" of at most {units.clock(self._budget_s)}"
        elapsed = units.clock(self._clock() - self._begin)
        done = self._share.value
        extra = ", extra processes" if self._share.beyond else ""
        shares = f" {100 * done:3.0f} %{extra} · {elapsed}{budget}{left}\n"
        length = max(0, self._console.width - len(shares))
        filled = round(length * done)
        bar = Text(no_wrap=True, overflow="ellipsis")
        return (
            bar.append("━" * filled, "green").append("─" * (length - filled), "dim").append(shares)
        )


class _Picture:
    """A picture as a notebook shows it."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self._text)}</pre>"


def _of_notebook() -> Callable[..., Any] | None:
    """Return what shows something in a cell, where this is the process of a notebook."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    if getattr(shell, "kernel", None) is None:
        return None
    show: Callable[..., Any] = import_module("IPython.display").display
    return show


class _NotebookProgress(LiveProgress):
    """The live display in a notebook: one output of the cell, which changes in place."""

    def __init__(self, console: Console, display: Callable[..., Any]) -> None:
        """Show with the ``display`` of IPython; ``console`` gives the size."""
        super().__init__(console)
        self._display = display
        self._handle: Any = None

    def __enter__(self) -> Self:
        """Start showing."""
        self._begin = self._clock()
        self._draw()
        return self

    def __exit__(self, *error: object) -> None:
        """Leave one line, and the notes."""
        took = f"measured in {units.clock(self._clock() - self._begin)}"
        self._show("\n".join([took, *(printable(f"note: {text}") for text in self._notes)]))

    def _draw(self) -> None:
        self._show(self._picture().plain)

    def _show(self, text: str) -> None:
        if self._handle is None:
            self._handle = self._display(_Picture(text), display_id=True)
        else:
            self._handle.update(_Picture(text))


class _Shown(NamedTuple):
    """News in a record."""

    mode: CacheMode
    outcome: str
    """``ok``, or ``failed: timeout``."""
    fine: bool = False


def _what_it_shows(observation: Observation) -> _Shown:
    """Return what a record has news of, and whether it counts.

    A persistent process shows its start and its warm blocks; the blocks came last, and may be
    rejected although its start was good. A start that cannot take turns is measured alone.
    """
    if observation.turns:
        return _Shown(observation.cache_mode, _outcome(observation), fine=True)
    if observation.status != "ok" or not observation.blocks:
        return _Shown(observation.cache_mode, _outcome(observation), observation.status == "ok")
    refused = next(iter(rejected([observation], WARM)), None)
    if refused is not None:
        return _Shown(WARM, f"rejected: {with_advice(refused)}")
    return _Shown(WARM, observation.status, fine=True)


def _ended(share: _Share, observation: Observation) -> None:
    """Count what a process was planned for: a persistent one shows two modes."""
    if not is_beside(observation):
        for _ in (observation.cache_mode, *observation.also_modes):
            share.ended()


def _kind(observation: Observation, mode: CacheMode) -> str:
    """Name what a process was for."""
    if not is_beside(observation):
        return mode_name(mode)
    return "by default" if observation.cache_settings == "framework_default" else "memory kept"


def _outcome(observation: Observation) -> str:
    """Say how a process ended: ``ok``, or ``failed: timeout``."""
    if observation.reason is None:
        return observation.status
    return f"{observation.status}: {with_advice(observation.reason)}"


def _row(case: CaseResult) -> _Row:
    figures = [headline(case, mode) for mode in _COLUMNS]
    texts = [units.MISSING if f is None else units.duration(f.median) for f in figures]
    return (printable(case.case), texts, case.status)


def _line(name: str, figures: list[str], status: str, name_width: int) -> str:
    if len(name) > name_width:
        name = f"{name[: name_width - 1]}…"
    columns = "".join(f" {figure:>{_FIGURE_WIDTH}}" for figure in figures)
    return f"{name.ljust(name_width)}{columns}  {status}"


class _Share:
    """Joins two accounts: processes counted as they end, and a run's estimate by time.

    An estimate knows that some processes take longer than others, but comes once a round. From
    one to the next, each process that ends takes its part of what is left.
    """

    def __init__(self) -> None:
        """Start with nothing done of nothing known."""
        self._planned = 0
        self._ended = 0
        self._base = 0.0
        self._base_ended = 0
        self._shown = 0.0

    def plan(self, n_processes: int) -> None:
        """Learn how many processes are planned at least."""
        self._planned = n_processes

    def ended(self) -> None:
        """Learn that a process ended."""
        self._ended += 1
        ahead = self._planned - self._base_ended
        part = (self._ended - self._base_ended) / ahead if ahead > 0 else 1.0
        self._raise_to(self._base + (1.0 - self._base) * part)

    def estimated(self, done: float) -> None:
        """Learn an estimate of the share done (0..1)."""
        self._raise_to(done)
        self._base, self._base_ended = self._shown, self._ended

    @property
    def value(self) -> float:
        """The share done (0..1), of what is planned at least."""
        return self._shown

    @property
    def beyond(self) -> bool:
        """Whether all that was planned at least is done, and more is being measured."""
        return self._ended > self._planned > 0

    def _raise_to(self, done: float) -> None:
        self._shown = max(self._shown, min(done, 1.0))
