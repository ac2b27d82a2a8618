"""What ``torch.utils.cpp_extension`` builds when it is asked for: C++ and CUDA modules.

It counts nothing. A build that finds its files unchanged loads what lies there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.caches import counts
from coldwarm.contracts.reasons import because

if TYPE_CHECKING:
    from pathlib import Path

    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.observation import CacheEvidence, Judgement

OWNER = "extensions"
HOLDS_PROGRAMS = True
LIMITATIONS = (because("extensions_by_files"),)


def isolate(root: Path) -> dict[str, str]:
    """Return the variable that gives built extensions a folder of their own under ``root``."""
    return {"TORCH_EXTENSIONS_DIR": str(root)}


def judge(mode: CacheMode, evidence: CacheEvidence, *, compiles: bool) -> Judgement:
    """Judge by files alone."""
    del compiles  # what is built here, no framework counts
    return counts.by_files(mode, evidence)
