"""Why functions were not in Numba's cache on disk, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.report.doctor.summary import place
from coldwarm.report.sentences import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coldwarm.contracts.doctor import CallSite, MissKind

_WHY: dict[MissKind, str] = {
    "nothing_kept": "nothing of this function was kept before",
    "file_changed": "its file has changed since it was kept",
    "types": "it was not kept for these types, only for others",
    "code": "the function itself has changed since it was kept",
    "captured": "what it takes from around it has other values than when it was kept",
    "processor": "it was kept for another kind of processor",
    "version": "it was kept by another version of Numba",
    "unreadable": "what was kept cannot be read",
    "unknown": "the reason is not known",
}


def missed(sites: Sequence[CallSite], most: int) -> Iterator[str]:
    """Yield for the first ``most`` of these lines what was not in Numba's cache, and why."""
    for one in [one for one in sites if one.misses][:most]:
        where = f"{place(one.path)}:{one.line}, {one.function}"
        why = "; ".join(f"{counted(n, 'program')}: {_WHY[kind]}" for kind, n in one.misses.items())
        yield f"Not in Numba's cache on disk: {where}: {why}"
