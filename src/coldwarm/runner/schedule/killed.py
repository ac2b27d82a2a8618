"""Processes that someone else has killed, the kernel out of memory among them: nobody's failure.

Which of two killed them, a signal does not say. So such a process is tried again, a bounded number
of times: what kills itself each time has failed in the end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from msgspec.structs import replace

if TYPE_CHECKING:
    from collections.abc import Callable

    from coldwarm.contracts.observation import Observation
    from coldwarm.contracts.reasons import Reason

MOST_TRIES = 3
_SIGNALS = {"SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"}
Answer = TypeVar("Answer")


def from_outside(reason: Reason | None) -> bool:
    """Say whether a process ended by a signal that others send."""
    if reason is None:
        return False
    if reason.code == "signal":
        return reason.values["name"] in _SIGNALS
    wraps = reason.code in {"reference_failed", "making_failed", "failed_before"}
    return reason.code == "killed" or (wraps and any(map(from_outside, reason.parts)))


def tried(observation: Observation) -> Observation:
    """Return an observation as one that was tried, if its process was killed from outside."""
    if observation.status == "failed" and from_outside(observation.reason):
        return replace(observation, status="rejected")
    return observation


def again(attempt: Callable[[], Answer], failed: type[Exception]) -> Answer:
    """Return what an attempt gives, repeated where its process was killed from outside.

    Raises:
        Exception: what the last attempt has raised; its ``reason`` says why.
    """
    for _ in range(MOST_TRIES - 1):
        try:
            return attempt()
        except failed as error:
            if not from_outside(getattr(error, "reason", None)):
                raise
    return attempt()
