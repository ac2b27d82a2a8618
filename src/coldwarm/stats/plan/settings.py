"""With which settings a plan holds, and what it would be without them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coldwarm.contracts.base import FILLED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.contracts.result import CaseResult

_START = "ttfr_process"


def settings(cases: Sequence[CaseResult], *, filled: bool) -> dict[str, Any]:
    """Return the fields of a plan that say so, by candidate.

    ``filled``: whether a process of the plan finds its caches filled.
    """
    returned = {
        case.candidate: caution.reason
        for case in cases
        for caution in case.warnings
        if caution.kind == "allocator"
    }
    if not filled:
        return {"memory_returned": returned}
    ours, by_default = {}, {}
    for case in cases:
        for cold in case.cold:
            other = cold.framework_default
            if cold.cache_mode == FILLED and other is not None and _START in other.seconds:
                ours[case.candidate] = cold.seconds[_START].median
                by_default[case.candidate] = other.seconds[_START].median
    return {
        "memory_returned": returned,
        "filled_by": {case.candidate: case.filled_by for case in cases if case.filled_by},
        "filled_s": ours,
        "filled_by_default_s": by_default,
    }
