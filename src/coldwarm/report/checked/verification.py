"""What the verification of a snapshot has found, as text for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.errors import shorten
from coldwarm.report import units
from coldwarm.report.sentences import counted, words

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
_FEW = 3
"""Files, and figures, that are named where there are more."""
_LONGEST = 200
"""Characters of a path that are shown."""


def lines(found: Verification) -> list[str]:
    """Return what to print: the first fault in one line, or what is only hashed and what proved."""
    if found.faults:
        more = len(found.faults) - 1
        told = f" (and {counted(more, 'more fault')}: --json has all)" if more else ""
        return [f"{_fault(found, found.faults[0])}{told}"]
    size = units.size(found.n_bytes)
    signature = _SIGNATURES[found.signature].format(key=_short(found.key_sha256))
    return [
        _first(found),
        *(f"  {text}" for text in (*_only_hashed(found), *_otherwise(found), *_proved(found))),
        f"  {counted(found.n_files, 'file')}, {size}: hashes, sizes and contracts agree",
        f"  {signature}",
        *([f"  signed through sigstore by {found.identity}"] if found.identity else []),
    ]


def _first(found: Verification) -> str:
    """Return the line that says what is not proved before what is."""
    hashed = _counted(found.n_only_hashed, found.n_figures_only_hashed)
    proved = _counted(found.n_proved, found.n_figures_proved)
    signed = f"; signed: {counted(found.n_signed, 'file')}" if found.n_signed else ""
    if found.proved:
        return f"{found.path}: OK {found.snapshot_id}: proved: {proved}{signed}"
    return f"{found.path}: {found.snapshot_id}: ONLY HASHED: {hashed}; proved: {proved}{signed}"


def _counted(n_files: int, n_figures: int) -> str:
    told = [(n_files, "file"), (n_figures, "figure")]
    return " and ".join(counted(number, name) for number, name in told if number) or "nothing"


def _only_hashed(found: Verification) -> Iterator[str]:
    """Yield which files have the bytes that the index names, and why that is all that is known."""
    groups: dict[str, list[str]] = {}
    for one in found.files:
        if one.answer == "only_hashed" and one.reason is not None:
            # How many values of each file is in the record.
            other = one.reason.code == "other_rules"
            why = "today's rules make values of it otherwise" if other else words(one.reason)
            groups.setdefault(why, []).append(one.path)
    if groups and found.signature == "valid":
        yield "only hashed: its maker has signed it, and this version does not make the same"
    elif groups:
        yield (
            "only hashed: nothing here shows whether it is true; whoever changes it can make the"
            " hashes anew. --public-key, with a key that you have from its maker, tells who says so"
        )
    for why, paths in groups.items():
        more = f" and {len(paths) - _FEW} more" if len(paths) > _FEW else ""
        yield f"  {', '.join(shorten(path, _LONGEST) for path in paths[:_FEW])}{more}: {why}"


def _otherwise(found: Verification) -> Iterator[str]:
    """Yield what today's rules do not say, and verdicts that were not judged again."""
    n_told = found.n_figures_only_hashed - len(found.not_judged)
    if n_told:
        yield f"{counted(n_told, 'figure')} only hashed: it says that another version measured it"
    for one in found.otherwise[:_FEW]:
        yield f"  {_fault(found, one).removeprefix(f'{found.path}/')}"
    if n_told > _FEW:
        yield f"  and {counted(n_told - _FEW, 'more figure')}: --json has them"
    for left in found.not_judged:
        yield f"{left.name}: verdict only hashed, {words(left.reason)}"


def _proved(found: Verification) -> Iterator[str]:
    if found.n_cases:
        told = counted(found.n_cases, "case")
        yield f"proved: {told} computed again from the raw samples, and what is made of them"
    if found.n_verdicts:
        told = counted(found.n_verdicts, "verdict")
        yield f"proved: {told} on patterns and claims judged again from their evidence"


def _fault(found: Verification, one: SnapshotFault) -> str:
    path = shorten(one.path, _LONGEST)
    place = f"{found.path}/{path}" if path else found.path
    line = f":{one.line}" if one.line is not None else ""
    named = f" {one.field}:" if one.field else ""
    return f"{place}{line}:{named} {words(one.reason)}"


def _short(key_sha256: str | None) -> str:
    return f"SHA-256 {key_sha256}" if key_sha256 else ""
