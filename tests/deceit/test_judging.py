"""How a trial is judged: what is silent, what is named, and when two series agree."""

from __future__ import annotations

import pytest
from benchmarks.independent import Agreement
from tests.deceit.base import Deceit
from tests.deceit.trying import Said, Trial

HIDING = Deceit(name="one", hides="a second", figure="warm", source="", said=("two_levels",))
COUNTING = Deceit(name="two", hides="compiles", figure="compiles", source="")


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        (Said(0, 1.1), "right"),
        (Said(0, 0.5), "SILENTLY WRONG"),
        (Said(0, 2.0), "SILENTLY WRONG"),
        (Said(0, 0.5, frozenset({"foreign_cpu"})), "SILENTLY WRONG"),
        (Said(0, 0.5, frozenset({"two_levels"})), "named"),
        (Said(3, None), "refused"),
        (Said(2, None), "refused"),
        (Said(0, None), "refused"),
        (Said(4, None, frozenset({"not_measured"})), "untried"),
        (Said(4, None, frozenset({"not_measured", "two_levels"})), "refused"),
        (Said(1, None), "broken"),
        (Said(70, 1.0), "broken"),
    ],
)
def test_a_figure_is_right_or_refused_or_named(said: Said, outcome: str) -> None:
    assert Trial(HIDING, said, [0.95, 1.0, 1.05]).outcome == outcome


def test_noise_of_the_truth_is_no_fault_of_a_figure() -> None:
    assert Trial(HIDING, Said(0, 1.9), [1.0, 1.5, 1.7]).outcome == "right"


@pytest.mark.parametrize(
    ("counted", "outcome"), [(5.0, "right"), (0.0, "SILENTLY WRONG"), (None, "refused")]
)
def test_a_count_is_there_or_nothing_is_published(counted: float | None, outcome: str) -> None:
    assert Trial(COUNTING, Said(0, counted), [5.0, 5.0]).outcome == outcome


@pytest.mark.parametrize(
    ("ratios", "verdict"),
    [
        ([1.01, 0.99, 1.02, 1.0, 0.98, 1.03], "agrees"),
        ([0.5, 0.51, 0.49, 0.5, 0.52, 0.5], "apart"),
        ([0.5, 1.3, 0.9, 0.7, 1.2, 0.9], "unclear"),
    ],
)
def test_two_series_agree_or_the_interval_says_why(ratios: list[float], verdict: str) -> None:
    assert Agreement("one", "warm call", ratios, [1.0] * len(ratios)).verdict == verdict
