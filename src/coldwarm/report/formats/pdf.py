"""The validation report: a few pages for print, set by typst.

Texts of results reach typst as JSON, which it never takes for mark-up. It sees nothing but an
empty folder with the figures, takes no font of the machine, and the time in the file is when the
last process was measured, so that equal results give equal bytes.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coldwarm import installing
from coldwarm.errors import printable, shorten
from coldwarm.installing import require
from coldwarm.report import comparison_text, provenance, units
from coldwarm.report.charts import compared as both
from coldwarm.report.charts import drawing, every
from coldwarm.report.charts.chart import source
from coldwarm.report.charts.workload import workloads
from coldwarm.report.formats import Format
from coldwarm.report.headline import group_name, held_against
from coldwarm.report.view import suite_view
from coldwarm.runner import temporary
from coldwarm.stats.answers import answers
from coldwarm.stats.outcome import of_group

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from coldwarm.contracts.comparison import RunComparison
    from coldwarm.contracts.environment import Environment
    from coldwarm.contracts.result import CaseResult, Measured
    from coldwarm.report.charts.chart import Chart
    from coldwarm.report.charts.workload import Workload
    from coldwarm.report.view import Group

    Node = dict[str, Any]


def _pdf(
    template: str, said: dict[str, Any], drawn: Sequence[Chart], results: Sequence[Measured]
) -> bytes:
    """Return what is said of results, set by one of the templates beside this file.

    Raises:
        MissingError: typst is not installed.
    """
    typst = require("typst", extra="report")
    templates = resources.files("coldwarm.report.page").joinpath("assets")
    with temporary.made() as folder:
        for name in ("page.typ", template):
            Path(folder, name).write_bytes(templates.joinpath(name).read_bytes())
        for number, chart in enumerate(drawn, 1):
            Path(folder, f"figure-{number}.pdf").write_bytes(drawing.pdf(chart))
        compiler = typst.Compiler(
            input=str(Path(folder, template)),
            root=folder,
            ignore_system_fonts=True,
            sys_inputs={"contents": json.dumps(said)},
        )
        made: bytes = compiler.compile(format="pdf", timestamp=_measured_at(results))
    return made


def _measured_at(results: Sequence[Measured]) -> int:
    """Return the second in which the last of the results was ready; 1970 where none says it."""
    told = [one.suite.finished_at or one.suite.started_at for one in results if one.suite]
    return max((_second(text) for text in told), default=0)


def _second(text: str) -> int:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return 0
    return max(0, int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()))


_WHOLE = 520
"""Width of a figure's plot that has the page's width, in pixels."""
_HALF = 235
_FEW, _SOME = 2, 4
"""Workloads up to which each has all its figures, large ones; and up to which each has a table."""
_LARGE = ("break_even",)
_SMALL = ("cold", "warm_points")
_LAST = ("warm_ecdf", "memory", "new_shape")
_COMPACT = ("cold", "warm_points")
_PAIRED = ("cold", "warm_points")
"""The kinds of figures that show both results of a comparison."""
_LONGEST = 600
_RUN = re.compile(r"\S{36}(?=\S{6})")
"""What has no place for a line to end."""
_MOST_FILES = 16


def contents(results: Sequence[Measured]) -> tuple[Node, list[Chart]]:
    """Return the report's text and tables, and its figures in the order of their numbers."""
    drawn: list[Chart] = []
    parts = [_part(measured, drawn) for measured in results]
    return _plain({"parts": parts}), drawn


def _changes(
    comparison: RunComparison, found: Iterable[tuple[str, Chart]]
) -> tuple[Node, list[Chart]]:
    """Return what a report of a comparison says, and its figures in the order of their numbers.

    ``found``: the figures, each with the title of its workload or nothing.
    """
    drawn: list[Chart] = []
    first: list[Node] = []
    grouped: dict[str, list[Node]] = {}
    for title, chart in found:
        where = grouped.setdefault(title, []) if title else first
        where.append(_figure(chart, drawn))
    said = {
        "sides": comparison_text.sides(comparison),
        "summary": comparison_text.summary(comparison),
        "shared": first,
        "remarks": comparison_text.remarks(comparison),
        "cases": [
            {
                "title": case,
                "headings": ["figure", *comparison_text.HEADINGS[1:]],
                "rows": [[cell.text for cell in comparison_text.row(item)] for item in items],
            }
            for case, items in comparison_text.shown(comparison, everything=True).items()
        ],
        "legend": comparison_text.legend(comparison),
        "workloads": [{"title": title, "figures": found} for title, found in grouped.items()],
    }
    return _plain(said), drawn


