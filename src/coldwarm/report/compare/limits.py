"""What a control has shown, and which limits could not have been shown, in words."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from coldwarm.report import units
from coldwarm.report.figures import bounds
from coldwarm.report.sentences import counted

if TYPE_CHECKING:
    from collections.abc import Callable

    from coldwarm.contracts.bench import BenchControl, BenchReport, BenchVerdict
    from coldwarm.contracts.comparison import UnshownLimit


def of_bench(report: BenchReport, named: Callable[[str], str]) -> list[tuple[str, str]]:
    """Return terms and texts; ``named`` gives the name of a metric."""
    listed = []
    if report.control is not None:
        listed.append(("control", _control(report.control, named)))
    listed += [
        ("within", f"{one.candidate}, {named(one.comparison.metric)}: {_below(one, report)}")
        for one in report.verdicts
        if one.surely_below is not None
    ]
    listed += [
        ("too coarse", f"{one.case}, {named(one.metric)}: {reach(one)}; {further(one)}")
        for one in report.unshown
    ]
    more_s = math.fsum(one.further_s or 0.0 for one in report.unshown)
    if more_s:
        asked = units.duration(report.wall_s + more_s)
        listed.append(("", f"for all of these, about --time-budget {asked}"))
    return listed


def _control(control: BenchControl, named: Callable[[str], str]) -> str:
    what = f"{control.candidate} is {control.of} once more"
    if not control.comparisons:
        return f"{what}; too little was measured to compare it"
    if control.differing:
        names = ", ".join(map(named, control.differing))
        return f"{what}, and differs: no verdict is given of {names}"
    verdicts = Counter(one.verdict for one in control.comparisons)
    found = ", ".join(f"{number} {verdict}" for verdict, number in sorted(verdicts.items()))
    return f"{what}, and differs in nothing: {found}"


def _below(one: BenchVerdict, report: BenchReport) -> str:
    limit = f"{100 * (one.surely_below or 0.0):.3g} %"
    return f"not slower than {report.reference} by more than {limit}: {bounds(one.comparison)}"


def reach(one: UnshownLimit) -> str:
    """Say how closely a figure was measured, and what was asked for."""
    limit = f"a limit of {100 * one.limit:.3g} %"
    if one.half_width is None:
        return f"too few processes for {limit}"
    return f"{units.spread(one.half_width)} cannot show {limit}"


def further(one: UnshownLimit, what: str = "round", of: str = "") -> str:
    """Say what the limit is expected to need besides."""
    text = f"about {counted(one.n_further, f'more {what}')}{of}"
    return text if one.further_s is None else f"{text}, {units.duration(one.further_s)}"
