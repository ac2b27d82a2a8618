"""JAX's persistent compilation cache, with XLA's own caches inside it.

By default JAX writes only programs that took a second to compile, and only above a size:
both thresholds are lowered, or a "warm" run of a small program would measure a cold one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from coldwarm.caches import Owner, jax_entries, judge, own_entries, refuted, untouched
from coldwarm.contracts.answer import CacheSetting

if TYPE_CHECKING:
    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.observation import CacheEvidence, Judgement

_NAME = "jax"
_KEEPS_QUICK = {
    "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
    "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
}
_XLA_CACHES = "JAX_PERSISTENT_CACHE_ENABLE_XLA_CACHES"
_KEEP_ALL = {**_KEEPS_QUICK, _XLA_CACHES: "all"}
_SURELY_NOT_KEPT_S = 0.5
"""Half of the compile time from which JAX keeps a program by itself: no other run comes near it."""


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
        return untouched(evidence, n_files=evidence.files_after)
    cold = mode in {"cold_process_cold_cache", "first_ever"}
    if cold and evidence.writes and not evidence.files_after:
        return refuted("kept_elsewhere", owner=_NAME, n_entries=evidence.writes)
    if cold and evidence.hits and own_entries(evidence) and not evidence.writes:
        return refuted("foreign_hits", owner=_NAME, n_hits=evidence.hits)
    return judge(mode, evidence, compiles=compiles)


OWNER = Owner(
    name=_NAME,
    words={
        "jax_cache_key": "JAX: with a cache directory set, a first call also makes the cache key"
        " and, where it compiles, writes the entry; both are inside the compile part",
    },
    of_function=1,
    holds_programs=True,
    read=jax_entries.read,
    setting=CacheSetting(owner=_NAME, variables={"JAX_COMPILATION_CACHE_DIR": "DIR", **_KEEP_ALL}),
    folders={"JAX_COMPILATION_CACHE_DIR": ""},
    variables={
        **_KEEP_ALL,
        "JAX_ENABLE_COMPILATION_CACHE": "true",
        "JAX_COMPILATION_CACHE_MAX_SIZE": "-1",
    },
    configured={"jax:config.jax_compilation_cache_dir": "JAX_COMPILATION_CACHE_DIR"},
    keeps_quick=_KEEPS_QUICK,
    moves={_XLA_CACHES: "none"},  # their path is a part of the key up to JAX 0.10
    has_default=True,
    kept_by_default=_kept_by_default,
    judge=_judge,
)