def _plain(node: Any) -> Any:  # noqa: ANN401 - a tree of JSON
    """Return the tree with every text of it as one that is seen as it is, and can be broken."""
    if isinstance(node, str):
        return _RUN.sub("\\g<0>\u200b", shorten(printable(node), _LONGEST))
    if isinstance(node, dict):
        return {key: _plain(value) for key, value in node.items()}
    if isinstance(node, (list, tuple)):
        return [_plain(value) for value in node]
    return node


def _part(measured: Measured, drawn: list[Chart]) -> Node:
    cases = list(measured.cases.values())
    told = answers(cases)
    where = source(measured, told[0] if told else None)
    found = workloads(cases, told)
    view = suite_view(measured.suite, cases, told, verbose=False) if measured.suite else None
    groups = {group.title: group for group in view.groups} if view else {}
    environment = measured.environment
    return {
        "name": measured.suite.suite if measured.suite else next(iter(measured.cases)),
        "facts": list(_facts(measured, cases)),
        "answers": [
            _answer(one, groups.get(group_name(one.cases[0])), drawn, where) for one in found
        ],
        "gates": _gates(found),
        "shared": [_figure(chart, drawn, where) for chart in every.of_result(found, _WHOLE)],
        "workloads": [
            _workload(
                one,
                groups.get(group_name(one.cases[0])),
                lambda chart: _figure(chart, drawn, where),
                of=len(found),
            )
            for one in found
        ],
        "legend": list(view.legend) if view else [],
        "care": list(view.care) if view else [],
        "limitations": provenance.limitations([case for case in cases if case.observations]),
        "rejected": _rejected(cases),
        "unavailable": list(view.unavailable) if view else [],
        "install": installing.advice(),
        "protocol": _protocol(cases),
        "environment": _environment(environment) if environment else [],
        "files": _hashes(measured, found),
    }


def _facts(measured: Measured, cases: Sequence[CaseResult]) -> Iterator[tuple[str, str]]:
    suite = measured.suite
    seen = [one for case in cases for one in case.observations]
    if suite is not None:
        ended = f" to {suite.finished_at}" if suite.finished_at else ", interrupted"
        yield "measured", f"{suite.started_at}{ended}"
        yield "run", suite.run_id
        yield (
            "cases",
            (
                f"{suite.n_ok} ok, {suite.n_warn} with a warning or not measured, "
                f"{suite.n_failed} failed"
            ),
        )
    processes = f"{len(seen)} processes"
    wall = f", {units.duration(suite.measured_s)} in all" if suite is not None else ""
    yield "rests on", f"{processes}{wall}"
    if measured.environment is not None:
        yield "on", provenance.machine_line(measured.environment)
        harness = measured.environment.harness
        commit = f", commit {harness.git_commit[:12]}" if harness.git_commit else ""
        yield "by", f"coldwarm {harness.version}{commit}"
    yield from provenance.rows(len(measured.otherwise))


def _answer(workload: Workload, group: Group | None, drawn: list[Chart], where: str) -> Node:
    strip = every.charts(workload, _WHOLE, ("answer",))
    return {
        "title": workload.title,
        "lines": [(line.label, line.text) for line in group.answer] if group else [],
        "figure": _figure(strip[0], drawn, where) if strip else None,
    }


def _figure(chart: Chart, drawn: list[Chart], where: str = "") -> Node:
    drawn.append(chart)
    before = next((at for at, one in enumerate(drawn[:-1], 1) if one.id == chart.id), None)
    again = None if before is None else f"Read it as figure {before}."
    return {
        "number": len(drawn),
        "kind": chart.id,
        "title": chart.title,
        "caption": again or chart.caption,
        "alt": chart.alt,
        "source": where,
    }


def _workload(
    workload: Workload, group: Group | None, figure: Callable[[Chart], Node], *, of: int
) -> Node:
    few = of <= _FEW
    large, small, last = (_LARGE, _SMALL, _LAST) if few else ((), _COMPACT, ())
    return {
        "title": workload.title,
        "about": group.about if group else workload.cases[0].protocol.data_layout,
        "table": _table(group) if group and of <= _SOME else None,
        "small": [figure(one) for one in every.charts(workload, _HALF, small)],
        "large": [figure(one) for one in every.charts(workload, _WHOLE, large)],
        "last": [figure(one) for one in every.charts(workload, _HALF, last)],
    }


