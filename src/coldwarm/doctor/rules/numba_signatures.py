"""Signatures that Numba compiles when a function is defined, and that no call needs."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from coldwarm.contracts.reasons import Codes, because
from coldwarm.doctor.rules import Rule
from coldwarm.doctor.trace import NumbaGiven

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from collections.abc import Set as AbstractSet

    from coldwarm.contracts.doctor import Finding
    from coldwarm.doctor.trace import CompiledCall, ProcessTrace


_REASONS = {
    "doctor_signatures": "{function} is compiled for {n_signatures:# signature} when it is"
    " defined, and {n_unused} of them are not used: the first argument of each call that was seen"
    " was {given_names:list}",
}
_CHANGES = {
    "numba-signatures-unused": 'leave those signatures out. But for target="parallel", all of them'
    " can be left out: Numba compiles at the first call for the types that it is given",
}
_ARRAY = re.compile(r"(?:readonly )?array\((\w+), (\d+)d")
_NUMBERS = "bool u?int(8|16|32|64) float(32|64) complex(64|128)"
_NUMBER = re.compile("|".join(_NUMBERS.split()))


def _findings(trace: ProcessTrace) -> Iterator[Finding]:
    """Name each function with such signatures once."""
    given: dict[tuple[str, int], set[str]] = defaultdict(set)
    for row in trace.rows_of(NumbaGiven):
        given[row.function.path or "", row.function.line or 0].add(row.first)
    declared: dict[tuple[str, int], list[CompiledCall]] = defaultdict(list)
    for call in trace.calls:
        if call.declared and call.arguments:
            declared[call.function.path or "", call.function.line or 0].append(call)
    for (path, line), calls in declared.items():
        seen = given.get((path, line), set())
        if len(calls) < 2 or not seen or not _is_called_alone(trace, calls[0]):  # noqa: PLR2004 - one may be used
            continue
        unused = _unused(calls, seen)
        if not unused or not trace.is_worth(sum(one.total_s for one in unused)):
            continue
        site = unused[0].site or trace.line_at(path, line)
        says = because(
            "doctor_signatures",
            function=calls[0].name,
            n_signatures=len(calls),
            n_unused=len(unused),
            given_names=sorted(seen),
        )
        yield trace.finding("numba-signatures-unused", site, says, framework="numba", again=unused)


def _unused(calls: Sequence[CompiledCall], seen: AbstractSet[str]) -> list[CompiledCall]:
    """Return the signatures that no call can have used, by the type of its first argument.

    Where all of them have the same further arguments, the one that is exactly of that type is
    used. Otherwise it may be any to which the first argument can be converted without loss.
    """
    firsts = [next(iter(one.arguments.values())) for one in calls]
    if not all(_kind(one) for one in [*firsts, *seen]):
        return []
    rests = {tuple(one.arguments.values())[1:] for one in calls}
    exact = len(rests) == 1 and all(any(_is_same(a, b) for b in firsts) for a in seen)
    fits = _is_same if exact else _fits
    return [
        call
        for call, first in zip(calls, firsts, strict=True)
        if not any(fits(one, first) for one in seen)
    ]


def _kind(written: str) -> tuple[str, int | None] | None:
    """Return the type of the numbers, and the dimensions of an array; ``None``: it is another."""
    found = _ARRAY.match(written)
    if found:
        return found[1], int(found[2])
    return (written, None) if _NUMBER.fullmatch(written) else None


def _is_same(given: str, declared: str) -> bool:
    """Say whether a type is the declared one; a ufunc's are those of the elements of its arrays."""
    (number, dimensions), (wanted, n) = _kind(given) or ("", 0), _kind(declared) or ("", 0)
    return number == wanted and (n is None or n == dimensions)


def _fits(given: str, declared: str) -> bool:
    """Say whether a type can be converted to the declared one; arrays cannot, but for a ufunc."""
    (number, dimensions), (wanted, n) = _kind(given) or ("", 0), _kind(declared) or ("", 0)
    if n is not None:
        return _is_same(given, declared)
    if dimensions is None and number == "int64":  # Python's numbers become what is asked for
        return wanted != "bool"
    return bool(np.can_cast(number, wanted, "safe"))


def _is_called_alone(trace: ProcessTrace, call: CompiledCall) -> bool:
    """Say whether a function is only called, and not by code that is compiled.

    Calls from there, and from what it is handed to, are not seen.
    """
    name = call.short_name
    compiled = {
        id(one)
        for each in trace.calls
        if each.framework == "numba" and each.function.path and each.short_name != name
        if (one := trace.sources.function(each.function.path, each.function.line or 0)) is not None
    }
    for path in trace.sources.paths:
        called = {id(one.func) for one in trace.sources.nodes(path) if isinstance(one, ast.Call)}
        for node in trace.sources.nodes(path):
            if id(node) in compiled and any(_is_named(one, name) for one in ast.walk(node)):
                return False
            if _is_named(node, name) and id(node) not in called:
                return False
    return True


def _is_named(node: ast.AST, name: str) -> bool:
    loaded = isinstance(getattr(node, "ctx", None), ast.Load)
    return loaded and getattr(node, "id", getattr(node, "attr", None)) == name


RULE = Rule(
    findings=_findings,
    codes=Codes(_REASONS),
    changes=_CHANGES,
)
