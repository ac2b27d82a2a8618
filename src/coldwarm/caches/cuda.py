"""What the CUDA driver, and PyTorch's own run-time compiled kernels, leave on disk.

The driver compiles kernels that a library ships as PTX, and keeps the result. It counts
nothing, and where a library ships machine code for the GPU at hand there is nothing to keep:
an empty directory after a run is an answer and no fault.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.caches.counts import proved, refuted
from coldwarm.contracts.base import FILLED
from coldwarm.contracts.reasons import because

if TYPE_CHECKING:
    from pathlib import Path

    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.observation import CacheEvidence, Judgement

OWNER = "cuda"
LIMITATIONS = (because("cuda_uncounted"), because("cuda_as_left"), because("cuda_lazy"))


def isolate(root: Path) -> dict[str, str]:
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


def judge(mode: CacheMode, evidence: CacheEvidence, *, compiles: bool) -> Judgement:
    """Judge by files alone: none before a cold start, none that is new in a warm one."""
    del compiles  # the driver compiles or not, whatever the framework does
    before, new = evidence.files_before, sum(evidence.new_files.values())
    if mode == "warm_process":
        return proved("start_not_judged")
    if before is None:
        return refuted("uncounted", owner=OWNER, count_names=["files"])
    if mode == FILLED:
        if new:
            return refuted("new_files", owner=OWNER, n_files=new)
        return proved("none_new", owner=OWNER, n_files=before)
    if before:
        return refuted("files_before", owner=OWNER, n_files=before)
    return proved("written", owner=OWNER, n_files=new)
