"""Keys of random numbers that were used twice: the same numbers come again."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import Codes, because
from coldwarm.doctor.rules import Rule
from coldwarm.doctor.trace import KeyUse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coldwarm.contracts.doctor import Finding
    from coldwarm.doctor.trace import ProcessTrace, SourceLine


_REASONS = {
    "doctor_key": "{name} uses a key that {first} has used: the same random numbers come again",
}
_CHANGES = {
    "key-not-split-in-loop": "split the key in each turn: key, now = jax.random.split(key)",
    "key-constant-in-loop": "make the key once before the loop, and split it in each turn",
    "key-reuse": "split the key, and use each part once",
}

_TWICE = 2


def _findings(trace: ProcessTrace) -> Iterator[Finding]:
    """Name each line that uses a key again, and how it came to that."""
    done: set[tuple[str, SourceLine]] = set()
    split: set[SourceLine] = set()
    wrong = because("doctor_wrong_result")
    for row in trace.rows_of(KeyUse):
        pattern, site, first = _pattern(trace, row, split)
        if pattern == "key-not-split-in-loop" and row.name == "split":
            split.add(site)
        if (pattern, site) not in done:
            done.add((pattern, site))
            says = because("doctor_key", name=row.name, first=_place(first, site))
            yield trace.finding(pattern, site, says, no_figure=wrong)


def _pattern(
    trace: ProcessTrace, row: KeyUse, split: set[SourceLine]
) -> tuple[str, SourceLine, SourceLine]:
    """Return the pattern, the line to change, and the line that used the key first.

    A function that is given the same key twice is right; its callers are not: what is named are the
    innermost calls that are not the same. Where all are the same, the line is in a loop: in the
    innermost one, unless in another one around it a key is split again in each turn.
    """
    before, stack = row.before, row.stack
    if row.n_made >= _TWICE:
        return "key-constant-in-loop", row.made[0], before[0]
    if row.apart is not None:
        return "key-reuse", stack[row.apart], before[row.apart]
    turns = [one for one in stack if trace.sources.loop(one.path, one.line)]
    if not turns:
        return "key-reuse", stack[0], before[0]
    turn = next((one for one in turns if one in split), turns[0])
    return "key-not-split-in-loop", turn, turn


def _place(first: SourceLine, site: SourceLine) -> str:
    """Return a line; with its file, where that is another one than the finding's."""
    file = "" if first.path == site.path else f" of {PurePath(first.path).name}"
    return f"line {first.line}{file}"


RULE = Rule(
    findings=_findings,
    codes=Codes(_REASONS),
    changes=_CHANGES,
)
