"""What programs take of the memory when they run, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.report import units

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.contracts.doctor import CallSite

_WORTH_BYTES = 2**20
"""Of temporary memory that a terminal tells."""
_LEAST_ARGUMENTS_BYTES, _MOST_TIMES = 1000, 100
"""Of arguments, and how many times these: a random key, or a number, is no measure of memory."""


def temporary(one: CallSite) -> str:
    """Return the temporary memory of the programs of a line, against their arguments."""
    if one.temporary_bytes is None:
        return units.MISSING
    text = units.size(one.temporary_bytes)
    given = one.arguments_bytes or 0
    if given >= _LEAST_ARGUMENTS_BYTES and given < one.temporary_bytes <= _MOST_TIMES * given:
        text += f" ({units.times(one.temporary_bytes / given)} its arguments)"
    return text


def most(sites: Sequence[CallSite]) -> CallSite | None:
    """Return the line whose programs take most temporary memory; ``None``: none takes much."""
    known = [one for one in sites if (one.temporary_bytes or 0) >= _WORTH_BYTES]
    return max(known, key=lambda one: one.temporary_bytes or 0, default=None)
