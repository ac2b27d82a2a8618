"""Results of patterns and claims as text and tables of a page; computes no figure of its own."""

from __future__ import annotations

import math
import re
from itertools import islice
from typing import TYPE_CHECKING

from msgspec.structs import replace

from _generate.evidence import version
from _generate.rst import code, literal, plain, table
from coldwarm.catalogue.spec import SIDES, TIMED
from coldwarm.report import units
from coldwarm.report.sentences import words
from coldwarm.report.verdict_table import VERDICTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from _generate.evidence import OfClaim, OfPattern
    from coldwarm.contracts.catalogue import Bound, Fact, FactSheet
    from coldwarm.contracts.reasons import Reason

NOTHING_YET = "Not measured yet.\n\n"
SIDE_NAMES = {"do": "DO", "dont": "DON'T"}
NAMES = {"jax": "JAX", "numpy": "NumPy", "numba": "Numba", "torch": "PyTorch", "python": "Python"}
_TONES = {
    "as_stated": "good",
    "confirmed": "good",
    "opposite": "bad",
    "refuted": "bad",
    "failed": "bad",
}
_SMALLEST, _MOST_DIGITS = 1e-12, 1e6
_FEW = 3
_UNITS = re.compile(r"^n_|_bytes$|_s$")


def verdict(kind: str) -> str:
    """Return a verdict in its colour; the style sheet has the roles."""
    return f":verdict-{_TONES.get(kind, 'open')}:`{VERDICTS[kind][0]}`"


def because(reason: Reason | None) -> str:
    """Return a reason in words, or a dash."""
    return plain(words(reason)) if reason else units.MISSING


def quantity(measures: str, value: float | None) -> str:
    """Return a side's figure of what a pattern measures, with its unit."""
    if value is None:
        return units.MISSING
    if measures in TIMED:
        return units.duration(value)
    return units.size(value) if measures.endswith("_bytes") else units.count(round(value))


def number(name: str, value: float) -> str:
    """Return a number whose name carries its unit."""
    bare = unit_name(name)
    if isinstance(value, int):
        return units.size(value) if bare.endswith("_bytes") else f"{value:,}"
    if value < 0 or not math.isfinite(value):
        return f"{value:.3g}".replace("-", "−")
    if bare.endswith("_s"):
        return units.duration(value)
    if bare.endswith("_bytes"):
        return units.size(value)
    if value.is_integer() and value < _MOST_DIGITS:
        return f"{value:,.0f}"
    return units.significant(value) if value > _SMALLEST else f"{value:.1e}"


def unit_name(name: str) -> str:
    """Return the part of a figure's name that ends with its unit."""
    return name.partition(", of ")[0]


def words_of(name: str) -> str:
    """Return what a figure is called on a page; functions keep their names."""
    for metric in ("warm_call", "first_call", "first_result"):
        if name.startswith(f"{metric} of "):
            return name.replace("_", " ", 1)
    return name


def is_ratio(name: str) -> bool:
    """Say whether a figure, by its name, is one figure over another of the same unit."""
    bare = unit_name(name)
    return " over " in bare or bare.endswith("ratio")


def in_short(figures: Sequence[Bound]) -> str:
    """Return what a table of many claims has room for: figures with bounds, or a few exact ones."""
    bounded = [one for one in figures if one.low < one.high]
    if bounded:
        return "; ".join(interval(replace(one, confidence=None)) for one in bounded)
    exact = (f"{fact_name(one.name.rpartition(': ')[2])} {interval(one)}" for one in figures)
    return "; ".join(map(plain, islice(exact, _FEW))) or units.MISSING


def interval(bound: Bound) -> str:
    """Return a figure with its bounds and their confidence, where they are not the same."""
    sign = "×" if is_ratio(bound.name) else ""
    if bound.low == bound.high:
        return f"{number(bound.name, bound.value)}{sign}"
    return f"{number(bound.name, bound.value)}{sign} {_range(bound, sign)}"


def _range(bound: Bound, sign: str) -> str:
    low, high = (number(bound.name, end) for end in (bound.low, bound.high))
    return f"({low}–{high}{sign}{at(bound.confidence)})"


def at(confidence: float | None) -> str:
    """Return the confidence of an interval, to stand behind it."""
    return (
        ""
        if confidence is None
        else f" at\N{NO-BREAK SPACE}{100 * confidence:.3g}\N{NO-BREAK SPACE}%"
    )


