"""Format of github-action-benchmark, ``customSmallerIsBetter``: a list, less is better.

Its charts and alerts hold a value against that of an earlier commit and do not look at the unit, so
each kind of figure always has the same one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.integrations import figures
from coldwarm.integrations.formats import Writer

if TYPE_CHECKING:
    from coldwarm.integrations.figures import Exported, Figure

_UNITS: dict[str, tuple[str, float]] = {
    "call": ("µs", 1e6),
    "peak_memory": ("MiB", 1 / 2**20),
}
_SECONDS = ("s", 1.0)


def _files(made: Exported) -> dict[str, bytes]:
    """Return one file."""
    return {"": figures.json_bytes([_entry(made, figure) for figure in made.figures])}


def _entry(made: Exported, figure: Figure) -> dict[str, object]:
    unit, factor = _UNITS.get(figure.what, _SECONDS)
    summary = figure.summary
    entry: dict[str, object] = {
        "name": figure.name,
        "unit": unit,
        "value": summary.median * factor,
        "extra": "\n".join(_extra(made, figure)),
    }
    if summary.low is not None and summary.high is not None:
        bounds = f"{summary.low * factor:.6g}–{summary.high * factor:.6g}"
        entry["range"] = f"{bounds} at {100 * summary.confidence:.3g} %"
    return entry


def _extra(made: Exported, figure: Figure) -> list[str]:
    lines = [f"median of {figure.summary.n_processes} processes"]
    if not figure.steady:
        lines.append("calls were not steady")
    facts = figures.machine(made.measured.environment) | figures.versions(figure)
    lines += [f"{name}: {value}" for name, value in facts.items()]
    return [*lines, f"coldwarm: {figures.coldwarm_version(made.measured)}"]


WRITER = Writer(files=_files)
