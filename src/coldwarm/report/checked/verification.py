"""What the verification of a snapshot has found, as text for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.report import units
from coldwarm.report.reasons import counted, words

if TYPE_CHECKING:
    from coldwarm.contracts.verification import SnapshotFault, Verification

_SIGNATURES = {
    "valid": "signed by the key that was given ({key})",
    "unknown_key": "signed by the key {key}, which lies beside it; only --public-key, with a key"
    " that you have from its owner, tells whose that is",
    "unchecked": "signed, and not checked: --public-key names the key of its owner",
    "absent": "not signed",
    "invalid": "the signature is not of this snapshot",
}
_MORE = 10
"""Faults that are shown after the first."""


def lines(found: Verification) -> list[str]:
    """Return what to print: that it holds and what was checked, or the first faults."""
    if found.faults:
        shown = [_fault(found, one) for one in found.faults[: _MORE + 1]]
        left = len(found.faults) - len(shown)
        return [*shown, f"… and {counted(left, 'other fault')}"] if left else shown
    size = units.size(found.n_bytes)
    computed = f"{counted(found.n_cases, 'case')} computed again from their raw samples"
    if found.n_cases_other_version:
        more = counted(found.n_cases_other_version, "case")
        computed += f", {more} of another version of coldwarm as far as that can be"
    signature = _SIGNATURES[found.signature].format(key=_short(found.key_sha256))
    return [
        f"{found.path}: OK {found.snapshot_id}",
        f"  {counted(found.n_files, 'file')}, {size}: hashes, sizes and contracts agree",
        f"  {computed}; answers and published files follow from them",
        f"  {signature}",
    ]


def _fault(found: Verification, one: SnapshotFault) -> str:
    place = f"{found.path}/{one.path}" if one.path else found.path
    line = f":{one.line}" if one.line is not None else ""
    named = f" {one.field}:" if one.field else ""
    return f"{place}{line}:{named} {words(one.reason)}"


def _short(key_sha256: str | None) -> str:
    return f"SHA-256 {key_sha256}" if key_sha256 else ""
