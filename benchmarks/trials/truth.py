"""The true ratios, measured without coldwarm: whether effects are what they are said to be.

Warm ones are exact by construction; here both sides are called in turns in one process. Those of
starts are known from here alone: fresh processes in turns, each of which times its own import and
first call.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from benchmarks.trials.settings import HERE, KINDS
from scipy import stats

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

WARM_S = 12.0
"""Of calls in turns, for each effect."""
STARTS = 60
"""Pairs of starts, for each effect."""
CONFIDENCE = 0.99


def measure(kind: str, effect: float) -> dict[str, Any]:
    """Return the record of one effect: what was measured, with its interval."""
    subject = KINDS[kind]
    a, b = subject.base, subject.more[effect]
    ratios = _starts(kind, a, b) if subject.cold else _calls(kind, a, b)
    low, high = median_interval(ratios)
    return {
        "record": "truth",
        "kind": kind,
        "effect": effect,
        "a": a,
        "b": b,
        "pairs": len(ratios),
        "ratio": statistics.median(ratios),
        "low": low,
        "high": high,
        "confidence": CONFIDENCE,
    }


def known(kind: str, a: int, b: int, lines: Iterable[Mapping[str, Any]]) -> float | None:
    """Return the true ratio B over A: by construction, or for starts as measured."""
    if a == b:
        return 1.0
    subject = KINDS[kind]
    if not subject.cold:
        return b / a
    more = max(a, b)
    found = [one for one in lines if one["record"] == "truth" and one["kind"] == kind]
    measured = [float(one["ratio"]) for one in found if one["b"] == more]
    if not measured:
        return None
    return measured[-1] if b == more else 1 / measured[-1]


def median_interval(values: Sequence[float]) -> tuple[float, float]:
    """Return the order statistics that hold the median at ``CONFIDENCE``, without assumptions."""
    ordered = sorted(values)
    n = len(ordered)
    rank = int(stats.binom.ppf((1 - CONFIDENCE) / 2, n, 0.5))
    rank = max(rank - 1, 0)
    return ordered[rank], ordered[n - 1 - rank]


def _calls(kind: str, a: int, b: int) -> list[float]:
    subject = KINDS[kind]
    found: list[float] = _alone(
        "warm", subject.file, a, b, WARM_S, subject.framework, subject.shape
    )
    return found


def _starts(kind: str, a: int, b: int) -> list[float]:
    subject = KINDS[kind]
    ratios = []
    for pair in range(STARTS):
        order = (a, b) if pair % 2 else (b, a)
        took_s = {
            units: _alone("cold", subject.file, units, subject.framework, subject.shape)
            for units in order
        }
        ratios.append(took_s[b] / took_s[a])
    return ratios


def _alone(*arguments: object) -> Any:
    command = [sys.executable, str(HERE / "alone.py"), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)
