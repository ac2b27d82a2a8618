"""What carries a task to a machine, a file for each: ``opened`` there returns a ``Carrier``."""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING, Any, Protocol

from coldwarm.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable


class SentTask(Protocol):
    """A task on its way."""

    def done(self) -> bool:
        """Say whether it has ended, or failed."""

    def result(self) -> Any:  # noqa: ANN401 - of any task
        """Return what it returned, or raise what it raised."""


class Carrier(Protocol):
    """Machines that take tasks, one at a time on each host."""

    def machines(self) -> dict[str, str]:
        """Return those that are there now, each with its host."""

    def submit(self, machine: str, task: Callable[..., Any], *given: object) -> SentTask:
        """Send a task to a machine."""

    def close(self) -> None:
        """End what was opened, and tasks that are still on their way."""


def known() -> list[str]:
    """Return the names that ``opened`` takes."""
    return sorted(info.name for info in pkgutil.iter_modules(__path__))


def opened(where: str, n_runs: int | None) -> Carrier:
    """Return the machines that a text names, such as ``local`` or ``dask:tcp://host:8786``.

    Args:
        where: The name of a carrier, and behind a colon what it needs.
        n_runs: How many runs there will be, where that is known.

    Raises:
        UsageError: there is no such carrier, or it cannot be reached.
    """
    name, _, given = where.partition(":")
    if name not in known():
        raise UsageError(f"--on {where!r:.40}: {name} is none of {', '.join(known())}")
    module = importlib.import_module(f"{__name__}.{name}")
    carrier: Carrier = module.opened(given, n_runs)
    return carrier
