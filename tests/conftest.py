"""What holds for every test."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# On a busy machine any example may take long: time is measured by other tests than these.
# A run judges a change, by the same examples each time; `--hypothesis-profile search` looks for new
# ones, and what it finds is kept as an `@example`.
_ANY_MACHINE = settings(
    deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.register_profile("same examples", _ANY_MACHINE, derandomize=True, database=None)
settings.register_profile("search", _ANY_MACHINE, derandomize=False)
settings.load_profile("same examples")
