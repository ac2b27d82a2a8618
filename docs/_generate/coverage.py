"""How often intervals hold the truth, as the committed simulation found it."""

from __future__ import annotations

import json
from itertools import groupby
from typing import TYPE_CHECKING, Any

from _generate.rst import heading, table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_STATED = {
    "ratio, at 97 %": 0.97,
    "ratio by forks, at 97 %": 0.97,
    "ratio of starts with their import in common, at 97 %": 0.97,
}
_MOST_FALSE = {
    "equal programs that are called different": 0.03,
    "tables of 30 equal programs with a false difference": 0.05,
}
_USUAL = 0.95
_SHORT = 0.02
"""By how much coverage may fall short of what is stated and is not yet marked."""
_FEW = 5


def pages(package: Path) -> dict[str, str]:
    """Return the page of the simulation in ``benchmarks/results/coverage.json``."""
    results = package.parent.parent / "benchmarks" / "results" / "coverage.json"
    rows = json.loads(results.read_text(encoding="utf-8"))
    text = heading("Coverage of intervals", label="coverage") + (
        "What ``python -m benchmarks.coverage --save`` found: data of which the truth is\n"
        "known are drawn many times, and each number is the percentage of the draws in which\n"
        "the interval held the truth, by the number of processes or rounds. *Drifting* data rise\n"
        "by 6 % from the first process to the last. In **bold** is what falls short of the stated\n"
        "confidence by more than two points.\n\n"
        "Medians and ratios of fewer than five processes are ranges, which state less: 50, 75\n"
        "and 87.5 % from two, three and four. For ratios by forks, what forks of one template\n"
        "have in common is as large as the largest that was measured. Starts with their import in\n"
        "common have the mean import of each round, which scatters five times as much as the\n"
        "rest.\n"
        ":doc:`/explanation/concepts` says what intervals rest on.\n\n"
    )
    for claim, members in groupby(rows, key=lambda row: row["claim"]):
        most, stated = _MOST_FALSE.get(claim), _STATED.get(claim, _USUAL)
        said = (
            f"stated: {100 * stated:g}" if most is None else f"at most {100 * most:g} are allowed"
        )
        title = f"{claim[0].upper()}{claim[1:]} ({said})"
        ranges = claim.startswith(("median", "ratio"))
        text += (
            f"{title}\n{'-' * len(title)}\n\n{_table(list(members), stated, most, ranges=ranges)}\n"
        )
    return {"index": text + _answers(results.with_name("answers.json"))}


def _answers(results: Path) -> str:
    """Return how often simulated answers hold, and at how many numbers of calls they tell."""
    title = "Answers (stated: 95)"
    rows = json.loads(results.read_text(encoding="utf-8"))
    numbers = list(rows[0]["held"])
    held = [[row["result"], *(_cell(row["held"][n], _USUAL) for n in numbers)] for row in rows]
    told = [[row["result"], *(f"{100 * row['told'][n]:.0f}" for n in numbers)] for row in rows]
    return (
        f"{title}\n{'-' * len(title)}\n\n"
        "What ``python -m benchmarks.answers --save`` found: in how many of the draws no range of\n"
        "an :doc:`answer </how-to/bench>`, in none of its readings, leaves out the candidate\n"
        "that is truly the cheapest there, by the number of rounds.\n\n"
        f"{table(['', *numbers], held)}\n"
        "And at how many of the numbers of calls from 1 to a million, evenly on a log scale, a\n"
        "candidate was named, in percent: what nobody could tell apart is told of nobody.\n\n"
        f"{table(['', *numbers], told)}"
    )


def _table(
    rows: Sequence[dict[str, Any]], stated: float, most: float | None, *, ranges: bool
) -> str:
    numbers = list(rows[0]["shares"])
    by_n = {n: 1 - 2.0 ** (1 - int(n)) if ranges and int(n) < _FEW else stated for n in numbers}
    cells = [
        [row["noise"], *(_cell(row["shares"][n], by_n[n], most) for n in numbers)] for row in rows
    ]
    return table(["", *numbers], cells)


def _cell(share: float, stated: float, most: float | None = None) -> str:
    wrong = share < stated - _SHORT if most is None else share > most
    return f"**{100 * share:.1f}**" if wrong else f"{100 * share:.1f}"
