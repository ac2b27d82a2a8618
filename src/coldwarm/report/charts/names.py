"""Foreign names in figures and in the names of their files."""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache

from coldwarm.errors import printable, shorten

LONGEST_NAME = 48
_NO_FILE_NAME = re.compile(r"[^A-Za-z0-9._-]+")


@lru_cache(maxsize=4096)
def shown(name: str) -> str:
    """Return foreign text as figures show it: one line, seen as it is, not too long.

    What is too long has a few digits of its hash, so that two names never become one.
    """
    plain = printable(name)
    if len(plain) <= LONGEST_NAME:
        return plain
    return f"{shorten(plain, LONGEST_NAME - 7)}·{hashlib.sha256(name.encode()).hexdigest()[:5]}"


def file_name(name: str) -> str:
    """Return foreign text as part of a file's name: letters, digits, dots, dashes, underscores."""
    return _NO_FILE_NAME.sub("_", name).strip("._-")[:80] or "figure"
