"""Sections about a result: a file for each, which defines its ``SECTION``.

The page and the print have all of them, in the order of their places.
"""

from __future__ import annotations

import pkgutil
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from coldwarm.contracts.result import CaseResult, Measured
    from coldwarm.report.document import Block
    from coldwarm.report.view import View


@dataclass(frozen=True)
class ShownResult:
    """A result, and how its suite is shown; a case alone has no suite."""

    measured: Measured
    cases: Sequence[CaseResult]
    view: View | None
    first: bool = True
    """Whether it is the first on its page, where what holds of all results is said."""


@dataclass(frozen=True, kw_only=True)
class ReportSection:
    """A section: what is said of a result under a title."""

    place: int
    anchor: str
    """What leads to it on the page."""
    title: str
    blocks: Callable[[ShownResult], Iterable[Block]]
    stands_open: bool = False
    """Whether the page shows it unasked; the others are folded."""


@cache
def sections() -> tuple[ReportSection, ...]:
    """Return the sections that there are, in their order."""
    names = (info.name for info in pkgutil.iter_modules(__path__))
    found: list[ReportSection] = [import_module(f"{__name__}.{name}").SECTION for name in names]
    return tuple(sorted(found, key=lambda one: one.place))
