"""The rule that most caches share: judge a mode by files and counters. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.contracts.observation import Judgement

if TYPE_CHECKING:
    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.observation import CacheEvidence


def judge(mode: CacheMode, evidence: CacheEvidence, *, compiles: bool) -> Judgement:
    """Say whether files and counters prove ``mode``.

    Cold: the directories were empty and nothing was hit but what the process had written
    itself; a backend that ``compiles`` must have compiled. Filled: there were files,
    everything asked for was hit, and nothing was compiled. The warm regime asks nothing of a
    start; its blocks are judged by themselves.
    """
    if mode == "warm_process":
        return Judgement(proved=True, reason="nothing is asked of the start")
    if mode == "cold_process_warm_cache":
        return _filled(evidence)
    return _empty(evidence, compiles=compiles)


def _empty(evidence: CacheEvidence, *, compiles: bool) -> Judgement:
    owner = evidence.owner
    if evidence.files_before is None or evidence.hits is None:
        return Judgement(proved=False, reason=f"{owner}: no listing or no count of hits")
    if evidence.files_before:
        return Judgement(
            proved=False, reason=f"{owner}: {evidence.files_before} files before the spawn"
        )
    if evidence.hits and not own_entries(evidence):
        return Judgement(proved=False, reason=f"{owner}: {evidence.hits} hits in an empty cache")
    if compiles and not evidence.compiles:
        return Judgement(proved=False, reason=f"{owner}: nothing was compiled")
    hits = f"{evidence.hits} hits of its own entries" if evidence.hits else "0 hits"
    return Judgement(
        proved=True, reason=f"{owner}: empty before, {hits}, {evidence.compiles or 0} compiles"
    )


def own_entries(evidence: CacheEvidence) -> bool:
    """Say whether what was hit can be what the process had written itself.

    Files must have appeared where there were none, and something must have been compiled: a
    process that compiles the same program twice hits its own entry. A hit without any new
    file is of a cache elsewhere, which the private directory has not replaced.
    """
    return evidence.files_before == 0 and bool(evidence.files_after) and bool(evidence.compiles)


def _filled(evidence: CacheEvidence) -> Judgement:
    owner = evidence.owner
    wrong = {
        "misses": evidence.misses,
        "bypasses": evidence.bypasses,
        "compiles": evidence.compiles,
    }
    said = ", ".join(f"{number} {name}" for name, number in wrong.items() if number)
    if not evidence.files_before:
        return Judgement(proved=False, reason=f"{owner}: no files before the spawn")
    if not evidence.hits:
        return Judgement(proved=False, reason=f"{owner}: no hits")
    if said:
        return Judgement(proved=False, reason=f"{owner}: {said} with a filled cache")
    return Judgement(
        proved=True,
        reason=f"{owner}: {evidence.files_before} files before, {evidence.hits} hits, no miss",
    )
