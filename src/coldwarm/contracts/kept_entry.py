"""A compiled program as it lies in a cache, and the parts of its key."""

from __future__ import annotations

from typing import Annotated

import msgspec

from coldwarm.contracts.base import Count, Record
from coldwarm.contracts.reasons import Reason

Nanoseconds = Annotated[int, msgspec.Meta(ge=0, le=2**62 - 1)]
"""When a file was written, since 1970: some caches go by it."""


class KeptEntry(Record, frozen=True, kw_only=True):
    """A compiled program in a cache, or a part of one."""

    owner: str
    """Whose cache it is: ``jax``, ``inductor`` or ``numba``."""
    path: str
    """Its file, below the folder of the cache."""
    program: str
    """As its framework names it; empty where the file does not tell."""
    key: str
    """What tells it from others of the same name."""
    n_bytes: Count
    modified_ns: Nanoseconds
    parts: dict[str, str] = {}
    """What it was made for, by name: processor, types, version, as far as the file tells."""
    options: dict[str, str] = {}
    """Options of the compiler that it was made with, or values of the parts of its key."""
    components: dict[str, str] = {}
    """Hashes of the parts of its key, by name, where they are kept with it."""
    fault: Reason | None = None
    """Why it cannot be read."""
