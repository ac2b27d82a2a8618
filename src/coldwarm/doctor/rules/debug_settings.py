"""Settings for finding faults that a program leaves on, and threads that it has no processors for.

Read when the program ends; the line is the one that sets them.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import Codes, because
from coldwarm.doctor.rules import Rule
from coldwarm.doctor.source_code import called
from coldwarm.doctor.trace import DebugSettings, SourceLine

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coldwarm.contracts.doctor import Finding
    from coldwarm.contracts.reasons import Reason
    from coldwarm.doctor.trace import ProcessTrace


_REASONS = {
    "doctor_debug_jax": "{setting} was on when the program ended: JAX checks more with it, or"
    " compiles less, and each call takes longer",
    "doctor_debug_torch": "anomaly detection was on when the program ended: PyTorch keeps a stack"
    " of each operation and looks for NaN in each gradient",
    "doctor_debug_numba": "{function} is compiled with {option}=True: it checks every index, and"
    " loops are not made as fast",
    "doctor_threads": "PyTorch was given {n_threads:# thread} where the program may use"
    " {n_processors:# processor}: they wait for each other",
}
_CHANGES = {
    "debug-setting-on": "turn it off once the fault is found",
    "too-many-threads": "give torch.set_num_threads no more than there are processors",
}
_OPTIONS = ("debug", "boundscheck")
"""Options of Numba's decorators."""
_DECORATORS = ("jit", "vectorize")
"""Ends of the names of these."""


def _findings(trace: ProcessTrace) -> Iterator[Finding]:
    """Name the lines that set them."""
    for row in trace.rows_of(DebugSettings):
        for name in row.on:
            framework = "jax" if name.startswith("jax_") else "torch"
            for site in _set_at(trace, name):
                says = because(f"doctor_debug_{framework}", **_named(framework, name))
                yield _finding(trace, "debug-setting-on", site, framework, says)
        if row.threads > row.processors:
            for site in _set_at(trace, "set_num_threads"):
                says = because("doctor_threads", n_threads=row.threads, n_processors=row.processors)
                yield _finding(trace, "too-many-threads", site, "torch", says)
    yield from _of_numba(trace)


def _named(framework: str, name: str) -> dict[str, str]:
    return {"setting": name} if framework == "jax" else {}


def _finding(
    trace: ProcessTrace, pattern: str, site: SourceLine, framework: str, says: Reason
) -> Finding:
    return trace.finding(
        pattern,
        site,
        says,
        framework=framework,
        no_figure=because("doctor_untimed"),
    )


def _set_at(trace: ProcessTrace, name: str) -> Iterator[SourceLine]:
    """Yield the last line that sets something, by a function of this name or by the name itself."""
    for path in sorted({one.path for spot, _ in trace.spent for one in spot.stack}):
        found = [
            one.lineno
            for one in trace.sources.nodes(path)
            if isinstance(one, ast.Call) and _sets(one, name)
        ]
        if found:
            yield trace.line_at(path, found[-1])
            return


def _sets(call: ast.Call, name: str) -> bool:
    given = [one.value for one in call.args if isinstance(one, ast.Constant)]
    return called(call) == name or (called(call) == "update" and name in given)


def _of_numba(trace: ProcessTrace) -> Iterator[Finding]:
    """Name functions that were compiled with such an option."""
    done: set[SourceLine] = set()
    for call in trace.calls:
        place = call.definition
        if call.framework != "numba" or place is None or place in done:
            continue
        done.add(place)
        function = trace.sources.function(place.path, place.line)
        for one in getattr(function, "decorator_list", ()):
            option = _option(one)
            if option:
                says = because("doctor_debug_numba", function=call.name, option=option)
                site = SourceLine(place.path, one.lineno, call.name)
                yield _finding(trace, "debug-setting-on", site, "numba", says)


def _option(decorator: ast.expr) -> str:
    """Return the option for finding faults that is written as true; empty: there is none."""
    if not isinstance(decorator, ast.Call) or not called(decorator).endswith(_DECORATORS):
        return ""
    options = (
        one.arg
        for one in decorator.keywords
        if one.arg in _OPTIONS and isinstance(one.value, ast.Constant) and one.value.value is True
    )
    return next(options, "") or ""


RULE = Rule(
    findings=_findings,
    codes=Codes(_REASONS),
    changes=_CHANGES,
)