def fact(name: str, value: Fact) -> str:
    """Return what a function has shown under a name."""
    match value:
        case None:
            return units.MISSING
        case bool():
            return "yes" if value else "no"
        case str():
            return literal(value.strip().replace("`", "'")) if value.strip() else "nothing"
    return number(name, value)


def fact_name(name: str) -> str:
    """Return the name of a fact in words; its unit stands with its values."""
    known = {"raised": "raises", "programs": "programs compiled"}
    return known.get(name, _UNITS.sub("", name).replace("_", " "))


def sides(found: Sequence[OfPattern]) -> str:
    """Return the fact sheets of DO and DON'T side by side, and the errors that they ended with."""
    shown = [one for one in found if len(one.result.sheets) == len(SIDES)]
    if not shown:
        return ""
    sheets = [sheet for one in shown for sheet in one.result.sheets]
    several = len(shown) > 1
    head = [
        SIDE_NAMES[side] + (f", {version(one)}" if several else "")
        for one in shown
        for side in SIDES
    ]
    return _facts(sheets, head) + _errors(shown[0].result.sheets)


def functions(one: OfClaim) -> str:
    """Return what the functions of a claim have shown, each over all its processes."""
    by_name: dict[str, list[FactSheet]] = {}
    for sheet in one.result.sheets:
        by_name.setdefault(sheet.function, []).append(sheet)
    rows = [
        (_called(function, len(of)), fact_name(name), _over(name, of))
        for function, of in by_name.items()
        for name in dict.fromkeys(name for sheet in of for name in sheet.seen)
        if any(sheet.seen.get(name) is not None for sheet in of)
    ]
    return table(("function", "what", "seen"), rows, "measured") if rows else ""


def _called(function: str, n_processes: int) -> str:
    """Return a function's name, and how many processes have called it if several."""
    return literal(function) + (f", {n_processes} processes" if n_processes > 1 else "")


def _over(name: str, sheets: Sequence[FactSheet]) -> str:
    """Return the values of several processes: each text once, of numbers the ends."""
    values = [sheet.seen.get(name) for sheet in sheets]
    numbers = [v for v in values if isinstance(v, int | float) and not isinstance(v, bool)]
    if len(numbers) == len(values) and min(numbers) != max(numbers):
        return f"{fact(name, min(numbers))}–{fact(name, max(numbers))}"
    return ", ".join(dict.fromkeys(fact(name, value) for value in values))


def _facts(sheets: Sequence[FactSheet], head: Sequence[str]) -> str:
    names = dict.fromkeys(name for sheet in sheets for name in sheet.seen)
    rows = [
        (fact_name(name), *(fact(name, sheet.seen.get(name)) for sheet in sheets))
        for name in names
        if any(sheet.seen.get(name) is not None for sheet in sheets)
    ]
    return table(("", *head), rows, "measured")


def _errors(sheets: Sequence[FactSheet]) -> str:
    return "".join(
        f"{SIDE_NAMES[sheet.function]} raises:\n\n"
        + code(f"{sheet.raised.error}: {sheet.raised.text}", "text")
        for sheet in sheets
        if sheet.raised
    )


def where(found: Sequence[OfPattern | OfClaim]) -> str:
    """Return on what machines figures were measured."""
    machines = dict.fromkeys(one.of.machine for one in found)
    said = [plain(machine) for machine in machines if machine]
    return f"Measured on: {'; '.join(said)}.\n\n" if said else ""


def when(found: Sequence[OfPattern | OfClaim]) -> list[tuple[str, ...]]:
    """Return the rows of a table that say when figures were measured, and with what versions."""
    dates = (one.result.measured_at[:10] for one in found)
    versions = (
        ", ".join(
            f"{NAMES[name]} {release}"
            for name, release in one.result.versions.items()
            if name in NAMES
        )
        for one in found
    )
    return [("date", *dates), ("versions", *(said or units.MISSING for said in versions))]


def changed(found: Sequence[tuple[str, str]]) -> str:
    """Return a remark where a file is no longer the one that was measured.

    Args:
        found: Of each result the hash of the file that was measured, and that of the file now.
    """
    if all(then == now for then, now in found):
        return ""
    return (
        ".. note::\n\n   The file of this page has been edited since it was measured; the figures"
        " are those of\n   the text before.\n\n"
    )
