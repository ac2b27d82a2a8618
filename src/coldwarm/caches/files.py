"""What a program keeps by itself, or by a library that nobody here knows.

Each process has a home and a cache folder of its own, in which everything of the user's is linked;
what it writes there besides goes with it. What it keeps elsewhere is found by what it opens: a
file that an earlier process of the program wrote is a full cache.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.caches.counts import HOME, proved, refuted
from coldwarm.contracts.base import FILLED
from coldwarm.contracts.reasons import because

if TYPE_CHECKING:
    from pathlib import Path

    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.observation import CacheEvidence, Judgement

OWNER = HOME
_OF_EARLIER = "files_of_earlier"
"""The code of the judgement that a process read what an earlier one had written."""
_LEFT = "files_left_by_earlier"
"""The code of the judgement that a process did not write what an earlier one had."""
SHOWN = 5
LIMITATIONS = (because("files_unseen"),)


def isolate(root: Path) -> dict[str, str]:
    """Return no variables: what lies in a home of its own depends on the user's; see ``home``."""
    del root
    return {}


def judge(mode: CacheMode, evidence: CacheEvidence, *, compiles: bool) -> Judgement:
    """Judge by what was there in its home, and by what it read that an earlier process wrote."""
    del compiles
    if mode in {FILLED, "warm_process"}:  # whatever it finds, it may
        return proved("files_left", owner=OWNER, n_files=evidence.files_before or 0)
    if evidence.hits is None:
        return refuted("uncounted", owner=OWNER, count_names=["hits"])
    if evidence.hits:
        return refuted(
            _OF_EARLIER, owner=OWNER, n_files=evidence.hits, file_names=_named(evidence, "file_")
        )
    left = _named(evidence, "left_")
    if left:
        return refuted(_LEFT, owner=OWNER, file_names=left)
    if evidence.files_before:
        return refuted("files_before", owner=OWNER, n_files=evidence.files_before)
    without = _named(evidence, "without_")
    named = {"file_names": without} if without else {}
    return proved("files_without" if without else "files_own", owner=OWNER, **named)


def names(evidence: CacheEvidence) -> list[str]:
    """Return the files of an earlier process that a process read, or has left as they were."""
    return [*_named(evidence, "file_"), *_named(evidence, "left_")]


def _named(evidence: CacheEvidence, what: str) -> list[str]:
    return [str(name) for key, name in evidence.raw.items() if key.startswith(what)]
