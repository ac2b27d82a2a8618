"""Compiled functions of JAX's that call back to Python, very often."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import Codes, because
from coldwarm.doctor.rules import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coldwarm.contracts.doctor import Finding
    from coldwarm.doctor.trace import ProcessTrace, SourceLine


_REASONS = {
    "doctor_called_back": "compiled code called a function of Python's {n_calls:# time}: it stops"
    " and waits for each of them",
    "doctor_calls_back": "compiled code calls a function of Python's here: handing values over took"
    " about {spent_s:time}, and it stops and waits meanwhile",
}
_CHANGES = {
    "host-callback-often": "call it less often: every so many steps, under jax.lax.cond; below"
    ' vmap once for all, with vmap_method="expand_dims"; or write it with jax.numpy',
}
_MANY = 1000
_BELOW = ("jax.emit_python_callback", "jax.pure_callback_impl", "jax._FlatCallback")
_CALLS = ("pure_callback", "io_callback", "debug.callback", "debug.print")


def _findings(trace: ProcessTrace) -> Iterator[Finding]:
    """Name the line that asks for the callback, where there is one alone; else the call."""
    n = sum(one.n for one in trace.places_of("callback"))
    spent_s = sum(seconds for spot, seconds in trace.spent if spot.below.startswith(_BELOW))
    is_long = trace.is_worth(spent_s)
    if n < _MANY and not is_long:
        return
    lines = _lines(trace)
    sites = lines if len(lines) == 1 else [one.site for one in trace.places_of("callback")]
    called_back = because("doctor_called_back", n_calls=n)
    says = called_back if n else because("doctor_calls_back", spent_s=spent_s)
    for site in sites[:1]:
        yield trace.finding(
            "host-callback-often",
            site,
            says,
            n=max(n, 1),
            cost_s=spent_s if is_long else None,
            no_cost=None if is_long else because("doctor_untimed"),
            no_saving=because("doctor_depends"),
        )


def _lines(trace: ProcessTrace) -> list[SourceLine]:
    """Return the lines of the program that ask for a callback."""
    return [
        trace.line_at(path, node.lineno)
        for path in trace.sources.paths
        for node in trace.sources.nodes(path)
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(_CALLS)
    ]


RULE = Rule(
    findings=_findings,
    codes=Codes(_REASONS),
    changes=_CHANGES,
)
