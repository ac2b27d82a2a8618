"""Python lists that Numba copies, element by element, before each call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import Codes, because
from coldwarm.doctor.rules import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coldwarm.contracts.doctor import Finding
    from coldwarm.doctor.trace import CompiledCall, ProcessTrace, SourceLine


_REASONS = {
    "doctor_copied": "{function} got `{argument}` as a Python list or set, with"
    " {n_elements:# element} when it was compiled: Numba copies every element before each call",
    "doctor_copied_often": "it was called {n_calls:# time} here",
}
_CHANGES = {
    "numba-reflected-list": "make a NumPy array of it once, and pass that; where the function"
    " appends to it, make a numba.typed.List once",
}
_FEWEST = 100_000
"""Elements that all calls copy together: about a tenth of a second."""


def _findings(trace: ProcessTrace) -> Iterator[Finding]:
    """Name each line that gives a compiled function long lists."""
    done: set[tuple[SourceLine, str]] = set()
    for call in trace.calls:
        site = call.site
        if not call.lists or site is None or (site, call.name) in done:
            continue
        n_calls = trace.n_calls(site, call.short_name)
        argument, n_elements = max(call.lists.items(), key=lambda one: one[1])
        if max(n_calls, 1) * n_elements >= _FEWEST:
            done.add((site, call.name))
            yield _finding(trace, site, call, argument, n_calls)


def _finding(
    trace: ProcessTrace, site: SourceLine, call: CompiledCall, argument: str, n_calls: int
) -> Finding:
    often = [because("doctor_copied_often", n_calls=n_calls)] if n_calls else []
    n_elements = (call.lists or {})[argument]
    names = {"function": call.name, "argument": argument}
    says = because("doctor_copied", *often, n_elements=n_elements, **names)
    return trace.finding(
        "numba-reflected-list",
        site,
        says,
        framework="numba",
        n=max(n_calls, 1),
        no_figure=because("doctor_untimed"),
    )


RULE = Rule(
    findings=_findings,
    codes=Codes(_REASONS),
    changes=_CHANGES,
)
