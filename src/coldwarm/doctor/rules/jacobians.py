"""Jacobians that are taken by rows where columns are few, or by columns where rows are few."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import Codes, because
from coldwarm.doctor.rules import Rule
from coldwarm.doctor.trace import Jacobian

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coldwarm.contracts.doctor import Finding
    from coldwarm.doctor.trace import ProcessTrace


_REASONS = {
    "doctor_by_rows": "{function} goes back once for each of {n_outputs:# output}; {other} goes"
    " forward once for each of {n_inputs:# input}, which are fewer",
    "doctor_by_columns": "{function} goes forward once for each of {n_inputs:# input}; {other}, or"
    " grad for a single number, goes back once for each of {n_outputs:# output}",
}
_ADVICE = {
    "doctor_by_rows": "use jacfwd here, which gives the same numbers up to rounding",
    "doctor_by_columns": "use jacrev here, or grad for a single number: the same numbers up to"
    " rounding. In JAX, it cannot go back through a lax.while_loop",
}
_CHANGES = {"jacobian-direction": "use the other of jacfwd and jacrev"}
_MANY, _TIMES = 64, 8
"""Least passes to be reported, and how many times as many as the other way takes."""


def _findings(trace: ProcessTrace) -> Iterator[Finding]:
    """Name each line once, with its largest Jacobian."""
    found: dict[object, Jacobian] = {}
    for row in trace.rows_of(Jacobian):
        if row.n_passes > getattr(found.get(row.stack[0]), "n_passes", 0):
            found[row.stack[0]] = row
    for row in found.values():
        if row.n_passes < max(_MANY, _TIMES * row.n_of_other) or not _matters(trace, row):
            continue
        code = "doctor_by_rows" if row.by == "jacrev" else "doctor_by_columns"
        space = "torch.func" if row.framework == "torch" else "jax"
        other = "jacfwd" if row.by == "jacrev" else "jacrev"
        names = {"function": f"{space}.{row.by}", "other": f"{space}.{other}"}
        yield trace.finding(
            "jacobian-direction",
            row.stack[0],
            because(code, n_inputs=row.n_inputs, n_outputs=row.n_outputs, **names),
            framework=row.framework,
            no_figure=because("doctor_untimed"),
        )


def _matters(trace: ProcessTrace, row: Jacobian) -> bool:
    """Say whether what takes it runs for long: the loop that leads to it, or its own function.

    Its work may be waited for at a later line.
    """
    site, turned = row.stack[0], trace.turned(row.stack)
    seen = [*trace.spent_in(turned)] if turned is not None else []
    for function in trace.sources.functions_around(site.path, site.line)[-1:]:
        lines = function.lineno, function.end_lineno or function.lineno
        seen = [*seen, *trace.spent_within(site.path, lines)]
    spent = {spot.number: seconds for spot, seconds in seen}
    return trace.is_worth(sum(spent.values()))


RULE = Rule(findings=_findings, codes=Codes(_REASONS, _ADVICE), changes=_CHANGES)
