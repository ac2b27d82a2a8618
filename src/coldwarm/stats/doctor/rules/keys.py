"""Keys of random numbers that were used twice: the same numbers come again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import because
from coldwarm.stats.doctor.drafts import Draft
from coldwarm.stats.doctor.seen import Line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from coldwarm.stats.doctor.seen import Seen

_TWICE = 2


def findings(seen: Seen) -> Iterator[Draft]:
    """Name each line that uses a key again, and how it came to that."""
    done: set[tuple[str, Line]] = set()
    for row in seen.of_kind("key"):
        pattern, site = _pattern(seen, row)
        if (pattern, site) not in done:
            done.add((pattern, site))
            yield Draft(
                pattern=pattern,
                framework="jax",
                site=site,
                n=1,
                cost_s=None,
                saving_s=None,
                says=because("doctor_key", name=row["name"], first=_place(row["before"])),
                null_reasons=dict.fromkeys(("cost_s", "saving_s"), because("doctor_wrong_result")),
            )


def _pattern(seen: Seen, row: Mapping[str, Any]) -> tuple[str, Line]:
    stack = [Line(*one) for one in row["stack"]]
    if row["n_made"] >= _TWICE:
        return "key-constant-in-loop", Line(*row["made"][0])
    if stack[0] != Line(*row["before"][0]):
        return "key-reuse", stack[0]
    turns = [one for one in stack if seen.sources.loop(one.path, one.line)]
    return ("key-not-split-in-loop", turns[0]) if turns else ("key-reuse", stack[0])


def _place(stack: list[list[Any]]) -> str:
    return f"line {stack[0][1]}"
