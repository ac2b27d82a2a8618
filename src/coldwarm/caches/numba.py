"""Numba's cache on disk: an index and a file of machine code for each function.

Without the variable it lies beside the source file, or in the user's cache directory where
that is read-only. An entry is found by the content of the source file, the types of the
arguments, and the processor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.caches import counts
from coldwarm.contracts.answer import CacheSetting
from coldwarm.contracts.reasons import because

if TYPE_CHECKING:
    from pathlib import Path

    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.observation import CacheEvidence, Judgement

OWNER = "numba"
HOLDS_PROGRAMS = True
LIMITATIONS = (because("numba_config"),)
IN_HOME = True
SETTING = CacheSetting(owner=OWNER, code="numba.njit(cache=True)")


def isolate(root: Path) -> dict[str, str]:
    """Return the variables that give Numba a cache of its own under ``root``."""
    return {"NUMBA_CACHE_DIR": str(root), "NUMBA_CACHE_LOCATOR_CLASSES": ""}


def by_default(root: Path) -> dict[str, str]:
    """Return the same: Numba keeps what a program asks for by ``cache=True``, and no more."""
    return isolate(root)


def judge(mode: CacheMode, evidence: CacheEvidence, *, compiles: bool) -> Judgement:
    """Judge by the files before the spawn and the counts of the functions' own caches."""
    return counts.judge(mode, evidence, compiles=compiles)
