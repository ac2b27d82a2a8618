"""JAX's persistent compilation cache, with XLA's own caches inside it.

By default JAX writes only programs that took a second to compile, and only above a size:
both thresholds are lowered, or a "warm" run of a small program would measure a cold one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.caches import counts
from coldwarm.contracts.reasons import because

if TYPE_CHECKING:
    from pathlib import Path

    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.observation import CacheEvidence, Judgement

OWNER = "jax"
LIMITATIONS = (because("jax_cache_key"),)


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
        return counts.refuted("kept_elsewhere", owner=OWNER, n_entries=evidence.writes)
    if cold and evidence.hits and counts.own_entries(evidence) and not evidence.writes:
        return counts.refuted("foreign_hits", owner=OWNER, n_hits=evidence.hits)
    return counts.judge(mode, evidence, compiles=compiles)


def _untouched(evidence: CacheEvidence) -> Judgement:
    """Judge a start that loads what was compiled ahead of time: nothing asked, nothing compiled."""
    counted = {
        "n_requests": evidence.requests,
        "n_compiles": evidence.compiles,
        "n_files": evidence.files_after,
    }
    known = {name: number for name, number in counted.items() if number is not None}
    if len(known) < len(counted):
        unknown = [name.removeprefix("n_") for name in counted if name not in known]
        return counts.refuted("uncounted", owner=OWNER, count_names=unknown)
    if any(known.values()):
        return counts.refuted("cache_used", owner=OWNER, **known)
    return counts.proved("cache_not_used", owner=OWNER)
