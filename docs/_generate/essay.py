"""Figures and tables for the essay *When does JAX win?*, from what is committed."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from _generate import evidence, figures, measured
from _generate.rst import plain, table
from coldwarm.contracts import codec
from coldwarm.contracts.sweep import SweepReport
from coldwarm.report import units
from coldwarm.report.charts import drawing, sizes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from _generate.evidence import Evidence
    from coldwarm.contracts.catalogue import Bound
    from coldwarm.contracts.sweep import SizeRange, Slice
    from coldwarm.report.charts.chart import Chart


class Job(NamedTuple):
    """A figure of a claim, in words of the essay."""

    words: str
    claim: str
    figure: str
    """Its name in the claim's result."""


JOBS = (
    "ode",
    "least_squares",
    "particles",
    "stencil",
    "roots",
    "monte_carlo",
    "chain",
    "products",
    "training",
    "attention",
)
"""The files of ``examples/jobs``: small steps first, then large operations."""
STARTS = (
    Job("first call of a training step of a small network", "first-call-small-mlp", "first_s"),
    Job("compiling a network of 24 layers", "compiling-cpu-fast", "layers_24: compiling_s"),
    Job(
        "first call with an empty cache, divided by that with a filled one",
        "sensitive-to-caching",
        "jax_24_layers: ratio",
    ),
    Job("call with a new shape, divided by one with a known one", "new-shape-recompiles", "ratio"),
    Job(
        "steps of a short loop until only half of its time was compiling",
        "compiling-dominates-short-loops",
        "steps_until_half",
    ),
    Job("handing one call over", "dispatch-cpu-low", "dispatch: call_s"),
)
"""What starting costs."""


def parts(package: Path) -> dict[str, str]:
    """Return the parts that the essay includes."""
    every = evidence.stored(package)
    main = every[0] if every else None
    root = package.parents[1]
    measured_jobs = [one for name in JOBS if (one := _job(root, name)) is not None]
    return {
        "by_size": _table(measured_jobs),
        "by_calls": _processes(measured_jobs),
        "maps": "".join(_figure(sizes.decisions, job) for job in measured_jobs),
        "curves": "".join(_figure(sizes.curves, job) for job in measured_jobs),
        "starts": _starts(main),
    }


class Swept(NamedTuple):
    """A job of the examples, and what was measured of it by size."""

    name: str
    title: str
    report: SweepReport

    @property
    def slice(self) -> Slice:
        """All of it: nothing else was swept."""
        return self.report.slices[0]


def _job(root: Path, name: str) -> Swept | None:
    """Return a job with its sweep; ``None``: it was not measured."""
    path = root / "docs" / "results" / "sizes" / f"{name}.json"
    if not path.is_file():
        return None
    text = ast.get_docstring(ast.parse((root / "examples/jobs" / f"{name}.py").read_text("utf-8")))
    title = (text or name).splitlines()[0].partition(": n from")[0]
    return Swept(name, title, codec.load_as(SweepReport, path))


def _table(jobs: Sequence[Swept]) -> str:
    """Return who has the cheapest warm call at which size, and what it takes at both ends."""
    if not jobs:
        return measured.NOTHING_YET
    rows = []
    for job in jobs:
        warm = next(one for one in job.slice.by_size if one.reading is None)
        told = map(_range, warm.ranges)
        rows.append((plain(job.title), _line_block(told), _line_block(_ends(job))))
    return table(("job", "cheapest warm call", "takes"), rows, "measured")


def _processes(jobs: Sequence[Swept]) -> str:
    """Return who costs least in a process, by its calls, caches and size."""
    rows = [row for job in jobs for row in _by_caches(job)]
    numbers = next(
        ([one.calls for one in job.slice.by_size if one.reading == "process"] for job in jobs), []
    )
    head = [f"{units.count(n)} call{'s' * (n > 1)}" for n in numbers if n is not None]
    return table(("job", "caches", *head), rows, "measured") if rows else measured.NOTHING_YET


_READINGS = {"process": "empty", "cached": "filled"}


def _by_caches(job: Swept) -> list[tuple[str, ...]]:
    """Return a row for empty and one for filled caches, or one for both where they say the same."""
    cells: dict[tuple[str, ...], list[str]] = {}
    for reading, caches in _READINGS.items():
        found = [one for one in job.slice.by_size if one.reading == reading]
        if found:
            told = tuple(_line_block(map(_range, one.ranges)) for one in found)
            cells.setdefault(told, []).append(caches)
    rows = [(" or ".join(caches), *told) for told, caches in cells.items()]
    return [("" if number else plain(job.title), *row) for number, row in enumerate(rows)]


def _range(one: SizeRange) -> str:
    return f"{_sizes(one)}: {_who(one)}"


def _sizes(one: SizeRange) -> str:
    low, high = units.count(one.from_size), units.count(one.to_size)
    return low if low == high else f"{low} to {high}"


def _who(one: SizeRange) -> str:
    """Return the cheapest, or those of which it is not decided."""
    if one.cheapest is not None:
        return f"**{measured.NAMES[one.cheapest]}**"
    return " or ".join(measured.NAMES[name] for name in one.among)


def _ends(job: Swept) -> Iterator[str]:
    """Yield what the candidates' calls take at the smallest and at the largest size."""
    known = [point for point in job.slice.points if point.call]
    for point in (known[0], known[-1]):
        calls = sorted(point.call.items(), key=lambda one: one[1].median)
        said = (f"{measured.NAMES[name]} {units.duration(one.median)}" for name, one in calls)
        yield f"{units.count(point.size)}: {', '.join(said)}"


def _line_block(lines: Iterable[str]) -> str:
    """Return lines that stay lines within a cell."""
    return "\n       ".join(f"| {line}" for line in lines)


def _figure(draw: Callable[[SweepReport, Slice, int], Chart | None], job: Swept) -> str:
    """Return a figure of a job; nothing where it has no numbers for one."""
    chart = draw(job.report, job.slice, figures.WIDTH)
    if chart is None:
        return ""
    drawn = figures.themed(lambda theme: drawing.svg(chart, theme).decode())
    return f"{plain(job.title)}:\n\n{drawn}"


def _starts(main: Evidence | None) -> str:
    rows = [
        (f":ref:`{plain(job.words)} <claim-{job.claim}>`", measured.interval(one))
        for job, one in _found(STARTS, main)
    ]
    return table(("JAX with jit", "here"), rows, "measured") if rows else measured.NOTHING_YET


def _found(jobs: Sequence[Job], main: Evidence | None) -> Iterator[tuple[Job, Bound]]:
    """Yield the figures of jobs that were measured."""
    for job in jobs:
        result = main.claims.get(job.claim) if main else None
        for one in result.figures if result else ():
            if job.figure in one.name:
                yield job, one
                break
