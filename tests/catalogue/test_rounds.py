"""How many processes a pattern is measured in: as many as its figure needs for a verdict."""

from __future__ import annotations

from dataclasses import replace

import pytest

from coldwarm.catalogue.patterns import pattern
from coldwarm.runner.catalogue.patterns import asked


@pytest.mark.parametrize(
    ("measures", "expected"), [("equations", (1, 2)), ("peak_rss_bytes", (5, 5))]
)
def test_memory_is_measured_in_more_processes_than_what_is_exact(
    measures: str, expected: tuple[int, int]
) -> None:
    spec = replace(pattern("python-loop-unrolled"), measures=measures)
    options = asked(spec).options
    assert (options.min_runs, options.max_runs) == expected
