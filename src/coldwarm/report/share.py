"""How much of a run is done, smoothly and never backwards."""

from __future__ import annotations


class Share:
    """Joins two accounts: processes counted as they end, and a run's estimate by time.

    An estimate knows that some processes take longer than others, but comes once a round. From
    one to the next, each process that ends takes its part of what is left.
    """

    def __init__(self) -> None:
        """Start with nothing done of nothing known."""
        self._planned = 0
        self._ended = 0
        self._base = 0.0
        self._base_ended = 0
        self._shown = 0.0

    def plan(self, n_processes: int) -> None:
        """Learn how many processes are planned at least."""
        self._planned = n_processes

    def ended(self) -> None:
        """Learn that a process ended."""
        self._ended += 1
        ahead = self._planned - self._base_ended
        part = (self._ended - self._base_ended) / ahead if ahead > 0 else 1.0
        self._raise_to(self._base + (1.0 - self._base) * part)

    def estimated(self, done: float) -> None:
        """Learn an estimate of the share done (0..1)."""
        self._raise_to(done)
        self._base, self._base_ended = self._shown, self._ended

    @property
    def value(self) -> float:
        """The share done (0..1), of what is planned at least."""
        return self._shown

    @property
    def beyond(self) -> bool:
        """Whether all that was planned at least is done, and more is being measured."""
        return self._ended > self._planned > 0

    def _raise_to(self, done: float) -> None:
        self._shown = max(self._shown, min(done, 1.0))
