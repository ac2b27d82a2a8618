"""What a build is failed for: what happened more often than is allowed. Pure."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from coldwarm.errors import UsageError
from coldwarm.stats.doctor.rules.compiled_again import PATTERNS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from coldwarm.contracts.doctor import DoctorReport, Finding

_RECOMPILE = "recompile"
"""Whatever was compiled again, by any pattern or by none."""
_ALSO = {"jit-in-loop", "torch-changing-scalar", "growing-array-concat"}
_BY_SIZE = {"list-argument", "python-loop-unrolled"}
"""Patterns whose number is how large something is, not how often it happened."""
_SHORT = {
    "missing-sync": "missing-sync-timing",
    "host-sync": "host-sync-in-loop",
    "transfer": "device-transfer-in-loop",
    "graph-break": "torch-graph-break",
}
"""Shorter names of patterns."""


def limits(written: str, known: Iterable[str]) -> dict[str, int]:
    """Return how often each pattern may happen, from a text such as ``recompile:3,missing-sync``.

    Raises:
        UsageError: a name is no pattern, or what stands behind it is no number.
    """
    names = {*known, _RECOMPILE}
    found = {}
    for part in filter(None, (one.strip() for one in written.split(","))):
        name, _, number = part.partition(":")
        name = _SHORT.get(name, name)
        if name not in names:
            raise UsageError(f"--fail-on: no finding is called {name}")
        if number and not number.isdecimal():
            raise UsageError(f"--fail-on {part}: what stands behind the colon is no whole number")
        found[name] = int(number or 0)
    return found


def broken(report: DoctorReport, allowed: Mapping[str, int]) -> dict[str, int]:
    """Return how often what is limited happened, where it was more often than is allowed."""
    counts: Counter[str] = Counter()
    for one in report.findings:
        counts[one.pattern] += 1 if one.pattern in _BY_SIZE else one.n
    counts[_RECOMPILE] = _n_again(report)
    return {name: counts[name] for name, limit in allowed.items() if counts[name] > limit}


def _n_again(report: DoctorReport) -> int:
    """Return how often something was compiled again, also where that was too seldom for a finding.

    At each line it is the larger of both counts: a body of a loop of JAX's that is ever new has no
    cause, and is counted by its finding alone.
    """
    by_cause: Counter[tuple[str, int]] = Counter()
    by_finding: Counter[tuple[str, int]] = Counter()
    for site in (one for one in report.sites if not one.is_operation):
        by_cause[site.path, site.line] += sum(site.causes.values())
    for one in filter(_is_again, report.findings):
        by_finding[one.path, one.line] += one.n
    return (by_cause | by_finding).total()


def _is_again(one: Finding) -> bool:
    return one.pattern in {*PATTERNS.values(), *_ALSO}
