"""Sections of the page and the places of their figures; how they are made is for others to say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coldwarm.report.answers import Line
    from coldwarm.report.filled import Needed


WIDTHS = {"wide": 600, "narrow": 240}
"""Of the plots, in pixels; which is drawn depends on the room that there is."""


@dataclass(frozen=True)
class Drawing:
    """A figure's place on the page; what is drawn there is in the pack of its section."""

    id: str
    kind: str
    title: str
    caption: str
    alt: str


@dataclass(frozen=True)
class Section:
    """A workload, or all of a result together."""

    anchor: str
    title: str
    about: str
    answer: tuple[Line, ...]
    beside: Drawing | None
    """Beside the answer."""
    drawings: tuple[Drawing, ...]
    looks: Mapping[str, str]
    """The colour of each candidate."""
    pack: str
    provenance: str
    failures: tuple[str, ...] = ()
    filled: tuple[Needed, ...] = ()
    by_default: tuple[tuple[str, str], ...] = ()
    made: tuple[tuple[str, str], ...] = ()
