"""What the CUDA driver, and PyTorch's own run-time compiled kernels, leave on disk.

The driver compiles kernels that a library ships as PTX, and keeps the result. It counts
nothing, and where a library ships machine code for the GPU at hand there is nothing to keep:
an empty directory after a run is an answer and no fault.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.caches import Owner
from coldwarm.caches.counts import by_files
from coldwarm.contracts.reasons import because

if TYPE_CHECKING:
    from pathlib import Path


def _isolate(root: Path) -> dict[str, str]:
    """Make the directories under ``root`` and return the variables that name them.

    Raises:
        OSError: a directory could not be made.
    """
    driver, kernels = root / "driver", root / "kernels"
    for place in (driver, kernels):
        place.mkdir(parents=True, exist_ok=True)
    return {
        "CUDA_CACHE_PATH": str(driver),
        "CUDA_CACHE_DISABLE": "0",
        "PYTORCH_KERNEL_CACHE_PATH": str(kernels),
        "USE_PYTORCH_KERNEL_CACHE": "1",
    }


OWNER = Owner(
    name="cuda",
    limitations=(because("cuda_uncounted"), because("cuda_as_left"), because("cuda_lazy")),
    holds_programs=True,
    isolate=_isolate,
    judge=by_files,
)