def _table(group: Group) -> Node:
    memory = any(row.memory is not None for row in group.rows)
    headings = [
        "candidate",
        *(" ".join(filter(None, group.headings[mode])) for mode in group.modes),
        *(["peak memory"] if memory else []),
    ]
    rows = [
        [
            [row.candidate],
            *(
                [f"{cell.text} {cell.spread}".strip(), cell.below]
                for cell in (row.figures[mode] for mode in group.modes)
            ),
            *([[row.memory or ""]] if memory else []),
        ]
        for row in group.rows
    ]
    return {"headings": headings, "rows": rows}


def _gates(found: Sequence[Workload]) -> Node:
    rows = [(one.title, known) for one in found if (known := of_group(one.cases)) is not None]
    return {
        "against": held_against(case for one in found for case in one.cases),
        "n_checked": sum(known.n_cases for _, known in rows),
        "n_failed": sum(len(known.failed) for _, known in rows),
        "rows": [
            [
                title,
                f"{known.n_passed} of {known.n_checked}",
                ", ".join(known.failed) or "none",
                units.MISSING if known.worst is None else f"{known.worst:.2g}",
                f"{known.tolerance:.2g}",
            ]
            for title, known in rows
        ],
    }


def _rejected(cases: Sequence[CaseResult]) -> list[tuple[str, str]]:
    """Return why processes count for nothing, and of which candidates how many."""
    found: dict[str, dict[str, int]] = {}
    for row in provenance.rejected_rows(cases):
        where = found.setdefault(f"{row.what}: {row.reason}", {})
        name = f"{row.candidate}, {row.mode}"
        where[name] = where.get(name, 0) + 1
    return [
        (why, "; ".join(f"{name}{f' ({n})' if n > 1 else ''}" for name, n in where.items()))
        for why, where in found.items()
    ]


def _protocol(cases: Sequence[CaseResult]) -> list[tuple[str, str]]:
    """Return how was measured, where all workloads agree."""
    folded = list(provenance.protocols(cases))
    if not folded:
        return []
    shared = [row for row in folded[0].rows if all(row in one.rows for one in folded)]
    candidates = {case.candidate for case in cases}
    return [row for row in shared if row[0] not in candidates]


def _environment(one: Environment) -> list[tuple[str, str]]:
    """Return the machine and what ran on it; everything is in ``environment.json``."""
    machine, *_ = provenance.environment(one)
    rows = [row for row in machine.rows if row[0] in _MACHINE]
    python, installed = one.python, one.distributions
    known = [f"{name} {installed[name]}" for name in _LIBRARIES if name in installed]
    pools = [f"{pool.internal_api} {pool.threads}" for pool in one.thread_pools or []]
    variables = [f"{name}={value}" for name, value in one.variables.items()]
    variables += [f"{name} (withheld)" for name in one.withheld_variables]
    return [
        *rows,
        ("Python", f"{python.implementation} {python.version}, {python.build}, {python.compiler}"),
        ("libraries", ", ".join(known) or f"{len(installed)} distributions"),
        ("threads of libraries", ", ".join(pools) or "not known"),
        ("variables set", ", ".join(variables) or "none of those that matter"),
    ]


_MACHINE = {
    "processor",
    "cores",
    "memory",
    "operating system",
    "virtualisation",
    "container",
    "GPU",
}
_LIBRARIES = ("numpy", "scipy", "jax", "jaxlib", "torch", "triton", "numba", "llvmlite")


def _hashes(measured: Measured, found: Sequence[Workload]) -> list[tuple[str, str]]:
    rows = [("environment.json", measured.environment_sha256)]
    if measured.suite is not None:
        drawn = {case.case for one in found for case in one.cases}
        named = [one for one in measured.suite.cases if one.case in drawn][:_MOST_FILES]
        rows += [(one.path, one.sha256) for one in named]
        if left := len(measured.suite.cases) - len(named):
            rows.append((f"{left} more", "their hashes are in the run's index, suite.json"))
    return rows


def _files(results: Sequence[Measured], name: str) -> dict[str, bytes]:
    """Return the report.

    Raises:
        UsageError: the extra ``report`` is not installed.
    """
    return {name: _pdf("report.typ", *contents(results), results)}


def _compared(
    comparison: RunComparison, sides: tuple[Measured, Measured], name: str
) -> dict[str, bytes]:
    """Return what changed from one result to another.

    Raises:
        UsageError: the extra ``report`` is not installed.
    """
    found = both.charts(comparison, *sides, _PAIRED)
    return {name: _pdf("compared.typ", *_changes(comparison, found), sides)}


FORMAT = Format(suffix=".pdf", files=_files, compared=_compared)
