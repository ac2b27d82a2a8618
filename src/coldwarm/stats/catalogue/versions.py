"""Which versions of frameworks measured processes have told. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from coldwarm.contracts.catalogue import FactSheet
    from coldwarm.contracts.result import CaseResult


def versions_told(sheets: Iterable[FactSheet]) -> dict[str, str]:
    """Return the versions that functions have told which were called once."""
    return {k: v for sheet in sheets for k, v in sheet.versions.items()}


def versions_of(cases: Iterable[CaseResult]) -> dict[str, str]:
    """Return the versions that the processes of cases have told."""
    return {k: v for case in cases for seen in case.observations for k, v in seen.versions.items()}
