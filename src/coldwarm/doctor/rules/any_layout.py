"""Signatures for Numba that leave open how an array lies in memory, of functions that take long."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import Codes, because
from coldwarm.doctor.rules import Rule
from coldwarm.doctor.source_code import called
from coldwarm.doctor.trace import SourceLine

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coldwarm.contracts.doctor import Finding
    from coldwarm.doctor.trace import ProcessTrace


_REASONS = {
    "doctor_any_layout": "the signature of {function} takes arrays of any layout, {written}: its"
    " loops cannot count on neighbours that lie side by side; about {spent_s:time} were spent at"
    " the line that calls it",
}
_CHANGES = {
    "numba-any-layout": "write [::1] for one dimension, [:, ::1] for two, or leave the signature"
    " out",
}
_OPEN = re.compile(r"\w+\[:(?:, ?:)*\]")
"""An array as a signature writes it where its layout is left open."""
_SHARE = 0.1
"""Of the run."""
_DECORATORS = {"jit", "njit"}


def _findings(trace: ProcessTrace) -> Iterator[Finding]:
    """Name the decorators."""
    done = set()
    for call in trace.calls:
        place = call.definition
        if call.framework != "numba" or place is None or place in done:
            continue
        done.add(place)
        function = trace.sources.function(place.path, place.line)
        if function is None or not any(
            isinstance(one, (ast.For, ast.While)) for one in ast.walk(function)
        ):
            continue
        seconds = _spent_s(trace, call.short_name)
        if not trace.is_worth(seconds) or seconds < _SHARE * trace.lasted_s:
            continue
        for one in function.decorator_list:
            if isinstance(one, ast.Call) and called(one) in _DECORATORS and one.args:
                found = _OPEN.search(ast.unparse(one.args[0]))
                if found is not None:
                    says = because(
                        "doctor_any_layout",
                        function=call.short_name,
                        written=found[0],
                        spent_s=seconds,
                    )
                    at = SourceLine(place.path, one.lineno, call.short_name)
                    yield trace.finding_of_seconds("numba-any-layout", at, says, framework="numba")


def _spent_s(trace: ProcessTrace, name: str) -> float:
    """Return the seconds of the lines that call a function from Python."""
    sites = {one.site for one in trace.places_of("numba") if one.name == name}
    sites |= {
        trace.line_at(path, node.lineno)
        for path in trace.sources.paths
        for node in trace.sources.nodes(path)
        if isinstance(node, ast.Call) and called(node) == name
    }
    return trace.spent_at(sites)


RULE = Rule(
    findings=_findings,
    codes=Codes(_REASONS),
    changes=_CHANGES,
)
