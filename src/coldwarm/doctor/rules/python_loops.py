"""Loops of Python over single numbers of NumPy's arrays: each number becomes an object first.

How long that took is known from looks at the program, and what it is from its source.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import Codes, because
from coldwarm.doctor.rules import Rule
from coldwarm.doctor.source_code import is_installed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from coldwarm.contracts.doctor import Finding
    from coldwarm.doctor.trace import HeldArray, Loop, ProcessTrace


_REASONS = {
    "doctor_python_loop": "this loop of Python's computes with single numbers of"
    " {array_names:list}, of NumPy; about {spent_s:time} were spent in its own lines",
}
_CHANGES = {
    "python-loop": "move the loop into a function under @numba.njit, or compute with whole arrays"
    " of NumPy's",
}
_SHARE = 0.1
"""Of the run, below which a plain loop is left alone: it is easy to read."""
_OF_NUMBERS = frozenset(("abs", "min", "max", "float", "int", "len", "range", "bool", "round"))
_UFUNCS = frozenset(
    ("sqrt", "exp", "log", "log2", "log10", "sin", "cos", "tan", "arctan2", "abs", "floor", "ceil")
) | frozenset(("hypot", "power", "minimum", "maximum", "sign", "tanh"))
_NUMPY = ("np.", "numpy.")
_THROUGH = frozenset(("enumerate", "zip", "reversed"))
_PLAIN = frozenset(("size", "shape", "ndim"))
_OTHER = (
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Slice, ast.JoinedStr),
    *(ast.Dict, ast.Set, ast.Yield, ast.YieldFrom, ast.Try, ast.With, ast.Lambda, ast.Await),
)
"""What is more than computing with numbers."""
_KINDS = ("int", "uint", "float", "complex", "bool")


def _findings(trace: ProcessTrace) -> Iterator[Finding]:
    """Name each loop whose own lines took a share of the run."""
    spent: dict[Loop, float] = defaultdict(float)
    lines: dict[Loop, set[int]] = defaultdict(set)
    for spot, seconds in trace.spent:
        place = trace.loop_at(spot.stack[0])
        if place is not None and not spot.below and not is_installed(place[0]):
            spent[place] += seconds
            lines[place].add(spot.stack[0].line)
    for (path, extent), seconds in spent.items():
        loop = trace.sources.repeating(path, min(lines[path, extent]))
        is_worth = trace.is_worth(seconds) and seconds >= _SHARE * trace.lasted_s
        if not is_worth or not isinstance(loop, ast.For):
            continue
        held = {
            name: one
            for line in lines[path, extent]
            for name, one in trace.held_at(path, line).items()
        }
        names = _arrays(loop, held)
        if names:
            says = because("doctor_python_loop", array_names=sorted(names), spent_s=seconds)
            site = trace.line_at(path, loop.lineno)
            yield trace.finding_of_seconds(
                "python-loop", site, says, framework=trace.first_framework
            )


def _arrays(loop: ast.For, held: Mapping[str, HeldArray]) -> set[str]:
    """Return the arrays whose numbers a loop takes one by one; empty where it does anything else.

    That is a call that may take long, an operation of a whole array, or of a row, or something of
    which it is not known what it holds.
    """
    inside = [one for part in loop.body for one in ast.walk(part)]
    if any(isinstance(one, _OTHER) or _is_text(one) for one in inside):
        return set()
    if any(isinstance(one, ast.Call) and not _is_of_numbers(one) for one in inside):
        return set()
    taken, known = set(), set()
    for one in inside:
        if isinstance(one, ast.Subscript):
            array = held.get(ast.unparse(one.value))
            if array is None or not _is_element(one, array):
                return set()
            taken.add(array.name)
            known |= {id(each) for each in ast.walk(one.value)}
        elif isinstance(one, ast.Attribute) and one.attr in _PLAIN:
            known |= {id(each) for each in ast.walk(one)}
        elif isinstance(one, ast.Call):
            is_length = ast.unparse(one.func) == "len"
            known |= {id(each) for each in ast.walk(one if is_length else one.func)}
    left = [one for one in inside if isinstance(one, (ast.Name, ast.Attribute))]
    names = {ast.unparse(one) for one in left if id(one) not in known}
    if any("." in name or _is_many(held.get(name)) for name in names):
        return set()
    through = {name for one in _gone_through(loop.iter) if (name := ast.unparse(one)) in held}
    taken |= {name for name in through if len(held[name].shape) == 1}
    used = {one for name, one in held.items() if name in taken | names}
    return taken if all(one.package == "numpy" for one in used) and _are_numbers(used) else set()


def _is_element(one: ast.Subscript, array: HeldArray) -> bool:
    """Say whether a place is that of one number of an array."""
    places = one.slice.elts if isinstance(one.slice, ast.Tuple) else [one.slice]
    constants = [each.value for each in places if isinstance(each, ast.Constant)]
    return len(places) == len(array.shape) and all(isinstance(each, int) for each in constants)


def _are_numbers(arrays: Iterable[HeldArray]) -> bool:
    return all(one.dtype.startswith(_KINDS) for one in arrays)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes))


def _is_of_numbers(call: ast.Call) -> bool:
    name = ast.unparse(call.func)
    if name.startswith(_NUMPY):
        return name.rpartition(".")[2] in _UFUNCS
    return name.startswith("math.") or name in _OF_NUMBERS or name.endswith(".append")


def _is_many(array: HeldArray | None) -> bool:
    return array is not None and array.size > 1


def _gone_through(given: ast.expr) -> list[ast.expr]:
    """Return what a loop goes through."""
    if isinstance(given, ast.Call) and ast.unparse(given.func) in _THROUGH:
        return list(given.args)
    return [given]


RULE = Rule(findings=_findings, codes=Codes(_REASONS), changes=_CHANGES)
