"""Numba's cache on disk: an index and a file of machine code for each function.

Without the variable it lies beside the source file, or in the user's cache directory where
that is read-only. An entry is found by the content of the source file, the types of the
arguments, and the processor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.caches import Owner
from coldwarm.caches.counts import judge
from coldwarm.contracts.answer import CacheSetting
from coldwarm.contracts.reasons import because

if TYPE_CHECKING:
    from pathlib import Path

_NAME = "numba"


def _isolate(root: Path) -> dict[str, str]:
    """Return the variables that give Numba a cache of its own under ``root``."""
    return {"NUMBA_CACHE_DIR": str(root), "NUMBA_CACHE_LOCATOR_CLASSES": ""}


OWNER = Owner(
    name=_NAME,
    limitations=(because("numba_config"),),
    holds_programs=True,
    in_home=True,
    setting=CacheSetting(owner=_NAME, code="numba.njit(cache=True)"),
    isolate=_isolate,
    by_default=_isolate,  # Numba keeps what a program asks for by ``cache=True``, and no more
    judge=judge,  # the files before the spawn, and the counts of the functions' own caches
)
