"""One thing in a stored case that does not follow from what was measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

At = tuple[str | int, ...]
"""Where a field stands: names and places, from the outermost."""


class Wrong(NamedTuple):
    """One such thing: where it stands, and what it is."""

    at: At
    what: str
    always: bool = False
    """Whether it is true of no version; else it contradicts the rules of today."""


def by_any_rules(found: Iterable[Wrong]) -> Iterator[Wrong]:
    """Yield the same as what can be true of no version of coldwarm."""
    for one in found:
        yield one._replace(always=True)
