"""Items of a data set that are computed anew in each pass over it.

How long that took is known from looks at the program, and what it does from its source.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import Codes, because
from coldwarm.doctor.rules import Rule
from coldwarm.doctor.source_code import called

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coldwarm.contracts.doctor import Finding
    from coldwarm.doctor.source_code import Function
    from coldwarm.doctor.trace import ProcessTrace, SourceLine


_REASONS = {
    "doctor_items_again": "{cls}.__getitem__ computes each item anew in each pass over the data,"
    " from what stays the same; about {spent_s:time} were spent in it",
}
_CHANGES = {
    "item-computed-again": "compute the items once, where the data set is made, and keep them, if"
    " memory has room for all",
}
_GETS = "__getitem__"
_SHARE = 0.1
"""Of the run, below which it is left alone."""
_DRAWS = ("rand", "rng", "noise", "shuffle", "augment", "jitter", "normal", "sample", "choice")
"""Parts of names by which items differ from pass to pass."""
_READS = frozenset(("open", "load", "imread", "read", "fromfile", "memmap", "decode", "get"))
"""Calls by which an item comes from elsewhere, where all may not fit into memory."""


def _findings(trace: ProcessTrace) -> Iterator[Finding]:
    """Name the method of each data set whose items took a share of the run."""
    spent: dict[tuple[str, int], float] = defaultdict(float)
    lines: dict[tuple[str, int], dict[SourceLine, float]] = defaultdict(lambda: defaultdict(float))
    for spot, seconds in trace.spent:
        for place, site in enumerate(spot.stack):
            if site.function.rpartition(".")[2] != _GETS:
                continue
            function = _method(trace, site)
            if function is not None and _is_passed_again(trace, spot.stack[place + 1 :]):
                key = site.path, function.lineno
                spent[key] += seconds
                lines[key][site] += seconds
            break
    for key, seconds in spent.items():
        if not trace.is_worth(seconds) or seconds < _SHARE * trace.lasted_s:
            continue
        site = max(lines[key], key=lines[key].__getitem__)
        function = _method(trace, site)
        cls = _data_set(trace, site)
        if function is not None and cls and not _differs(trace, site.path, function):
            says = because("doctor_items_again", cls=cls, spent_s=seconds)
            yield trace.finding_of_seconds("item-computed-again", site, says, framework="torch")


def _method(trace: ProcessTrace, site: SourceLine) -> Function | None:
    """Return the method around a line that gives an item."""
    around = trace.sources.functions_around(site.path, site.line)
    return next((one for one in around if one.name == _GETS), None)


def _data_set(trace: ProcessTrace, site: SourceLine) -> str:
    """Return the name of the class around a line, where it is a data set of PyTorch's."""
    for node in trace.sources.nodes(site.path):
        is_around = isinstance(node, ast.ClassDef) and node.lineno <= site.line
        if is_around and site.line <= (node.end_lineno or 0):  # type: ignore[attr-defined] # of a class
            bases = [ast.unparse(one).rpartition(".")[2] for one in node.bases]  # type: ignore[attr-defined] # likewise
            if any(one.endswith("Dataset") for one in bases):
                return str(node.name)  # type: ignore[attr-defined] # likewise
    return ""


def _is_passed_again(trace: ProcessTrace, callers: Sequence[SourceLine]) -> bool:
    """Say whether the loop over the data is itself in a loop."""
    for place, site in enumerate(callers):
        loops = [
            node
            for node in trace.sources.nodes(site.path)
            if isinstance(node, (ast.For, ast.While)) and node.lineno <= site.line
            if site.line <= (node.end_lineno or 0)
        ]
        if loops:
            return len(loops) > 1 or trace.in_loop(callers[place + 1 :])
    return False


def _differs(trace: ProcessTrace, path: str, function: Function) -> bool:
    """Say whether items may differ from pass to pass, or come from elsewhere."""
    left, seen = [(path, function)], {function.name}
    while left:
        _, one = left.pop()
        for node in ast.walk(one):
            name = ""
            if isinstance(node, ast.Name):
                name = node.id
            elif isinstance(node, ast.Attribute):
                name = node.attr
            if any(part in name.lower() for part in _DRAWS):
                return True
            if not isinstance(node, ast.Call):
                continue
            if called(node) in _READS:
                return True
            if called(node) not in seen:
                seen.add(called(node))
                left += _functions(trace, called(node))
    return False


def _functions(trace: ProcessTrace, name: str) -> list[tuple[str, Function]]:
    """Return the functions and methods of a name in the program."""
    return [
        (path, node)
        for path in trace.sources.paths
        for node in trace.sources.nodes(path)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == name
    ]


RULE = Rule(findings=_findings, codes=Codes(_REASONS), changes=_CHANGES)
