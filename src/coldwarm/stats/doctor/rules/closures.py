"""Numba's functions that are kept on disk and are never found there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import because
from coldwarm.stats.doctor.drafts import Draft
from coldwarm.stats.doctor.seen import Line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coldwarm.stats.doctor.seen import Seen

REASONS = {
    "doctor_closure": "{function} is kept on disk, and takes another compiled function from around"
    " it: what is kept is never found again",
    "saving_kept": "the time of this compilation, in each later process",
}
CHANGES = {
    "numba-cache-closure": "define both functions at the top level of a module",
}


def findings(seen: Seen) -> Iterator[Draft]:
    """Name each function with a cache that closes over another compiled one."""
    done: set[Line] = set()
    for call in seen.calls:
        path, line = call.function.get("path"), call.function.get("line")
        if call.framework != "numba" or not (call.keeps and call.around) or not path or not line:
            continue
        site = Line(str(path), int(line), call.name)
        if site not in done:
            done.add(site)
            yield Draft(
                pattern="numba-cache-closure",
                framework="numba",
                site=site,
                n=1,
                cost_s=call.total_s,
                saving_s=call.total_s,
                saving_from=because("saving_kept"),
                says=because("doctor_closure", function=call.name),
            )
