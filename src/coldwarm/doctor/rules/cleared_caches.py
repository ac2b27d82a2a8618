"""Programs that are compiled again because the program made JAX forget them."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import Codes, because
from coldwarm.doctor.rules import Rule
from coldwarm.doctor.trace import CachesCleared

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coldwarm.contracts.doctor import Finding
    from coldwarm.doctor.trace import CompiledCall, ProcessTrace, SourceLine


_REASONS = {
    "doctor_cleared": "jax.clear_caches() makes JAX forget all that it has compiled: after it,"
    " {n_programs:# program} were compiled again, such as {function}",
}
_CHANGES = {
    "caches-cleared": "leave it out; to free memory, delete what refers to the arrays",
}


def _findings(trace: ProcessTrace) -> Iterator[Finding]:
    """Name the lines that clear them."""
    found: dict[SourceLine, list[CompiledCall]] = defaultdict(list)
    for call in trace.calls:
        site = cleared_before(trace, call)
        if site is not None:
            found[site].append(call)
    for site, calls in found.items():
        dearest = max(calls, key=lambda one: one.total_s)
        says = because("doctor_cleared", n_programs=len(calls), function=dearest.name)
        yield trace.finding("caches-cleared", site, says, again=calls)


def cleared_before(trace: ProcessTrace, call: CompiledCall) -> SourceLine | None:
    """Return the line that last cleared the caches, if a call was compiled again only for that."""
    if call.framework != "jax" or call.again_for != "unknown" or not call.compiled:
        return None
    rows = [row for row in trace.rows_of(CachesCleared) if row.at_s < call.at_s and row.stack]
    return rows[-1].stack[0] if rows else None


RULE = Rule(findings=_findings, codes=Codes(_REASONS), changes=_CHANGES)
