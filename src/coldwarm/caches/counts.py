"""The rule that most caches share: judge a mode by files and counters. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.contracts.base import FILLED
from coldwarm.contracts.observation import Judgement
from coldwarm.contracts.reasons import because

if TYPE_CHECKING:
    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.observation import CacheEvidence
    from coldwarm.contracts.reasons import Reason


def judge(mode: CacheMode, evidence: CacheEvidence, *, compiles: bool) -> Judgement:
    """Say whether files and counters prove ``mode``.

    Cold: the directories were empty and nothing was hit but what the process had written
    itself; a backend that ``compiles`` must have compiled. Filled: there were files,
    everything asked for was hit, and nothing was compiled. The warm regime asks nothing of a
    start; its blocks are judged by themselves.
    """
    if mode == "warm_process":
        return Judgement(proved=True, reason=because("start_not_judged"))
    proved, reason = _filled(evidence) if mode == FILLED else _empty(evidence, compiles=compiles)
    return Judgement(proved=proved, reason=reason)


def _empty(evidence: CacheEvidence, *, compiles: bool) -> tuple[bool, Reason]:
    owner = evidence.owner
    if evidence.files_before is None or evidence.hits is None:
        return False, because("uncounted", owner=owner, count_names=["files", "hits"])
    if evidence.files_before:
        return False, because("files_before", owner=owner, n_files=evidence.files_before)
    if evidence.hits and not own_entries(evidence):
        return False, because("foreign_hits", owner=owner, n_hits=evidence.hits)
    if compiles and not evidence.compiles:
        return False, because("not_compiled", owner=owner)
    compiled = evidence.compiles or 0
    return True, because("empty_before", owner=owner, n_hits=evidence.hits, n_compiles=compiled)


def own_entries(evidence: CacheEvidence) -> bool:
    """Say whether what was hit can be what the process had written itself.

    Files must have appeared where there were none, and something must have been compiled: a
    process that compiles the same program twice hits its own entry. A hit without any new
    file is of a cache elsewhere, which the private directory has not replaced.
    """
    return evidence.files_before == 0 and bool(evidence.files_after) and bool(evidence.compiles)


def _filled(evidence: CacheEvidence) -> tuple[bool, Reason]:
    owner, hits = evidence.owner, evidence.hits
    wrong = [evidence.misses or 0, evidence.bypasses or 0, evidence.compiles or 0]
    if not evidence.files_before:
        return False, because("files_before", owner=owner, n_files=0)
    if not hits:
        return False, because("no_hits", owner=owner)
    if any(wrong):
        misses, bypasses, compiles = wrong
        counts = {"n_misses": misses, "n_bypasses": bypasses, "n_compiles": compiles}
        return False, because("not_from_cache", owner=owner, **counts)
    return True, because("filled_before", owner=owner, n_files=evidence.files_before, n_hits=hits)
