"""Values that a compiled function has read while it was traced, and that have changed since."""

from __future__ import annotations

import ast
from pathlib import PurePath
from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import Codes, because
from coldwarm.doctor.rules import Rule
from coldwarm.doctor.trace import SourceLine, StaleValue

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coldwarm.contracts.doctor import Finding
    from coldwarm.doctor.source_code import Function
    from coldwarm.doctor.trace import ProcessTrace


_REASONS = {
    "doctor_stale": "{function} was compiled when `{name}` was {before}, and is called at {at} when"
    " it is {now}: it still computes with {before}",
    "doctor_set_at": "it is set at {at}",
}
_CHANGES = {
    "stale-value-in-traced": "give the function this value as an argument that is not static",
}
_DEPTH = 3
"""Uses of the file's own functions that are followed."""


def _findings(trace: ProcessTrace) -> Iterator[Finding]:
    """Name functions that are called with such a value."""
    places = {one.slot: one for one in trace.places_of("jitted")}
    for row in trace.rows_of(StaleValue):
        place = places.get(row.slot)
        if place is None or not _reads(trace, row):
            continue
        set_at = _set_at(trace, place.site, row.name)
        parts = [because("doctor_set_at", at=set_at)] if set_at else []
        function, at = row.function, f"{PurePath(place.site.path).name}:{place.site.line}"
        told = {"name": row.name, "before": row.before, "now": row.now, "at": at}
        yield trace.finding(
            "stale-value-in-traced",
            SourceLine(function.path or "", function.line or 0, function.name),
            because("doctor_stale", *parts, function=function.name, **told),
            no_figure=because("doctor_wrong_result"),
        )


def _reads(trace: ProcessTrace, row: StaleValue) -> bool:
    """Say whether the function reads the value, by itself or in functions of its file it uses."""
    path, line = row.function.path or "", row.function.line or 0
    first = trace.sources.function(path, line)
    functions = {one.name: one for one in trace.sources.nodes(path) if isinstance(one, _FUNCTIONS)}
    owner, _, attribute = row.name.rpartition(".")
    left: list[Function] = [first] if first is not None else []
    for _ in range(_DEPTH):
        if any(_loads(one, owner, attribute) for one in left):
            return True
        names = {
            getattr(part, "id", getattr(part, "attr", ""))  # called, or given to a transformation
            for one in left
            for part in ast.walk(one)
        }
        left = [functions[name] for name in names if name in functions]
    return False


def _set_at(trace: ProcessTrace, site: SourceLine, name: str) -> str:
    """Return the line of the caller's function that sets the value, where there is one alone."""
    around = trace.sources.functions_around(site.path, site.line)
    inside = ast.walk(around[0]) if around else trace.sources.nodes(site.path)
    last = name.rpartition(".")[2]
    lines = {
        one.lineno
        for one in inside
        if isinstance(one, (ast.Name, ast.Attribute))
        and isinstance(one.ctx, ast.Store)
        and (one.attr if isinstance(one, ast.Attribute) else one.id) == last
    }
    return f"{PurePath(site.path).name}:{lines.pop()}" if len(lines) == 1 else ""


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def _loads(function: Function, owner: str, name: str) -> bool:
    """Say whether a function reads a variable, or an attribute of an argument."""
    return any(
        (isinstance(one, ast.Attribute) and one.attr == name and isinstance(one.ctx, ast.Load))
        if owner
        else (isinstance(one, ast.Name) and one.id == name and isinstance(one.ctx, ast.Load))
        for one in ast.walk(function)
    )


RULE = Rule(
    findings=_findings,
    codes=Codes(_REASONS),
    changes=_CHANGES,
)
