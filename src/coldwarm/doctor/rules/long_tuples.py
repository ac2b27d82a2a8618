"""Long tuples given to Numba: each element of a tuple is a value of its own to its compiler."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import Codes, because
from coldwarm.doctor.rules import Rule
from coldwarm.doctor.written_values import tuple_length

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coldwarm.contracts.doctor import Finding
    from coldwarm.doctor.trace import CompiledCall, ProcessTrace, SourceLine


_REASONS = {
    "doctor_long_tuple": "compiling {function} took {spent_s:time}: it uses the tuple `{argument}`"
    " of {n_elements:# element}, each of which Numba compiles as a value of its own",
}
_CHANGES = {
    "numba-long-tuple": "make the tuple a NumPy array",
}
_LONG = 256
"""Elements of a tuple from which on compiling takes long."""


def _findings(trace: ProcessTrace) -> Iterator[Finding]:
    """Name the functions of which compiling took a share of the run that matters."""
    groups: dict[SourceLine, list[CompiledCall]] = {}
    for call in trace.calls:
        place = call.definition
        if call.framework == "numba" and place is not None and _long(call) and not call.hit:
            groups.setdefault(place, []).append(call)
    for place, calls in groups.items():
        spent_s = sum(one.total_s for one in calls)
        if trace.is_worth(spent_s):
            argument, n_elements = max(_long(calls[0]).items(), key=lambda one: one[1])
            says = because(
                "doctor_long_tuple",
                function=calls[0].name,
                argument=argument,
                n_elements=n_elements,
                spent_s=spent_s,
            )
            site = _use(trace, calls[0], place, argument)
            yield trace.finding_of_seconds(
                "numba-long-tuple", site, says, framework="numba", n=n_elements
            )


def _long(call: CompiledCall) -> dict[str, int]:
    """Return the long tuples that a function is given, or takes from around it."""
    given = {name: tuple_length(kind) or 0 for name, kind in call.arguments.items()}
    long = {name: length for name, length in given.items() if length >= _LONG}
    return {**(call.tuples or {}), **long}


def _use(trace: ProcessTrace, call: CompiledCall, place: SourceLine, name: str) -> SourceLine:
    """Return the first line that uses a tuple, or else the function."""
    function = trace.sources.function(place.path, place.line)
    # What a function takes from around it may be used in one that it calls.
    is_argument = name in call.arguments and function is not None
    nodes = ast.walk(function) if is_argument and function else trace.sources.nodes(place.path)
    lines = [
        node.lineno
        for node in nodes
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
    ]
    return trace.line_at(place.path, min(lines)) if lines else place


RULE = Rule(
    findings=_findings,
    codes=Codes(_REASONS),
    changes=_CHANGES,
    sizes={"numba-long-tuple"},
)
