"""Lines at which ``torch.compile`` ends a graph, in a function that a loop calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import because
from coldwarm.stats.doctor.drafts import Draft
from coldwarm.stats.doctor.seen import Line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coldwarm.stats.doctor.seen import Seen

DELIBERATE = {
    "Call to `torch._dynamo.graph_break()`",
    "Skip calling `torch.compiler.disable()`d function",
    "Skip inlining `torch.compiler.disable()`d function",
}
"""PyTorch's names of breaks that somebody has asked for."""


def findings(seen: Seen) -> Iterator[Draft]:
    """Name each line that breaks a graph, once."""
    done: set[Line] = set()
    for row in seen.of_kind("break"):
        why = row.get("why", "")
        if not row["stack"] or why in DELIBERATE:
            continue
        lines = [Line(str(path), int(line), str(function)) for path, line, function in row["stack"]]
        if lines[0] in done:
            continue
        done.add(lines[0])
        yield Draft(
            pattern="torch-graph-break",
            framework="torch",
            site=lines[0],
            n=1,
            cost_s=None,
            saving_s=None,
            says=because("doctor_break", text=row["text"], why=why),
            null_reasons=dict.fromkeys(("cost_s", "saving_s"), because("doctor_untimed")),
        )
