"""Arrays of the host that are sent to the device again and again."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import because
from coldwarm.stats.doctor.drafts import Draft
from coldwarm.stats.doctor.elsewhere import called_at

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coldwarm.stats.doctor.seen import Call, Line, Seen

REASONS = {
    "doctor_transfers": "{call} sent {n_transfers:# array} from the host, {sent_bytes:size} in all",
}
CHANGES = {
    "device-transfer-in-loop": "send it once before the loop, with jax.device_put",
}

FEWEST = 5
"""Times that the same array was sent again."""
_LARGE_BYTES = 2**16
"""Of an array that is given to a compiled function as the host has it."""
FEWEST_BYTES, MOST_SMALL = 2**20, 1000
"""That a line sends in all, to be worth a word; or as many arrays, however small."""


def findings(seen: Seen) -> Iterator[Draft]:
    """Name each line that sends the same array again and again."""
    for place in seen.places_of("transfer"):
        n, n_bytes, n_again = place.counts[:3]
        if not seen.in_loop(place.stack):
            continue
        if n_again >= FEWEST and (n_bytes >= FEWEST_BYTES or n >= MOST_SMALL):
            yield _draft(place.site, place.name, n_again + 1, n_bytes)
    done: set[Line] = set()
    for call in seen.calls:
        if call.site is None or not call.from_host or call.framework != "jax":
            continue
        name = call.name.rpartition(".")[2]
        for stack in called_at(seen, call):
            site = stack[0]
            n = sum(one.n for one in seen.places_at("jitted", site) if one.name == name)
            if site in done or n <= FEWEST:
                continue
            if n_bytes := _sent_bytes(seen, call, stack):
                done.add(site)
                yield _draft(site, call.name, n, n_bytes * n)


def _draft(site: Line, call: str, n: int, n_bytes: int) -> Draft:
    return Draft(
        pattern="device-transfer-in-loop",
        framework="jax",
        site=site,
        n=n,
        cost_s=None,
        saving_s=None,
        says=because("doctor_transfers", call=call, n_transfers=n, sent_bytes=n_bytes),
        null_reasons=dict.fromkeys(("cost_s", "saving_s"), because("doctor_untimed")),
    )


def _sent_bytes(seen: Seen, call: Call, stack: Sequence[Line]) -> int:
    """Return the size of the host's arrays that every turn of a loop gives to a function."""
    site = stack[0]
    if seen.turned(stack) is None:
        return 0
    name = call.name.rpartition(".")[2]
    given = seen.sources.given(site.path, site.line, name)
    parameters = list(dict.fromkeys(_root(name) for name in call.arguments))
    bound = {each for one in seen.places_at("jitted", site) for each in one.bound}
    first = sum(isinstance(each, int) for each in bound)
    total = 0
    for argument, n_bytes in call.from_host.items():
        root = _root(argument)
        at = parameters.index(root) if root in parameters else -1
        expression = given[at - first] if 0 <= at - first < len(given) else None
        if site != call.site and not _as_there(seen, call, site, expression, at - first):
            continue
        is_bound = root in bound or at in bound
        if n_bytes >= _LARGE_BYTES and (is_bound or _stays(seen, site, expression)):
            total += n_bytes
    return total


def _as_there(seen: Seen, call: Call, site: Line, expression: ast.expr | None, at: int) -> bool:
    """Say whether a line gives what the line that compiled has given, an array of the host.

    That is known of the line that compiled alone.
    """
    there = call.site
    if (
        expression is None
        or there is None
        or (there.path, there.function) != (site.path, site.function)
    ):
        return False
    given = seen.sources.given(there.path, there.line, call.name.rpartition(".")[2])
    same = at < len(given) and ast.dump(given[at]) == ast.dump(expression)
    lines = sorted((there.line, site.line))
    changed = seen.sources.assigned_between(site.path, lines[0], lines[1] - 1)
    names = {one.id for one in ast.walk(expression) if isinstance(one, ast.Name)}
    return same and not names & changed


def _stays(seen: Seen, site: Line, expression: ast.expr | None) -> bool:
    """Say whether an argument is the same in every turn: a name, or a part of an object."""
    if isinstance(expression, ast.Attribute):
        return True
    if not isinstance(expression, ast.Name):
        return False
    loop = seen.sources.loop(site.path, site.line)
    if loop is None:  # that is in a function which calls this one
        return seen.sources.takes_from_around(site.path, site.line, expression.id)
    return expression.id not in seen.sources.assigned_between(site.path, *loop)


def _root(name: str) -> str:
    return name.partition("[")[0].partition(".")[0]
