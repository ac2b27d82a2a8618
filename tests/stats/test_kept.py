"""When a first call is so quick that the inspection may have left something on disk for it."""

from __future__ import annotations

import pytest
from tests.report.conftest import cold

from coldwarm.stats.cautions import kept_itself


@pytest.mark.parametrize(
    ("device_init_s", "inspected_s", "told"),
    [
        (0.0, 0.6, True),
        (0.0, 0.1, False),
        (0.4, 0.5, False),  # the inspected factory has started the GPU, too
        (0.4, 5.0, True),
    ],
)
def test_a_factory_may_have_started_the_devices(
    *, device_init_s: float, inspected_s: float, told: bool
) -> None:
    seconds = {"device_init": device_init_s, "build": 0.02, "first_call": 0.06}
    found = kept_itself([cold("cold_process_cold_cache", seconds)], inspected_s)
    assert [one.reason.values["cold_s"] for one in found] == [pytest.approx(0.08)] * told
    assert kept_itself([cold("cold_process_warm_cache", seconds)], inspected_s) == []
