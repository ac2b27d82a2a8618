"""Which candidate is the cheapest by the number of calls: a strip for each state of the caches."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from coldwarm.report.charts.chart import UNKNOWN, Chart, ink_on, shown
from coldwarm.report.charts.marks import CALLS_AXIS, WIDTH, data, only
from coldwarm.report.words import MODE_NAMES, either

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.contracts.answer import Caches, CallRange
    from coldwarm.contracts.base import CacheMode, Reading
    from coldwarm.report.charts.chart import Row, Spec
    from coldwarm.report.charts.workload import Workload

READINGS: dict[Caches, tuple[Reading, CacheMode]] = {
    "cold": ("process", "cold_process_cold_cache"),
    "warm": ("cached", "cold_process_warm_cache"),
}
"""By the state of the caches, what an answer calls it, and the cache mode."""
_CANNOT_TELL = "not decided"
_LEAST_SHOWN = 1000
"""Numbers of calls are shown up to this one at least."""
_BEYOND = 30
"""How far they are shown beyond the last change, as a factor."""
_MOST_SHOWN = 10**9
_LABEL = 52
"""Pixels of a label of the axis."""
_LETTER = 6.3
"""Pixels of a letter."""


def answer(workload: Workload, width: int = WIDTH) -> Chart | None:
    """Draw the answer alone, small enough to stand beside it; ``None``: there is none."""
    most = last(workload)
    found = {"cheapest": ranges(workload, most, width)}
    if not found["cheapest"]:
        return None
    names = list(dict.fromkeys(row["caches"] for row in found["cheapest"]))
    return Chart(
        id="answer",
        title="The cheapest candidate by number of calls",
        caption=(
            "Find your number of calls on the axis: the colour above it is the candidate with "
            "which one process costs least in all. Of two colours, either may be the cheapest; "
            "grey is where more than two may be."
        ),
        alt=f"The cheapest by number of calls in one process. {_told(found['cheapest'])}",
        spec={
            "vconcat": [
                strip(caches, most, width, last=caches == names[-1], title=True) for caches in names
            ],
            "spacing": 4,
        },
        data=found,
    )


def last(workload: Workload, changes: Sequence[int] = ()) -> int:
    """Return up to which number of calls the axis goes: a power of ten beyond the last change."""
    begins = [*changes]
    begins += [one.from_calls for caches in READINGS for one in _told_of(workload, caches)]
    most = min(max([_LEAST_SHOWN, *(_BEYOND * begin for begin in begins)]), _MOST_SHOWN)
    return int(10 ** math.ceil(math.log10(most)))


def _told_of(workload: Workload, caches: Caches) -> Sequence[CallRange]:
    found = workload.answer and workload.answer.reading(READINGS[caches][0])
    return found.ranges if found else ()


def ranges(workload: Workload, most: int, width: int) -> list[Row]:
    """Return the ranges of calls, each with its colour and the text that has room on it."""
    found: list[Row] = []
    for caches in READINGS:
        for one in _told_of(workload, caches):
            if one.from_calls >= most:
                continue
            to = min(one.to_calls or most, most)
            # Drawn up to where the next one begins, so that nothing is left open between them.
            end = min(to + 1, most)
            names = [shown(name) for name in one.among]
            cheapest = _said(one)
            look = workload.looks.get(cheapest)
            colour = UNKNOWN if look is None else look.colour
            room = width * math.log10(end / one.from_calls) / math.log10(most)
            texts = [either(names), cheapest] if look is None else [cheapest]
            found.append(
                {
                    "caches": caches,
                    "from_calls": one.from_calls,
                    "to_calls": to,
                    "end": end,
                    "cheapest": cheapest,
                    "among": ", ".join(names),
                    "ends": one.to_calls is not None,
                    "colour": colour,
                    "ink": ink_on(colour),
                    **_halves(workload, names if look is None else []),
                    "text": next((t for t in texts if room > _LETTER * len(t) + 6), ""),
                }
            )
    return found


def _said(one: CallRange) -> str:
    if one.same_within is not None:
        return f"the same within {100 * one.same_within:g} %"
    return _CANNOT_TELL if one.cheapest is None else shown(one.cheapest)


def _halves(workload: Workload, names: Sequence[str]) -> dict[str, str]:
    """Return the colours of two that may be the cheapest; none of more."""
    looks = [workload.looks.get(name) for name in names]
    colours = [look.colour for look in looks if look is not None]
    both = len(names) == len(colours) == 2  # noqa: PLR2004 - two stripes
    return dict(zip(("upper", "lower"), colours if both else ("", ""), strict=True))


def _told(found: Sequence[Row]) -> str:
    texts = []
    for caches, (_, mode) in READINGS.items():
        pieces = [
            f"from {row['from_calls']:,} {_named(row)}" for row in found if row["caches"] == caches
        ]
        if pieces:
            texts.append(f"With {MODE_NAMES[mode]}: {'; '.join(pieces)}.")
    return " ".join(texts)


def _named(row: Row) -> str:
    said = str(row["cheapest"])
    if said == row["among"]:
        return said
    return f"{said}: {'one of ' if said == _CANNOT_TELL else ''}{row['among']}"


def strip(caches: Caches, most: int, width: int, *, last: bool, title: bool) -> Spec:
    """Return the strip of a state of the caches, from the data set ``cheapest``."""
    x: Spec = {
        "field": "from_calls",
        "type": "quantitative",
        "scale": {"type": "log", "domain": [1, most], "nice": False},
        "title": "calls in one process" if last else None,
        "axis": {"labelExpr": CALLS_AXIS, "values": powers(most, width)} if last else None,
    }
    made: Spec = {
        "width": width,
        "height": 20,
        "data": data("cheapest"),
        "transform": only(caches=caches),
        "layer": [
            {
                "mark": {"type": "bar", "height": 18, "stroke": "#ffffff66", "strokeWidth": 1},
                "encoding": {
                    "x": x,
                    "x2": {"field": "end"},
                    "color": {"field": "colour", "type": "nominal", "scale": None},
                    "tooltip": [
                        {"field": "from_calls", "title": "from call"},
                        {"field": "to_calls", "title": "to call"},
                        {"field": "cheapest", "title": "cheapest"},
                        {"field": "among", "title": "among"},
                    ],
                },
            },
            *(_half(index, field, x) for index, field in enumerate(("upper", "lower"))),
            {
                "transform": [{"calculate": "sqrt(datum.from_calls * datum.end)", "as": "middle"}],
                "mark": {"type": "text", "fontWeight": "bold", "fontSize": 11},
                "encoding": {
                    "x": {"field": "middle", "type": "quantitative"},
                    "text": {"field": "text"},
                    "color": {"field": "ink", "type": "nominal", "scale": None},
                },
            },
        ],
    }
    if title:
        made["title"] = {"text": MODE_NAMES[READINGS[caches][1]], "fontSize": 11, "offset": 2}
    return made


def _half(index: int, field: str, x: Spec) -> Spec:
    """Return the stripe of one of two that may be the cheapest; the text between has room."""
    return {
        "transform": [{"filter": f"datum.{field} != ''"}],
        "mark": {"type": "rule", "strokeWidth": 3, "tooltip": None},
        "encoding": {
            "x": x,
            "x2": {"field": "end"},
            "y": {"value": 2.5 + 15 * index},
            "color": {"field": field, "type": "nominal", "scale": None},
        },
    }


def powers(most: int, width: int) -> list[int]:
    """Return the powers of ten up to a number, as many as an axis of that width has room for."""
    every = [10**power for power in range(round(math.log10(most)) + 1)]
    return every[:: -(-len(every) * _LABEL // width)]
