"""The rule that most caches share: judge a mode by files and counters. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.contracts.base import FILLED
from coldwarm.contracts.observation import Judgement
from coldwarm.contracts.reasons import because

if TYPE_CHECKING:
    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.observation import CacheEvidence
    from coldwarm.contracts.reasons import Value

HOME = "files"
"""The owner of what lies in the home of a process, where others may keep files, too."""
MOST_NAMED = 5
"""Files of it that are named at most."""
_WRONG_WHEN_FILLED = ("misses", "bypasses", "compiles")


def judge(mode: CacheMode, evidence: CacheEvidence, *, compiles: bool) -> Judgement:
    """Say whether files and counters prove ``mode``.

    Cold: the directories were empty and nothing was hit but what the process had written
    itself; a backend that ``compiles`` must have compiled. Filled: there were files,
    everything asked for was hit, and nothing was compiled. The warm regime asks nothing of a
    start; its blocks are judged by themselves.
    """
    if mode == "warm_process":
        return proved("start_not_judged")
    return _filled(evidence) if mode == FILLED else _empty(evidence, compiles=compiles)


def by_files(mode: CacheMode, evidence: CacheEvidence, *, compiles: bool) -> Judgement:
    """Judge a cache that counts nothing: no files before a cold start, no new in a warm one."""
    del compiles  # what is kept so, no framework counts
    owner, before, new = evidence.owner, evidence.files_before, sum(evidence.new_files.values())
    if mode == "warm_process":
        return proved("start_not_judged")
    if before is None:
        return refuted("uncounted", owner=owner, count_names=["files"])
    if mode == FILLED:
        if new:
            return refuted("new_files", owner=owner, n_files=new)
        return proved("none_new", owner=owner, n_files=before)
    if before:
        return refuted("files_before", owner=owner, n_files=before)
    return proved("written", owner=owner, n_files=new)


def judge_by_default(evidence: CacheEvidence) -> Judgement:
    """Judge a start with what the framework's own settings keep, which may be nothing.

    Whatever it hit must lie in the private directories.
    """
    owner, files, hits = evidence.owner, evidence.files_before, evidence.hits
    if files is None or hits is None:
        return refuted("uncounted", owner=owner, count_names=["files", "hits"])
    if hits and not files and not own_entries(evidence):
        return refuted("foreign_hits", owner=owner, n_hits=hits)
    counted = {"n_files": files, "n_hits": hits, "n_compiles": evidence.compiles or 0}
    return proved("filled_by_default", owner=owner, **counted)


def names_of_earlier(evidence: CacheEvidence) -> list[str]:
    """Return the files of an earlier process that a process read, or has left as they were."""
    return [*files_named(evidence, "file_"), *files_named(evidence, "left_")]


def files_named(evidence: CacheEvidence, prefix: str) -> list[str]:
    """Return the files that evidence of a home names, by what happened to them."""
    return [str(name) for key, name in evidence.raw.items() if key.startswith(prefix)]


def proved(code: str, **values: Value) -> Judgement:
    """Return the judgement that a mode is proved, and by what."""
    return Judgement(proved=True, reason=because(code, **values))


def refuted(code: str, **values: Value) -> Judgement:
    """Return the judgement that a mode is not proved, and why not."""
    return Judgement(proved=False, reason=because(code, **values))


def _empty(evidence: CacheEvidence, *, compiles: bool) -> Judgement:
    owner = evidence.owner
    if evidence.files_before is None or evidence.hits is None:
        return refuted("uncounted", owner=owner, count_names=["files", "hits"])
    if evidence.files_before:
        return refuted("files_before", owner=owner, n_files=evidence.files_before)
    if evidence.hits and not own_entries(evidence):
        return refuted("foreign_hits", owner=owner, n_hits=evidence.hits)
    compiled = evidence.compiles or 0
    if compiles and not compiled:
        return refuted("not_compiled", owner=owner)
    return proved("empty_before", owner=owner, n_hits=evidence.hits, n_compiles=compiled)


def own_entries(evidence: CacheEvidence) -> bool:
    """Say whether what was hit can be what the process had written itself.

    Files must have appeared where there were none, and something must have been compiled: a
    process that compiles the same program twice hits its own entry. A hit without any new
    file is of a cache elsewhere, which the private directory has not replaced.
    """
    return evidence.files_before == 0 and bool(evidence.files_after) and bool(evidence.compiles)


def _filled(evidence: CacheEvidence) -> Judgement:
    owner, hits = evidence.owner, evidence.hits
    wrong = {f"n_{name}": getattr(evidence, name) or 0 for name in _WRONG_WHEN_FILLED}
    if not evidence.files_before:
        return refuted("files_before", owner=owner, n_files=0)
    if not hits and evidence.requests == 0 and not any(wrong.values()):
        # Files that nobody counts, such as those of numba.vectorize: nothing was made again.
        return by_files(FILLED, evidence, compiles=False)
    if not hits:
        return refuted("no_hits", owner=owner)
    if any(wrong.values()):
        return refuted("not_from_cache", owner=owner, **wrong)
    return proved("filled_before", owner=owner, n_files=evidence.files_before, n_hits=hits)
