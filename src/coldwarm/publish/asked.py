"""What a bench of a user's own functions was asked for, as its journal says it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from coldwarm.contracts import run_journal
from coldwarm.contracts.reasons import because
from coldwarm.errors import ContractError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from coldwarm.contracts.reasons import Reason


@dataclass(frozen=True)
class Asked:
    """The targets and options of a bench, without those that say how long it takes."""

    targets: tuple[str, ...] = ()
    """``LABEL=FILE.py:NAME``, the file from the folder on that the bench ran in."""
    inputs: tuple[str, ...] = ()
    placement: str | None = None
    reference: str | None = None
    check: bool = True
    tolerance: float | None = None
    sync: str | None = None
    variables: tuple[str, ...] = ()
    n_withheld: int = 0
    """Variables whose values are not told."""
    pythons: tuple[str, ...] = ()
    before: str | None = None
    after: str | None = None

    @property
    def why_not(self) -> Reason | None:
        """Why it cannot be asked again elsewhere; ``None``: its files are all that is missing."""
        if not self.targets:
            return because("code_not_recorded")
        options = {
            "--python": self.pythons,
            "--before": self.before,
            "--after": self.after,
            "--env": self.n_withheld,
        }
        option = next((name for name, value in options.items() if value), None)
        return None if option is None else because("code_with_option", option=option)

    def arguments(self) -> Iterator[str]:
        """Yield the options of ``coldwarm bench``, each value with its name, and the targets."""
        for name, values in (("input", self.inputs), ("env", self.variables)):
            yield from (f"--{name}={value}" for value in values)
        given = {
            "inputs-as": self.placement,
            "reference": self.reference,
            "tolerance": self.tolerance,
            "sync": self.sync,
        }
        yield from (f"--{name}={value}" for name, value in given.items() if value is not None)
        if not self.check:
            yield "--no-check"
        yield "--"
        yield from self.targets


def of_options(options: Mapping[str, Any]) -> Asked:
    """Return what the recorded options of a run say; nothing where they say nothing of it."""
    try:
        return msgspec.convert(options.get("own") or {}, Asked)
    except msgspec.ValidationError:
        return Asked()


def of_files(files: Mapping[str, bytes]) -> Asked:
    """Return the same of the files of a run, by their paths."""
    try:
        header = run_journal.header_in(files.get(run_journal.JOURNAL, b""), run_journal.JOURNAL)
    except ContractError:
        return Asked()
    return Asked() if header is None else of_options(header.options)


def place(target: str) -> str:
    """Return the file or the module of a target, without its label and the function's name."""
    label, _, named = target.rpartition("=")
    del label
    before, colon, _ = named.rpartition(":")
    return before if colon else named
