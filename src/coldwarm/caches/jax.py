"""JAX's persistent compilation cache, with XLA's own caches inside it.

By default JAX writes only programs that took a second to compile, and only above a size:
both thresholds are lowered, or a "warm" run of a small program would measure a cold one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.caches import counts
from coldwarm.contracts.observation import Judgement

if TYPE_CHECKING:
    from pathlib import Path

    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.observation import CacheEvidence

OWNER = "jax"
LIMITATIONS = (
    (
        "JAX: with a cache directory set, a first call also makes the cache key and, where it"
        " compiles, writes the entry; both are inside the compile part"
    ),
)


def isolate(root: Path) -> dict[str, str]:
    """Return the variables that give JAX a persistent cache of its own under ``root``."""
    return {
        "JAX_COMPILATION_CACHE_DIR": str(root),
        "JAX_ENABLE_COMPILATION_CACHE": "true",
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
        "JAX_PERSISTENT_CACHE_ENABLE_XLA_CACHES": "all",
        "JAX_COMPILATION_CACHE_MAX_SIZE": "-1",
    }


def judge(mode: CacheMode, evidence: CacheEvidence, *, compiles: bool) -> Judgement:
    """Judge by the files before the spawn and JAX's counts of requests and hits.

    In a directory that was empty, a process that wrote entries there can hit only those: it
    compiled the same program again, as eager JAX and a ``jit`` in a loop do. It is cold.

    A backend that has nothing left to compile must not have touched the cache, in any mode.
    """
    if not compiles and mode != "warm_process":
        return _untouched(evidence)
    cold = mode in {"cold_process_cold_cache", "first_ever"}
    if cold and evidence.writes and not evidence.files_after:
        reason = f"{OWNER}: {evidence.writes} entries written, and none in the private directory"
        return Judgement(proved=False, reason=reason)
    if cold and evidence.hits and counts.own_entries(evidence) and not evidence.writes:
        reason = f"{OWNER}: {evidence.hits} hits in an empty cache, and no entry written"
        return Judgement(proved=False, reason=reason)
    return counts.judge(mode, evidence, compiles=compiles)


def _untouched(evidence: CacheEvidence) -> Judgement:
    """Judge a start that loads what was compiled beforehand: nothing asked, nothing compiled."""
    counted = {
        "requests": evidence.requests,
        "compiles": evidence.compiles,
        "files": evidence.files_after,
    }
    unknown = [name for name, number in counted.items() if number is None]
    said = ", ".join(f"{number} {name}" for name, number in counted.items())
    if unknown:
        return Judgement(proved=False, reason=f"{OWNER}: no count of {', '.join(unknown)}")
    if any(counted.values()):
        reason = f"{OWNER}: {said} where nothing was left to compile"
        return Judgement(proved=False, reason=reason)
    return Judgement(proved=True, reason=f"{OWNER}: not used: {said}")
