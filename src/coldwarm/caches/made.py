"""Programs made ahead of time: files that every process of a case finds beside its caches.

They are no cache, since they are there in every mode, but they are proved like one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.caches import Owner, proved, refuted

if TYPE_CHECKING:
    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.observation import CacheEvidence, Judgement

_NAME = "made"


def _judge(mode: CacheMode, evidence: CacheEvidence, *, compiles: bool) -> Judgement:
    """Judge every mode alike: the files were there, were loaded, and no other appeared."""
    del mode, compiles
    before, new = evidence.files_before or 0, sum(evidence.new_files.values())
    size = evidence.bytes_before or 0
    if not before:
        return refuted("files_before", owner=_NAME, n_files=0)
    if not evidence.hits:
        return refuted("no_hits", owner=_NAME)
    if new:
        return refuted("new_files", owner=_NAME, n_files=new)
    return proved("loaded", owner=_NAME, n_files=before, size_bytes=size)


OWNER = Owner(
    name=_NAME,
    words={
        "made_shortly_before": "what was made ahead of time was written on this machine shortly"
        " before: its file is in memory, except in first_ever, and fits this very processor",
    },
    judge=_judge,
)
"""It is moved by no variable: the job says where the files are."""
