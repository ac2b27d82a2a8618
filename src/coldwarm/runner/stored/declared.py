"""What a case says of itself that no observation tells, held against what else it says. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from coldwarm.caches import modes
from coldwarm.contracts.reasons import is_wrong
from coldwarm.runner.schedule import limits
from coldwarm.runner.stored.wrong import Wrong

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coldwarm.contracts.result import CaseResult

_NOTED = {
    "benchmark_of_today",
    "not_kept",
    "carried",
    "state_carried",
    "not_compared",
    "second_call_compiled",
    "may_compute",
    "not_opened",
    "answers_differ",
    "arguments_changed",
    "files_hidden",
    "files_untried",
}
"""What may be noted of a function of the user's own, after what is noted of every one."""


def wrong(case: CaseResult) -> Iterator[Wrong]:
    """Yield what this version would have said otherwise of its limits and of the inspection."""
    yield from _limitations(case)
    own = case.protocol.own is not None
    if case.inspected_call_s is None and own and not is_wrong(case.reason):
        yield Wrong(("inspected_call_s",), "is missing, and the function was inspected")
    if case.inspected_call_s is not None and not own:
        yield Wrong(("inspected_call_s",), "is of no function of the user's own")


def of_cautions(case: CaseResult) -> Iterator[Wrong]:
    """Yield where a caution compares with another inspection than the case has."""
    for place, caution in enumerate(case.warnings):
        reason = caution.reason
        if reason.code == "faster_than_inspected":
            told = reason.values.get("inspected_s")
            if told != case.inspected_call_s:
                what = f"is {case.inspected_call_s}, but warnings[{place}] says {told}"
                yield Wrong(("inspected_call_s",), what)


def _limitations(case: CaseResult) -> Iterator[Wrong]:
    owners = {*(case.protocol.caches or ()), "bytecode"}
    if case.protocol.caches is None or not owners <= modes.owners().keys():
        return
    made = limits.limitations(owners, case.protocol.cache_modes)
    n_noted = len(case.limitations) - len(made)
    noted = [reason.code for reason in case.limitations[: max(n_noted, 0)]]
    expected = noted[:1] == ["own_memo"] if case.protocol.own is not None else not noted
    plain = [msgspec.to_builtins(reason) for reason in (*case.limitations[len(noted) :], *made)]
    same = plain[: len(plain) // 2] == plain[len(plain) // 2 :] and n_noted >= 0
    if not same or not expected or not _NOTED.issuperset(noted[1:]):
        codes = ", ".join(reason.code for reason in made)
        said = ", ".join(reason.code for reason in case.limitations) or "none"
        yield Wrong(("limitations",), f"are {said}, but its caches and modes make {codes}")
