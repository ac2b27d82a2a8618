"""Files that a program keeps by itself, or by a library that nobody here knows.

Each process has a home and a cache folder of its own, in which everything of the user's is linked;
what it writes there besides goes with it. What it keeps elsewhere is found by what it opens: a
file that an earlier process of the program wrote is a full cache.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.caches import HOME, Owner, files_named, proved, refuted
from coldwarm.contracts.base import FILLED

if TYPE_CHECKING:
    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.observation import CacheEvidence, Judgement

_OF_EARLIER = "files_of_earlier"
"""The code of the judgement that a process read what an earlier one had written."""
_LEFT = "files_left_by_earlier"
"""The code of the judgement that a process did not write what an earlier one had."""


def _judge(mode: CacheMode, evidence: CacheEvidence, *, compiles: bool) -> Judgement:
    """Judge by what was there in its home, and by what it read that an earlier process wrote."""
    del compiles
    if mode in {FILLED, "warm_process"}:  # whatever it finds, it may
        return proved("files_left", owner=HOME, n_files=evidence.files_before or 0)
    if evidence.hits is None:
        return refuted("uncounted", owner=HOME, count_names=["hits"])
    if evidence.hits:
        return refuted(
            _OF_EARLIER,
            owner=HOME,
            n_files=evidence.hits,
            file_names=files_named(evidence, "file_"),
        )
    left = files_named(evidence, "left_")
    if left:
        return refuted(_LEFT, owner=HOME, file_names=left)
    if evidence.files_before:
        return refuted("files_before", owner=HOME, n_files=evidence.files_before)
    without = files_named(evidence, "without_")
    named = {"file_names": without} if without else {}
    return proved("files_without" if without else "files_own", owner=HOME, **named)


OWNER = Owner(
    name=HOME,
    words={
        "files_unseen": "files: what a child process opens, or a library in C, is not seen",
    },
    of_function=5,
    judge=_judge,
)
"""It is moved by no variable: what lies in a home of its own depends on the user's."""
