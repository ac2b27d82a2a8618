"""Python's bytecode. Only ``first_ever`` empties it; otherwise it is as installed.

Measured processes never write bytecode in the other modes, so that one process does not
change what the next one finds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.caches import Owner, proved, refuted

if TYPE_CHECKING:
    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.observation import CacheEvidence, Judgement

_NAME = "bytecode"


def _judge(mode: CacheMode, evidence: CacheEvidence, *, compiles: bool) -> Judgement:
    """Judge ``first_ever`` by an empty prefix that the process then filled."""
    del compiles
    if mode != "first_ever":
        return proved("as_installed", owner=_NAME)
    if evidence.files_before:
        return refuted("files_before", owner=_NAME, n_files=evidence.files_before)
    if not evidence.files_after:
        return refuted("none_written", owner=_NAME)
    return proved("written", owner=_NAME, n_files=evidence.files_after)


OWNER = Owner(
    name=_NAME,
    words={
        "bytecode_as_installed": "Python bytecode is as installed in every mode but first_ever",
    },
    folders={"PYTHONPYCACHEPREFIX": ""},
    variables={"PYTHONDONTWRITEBYTECODE": ""},
    judge=_judge,
)
