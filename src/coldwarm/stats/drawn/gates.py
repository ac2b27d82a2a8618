"""The correctness gate of a case: in how many processes it was passed, and the worst of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from coldwarm.contracts.observation import Observation
    from coldwarm.contracts.reasons import Reason
    from coldwarm.contracts.result import CaseResult


class _Gates(NamedTuple):
    """The gates of a case's processes together."""

    n_checked: int
    n_passed: int
    worst: float | None
    """The largest error; ``None``: no gate has one."""
    tolerance: float
    checked: tuple[str, ...]
    reason: Reason | None
    """Of the first gate that was not passed, or of the last one that gives any."""


def gates(observations: Iterable[Observation]) -> _Gates | None:
    """Return the gates of all processes together; ``None``: nothing was checked."""
    found = [seen.gate for seen in observations if seen.gate is not None]
    if not found:
        return None
    errors = [one.error for one in found if one.error is not None]
    given = sorted((one for one in found if one.reason), key=lambda one: one.passed)
    return _Gates(
        n_checked=len(found),
        n_passed=sum(one.passed for one in found),
        worst=max(errors, default=None),
        tolerance=max(one.tolerance for one in found),
        checked=tuple(dict.fromkeys(name for one in found for name in one.checked)),
        reason=given[0].reason if given else None,
    )


class _GroupGates(NamedTuple):
    """The gates of a group of cases together."""

    n_cases: int
    n_checked: int
    n_passed: int
    failed: tuple[str, ...]
    """Candidates with an output that was wrong."""
    worst: float | None
    """The largest error of all; ``None``: no gate has one."""
    tolerance: float


def of_group(cases: Iterable[CaseResult]) -> _GroupGates | None:
    """Return the gates of cases together; ``None``: nothing of them was checked."""
    known = [(case, found) for case in cases if (found := gates(case.observations)) is not None]
    if not known:
        return None
    errors = [found.worst for _, found in known if found.worst is not None]
    return _GroupGates(
        n_cases=len(known),
        n_checked=sum(found.n_checked for _, found in known),
        n_passed=sum(found.n_passed for _, found in known),
        failed=tuple(case.candidate for case, found in known if found.n_passed < found.n_checked),
        worst=max(errors, default=None),
        tolerance=max(found.tolerance for _, found in known),
    )
