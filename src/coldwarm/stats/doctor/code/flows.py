"""Whether what the host reads in a loop decides what the next call gets. Pure.

A program that asks an environment on the host, or draws there by what it has read, has to wait in
each turn. What goes back as it was read does not need to come to the host at all.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator

    from coldwarm.stats.doctor.code.sources import Sources

_READING = frozenset(
    (
        *("int", "float", "bool", "complex", "abs", "round", "min", "max", "item", "tolist"),
        *("array", "asarray", "device_get", "block_until_ready"),
    )
)
"""Calls after which a value is what was read still."""
_ACTS = frozenset({"step"})
"""Methods that change what they belong to: an environment is asked for its state later."""
_SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr)


def decides(
    sources: Sources, path: str, line: int, calls: Container[int], *, below: bool = False
) -> bool:
    """Say whether the host makes of what it reads at a line what compiled functions are given.

    ``calls`` are the lines of the loop which lead to calls of compiled functions; ``below``: it is
    read in a function that the line calls.
    """
    loop = sources.loop(path, line)
    if loop is None:
        return False
    rows = list(_statements(sources, path, *loop))
    at = [one for one in rows if _is_among(one, {line})]
    reading = [one for one in at if any(_called(call) in _READING for call in _calls(one))]
    begin = next(iter(reading or at), None)
    if begin is None:
        return False
    read = _targets(begin)
    made = read if _is_made(begin, below=below, computes=_is_among(begin, calls)) else set()
    while True:
        more_read, more_made = set(read), set(made)
        for row in rows:
            if row is not begin:
                _follow(row, more_read, more_made, compiled=_is_among(row, calls))
        if (more_read, more_made) == (read, made):
            break
        read, made = more_read, more_made
    return any(_gives(row, made) for row in rows if _is_among(row, calls))


def _statements(sources: Sources, path: str, first: int, last: int) -> Iterator[ast.stmt]:
    """Yield the statements of a loop that contain no others."""
    tree = sources.tree(path)
    for one in ast.walk(tree) if tree is not None else ():
        if isinstance(one, _SIMPLE) and first <= one.lineno <= last:
            yield one


def _is_among(row: ast.stmt, numbers: Container[int]) -> bool:
    return any(at in numbers for at in range(row.lineno, (row.end_lineno or row.lineno) + 1))


def _is_made(row: ast.stmt, *, below: bool, computes: bool) -> bool:
    """Say whether a statement gives what it reads to a call of the host.

    Where it calls a compiled function too, that may be what is given something that was read: so
    what is read must be of a call then.
    """
    for outer in _calls(row):
        if _called(outer) in _READING:
            continue
        for one in (inner for each in _given(outer) for inner in _calls(each)):
            is_read = below or _called(one) in _READING
            if is_read and (below or not computes or len(list(_calls(one))) > 1):
                return True
    return False


def _calls(node: ast.AST) -> Iterator[ast.Call]:
    return (one for one in ast.walk(node) if isinstance(one, ast.Call))


def _follow(row: ast.stmt, read: set[str], made: set[str], *, compiled: bool) -> None:
    """Add the names that a statement gives what comes from others."""
    if compiled or (value := getattr(row, "value", None)) is None:
        return
    loaded = _loaded(value)
    asked = [
        one
        for one in _calls(value)
        if _called(one) not in _READING
        and any(_loaded(each) & (read | made) for each in _given(one))
    ]
    if asked or loaded & made:
        made |= _targets(row)
    elif loaded & read:
        read |= _targets(row)
    for one in asked:
        if isinstance(one.func, ast.Attribute) and one.func.attr in _ACTS:
            made.add(ast.unparse(one.func.value))


def _gives(row: ast.stmt, names: set[str]) -> bool:
    return any(_loaded(each) & names for one in _calls(row) for each in _given(one))


def _given(call: ast.Call) -> Iterator[ast.expr]:
    yield from call.args
    yield from (one.value for one in call.keywords)


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else ast.unparse(call.func)


def _targets(row: ast.stmt) -> set[str]:
    targets: Iterable[ast.expr] = getattr(row, "targets", None) or filter(
        None, [getattr(row, "target", None)]
    )
    return {
        ast.unparse(one)
        for target in targets
        for one in ast.walk(target)
        if isinstance(one, (ast.Name, ast.Attribute)) and isinstance(one.ctx, ast.Store)
    }


def _loaded(node: ast.AST) -> set[str]:
    """Return the variables and attributes that are taken, ``a`` and ``a.b`` of ``a.b.c`` too."""
    return {
        ast.unparse(one)
        for one in ast.walk(node)
        if isinstance(one, (ast.Name, ast.Attribute)) and isinstance(one.ctx, ast.Load)
    }
