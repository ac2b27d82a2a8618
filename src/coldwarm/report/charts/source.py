"""Where the numbers of a figure come from, in a line that goes with it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from coldwarm.errors import printable

if TYPE_CHECKING:
    from coldwarm.contracts.answer import Answer, Provenance
    from coldwarm.contracts.result import Measured
    from coldwarm.report.charts.chart import Chart

_SAID: dict[Provenance, str] = {
    "measured_here": "measured here",
    "replicated": "measured again",
    "quoted": "quoted from a source",
}


def source(measured: Measured, answer: Answer | None = None) -> str:
    """Return where figures come from: how they are known, the run, its day, the processor."""
    parts = [_SAID[answer.provenance if answer else "measured_here"]]
    if measured.suite is not None:
        parts += [f"run {measured.suite.run_id[:12]}", measured.suite.started_at[:10]]
    if measured.environment is not None:
        parts.append(measured.environment.cpu.model or measured.environment.cpu.architecture)
    return printable(", ".join(parts))


def standing_alone(chart: Chart, of: str, where: str) -> Chart:
    """Return a figure with its title over it, and of what it is and where it is from below that."""
    said = " · ".join(filter(None, (of, where)))
    title = {
        "text": chart.title,
        "subtitle": said,
        "fontSize": 14,
        "subtitleFontSize": 10,
        "offset": 12,
    }
    return replace(chart, alt=f"{chart.alt} {said}.", spec={**chart.spec, "title": title})
