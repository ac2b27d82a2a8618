"""Asks fresh processes for facts: what a function returns or raises that is called once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.catalogue.claims import called
from coldwarm.contracts.catalogue import FactSheet, Raised
from coldwarm.contracts.reasons import because
from coldwarm.runner.functions import inspection, targets
from coldwarm.runner.process import replies, temporary
from coldwarm.runner.process.guarded import Guard, terminable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

TIMEOUT_S = 180.0
PLANNED_S = 3.0
"""What one call takes as a rule, with its process and the imports of a framework."""
_SETTING = inspection.Setting("facts", [], None, True, None, None, 0, TIMEOUT_S)  # noqa: FBT003 - its fields in order


def gather(file: Path, names: Sequence[str], variables: Mapping[str, str]) -> list[FactSheet]:
    """Call functions of a file, each in a fresh process with empty caches.

    Raises:
        RefusedError: a process could not be started, or did not answer.
    """
    with (
        terminable(),
        temporary.made() as folder,
        Guard() as guard,
    ):
        return [_sheet(file, name, variables, guard, folder) for name in names]


def _sheet(
    file: Path, name: str, variables: Mapping[str, str], guard: Guard, work: Path
) -> FactSheet:
    label = called(name)
    target = targets.Target(label, file.stem, file, name, variables=variables)
    told, _ = inspection.ask(replies.Facts, target, _SETTING, guard, work / f"caches-{label}")
    return FactSheet(
        function=label,
        facts=told.facts,
        raised=None
        if told.raised is None
        else Raised(error=told.raised.error, text=told.raised.text),
        call_s=told.call_s,
        programs=told.programs,
        versions=told.versions,
        null_reasons={}
        if told.programs is not None
        else {"programs": because("not_told", by="it")},
    )
