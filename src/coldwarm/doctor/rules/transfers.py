"""Arrays of the host that are sent to the device again and again."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import Codes, because
from coldwarm.doctor.rules import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coldwarm.contracts.doctor import Finding
    from coldwarm.doctor.trace import CompiledCall, ProcessTrace, SourceLine


_REASONS = {
    "doctor_transfers": "{call} sent {n_transfers:# array} from the host again,"
    " {sent_bytes:size} in all",
}
_CHANGES = {
    "device-transfer-in-loop": "send it once before the loop, with jax.device_put",
}

_FEWEST = 5
"""Times that the same array was sent again."""
_LARGE_BYTES = 2**16
"""Least size of an array that is given to a compiled function as the host has it."""
_FEWEST_BYTES, _MOST_SMALL = 2**20, 1000
"""Least bytes that a line sends again, to be reported; or as many arrays, however small."""
_BYTES_S, _EACH_S, _LITTLE_SHARE = 2e9, 5e-5, 0.01
"""Bytes that are sent in a second, and what each sending takes besides; and the share of the run
that is little."""


def _findings(trace: ProcessTrace) -> Iterator[Finding]:
    """Name each line that sends the same array again and again."""
    for place in trace.places_of("transfer"):
        _, n_bytes, n_again = place.counts[:3]  # the bytes of what was sent again
        if not trace.in_loop(place.stack):
            continue
        is_much = n_bytes >= _FEWEST_BYTES or n_again >= _MOST_SMALL
        if n_again >= _FEWEST and is_much and _takes_long(trace, n_again, n_bytes):
            yield _finding(trace, place.site, place.name, n_again, n_bytes)
    done: set[SourceLine] = set()
    for call in trace.calls:
        if call.site is None or not call.from_host or call.framework != "jax":
            continue
        for stack in trace.stacks_of(call):
            site = stack[0]
            n = trace.n_calls(site, call.short_name) - 1  # the first has to be sent
            if site in done or n < _FEWEST:
                continue
            n_bytes = _sent_bytes(trace, call, stack)
            if n_bytes and _takes_long(trace, n, n_bytes * n):
                done.add(site)
                yield _finding(trace, site, call.name, n, n_bytes * n)


def _takes_long(trace: ProcessTrace, n: int, n_bytes: int) -> bool:
    """Say whether the time of sending is a part of the run that can matter."""
    return n_bytes / _BYTES_S + n * _EACH_S >= _LITTLE_SHARE * trace.lasted_s


def _finding(trace: ProcessTrace, site: SourceLine, call: str, n: int, n_bytes: int) -> Finding:
    says = because("doctor_transfers", call=call, n_transfers=n, sent_bytes=n_bytes)
    untimed = because("doctor_untimed")
    return trace.finding("device-transfer-in-loop", site, says, n=n, no_figure=untimed)


def _sent_bytes(trace: ProcessTrace, call: CompiledCall, stack: Sequence[SourceLine]) -> int:
    """Return the size of the host's arrays that every turn of a loop gives to a function."""
    site = stack[0]
    if trace.turned(stack) is None:
        return 0
    given = trace.sources.given(site.path, site.line, call.short_name)
    parameters = list(dict.fromkeys(_root(name) for name in call.arguments))
    bound = {each for one in trace.places_at("jitted", site) for each in one.bound or ()}
    first = sum(isinstance(each, int) for each in bound)
    total = 0
    for argument, n_bytes in call.from_host.items():
        root = _root(argument)
        at = parameters.index(root) if root in parameters else -1
        expression = given[at - first] if 0 <= at - first < len(given) else None
        if site != call.site and not _as_there(trace, call, site, expression, at - first):
            continue
        is_bound = root in bound or at in bound
        if n_bytes >= _LARGE_BYTES and (is_bound or _stays(trace, site, expression)):
            total += n_bytes
    return total


def _as_there(
    trace: ProcessTrace, call: CompiledCall, site: SourceLine, expression: ast.expr | None, at: int
) -> bool:
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
    given = trace.sources.given(there.path, there.line, call.short_name)
    same = at < len(given) and ast.dump(given[at]) == ast.dump(expression)
    lines = sorted((there.line, site.line))
    changed = trace.sources.assigned_between(site.path, lines[0], lines[1] - 1)
    names = {one.id for one in ast.walk(expression) if isinstance(one, ast.Name)}
    return same and not names & changed


def _stays(trace: ProcessTrace, site: SourceLine, expression: ast.expr | None) -> bool:
    """Say whether an argument is the same in every turn: a name, or a part of an object."""
    if isinstance(expression, ast.Attribute):
        return True
    if not isinstance(expression, ast.Name):
        return False
    loop = trace.sources.loop(site.path, site.line)
    if loop is None:  # that is in a function which calls this one
        return trace.sources.takes_from_around(site.path, site.line, expression.id)
    return expression.id not in trace.sources.assigned_between(site.path, *loop)


def _root(name: str) -> str:
    return name.partition("[")[0].partition(".")[0]


RULE = Rule(
    findings=_findings,
    codes=Codes(_REASONS),
    changes=_CHANGES,
    short={"transfer": "device-transfer-in-loop"},
)
