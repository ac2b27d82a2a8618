"""JAX's persistent compilation cache, with XLA's own caches inside it.

By default JAX writes only programs that took a second to compile, and only above a size:
both thresholds are lowered, or a "warm" run of a small program would measure a cold one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from coldwarm.caches import Owner, counts
from coldwarm.contracts.answer import CacheSetting
from coldwarm.contracts.reasons import because

if TYPE_CHECKING:
    from pathlib import Path

    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.observation import CacheEvidence, Judgement

_NAME = "jax"
_SETTING = CacheSetting(
    owner=_NAME,
    variables={
        "JAX_COMPILATION_CACHE_DIR": "DIR",
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
        "JAX_PERSISTENT_CACHE_ENABLE_XLA_CACHES": "all",
    },
)
_SURELY_NOT_KEPT_S = 0.5
"""Half of the compile time from which JAX keeps a program by itself: no other run comes near it."""


def _isolate(root: Path) -> dict[str, str]:
    """Return the variables that give JAX a persistent cache of its own under ``root``."""
    return {
        "JAX_COMPILATION_CACHE_DIR": str(root),
        "JAX_ENABLE_COMPILATION_CACHE": "true",
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
        "JAX_PERSISTENT_CACHE_ENABLE_XLA_CACHES": "all",
        "JAX_COMPILATION_CACHE_MAX_SIZE": "-1",
    }


def _by_default(root: Path) -> dict[str, str]:
    """Return the variables of a program that has set a cache directory and nothing else."""
    return {"JAX_COMPILATION_CACHE_DIR": str(root)}


def _kept_by_default(evidence: CacheEvidence) -> Literal["all", "some", "none"] | None:
    """Say how much of what a process compiled took long enough to be kept by itself."""
    quick, longest_s = (evidence.raw.get(name) for name in ("quick_compiles", "longest_compile_s"))
    if not isinstance(quick, int) or not isinstance(longest_s, int | float):
        return None
    if quick == 0:
        return "all"
    return "none" if longest_s < _SURELY_NOT_KEPT_S else "some"


def _judge(mode: CacheMode, evidence: CacheEvidence, *, compiles: bool) -> Judgement:
    """Judge by the files before the spawn and JAX's counts of requests and hits.

    In a directory that was empty, a process that wrote entries there can hit only those: it
    compiled the same program again, as eager JAX and a ``jit`` in a loop do. It is cold.

    A backend that has nothing left to compile must not have touched the cache, in any mode.
    """
    if not compiles and mode != "warm_process":
        return _untouched(evidence)
    cold = mode in {"cold_process_cold_cache", "first_ever"}
    if cold and evidence.writes and not evidence.files_after:
        return counts.refuted("kept_elsewhere", owner=_NAME, n_entries=evidence.writes)
    if cold and evidence.hits and counts.own_entries(evidence) and not evidence.writes:
        return counts.refuted("foreign_hits", owner=_NAME, n_hits=evidence.hits)
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
        return counts.refuted("uncounted", owner=_NAME, count_names=unknown)
    if any(known.values()):
        return counts.refuted("cache_used", owner=_NAME, **known)
    return counts.proved("cache_not_used", owner=_NAME)


OWNER = Owner(
    name=_NAME,
    limitations=(because("jax_cache_key"),),
    holds_programs=True,
    setting=_SETTING,
    isolate=_isolate,
    by_default=_by_default,
    kept_by_default=_kept_by_default,
    judge=_judge,
)
