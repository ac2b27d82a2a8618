"""What a run tells while it goes on; whoever shows it overrides what it wants to hear."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from coldwarm.contracts.observation import Observation
    from coldwarm.contracts.reasons import Reason
    from coldwarm.contracts.result import CaseResult


class Listener:
    """Hears of a run's events, always between processes, never inside a window.

    As it is, it shows nothing.
    """

    def started(self, plan_total: int, budget_s: float | None) -> None:
        """Say that a run begins: planned processes, and the budget if there is one."""

    def process(self, case: str, mode: str, number: int, of: int) -> None:
        """Say that a process is about to start: the ``number``-th of its case and mode."""

    def observed(self, observation: Observation) -> None:
        """Give an observation that was just written down."""

    def case_updated(self, case_result: CaseResult) -> None:
        """Give a case's result so far."""

    def note(self, reason: Reason) -> None:
        """Say something a person should read."""

    def estimate(self, done: float, left_s: float | None) -> None:
        """Say how far the run is: a share, and seconds left where they are known."""
