"""Sweeps of two made-up candidates whose costs are known at every size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coldwarm.contracts.answer import Answer, Judged, Lead, Summary
from coldwarm.contracts.base import WARM
from coldwarm.contracts.sweep import SizePoint
from coldwarm.stats import sweeps
from coldwarm.stats.ratio import compare

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Pair:
    """Two candidates, and what a call of each costs by size."""

    a: Callable[[float], float]
    b: Callable[[float], float]

    @classmethod
    def crossing(cls, size: float) -> Pair:
        """Return a pair of which ``a`` is the cheapest up to this size: no start, but steeper."""
        return cls(lambda n: 1.0 + 3.0 * n / size, lambda n: 3.0 + n / size)

    @classmethod
    def without(cls) -> Pair:
        """Return a pair that never crosses."""
        return cls(lambda n: 1.0 + n / 1000, lambda n: 2.0 + n / 500)

    @classmethod
    def twice(cls, first: float, second: float) -> Pair:
        """Return a pair that crosses twice."""
        middle = np.sqrt(first * second)
        reach = np.log(second / first) / 2
        return cls(
            lambda n: 1.0 + n,
            lambda n: (1.0 + n) * np.exp(0.5 * (abs(np.log(n / middle)) - reach)),
        )


def point(pair: Pair, size: int, rng: np.random.Generator, rounds: int, noise: float) -> SizePoint:
    """Return what a bench of so many rounds would say at a size."""
    true = {"a": pair.a(size), "b": pair.b(size)}
    seen = {
        name: {str(k): [cost * float(np.exp(noise * rng.standard_normal()))] for k in range(rounds)}
        for name, cost in true.items()
    }
    judged = compare("warm.call_s", "a", seen["b"], seen["a"])
    fastest = {"faster": "b", "slower": "a"}.get(judged.verdict)
    names = ("verdict", "ratio", "low", "high", "confidence", "threshold", "reason")
    other = Judged(candidate="b", **{name: getattr(judged, name) for name in names})
    lead = Lead(mode=WARM, baseline="a", fastest=fastest, judged=[other])
    return SizePoint(
        size=size,
        path="",
        answer=Answer(
            group="bench_1_own",
            workload="bench",
            size=1,
            dtype="own",
            baseline="a",
            candidates=["a", "b"],
            leads=[lead],
            n_processes=2 * rounds,
            n_rounds=rounds,
        ),
        call={name: _summary([one[0] for one in values.values()]) for name, values in seen.items()},
        wall_s=1.0,
    )


def _summary(values: list[float]) -> Summary:
    return Summary(
        n_processes=len(values),
        n_samples=len(values),
        median=float(np.median(values)),
        minimum=min(values),
        maximum=max(values),
    )


def swept(  # noqa: PLR0913 - what a sweep depends on
    pair: Pair,
    low: int,
    high: int,
    rng: np.random.Generator,
    *,
    most: int = 40,
    rounds: int = 6,
    noise: float = 0.01,
) -> list[SizePoint]:
    """Return what a sweep has measured when it ends by itself, or has measured ``most`` sizes."""
    points: list[SizePoint] = []
    while len(points) < most:
        size = sweeps.next_size(points, low, high, 0.1)
        if size is None:
            break
        points.append(point(pair, size, rng, rounds, noise))
    return points
