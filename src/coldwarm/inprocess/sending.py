"""The ways in which fresh processes can have a function and its arguments.

By name, where a module or the program's file has the function and the arguments are arrays and
plain values: then a fresh process does what the program does. Otherwise, or where that does not
work, as one pickle. Both are written down before the first call, which may change what they hold.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from coldwarm.contracts.reasons import RefusedError
from coldwarm.functions import transfer
from coldwarm.inprocess import carrying, finding, keeping
from coldwarm.runner.functions.targets import Target

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from coldwarm.contracts.reasons import Reason
    from coldwarm.functions.arguments import Call

BY_NAME_ALONE = {"name_missing", "failed_before", "unusable", "other_arguments"}
"""Refusals of a program's file that is read anew, which a pickle does not have."""


class NotMeasuredError(RefusedError):
    """Nothing could be measured in fresh processes; ``output`` is what the last one printed."""

    def __init__(self, reason: Reason, output: str = "") -> None:
        """Keep both."""
        super().__init__(reason)
        self.output = output


@dataclass(frozen=True)
class FreshOptions:
    """How much is to be measured in fresh processes, and what becomes of the files."""

    processes: int
    warm: bool
    time_budget_s: float | None
    timeout_s: float
    tolerance: float | None
    out_dir: Path | None


@dataclass(frozen=True)
class Way:
    """One way to have a function in another process."""

    target: Target
    folder: Path
    """Where the arguments lie, and the function, if it is carried."""
    sync: str | None


@dataclass(frozen=True)
class Given:
    """What is measured, and from where it was asked for."""

    function: Callable[..., Any]
    call: Call
    sync: Callable[[Any], Any] | None
    scope: dict[str, Any]
    """The globals of who called."""
    calls: dict[str, int]
    """Which call of ``coldwarm.bench`` it is, by module."""

    @property
    def name(self) -> str:
        """What the function is called."""
        own = getattr(self.function, "__qualname__", None)
        return str(own or type(self.function).__qualname__)


def ways(given: Given, folder: Path) -> list[Way]:
    """Write down what fresh processes need; return the ways to it, the better one first.

    Raises:
        NotCarriedError: there is none, as something cannot be pickled.
    """
    found = []
    by_name = _by_name(given, folder / "named")
    if by_name is not None:
        found.append(by_name)
    # What a program defines late, or under its guard, it may not have when it is read again.
    if by_name is None or by_name.target.path is not None:
        try:
            found.append(_carried(given, folder / "carried"))
        except carrying.NotCarriedError:
            if by_name is None:
                raise
    return found


def _by_name(given: Given, folder: Path) -> Way | None:
    target = finding.find(given.function, given.scope, given.calls)
    sync = None if given.sync is None else finding.named(given.sync, given.scope)
    if target is None or (given.sync is not None and sync is None):
        return None
    folder.mkdir()
    try:
        transfer.write(given.call, str(folder))
    except transfer.UnsendableError:
        return None
    return Way(target, folder, sync)


def _carried(given: Given, folder: Path) -> Way:
    folder.mkdir()
    names = carrying.by_identity(given.scope)
    kept = keeping.kept(given.function)
    carrying.write(given.call, given.function, given.sync, folder, names, memos=kept.memos)
    module = getattr(given.function, "__module__", None) or "__main__"
    name = given.name.rpartition(".<locals>.")[2]
    label = re.sub(r"\W", "_", name).strip("_") or "function"
    target = Target(
        label,
        module,
        None,
        name,
        variables=finding.variables(None),
        carried=True,
        kept=tuple(kept.others),
    )
    sync = None if given.sync is None else getattr(given.sync, "__qualname__", "sync")
    return Way(target, folder, sync)
