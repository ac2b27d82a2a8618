"""What is compiled in this process, from when a test or the bill asks for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.doctor.inside import followed
from coldwarm.stats.doctor.code.sources import Sources
from coldwarm.stats.doctor.seen import Seen

if TYPE_CHECKING:
    from coldwarm.stats.doctor.seen import Call


def begin(*, fingerprints: bool = False) -> None:
    """Follow what is compiled from now on, with a fingerprint of each program if asked for."""
    memory = followed()
    memory.fingerprints = memory.fingerprints or fingerprints


def now() -> int:
    """Return the place after all that was compiled so far."""
    memory = followed()
    return memory.n_gone + len(memory.rows)


def since(place: int) -> list[Call]:
    """Return the calls for which something was traced or compiled after a place."""
    memory = followed()
    rows = memory.since(place)
    # What was lowered before may be compiled now.
    known = {row["call"] for row in rows if row["kind"] == "call"}
    begun = {row["call"] for row in rows if row["kind"] == "stage"} - known
    if begun:
        earlier = memory.rows[: len(memory.rows) - len(rows)]
        rows = [one for one in earlier if one["kind"] == "call" and one["call"] in begun] + rows
    return Seen(rows, (), Sources({})).calls


def failures() -> list[str]:
    """Return where watching itself has failed: what it told may be incomplete."""
    rows = [row for row in followed().rows if row["kind"] == "failed"]
    return [f"{row['at']}, {row['error']}: {row['text']}" for row in rows]


def programs(place: int, *, operations: bool) -> list[Call]:
    """Return the calls after a place that needed a new program.

    One that is read from a cache on disk is one, too: whether a test passes must not depend on what
    lies there. Single operations outside of ``jit`` count only if asked for.
    """
    return [one for one in since(place) if one.compiled and (operations or not one.is_operation)]
