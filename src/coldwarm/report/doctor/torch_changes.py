"""What to change where ``torch.compile`` compiles again or ends a graph, by PyTorch's own reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from coldwarm.contracts.doctor import Finding

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
_ANY_BREAK = f"{_OUT}, or write it with what torch.compile can trace"
_ATTRIBUTES = ("self.", "len(self.")
_ATTRIBUTE = "keep it as a tensor (a buffer), or outside of what is compiled"
_NUMBER = (
    "pass it as a tensor; a loop or a branch that depends on it goes outside of what is compiled"
)
_OTHER = "choose by it outside of what is compiled"
_GUARD = "keep what it names the same in each call, or give what changes as a tensor"


def torch_change(finding: Finding) -> str:
    """Return what to change; empty: there is nothing particular to PyTorch."""
    if finding.pattern == "torch-graph-break":
        return _BREAKS.get(str(finding.says.values.get("why")), _ANY_BREAK)
    if finding.pattern == "torch-changing-scalar":
        argument = finding.cause.argument if finding.cause else ""
        if argument.startswith(_ATTRIBUTES):
            return _ATTRIBUTE
        return _NUMBER if finding.says.code == "doctor_number" else _OTHER
    return _GUARD if finding.says.code == "doctor_guard" else ""
