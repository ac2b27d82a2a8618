"""Lines at which ``torch.compile`` ends a graph, in a function that a loop calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import Codes, because
from coldwarm.doctor.rules import Rule
from coldwarm.doctor.trace import GraphBreak

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coldwarm.contracts.doctor import Finding
    from coldwarm.doctor.trace import ProcessTrace, SourceLine


_REASONS = {
    "doctor_break": "torch.compile ends a graph here: {text}",
}
_PARAMETERS = {
    "doctor_break": "text why",
}
_CHANGES = {
    "torch-graph-break": "move this out of the compiled function, or write it with what"
    " torch.compile can trace",
}
_OUT = "move this out of the compiled function"
_OF_DATA = (
    "keep it as a tensor, and choose by it with torch.where; where only arithmetic uses it, "
    "torch._dynamo.config.capture_scalar_outputs = True is enough"
)
"""With an `if` that depends on it, that setting still ends the graph."""
_BREAKS = {
    "Dynamic shape operator": (
        "use torch.where or a mask, which keep the shape, or set "
        "torch._dynamo.config.capture_dynamic_output_shape_ops = True"
    ),
    "Unsupported Tensor.item() call with capture_scalar_outputs=False": _OF_DATA,
    "Data-dependent branching": (
        "choose with torch.where or torch.cond, or move what decides out of the compiled function"
    ),
    "logging.Logger method not supported for non-export cases": _OUT,
    "Failed to trace builtin operator": _OUT,
    "Attempted to call function marked as skipped": _OUT,
}
"""By PyTorch's names of reasons to end a graph; each was tried with PyTorch 2.13."""

_DELIBERATE = {
    "Call to `torch._dynamo.graph_break()`",
    "Skip calling `torch.compiler.disable()`d function",
    "Skip inlining `torch.compiler.disable()`d function",
}
"""PyTorch's names of breaks that somebody has asked for."""


def _findings(trace: ProcessTrace) -> Iterator[Finding]:
    """Name each line that breaks a graph, once."""
    done: set[SourceLine] = set()
    untimed = because("doctor_untimed")
    for row in trace.rows_of(GraphBreak):
        if row.why in _DELIBERATE or not row.stack or row.stack[0] in done:
            continue
        done.add(row.stack[0])
        says = because("doctor_break", text=row.text, why=row.why)
        yield trace.finding(
            "torch-graph-break",
            row.stack[0],
            says,
            framework="torch",
            no_figure=untimed,
        )


def _change(finding: Finding) -> str:
    """Return what to change, by PyTorch's reason to end the graph."""
    return _BREAKS.get(str(finding.says.values.get("why")), _CHANGES[finding.pattern])


RULE = Rule(
    findings=_findings,
    codes=Codes(_REASONS, parameters=_PARAMETERS),
    changes=_CHANGES,
    change=_change,
    short={"graph-break": "torch-graph-break"},
)
