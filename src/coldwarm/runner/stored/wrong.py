"""One thing in a stored case that cannot be true."""

from __future__ import annotations

from typing import NamedTuple

At = tuple[str | int, ...]
"""Where a field stands: names and places, from the outermost."""


class Wrong(NamedTuple):
    """One thing that cannot be true: where it stands, and what it is."""

    at: At
    what: str
