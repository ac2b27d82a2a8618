"""What the CUDA driver, and PyTorch's own run-time compiled kernels, leave on disk.

The driver compiles kernels that a library ships as PTX, and keeps the result. It counts
nothing, and where a library ships machine code for the GPU at hand there is nothing to keep:
an empty directory after a run is an answer and no fault.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.contracts.observation import Judgement

if TYPE_CHECKING:
    from pathlib import Path

    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.observation import CacheEvidence

OWNER = "cuda"
LIMITATIONS = (
    "cuda: the driver reports no hits or misses; its cache is judged by the files in it",
    "cuda: clocks, persistence mode and what the driver holds are as the machine left them",
    "cuda: kernels are loaded on first use where CUDA_MODULE_LOADING is lazy, the default",
)


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
    if mode == "warm_process":
        return Judgement(proved=True, reason="nothing is asked of the start")
    before, new = evidence.files_before, sum(evidence.new_files.values())
    if before is None:
        return Judgement(proved=False, reason=f"{OWNER}: no listing")
    if mode == "cold_process_warm_cache":
        said = f"{OWNER}: {before} files before the spawn, {new} new"
        return Judgement(proved=not new, reason=said)
    if before:
        return Judgement(proved=False, reason=f"{OWNER}: {before} files before the spawn")
    return Judgement(proved=True, reason=f"{OWNER}: empty before, {new} files written")
