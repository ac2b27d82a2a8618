"""Embeddings whose gradient is nearly all zeros, and goes through the optimizer as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import Codes, because
from coldwarm.doctor.rules import Rule
from coldwarm.doctor.source_code import called
from coldwarm.doctor.trace import EmbeddingGradient

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coldwarm.contracts.doctor import Finding
    from coldwarm.doctor.trace import ProcessTrace


_REASONS = {
    "doctor_dense_gradient": "the gradient of this embedding has {n_rows} rows, of which"
    " {zero_share:.0%} were zero when it was looked at, and each step goes through all of them:"
    " about {spent_s:time} were spent at lines that call backward, step or zero_grad",
}
_CHANGES = {
    "embedding-dense-gradient": "sparse=True for the embedding, with torch.optim.SparseAdam or"
    " SGD for it: rows that a batch does not use are left as they are. Adam moves them, too, so"
    " results differ a little",
}
_MOST_USED = 0.1
_FEWEST_LOOKS = 2
_OF_STEPS = {"backward", "step", "zero_grad"}


def _findings(trace: ProcessTrace) -> Iterator[Finding]:
    """Name the lines that make such embeddings."""
    rows = [row for row in trace.rows_of(EmbeddingGradient) if _is_mostly_zero(row)]
    spent_s = _of_steps_s(trace) if rows else 0.0
    if not trace.is_worth(spent_s):
        return
    seen = {row.stack[0]: row for row in sorted(rows, key=lambda one: one.n_rows)}
    for site, row in seen.items():
        share = 1 - row.used / row.looked
        told = {"n_rows": row.n_rows, "zero_share": share, "spent_s": spent_s}
        says = because("doctor_dense_gradient", **told)
        yield trace.finding_of_seconds("embedding-dense-gradient", site, says, framework="torch")


def _is_mostly_zero(row: EmbeddingGradient) -> bool:
    """Say whether few rows are used; where none was, it was not looked at in time."""
    return row.n_looks >= _FEWEST_LOOKS and 0 < row.used <= _MOST_USED * row.looked


def _of_steps_s(trace: ProcessTrace) -> float:
    """Return the seconds at lines that go through gradients."""
    return sum(
        seconds
        for spot, seconds in trace.spent
        if any(
            called(call) in _OF_STEPS
            for call in trace.sources.calls_at(spot.stack[0].path, spot.stack[0].line)
        )
    )


RULE = Rule(findings=_findings, codes=Codes(_REASONS), changes=_CHANGES)
