"""What ``torch.utils.cpp_extension`` builds when it is asked for: C++ and CUDA modules.

It counts nothing. A build that finds its files unchanged loads what lies there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.caches import Owner
from coldwarm.caches.counts import by_files
from coldwarm.contracts.reasons import because

if TYPE_CHECKING:
    from pathlib import Path


def _isolate(root: Path) -> dict[str, str]:
    """Return the variable that gives built extensions a folder of their own under ``root``."""
    return {"TORCH_EXTENSIONS_DIR": str(root)}


OWNER = Owner(
    name="extensions",
    limitations=(because("extensions_by_files"),),
    holds_programs=True,
    isolate=_isolate,
    judge=by_files,
)
