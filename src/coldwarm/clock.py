"""Time as the runner sees it: the real clock, and one for tests that moves when told."""

from __future__ import annotations

import time
from datetime import UTC, datetime


class Clock:
    """A monotonic clock, and the date: the machine's own."""

    def now_s(self) -> float:
        """Return seconds since some fixed moment."""
        return time.perf_counter()

    def date(self) -> str:
        """Return the date and time in UTC as ISO 8601, to the second."""
        return datetime.now(UTC).isoformat(timespec="seconds")


class FakeClock(Clock):
    """A clock that stands still until it is moved."""

    def __init__(self, date: str = "2026-01-01T00:00:00+00:00") -> None:
        """Start at second 0 of ``date``."""
        self._now_s = 0.0
        self._date = date

    def advance(self, seconds: float) -> None:
        """Move on by ``seconds``."""
        self._now_s += seconds

    def now_s(self) -> float:
        """Return the seconds moved so far."""
        return self._now_s

    def date(self) -> str:
        """Return the date given."""
        return self._date
