"""What the measuring of a pattern is asked for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from coldwarm.catalogue.measure import _request_of
from coldwarm.catalogue.spec import patterns
from coldwarm.stats.intervals import FEWEST_FOR_CONFIDENCE

if TYPE_CHECKING:
    from coldwarm.catalogue.spec import PatternSpec
    from coldwarm.runner.case_list import Options

BENCHES = [spec for spec in patterns().values() if spec.measures != "facts"]


def _asked(spec: PatternSpec) -> Options:
    """Return what is asked for, which is the same at all points of a grid."""
    first, *others = (_request_of(spec, bench).options for bench in spec.benches)
    assert all(one == first for one in others)
    return first


@pytest.mark.parametrize("spec", BENCHES, ids=lambda spec: spec.id)
def test_only_what_decides_is_measured(spec: PatternSpec) -> None:
    modes = _asked(spec).cache_modes
    if spec.measures == "warm_call_s":
        assert modes == ("warm_process",)
    else:
        assert modes == ("cold_process_cold_cache",)


def test_memory_is_measured_often_enough_for_a_verdict() -> None:
    made = _asked(replace(BENCHES[0], measures="peak_rss_bytes"))
    assert made.min_runs == made.max_runs == FEWEST_FOR_CONFIDENCE == 5


def test_what_has_no_noise_is_measured_twice_at_most() -> None:
    made = _asked(replace(BENCHES[0], measures="equations"))
    assert (made.min_runs, made.max_runs) == (1, 2)
