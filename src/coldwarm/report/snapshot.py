"""What is told of a snapshot that was made, registered or packed, in lines of plain text."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import distinct
from coldwarm.errors import printable
from coldwarm.report import units
from coldwarm.report.sentences import with_advice, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from coldwarm.contracts.reasons import Reason
    from coldwarm.contracts.snapshot import PackageMade, SnapshotMade, SnapshotRegistry

_MOST = 6
"""Names of distributions without a wheel that are told."""


def lines(made: SnapshotMade) -> Iterator[str]:
    """Yield what was made, what its lock lacks, and what is left in it that identifies."""
    size = units.size(made.n_bytes)
    yield printable(f"Snapshot {made.snapshot_id}: {made.n_files} files, {size}, in {made.folder}")
    yield f"SHA-256 of its index: {made.snapshot_index_sha256}"
    if made.lock is None:
        why = with_advice(made.null_reasons["lock"])
        yield printable(f"No pylock.toml, only requirements.txt without hashes: {why}")
    elif made.without_wheel:
        names = ", ".join(made.without_wheel[:_MOST])
        more = len(made.without_wheel) - _MOST
        names += f" and {more} more" if more > 0 else ""
        yield printable(f"Without a wheel in {made.lock}, as no index has one: {names}")
    for reason, cases in _by_reason(made.not_repeatable):
        yield printable(f"Others cannot measure again {', '.join(cases)}: {words(reason)}")
    if made.masked:
        yield "Masked now, since it is private here and was not masked when it was measured:"
    for field in made.masked:
        yield printable(f"  {field}")
    if made.identifying:
        yield "Left in it, and could identify a person or a firm (--leave-out-private of run and"
        yield "bench makes of it what stands in []):"
    for one in made.identifying:
        yield printable(f"  {one.field}: {one.holds} [{one.left_out}]")
    yield printable(f"Check it: coldwarm snapshot verify {shlex.quote(made.folder)}")


def _by_reason(found: Mapping[str, Reason]) -> Iterator[tuple[Reason, list[str]]]:
    """Yield each reason once, with the cases that have it."""
    for reason in distinct(found.values()):
        yield reason, [case for case, one in found.items() if one == reason]


def registered(registry: SnapshotRegistry) -> Iterator[str]:
    """Yield a line for each snapshot of a registry."""
    for one in registry.snapshots:
        sha256 = one.artifacts.snapshot_index_sha256
        yield printable(f"{one.snapshot_id}  {one.suite}  {one.generated_at}  {sha256}")
    if not registry.snapshots:
        yield "no snapshot"


def packed(made: PackageMade) -> Iterator[str]:
    """Yield what was packed, and its digest."""
    size = units.size(made.n_bytes)
    yield printable(f"{made.path}: {made.n_files} files, {size}")
    yield f"SHA-256: {made.sha256}"
