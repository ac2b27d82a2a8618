"""Numba's functions that are kept on disk and are never found there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import Codes, because
from coldwarm.doctor.rules import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coldwarm.contracts.doctor import Finding
    from coldwarm.doctor.trace import ProcessTrace, SourceLine


_REASONS = {
    "doctor_closure": "{function} is kept on disk, and takes another compiled function from around"
    " it: what is kept is never found again",
    "saving_kept": "the time of this compilation, in each later process",
}
_CHANGES = {
    "numba-cache-closure": "define both functions at the top level of a module",
}


def _findings(trace: ProcessTrace) -> Iterator[Finding]:
    """Name each function with a cache that closes over another compiled one."""
    done: set[SourceLine] = set()
    for call in trace.calls:
        site = call.definition
        if call.framework != "numba" or not (call.keeps and call.around) or site is None:
            continue
        if site not in done:
            done.add(site)
            yield trace.finding(
                "numba-cache-closure",
                site,
                because("doctor_closure", function=call.name),
                framework="numba",
                cost_s=call.total_s,
                saving_s=call.total_s,
                saving_from=because("saving_kept"),
            )


RULE = Rule(
    findings=_findings,
    codes=Codes(_REASONS),
    changes=_CHANGES,
)
