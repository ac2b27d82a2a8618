"""This machine, for trying what is to run on others."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from coldwarm.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future


class _Local:
    """One task after the other."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(1)
        self._host = os.uname().nodename

    def machines(self) -> dict[str, str]:
        """Return this one."""
        return {self._host: self._host}

    def submit(self, machine: str, task: Callable[..., Any], *given: object) -> Future[Any]:
        """Run a task in a thread, which waits for the processes that it starts."""
        del machine
        return self._threads.submit(task, *given)

    def close(self) -> None:
        """Wait for nothing: what runs has heard of Ctrl-C, too."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def opened(given: str, n_runs: int | None) -> _Local:
    """Return this machine.

    Raises:
        UsageError: something is asked of it.
    """
    del n_runs
    if given:
        raise UsageError(f"--on local:{given:.40}: local needs nothing behind it; write --on local")
    return _Local()
