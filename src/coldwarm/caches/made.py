"""What was made ahead of time: files that every process of a case finds beside its caches.

They are no cache, since they are there in every mode, but they are proved like one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.caches.counts import proved, refuted
from coldwarm.contracts.reasons import because

if TYPE_CHECKING:
    from pathlib import Path

    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.observation import CacheEvidence, Judgement

OWNER = "made"
LIMITATIONS = (because("made_shortly_before"),)


def isolate(root: Path) -> dict[str, str]:
    """Return no variables: the job says where the files are."""
    del root
    return {}


def judge(mode: CacheMode, evidence: CacheEvidence, *, compiles: bool) -> Judgement:
    """Judge every mode alike: the files were there, were loaded, and no other appeared."""
    del mode, compiles
    before, new = evidence.files_before or 0, sum(evidence.new_files.values())
    size = evidence.bytes_before or 0
    if not before:
        return refuted("files_before", owner=OWNER, n_files=0)
    if not evidence.hits:
        return refuted("no_hits", owner=OWNER)
    if new:
        return refuted("new_files", owner=OWNER, n_files=new)
    return proved("loaded", owner=OWNER, n_files=before, size_bytes=size)
