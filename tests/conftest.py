"""What holds for every test."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

# On a busy machine any example may take long: time is measured by other tests than these.
# A developer's run looks for new examples; one of continuous integration judges a change, by
# the same examples each time.
settings.register_profile(
    "any machine",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
    derandomize=bool(os.environ.get("CI")),
)
settings.load_profile("any machine")
