"""What holds for every test."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# On a busy machine any example may take long: time is measured by other tests than these.
settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("any machine")
