"""Two results held against each other: the ratio of each figure, and how it was judged."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from msgspec import structs

from coldwarm.report.charts import every
from coldwarm.report.charts.chart import Chart, file_name, shown, standing_alone
from coldwarm.report.charts.marks import WIDTH, data, only
from coldwarm.report.charts.workload import Workload, workloads
from coldwarm.report.comparison_text import figure, row
from coldwarm.report.provenance import source
from coldwarm.stats.ratio import same_within

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from coldwarm.contracts.comparison import ComparedMetric, ComparedVerdict, RunComparison
    from coldwarm.contracts.result import CaseResult, Measured
    from coldwarm.report.charts.chart import Look, Row, Spec

_VERDICT_LOOKS: Mapping[ComparedVerdict, tuple[str, str]] = {
    "faster": ("#0072b2", "triangle-left"),
    "less": ("#0072b2", "triangle-left"),
    "same": ("#7f7f7f", "circle"),
    "undecided": ("#b8b8b8", "diamond"),
    "more": ("#d55e00", "triangle-right"),
    "slower": ("#d55e00", "triangle-right"),
}
"""Colours and shapes of verdicts: what is better is blue and points to the left."""
_ROW = 20
_PANEL = 118
_GAP = 18
_BEFORE = (4, 3)
"""The dash of A."""
_WIDEST = 4.0
"""Ratios beyond this, and below one over it, are drawn at the edge."""
_RATIOS = (
    (0.9, 0.95, 1.0, 1.05, 1.1),
    (0.7, 0.85, 1.0, 1.2, 1.4),
    (0.5, 0.7, 1.0, 1.4, 2.0),
    (0.25, 0.5, 1.0, 2.0, 4.0),
)
"""Ticks of an axis of ratios; of these the first that reach as far as its ratios do."""


def ratios(comparison: RunComparison, width: int = WIDTH) -> Chart | None:
    """Draw B over A for each figure, a panel for each kind; ``None``: no ratio is known."""
    known = [one for one in comparison.metrics if one.ratio is not None]
    if not known:
        return None
    found = {"ratios": [_row(one) for one in known]}
    panels = list(dict.fromkeys(str(one["figure"]) for one in found["ratios"]))
    columns = min(len(panels), max(1, width // (_PANEL + _GAP)))
    return Chart(
        id="ratios",
        title="B over A",
        caption=(
            "Each mark is the ratio of a figure in B to the same in A, with its interval; further "
            "left is better. Blue and pointing left: surely better by more than matters. Orange "
            "and pointing right: surely worse. A grey dot is the same, within the grey band of "
            "differences that do not matter; a pale diamond is undecided: these data cannot tell."
        ),
        alt=f"Ratios of B to A: {_counted(known)}.",
        spec={
            "concat": [
                _panel(name, found["ratios"], width // columns - _GAP, first=place % columns == 0)
                for place, name in enumerate(panels)
            ],
            "columns": columns,
            "spacing": _GAP,
            "resolve": {"scale": {"x": "shared", "y": "shared"}},
        },
        data=found,
    )


def pairs(a: Measured, b: Measured) -> list[Workload]:
    """Return the workloads that both results have measured, each candidate once of each.

    Both are in one figure, on one axis: a candidate has its colour twice, that of A dashed.
    """
    before = {one.title: one for one in workloads(list(a.cases.values()))}
    now = {one.title: one for one in workloads(list(b.cases.values()))}
    return [_pair(before[title], now[title]) for title in now if title in before]


def _pair(before: Workload, now: Workload) -> Workload:
    known = {case.candidate: case for case in before.cases}
    both = [(known[case.candidate], case) for case in now.cases if case.candidate in known]
    looks: dict[str, Look] = {}
    cases: list[CaseResult] = []
    for old, new in both:
        look = now.looks[shown(new.candidate)]
        looks |= {
            shown(f"{new.candidate} (A)"): replace(look, dash=_BEFORE),
            shown(f"{new.candidate} (B)"): look,
        }
        cases += [
            structs.replace(old, candidate=f"{old.candidate} (A)"),
            structs.replace(new, candidate=f"{new.candidate} (B)"),
        ]
    return Workload(now.title, tuple(cases), looks)


def _row(one: ComparedMetric) -> Row:
    _, a, b, ratio, interval, *_ = (cell.text for cell in row(one))
    colour, shape = _VERDICT_LOOKS[one.verdict]
    low, high = one.low or one.ratio, one.high or one.ratio
    least, most = same_within(one.threshold)
    return {
        "case": shown(one.case),
        "figure": figure(one.metric),
        "equal": 1,
        "ratio": _drawn(one.ratio),
        "low": _drawn(low),
        "high": _drawn(high),
        "verdict": one.verdict,
        "colour": colour,
        "shape": shape,
        "least": least,
        "most": most,
        "a": a,
        "b": b,
        "said": f"{ratio} ({interval})",
    }


def _drawn(ratio: float | None) -> float:
    """Return where a ratio is drawn: at the edge where it lies beyond."""
    return min(max(ratio or 1.0, 1 / _WIDEST), _WIDEST)


def _counted(known: Sequence[ComparedMetric]) -> str:
    counts = Counter(one.verdict for one in known)
    return ", ".join(f"{counts[name]} {name}" for name in _VERDICT_LOOKS if counts[name])


def _panel(name: str, found: Sequence[Row], width: int, *, first: bool) -> Spec:
    cases = list(dict.fromkeys(row["case"] for row in found))
    low, high = min(row["low"] for row in found), max(row["high"] for row in found)
    reached = next((one for one in _RATIOS if one[0] <= low and high <= one[-1]), _RATIOS[-1])
    y: Spec = {"field": "case", "type": "nominal", "sort": cases, "title": None}
    y["axis"] = {"labelLimit": 260} if first else None
    x: Spec = {
        "type": "quantitative",
        "scale": {"type": "log", "nice": False, "padding": 6},
        "title": None,
        "axis": {
            "values": reached,
            "labelExpr": "datum.value === 1 ? '1' : format(datum.value, '.2~f') + '×'",
            "labelOverlap": "parity",
            "labelSeparation": 6,
            "labelFlush": False,
        },
    }
    where = only(figure=name)
    mark = {"field": "colour", "type": "nominal", "scale": None}
    return {
        "title": {"text": name, "fontSize": 11},
        "width": width,
        "height": {"step": _ROW},
        "data": data("ratios"),
        "transform": where,
        "layer": [
            {
                "mark": {"type": "bar", "style": "faint", "opacity": 0.14},
                "encoding": {"y": y, "x": {**x, "field": "least"}, "x2": {"field": "most"}},
            },
            {
                "mark": {"type": "rule", "style": "ink", "strokeWidth": 0.8},
                "encoding": {"x": {**x, "field": "equal", "aggregate": "max"}},
            },
            {
                "mark": {"type": "rule", "strokeWidth": 1.6},
                "encoding": {
                    "y": y,
                    "x": {**x, "field": "low"},
                    "x2": {"field": "high"},
                    "color": mark,
                },
            },
            {
                "mark": {"type": "point", "filled": True, "size": 60, "fillOpacity": 1},
                "encoding": {
                    "y": y,
                    "x": {**x, "field": "ratio"},
                    "color": mark,
                    "shape": {"field": "shape", "type": "nominal", "scale": None},
                    "tooltip": [
                        {"field": "case", "title": "case"},
                        {"field": "figure", "title": "figure"},
                        {"field": "a", "title": "A"},
                        {"field": "b", "title": "B"},
                        {"field": "said", "title": "B over A"},
                        {"field": "verdict", "title": "verdict"},
                    ],
                },
            },
        ],
    }


KINDS = ("cold", "first_call", "warm_points", "warm_ecdf", "memory")
"""The kinds of figures that show both results."""


def charts(
    comparison: RunComparison, a: Measured, b: Measured, kinds: Sequence[str] = KINDS
) -> Iterator[tuple[str, Chart]]:
    """Yield the figures of a comparison, each with the title of its workload or nothing."""
    judged = ratios(comparison)
    if judged is not None:
        yield "", judged
    for workload in pairs(a, b):
        for chart in every.charts(workload, WIDTH, kinds):
            yield workload.title, chart


def named(
    comparison: RunComparison, sides: tuple[Measured, Measured]
) -> Iterator[tuple[str, Chart]]:
    """Yield the figures of a comparison, each with a name that a file may have."""
    where = "; ".join(f"{label}: {source(side)}" for label, side in zip("AB", sides, strict=True))
    for title, chart in charts(comparison, *sides):
        alone = standing_alone(chart, title, where)
        yield f"{file_name(title)}-{chart.id}" if title else chart.id, alone
