"""The tables of the trials, in Markdown: what was said, how often wrongly, and at what price."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from benchmarks.trials import journal, truth
from benchmarks.trials.peers import LIMITS
from benchmarks.trials.settings import KINDS, TOOLS
from scipy import stats

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    Line = Mapping[str, Any]

OWN = "coldwarm"
"""With what its tools begin: ``coldwarm bench``, ``coldwarm run``."""
GOALS: Mapping[tuple[bool, float], tuple[str, int, Callable[[int, int], bool]]] = {
    (False, 0.0): ("≤ 1 %", 200, lambda k, n: k <= 0.01 * n),
    (False, 0.03): ("≥ 90 %", 100, lambda k, n: k >= 0.9 * n),
    (False, 0.05): ("≥ 99 %", 100, lambda k, n: k >= 0.99 * n),
    (True, 0.0): ("at most once", 40, lambda k, _: k <= 1),
    (True, 0.1): ("≥ 90 %", 40, lambda k, n: k >= 0.9 * n),
}
"""What pooled rows are held to, by whether starts are compared and the effect: false calls of equal
sides, right ones of others; and how many trials that takes."""
STATED = 0.95
"""The least that an interval states, and not a range of two rounds."""
HEAD = ("trials", "slower", "faster", "same", "undecided", "failed")


@dataclass
class Row:
    """Trials of which the calls are counted together.

    Calls and ratios are of the side with more work, ``slower`` is right.
    """

    names: tuple[str, ...]
    cold: bool
    effect: float
    limit: float
    calls: list[str] = field(default_factory=list)
    ratios: list[float] = field(default_factory=list)
    held: list[bool] = field(default_factory=list)
    """Of each interval that states so much, whether it held the true ratio; of the others, which
    are ranges of two rounds, nothing is said."""
    halves: list[float] = field(default_factory=list)
    """Of each interval, half its width over its ratio."""
    rounds: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    failed: int = 0

    @property
    def n(self) -> int:
        """Trials that count: failed ones have no right call."""
        return len(self.calls) + self.failed

    @property
    def judged(self) -> int:
        """False calls of equal sides, right ones of others."""
        if not self.effect:
            return sum(call in {"faster", "slower"} for call in self.calls)
        right = ("slower",) if self.effect > self.limit else ("same", "undecided")
        return sum(call in right for call in self.calls)

    def add(self, line: Line, rule: str, lines: Sequence[Line]) -> None:
        """Count one trial, as this rule judged it."""
        if line["failed"]:
            self.failed += 1
            return
        turn = line["a"] > line["b"]
        call = line["calls"][rule]
        self.calls.append(_TURNED.get(call, call) if turn else call)
        self.seconds.append(line["seconds"])
        if line["rounds"]:
            self.rounds.append(line["rounds"])
        ratio, low, high = line["ratio"], line["low"], line["high"]
        if ratio:
            self.ratios.append(1 / ratio if turn else ratio)
        if ratio and low and high:
            self.halves.append((high - low) / 2 / ratio)
            true = truth.known(line["kind"], line["a"], line["b"], lines)
            if true is not None and line["confidence"] >= STATED:
                self.held.append(low <= true <= high)

    def cells(self) -> list[str]:
        """Return the cells after the names."""
        return [
            str(self.n),
            *(str(self.calls.count(call)) for call in HEAD[1:5]),
            str(self.failed),
            self._share(),
            _middle(self.ratios, "{:.3f}"),
            f"{sum(self.held)} of {len(self.held)}" if self.held else "–",
            _middle([100 * half for half in self.halves], "{:.2f} %"),
            _middle(self.rounds, "{:g}"),
            _middle(self.seconds, "{:.0f}"),
        ]

    def _share(self) -> str:
        low, high = share_interval(self.judged, self.n)
        what = "false" if not self.effect else "right"
        return f"{self.judged} {what}: {100 * low:.1f} to {100 * high:.1f} %"


_TURNED = {"faster": "slower", "slower": "faster"}


def share_interval(k: int, n: int) -> tuple[float, float]:
    """Bound at 95 % the chance of what came k times in n (Clopper and Pearson's)."""
    found = stats.binomtest(k, n).proportion_ci(confidence_level=0.95, method="exact")
    return float(found.low), float(found.high)


def rows(lines: Sequence[Line]) -> list[Row]:
    """Gather the trials by tool, rule, kind, neighbours and effect, in the order of ``TOOLS``.

    Raises:
        MixedError: they are of several builds or machines.
    """
    journal.belong(lines)
    return _gather(lines, lambda line, rule: (line["tool"], rule, line["kind"], line["neighbours"]))


def pooled(lines: Sequence[Line]) -> list[Row]:
    """Gather coldwarm's trials over all kinds of functions, warm and cold apart.

    Raises:
        MixedError: they are of several builds or machines.
    """
    journal.belong(lines)
    own = [line for line in lines if line["record"] == "trial" and line["tool"].startswith(OWN)]
    others = [line for line in lines if line["record"] != "trial"]
    return _gather([*own, *others], lambda line, rule: (_regime(line["kind"]), line["neighbours"]))


def _regime(kind: str) -> str:
    return "starts" if KINDS[kind].cold else "warm calls"


def _gather(lines: Sequence[Line], names_of: Any) -> list[Row]:
    found: dict[tuple[Any, ...], Row] = {}
    trials = [one for one in lines if one["record"] == "trial" and not one["thrown_away"]]
    rules: dict[str, list[str]] = {}
    for line in trials:
        rules.setdefault(line["tool"], list(line["calls"]))
        rules[line["tool"]] = rules[line["tool"]] or list(line["calls"])
    for line in sorted(trials, key=_place):
        for rule in rules[line["tool"]] or [""]:
            names = names_of(line, rule)
            cold, effect = KINDS[line["kind"]].cold, line["effect"]
            limit = LIMITS.get(rule, 0.0)
            if effect and math.isclose(effect, limit):
                continue  # neither call is wrong
            row = Row(names, cold, effect, limit)
            found.setdefault((*names, effect), row).add(line, rule, lines)
    return list(found.values())


def _place(line: Line) -> tuple[Any, ...]:
    kinds, tools = list(KINDS), list(TOOLS)
    cold = KINDS[line["kind"]].cold
    own = line["tool"].startswith(OWN)
    named = (kinds.index(line["kind"]), tools.index(line["tool"]))
    return (not own, cold, line["neighbours"] != "none", *named, line["effect"])


def markdown(lines: Sequence[Line]) -> str:
    """Return all there is to say about the lines of a file, as Markdown.

    Raises:
        MixedError: they are of several builds or machines.
    """
    if not any(line["record"] in journal.MEASURED for line in lines):
        return "There are no trials of this build yet.\n"
    parts = [
        _pooled_table(pooled(lines)),
        _table(("tool and rule", "kind", "more work"), rows(lines)),
        _truths(lines),
        _thrown_away(lines),
        _whose(lines),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


_COLUMNS = (
    *HEAD,
    "in how many, at 95 %",
    "ratio",
    "interval held the truth",
    "half-width",
    "processes",
    "s",
)


def _pooled_table(found: Iterable[Row]) -> str:
    body = []
    for row in found:
        regime, neighbours = row.names
        shown = "–"
        if neighbours == "none" and (row.cold, row.effect) in GOALS:
            goal, fewest, met = GOALS[row.cold, row.effect]
            shown = f"{goal}: {'met' if met(row.judged, row.n) else 'missed'}"
            shown += f" so far, of {fewest} trials" if row.n < fewest else ""
        beside = "" if neighbours == "none" else f", {neighbours} neighbours"
        body.append([regime + beside, _effect(row.effect), *row.cells(), shown])
    return _lines(["all kinds", "more work", *_COLUMNS, "goal"], body)


def _table(names: Sequence[str], found: Iterable[Row]) -> str:
    body = []
    for row in found:
        tool, rule, kind, neighbours = row.names
        who = tool if rule in {"verdict", ""} else f"{tool}, {rule}"
        beside = "" if neighbours == "none" else f", {neighbours} neighbours"
        body.append([who, kind + beside, _effect(row.effect), *row.cells()])
    return _lines([*names, *_COLUMNS], body)


def _truths(lines: Iterable[Line]) -> str:
    body = []
    for one in lines:
        if one["record"] == "truth":
            made = "–" if KINDS[one["kind"]].cold else f"{one['b'] / one['a']:.3f}"
            bounds = f"{one['low']:.4f} … {one['high']:.4f}"
            body.append([one["kind"], made, f"{one['ratio']:.4f}", bounds, str(one["pairs"])])
    head = ["kind", "true ratio as made", "checked without coldwarm", "99 % interval", "pairs"]
    return _lines(head, body)


def _thrown_away(lines: Iterable[Line]) -> str:
    trials = [one for one in lines if one["record"] == "trial"]
    gone = [one for one in trials if one["thrown_away"]]
    if not trials:
        return ""
    if not gone:
        return "No trial was thrown away."
    counts = Counter((one["thrown_away"], one["tool"], one["kind"]) for one in gone)
    body = [[tool, kind, str(n), reason] for (reason, tool, kind), n in sorted(counts.items())]
    return f"Thrown away: {len(gone)} of {len(trials)} trials.\n\n" + _lines(
        ["tool", "kind", "trials", "reason"], body
    )


def _whose(lines: Sequence[Line]) -> str:
    told = []
    for one in lines:
        if one["record"] == "build":
            versions = [f"{name} {v}" for name, v in one["versions"].items() if v]
            commit = (one["commit"] or "unknown")[:12] + (", changed" if one["changed"] else "")
            of = ", ".join([f"commit {commit}", f"Python {one['python']}", *versions])
            told.append(f"Build {one['id']}: {of}.")
        if one["record"] == "machine":
            place = [one["cpu"], f"{one['cores']} cores", one["virtualization"], one["platform"]]
            told.append(f"Machine {one['id']}: {', '.join(str(part) for part in place if part)}.")
    return "\n".join(told)


def _effect(effect: float) -> str:
    return f"{100 * effect:g} %" if effect else "equal"


def _middle(values: Sequence[float], pattern: str) -> str:
    return pattern.format(statistics.median(values)) if values else "–"


def _lines(head: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    if not body:
        return ""
    rule = ["---"] * len(head)
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (head, rule, *body))
