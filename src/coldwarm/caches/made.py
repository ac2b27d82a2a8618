"""What was made beforehand: files that every process of a case finds beside its caches.

They are no cache, since they are there in every mode, but they are proved like one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.contracts.observation import Judgement

if TYPE_CHECKING:
    from pathlib import Path

    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.observation import CacheEvidence

OWNER = "made"
LIMITATIONS = (
    (
        "what was made beforehand was written on this machine shortly before: its file is in"
        " memory, except in first_ever, and fits this very processor"
    ),
)


def isolate(root: Path) -> dict[str, str]:
    """Return no variables: the job says where the files are."""
    del root
    return {}


def judge(mode: CacheMode, evidence: CacheEvidence, *, compiles: bool) -> Judgement:
    """Judge every mode alike: the files were there, were loaded, and no other appeared."""
    del mode, compiles
    new = sum(evidence.new_files.values())
    faults = {
        "no files before the spawn": not evidence.files_before,
        "nothing was loaded": not evidence.hits,
        f"{new} new files": new > 0,
    }
    wrong = [text for text, there in faults.items() if there]
    if wrong:
        return Judgement(proved=False, reason=f"{OWNER}: {', '.join(wrong)}")
    noun = "file" if evidence.files_before == 1 else "files"
    size = f"{evidence.files_before} {noun} of {evidence.bytes_before} bytes"
    return Judgement(proved=True, reason=f"{OWNER}: loaded {size}, made beforehand")
