"""What the verification of a snapshot has found, as text for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.errors import shorten
from coldwarm.report import units
from coldwarm.report.reasons import counted, words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coldwarm.contracts.checked import SnapshotFault, Verification

_SIGNATURES = {
    "valid": "signed by the key that was given ({key})",
    "unknown_key": "signed by the key {key}, which lies beside it; only --public-key, with a key"
    " that you have from its owner, tells whose that is",
    "unchecked": "signed, and not checked: --public-key names the key of its owner",
    "absent": "not signed",
    "invalid": "the signature is not of this snapshot",
}
_LONGEST = 200
"""Characters of a path that are shown."""


def lines(found: Verification) -> list[str]:
    """Return what to print: that it holds and what was checked, or the first fault in one line."""
    if found.faults:
        more = len(found.faults) - 1
        told = f" (and {counted(more, 'more fault')}: --json has all)" if more else ""
        return [f"{_fault(found, found.faults[0])}{told}"]
    size = units.size(found.n_bytes)
    computed = [
        f"{counted(number, 'case')} computed again from the raw samples{how}"
        for number, how in (
            (found.n_cases, "; answers and published files follow from them"),
            (found.n_cases_other_version, " of another version: counts and plain figures"),
        )
        if number
    ]
    signature = _SIGNATURES[found.signature].format(key=_short(found.key_sha256))
    return [
        f"{found.path}: OK {found.snapshot_id}",
        f"  {counted(found.n_files, 'file')}, {size}: hashes, sizes and contracts agree",
        *(f"  {text}" for text in (*computed, *_judged(found))),
        f"  {signature}",
        *([f"  signed through sigstore by {found.identity}"] if found.identity else []),
    ]


def _judged(found: Verification) -> Iterator[str]:
    """Yield how many verdicts were judged again, and which were not."""
    if found.n_verdicts:
        told = counted(found.n_verdicts, "verdict")
        yield f"{told} on patterns and claims judged again from their evidence"
    for one in found.not_judged:
        yield f"{one.name}: not judged again, {words(one.reason)}"


def _fault(found: Verification, one: SnapshotFault) -> str:
    path = shorten(one.path, _LONGEST)
    place = f"{found.path}/{path}" if path else found.path
    line = f":{one.line}" if one.line is not None else ""
    named = f" {one.field}:" if one.field else ""
    return f"{place}{line}:{named} {words(one.reason)}"


def _short(key_sha256: str | None) -> str:
    return f"SHA-256 {key_sha256}" if key_sha256 else ""
