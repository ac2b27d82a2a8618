"""What Numba's compiler says will be slow, in functions in which the program spends its time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import Codes, because
from coldwarm.doctor.rules import Rule
from coldwarm.doctor.trace import NumbaWarning

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coldwarm.contracts.doctor import Finding
    from coldwarm.doctor.trace import ProcessTrace


_REASONS = {
    "doctor_serial_loop": "Numba runs this prange loop in one thread, because it can be left early:"
    " by a return, a break, an exception or an assert",
    "doctor_nothing_parallel": "this function is compiled with parallel=True, and Numba found"
    " nothing in it that can run in parallel: it runs in one thread",
    "doctor_apart": "Numba multiplies arrays here whose type does not say that their numbers lie"
    " side by side in memory, such as a slice with a step, or float64[:] in a signature: that is"
    " slower",
}
_CHANGES = {
    "numba-serial-prange": "leave the loop only at its end: keep in an array what each turn found,"
    " and look at it after the loop",
    "numba-nothing-parallel": "write the loop with numba.prange, or leave parallel=True out",
    "numba-array-apart": "copy such an array once, before the loop, numpy.ascontiguousarray(array);"
    " in a signature write float64[::1]",
}
_PATTERNS = {
    "serial_loop": ("numba-serial-prange", "doctor_serial_loop"),
    "nothing_parallel": ("numba-nothing-parallel", "doctor_nothing_parallel"),
    "apart": ("numba-array-apart", "doctor_apart"),
}


def _findings(trace: ProcessTrace) -> Iterator[Finding]:
    """Name each such line once."""
    seen = {(row.path, row.line): row.what for row in trace.rows_of(NumbaWarning)}
    if not seen or not trace.is_worth(_running_s(trace)):
        return
    serial = {_function(trace, *at) for at, what in seen.items() if what == "serial_loop"}
    for (path, line), what in seen.items():
        is_told = what == "nothing_parallel" and _function(trace, path, line) in serial
        if what in _PATTERNS and not is_told:
            pattern, code = _PATTERNS[what]
            yield trace.finding(
                pattern,
                trace.line_at(path, line),
                because(code),
                framework="numba",
                no_figure=because("doctor_depends"),
            )


def _function(trace: ProcessTrace, path: str, line: int) -> tuple[str, str]:
    """Return the file and function of a line, which may be the first one of its decorators."""
    around = [trace.sources.function(path, line), *trace.sources.functions_around(path, line)]
    return path, next((one.name for one in around if one is not None), "")


def _running_s(trace: ProcessTrace) -> float:
    """Return the seconds at lines that call compiled functions, without those of compiling.

    While compiled code runs nobody can look: its time is that of what comes after it in its line.
    """
    places = {one.site for one in trace.calls if one.framework == "numba" and one.site is not None}
    return trace.spent_at(places | {one.site for one in trace.places_of("numba")})


RULE = Rule(findings=_findings, codes=Codes(_REASONS), changes=_CHANGES)
