"""Counts of what was compiled, and what is said of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.report import units
from coldwarm.report.sentences import words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.contracts.summary import CountVerdict


def shown(counts: Sequence[CountVerdict], *, everything: bool = False) -> list[CountVerdict]:
    """Return those that a build guards, or all."""
    return [one for one in counts if everything or one.guarded]


def cells(one: CountVerdict) -> list[str]:
    """Return the case, the name, how many there were and are, and the verdict."""
    numbers = [units.MISSING if n is None else f"{n}" for n in (one.reference, one.count)]
    return [one.case, one.name, *numbers, verdict(one, ", ")]


def verdict(one: CountVerdict, between: str) -> str:
    """Return the verdict, and what it is beyond where it fails; ``between`` parts the two."""
    if one.fails_beyond is not None:
        return f"{one.verdict}{between}FAIL: beyond {one.fails_beyond}"
    return one.verdict


def unknown(counts: Sequence[CountVerdict]) -> list[tuple[str, str]]:
    """Return the names that are undecided, and why."""
    reasons = {one.name: words(one.reason) for one in counts if one.reason is not None}
    return list(reasons.items())


def sentence(one: CountVerdict) -> str:
    """Say of a count that fails what became of it."""
    return f"{one.reference} became {one.count}; at most {one.fails_beyond} are allowed"
