"""What a build is failed for: findings by their pattern, as many as are allowed. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.errors import UsageError
from coldwarm.stats.doctor.rules.compiled_again import PATTERNS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from coldwarm.contracts.doctor import Finding

RECOMPILE = "recompile"
"""Any pattern of which something was compiled again."""
_ALSO = {"jit-in-loop", "torch-changing-scalar", "growing-array-concat"}
SHORT = {
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
    names = {*known, RECOMPILE}
    found = {}
    for part in filter(None, (one.strip() for one in written.split(","))):
        name, _, number = part.partition(":")
        name = SHORT.get(name, name)
        if name not in names:
            raise UsageError(f"--fail-on: no finding is called {name}")
        if number and not number.isdecimal():
            raise UsageError(f"--fail-on {part}: what stands behind the colon is no whole number")
        found[name] = int(number or 0)
    return found


def broken(findings: Iterable[Finding], allowed: Mapping[str, int]) -> dict[str, int]:
    """Return how often what is limited happened, where it was more often than is allowed."""
    counts = dict.fromkeys(allowed, 0)
    again = {*PATTERNS.values(), *_ALSO}
    for one in findings:
        for name in (one.pattern, *([RECOMPILE] if one.pattern in again else [])):
            if name in counts:
                counts[name] += one.n
    return {name: n for name, n in counts.items() if n > allowed[name]}
