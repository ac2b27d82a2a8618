"""Settings for finding faults that a program leaves on, and threads that it has no processors for.

Read when the program ends; the line is the one that sets them.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import Codes, because
from coldwarm.doctor.rules import Rule
from coldwarm.doctor.source_code import called
from coldwarm.doctor.trace import DebugSettings, SourceLine

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from coldwarm.contracts.doctor import Finding
    from coldwarm.contracts.reasons import Reason
    from coldwarm.doctor.trace import ProcessTrace


_REASONS = {
    "doctor_debug_jax": "{setting} was still on at the end: with it JAX makes more checks, or does"
    " not compile, and tracing or calls take longer",
    "doctor_not_optimized": "{setting} was set: with it XLA leaves optimizations out, and what it"
    " compiles runs slower",
    "doctor_debug_torch": "anomaly detection was still on at the end: with it PyTorch keeps a stack"
    " of each operation, and looks for NaN in each gradient",
    "doctor_anomalies": "anomaly detection was on for about {spent_s:time} of the run: with it"
    " PyTorch keeps a stack of each operation, and looks for NaN in each gradient",
    "doctor_debug_numba": "{function} is compiled with {option}=True: every index is checked, and"
    " its loops run slower; about {spent_s:time} were spent at the line that calls it",
    "doctor_threads": "PyTorch was given {n_threads:# thread} where the program may use"
    " {n_processors:# processor}: threads that share a processor slow each other down",
}
_ADVICE = {
    "doctor_not_optimized": "leave it out, unless a fault is looked for with it",
}
_CHANGES = {
    "debug-setting-on": "turn it off once the fault is found",
    "too-many-threads": "give torch.set_num_threads no more than there are processors",
}
_ANOMALIES = {"set_detect_anomaly", "detect_anomaly"}
_OF_TORCH = ("set_detect_anomaly",)
_NOT_OPTIMIZED = ("jax_disable_most_optimizations",)
_OPTIONS = ("boundscheck", "debug")
"""Options of Numba's decorators."""
_DECORATORS = ("jit", "vectorize")
"""Ends of the names of these."""


def _findings(trace: ProcessTrace) -> Iterator[Finding]:
    """Name the lines that set them."""
    for row in trace.rows_of(DebugSettings):
        for name in row.on:
            framework = "torch" if name in _OF_TORCH else "jax"
            for site in _set_at(trace, name):
                yield _finding(trace, "debug-setting-on", site, framework, _says(name))
        if row.threads > row.processors:
            for site in _set_at(trace, "set_num_threads"):
                says = because("doctor_threads", n_threads=row.threads, n_processors=row.processors)
                yield _finding(trace, "too-many-threads", site, "torch", says)
    yield from _of_anomalies(trace)
    yield from _of_numba(trace)


def _of_anomalies(trace: ProcessTrace) -> Iterator[Finding]:
    """Name what had PyTorch look for what went wrong while much time was spent."""
    spent_s = sum(seconds for spot, seconds in trace.spent if spot.anomalies)
    stays = any(_OF_TORCH[0] in row.on for row in trace.rows_of(DebugSettings))
    if stays or not trace.is_worth(spent_s):
        return
    turned_on = [(path, call) for path in trace.sources.paths for call in _turned_on(trace, path)]
    for path, call in turned_on if len(turned_on) == 1 else _around_work(trace, turned_on):
        says = because("doctor_anomalies", spent_s=spent_s)
        site = trace.line_at(path, call.lineno)
        yield _finding(trace, "debug-setting-on", site, "torch", says)


def _turned_on(trace: ProcessTrace, path: str) -> Iterator[ast.Call]:
    """Yield the calls of a file that turn anomaly detection on."""
    for node in trace.sources.nodes(path):
        if isinstance(node, ast.Call) and called(node) in _ANOMALIES:
            given = [*node.args, *(one.value for one in node.keywords)]
            if not any(isinstance(one, ast.Constant) and one.value is False for one in given):
                yield node


def _around_work(
    trace: ProcessTrace, turned_on: Iterable[tuple[str, ast.Call]]
) -> Iterator[tuple[str, ast.Call]]:
    """Yield those of several such calls whose block is where much time was spent."""
    for path, call in turned_on:
        block = trace.sources.statement(path, call.lineno)
        if isinstance(block, ast.With):
            inside = block.lineno + 1, block.end_lineno or block.lineno
            seen = trace.spent_within(path, inside)
            if trace.is_worth(sum(seconds for spot, seconds in seen if spot.anomalies)):
                yield path, call


def _says(name: str) -> Reason:
    if name in _OF_TORCH:
        return because("doctor_debug_torch")
    less = name.startswith("--") or name in _NOT_OPTIMIZED
    return because("doctor_not_optimized" if less else "doctor_debug_jax", setting=name)


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
    """Yield the last line that sets something, by a function of this name or by the name itself.

    Of an option for XLA, the line where it is written.
    """
    for path in trace.sources.paths:
        found = [
            one.lineno
            for one in trace.sources.nodes(path)
            if isinstance(one, (ast.Call, ast.Constant)) and _sets(one, name)
        ]
        if found:
            yield trace.line_at(path, max(found))
            return


def _sets(call: ast.Call | ast.Constant, name: str) -> bool:
    if isinstance(call, ast.Constant):  # an option for XLA, among others in a text
        return name.startswith("--") and name in str(call.value).split()
    given = [one.value for one in call.args if isinstance(one, ast.Constant)]
    is_named = called(call) == name or (called(call) == "update" and name in given)
    # Numba has a function of the same name.
    return is_named and False not in given and not ast.unparse(call.func).startswith("numba.")


def _of_numba(trace: ProcessTrace) -> Iterator[Finding]:
    """Name functions that were compiled with such an option, and that were seen to run."""
    spent_s: dict[SourceLine, float] = defaultdict(float)
    for spot, seconds in trace.spent:
        spent_s[spot.stack[0]] += seconds
    done: set[SourceLine] = set()
    for call in trace.calls:
        place, site = call.definition, call.site
        if call.framework != "numba" or place is None or site is None or place in done:
            continue
        done.add(place)
        function = trace.sources.function(place.path, place.line)
        for one in getattr(function, "decorator_list", ()):
            option = _option(one)
            if option and trace.is_worth(spent_s[site]):
                says = because(
                    "doctor_debug_numba",
                    function=call.name,
                    option=option,
                    spent_s=spent_s[site],
                )
                at = SourceLine(place.path, one.lineno, call.name)
                yield _finding(trace, "debug-setting-on", at, "numba", says)


def _option(decorator: ast.expr) -> str:
    """Return the option by which every index is checked; empty: there is none."""
    if not isinstance(decorator, ast.Call) or not called(decorator).endswith(_DECORATORS):
        return ""
    given = {
        one.arg: one.value.value
        for one in decorator.keywords
        if isinstance(one.value, ast.Constant)
    }
    if given.get("boundscheck", given.get("debug")) is not True:
        return ""
    return next(one for one in _OPTIONS if given.get(one) is True)


RULE = Rule(
    findings=_findings,
    codes=Codes(_REASONS, _ADVICE),
    changes=_CHANGES,
)
