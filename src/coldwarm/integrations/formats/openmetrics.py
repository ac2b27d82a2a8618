"""OpenMetrics text: the figures of a result as gauges, for a Pushgateway or a textfile collector.

The text is also what Prometheus' older format takes: every family is a gauge, for the type ``info``
is unknown there.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from coldwarm.integrations import figures
from coldwarm.integrations.formats import Writer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from coldwarm.integrations.figures import Exported, Figure, What


class _Family(NamedTuple):
    name: str
    unit: str
    help: str


_FAMILIES: dict[What, tuple[str, str, str]] = {
    "call": ("call", "seconds", "A warm call"),
    "first_result": ("first_result", "seconds", "The time to the first result of a process"),
    "whole_start": (
        "whole_start",
        "seconds",
        "From the start of a process to its first result",
    ),
    "whole_loop": ("whole_loop", "seconds", "From the start of a process to the end of its loop"),
    "peak_memory": ("peak_memory", "bytes", "Highest resident memory up to the second call"),
}
_BOUNDS = {"": "median of the processes", "low_": "low bound", "high_": "high bound"}


def _files(made: Exported) -> dict[str, bytes]:
    """Return one file."""
    lines = [*_run(made)]
    for what, (name, unit, text) in _FAMILIES.items():
        figures = [figure for figure in made.figures if figure.what == what]
        for bound, meaning in _BOUNDS.items():
            family = _Family(f"coldwarm_{name}_{bound}{unit}", unit, f"{text}: {meaning}.")
            lines += _gauge(family, [(_labels(one), _value(one, bound)) for one in figures])
    counted = [
        (_labels(one) | {"figure": one.what}, one.summary.n_processes) for one in made.figures
    ]
    lines += _gauge(_Family("coldwarm_processes", "", "Valid processes behind a figure."), counted)
    return {"": "".join(f"{line}\n" for line in [*lines, "# EOF"]).encode()}


def _value(figure: Figure, bound: str) -> float | None:
    summary = figure.summary
    return {"": summary.median, "low_": summary.low, "high_": summary.high}[bound]


def _labels(figure: Figure) -> dict[str, str]:
    found = figures.identity(figure)
    if figure.what == "call":
        del found["cache_mode"]  # a call has one alone
        found["steady"] = str(figure.steady).lower()
    return found


def _run(made: Exported) -> Iterator[str]:
    """Yield one gauge whose labels say which run it is, and where it was measured."""
    labels = {"coldwarm_version": figures.coldwarm_version(made.measured)}
    if (suite := made.measured.suite) is not None:
        labels |= {"suite": suite.suite, "run_id": suite.run_id, "started_at": suite.started_at}
        labels |= {"complete": str(suite.complete).lower()}
    labels |= figures.machine(made.measured.environment)
    yield from _gauge(
        _Family("coldwarm_run", "", "The run that the figures are of."), [(labels, 1)]
    )


def _gauge(
    family: _Family, samples: Sequence[tuple[Mapping[str, str], float | None]]
) -> Iterator[str]:
    known = [(labels, value) for labels, value in samples if value is not None]
    if not known:
        return
    yield f"# TYPE {family.name} gauge"
    if family.unit:
        yield f"# UNIT {family.name} {family.unit}"
    yield f"# HELP {family.name} {family.help}"
    for labels, value in known:
        pairs = ",".join(f'{name}="{_escaped(text)}"' for name, text in labels.items())
        yield f"{family.name}{{{pairs}}} {_number(value)}"


def _number(value: float) -> str:
    return str(int(value)) if math.isfinite(value) and value == int(value) else repr(value)


def _escaped(text: str) -> str:
    plain = figures.told(text) if not text.isprintable() else text
    return plain.replace("\\", r"\\").replace('"', r"\"")


WRITER = Writer(files=_files, is_json=False)
