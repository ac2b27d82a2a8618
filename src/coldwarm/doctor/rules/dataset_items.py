"""Items of a data set that are computed anew in each pass over it.

How long that took is known from looks at the program, and what it does from its source.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import Codes, because
from coldwarm.doctor.rules import Rule
from coldwarm.doctor.source_code import called, parts_of, stored

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coldwarm.contracts.doctor import Finding
    from coldwarm.doctor.source_code import Function
    from coldwarm.doctor.trace import ProcessTrace, SourceLine

    _List = ast.ListComp | ast.SetComp | ast.GeneratorExp
    _Loop = ast.For | ast.While | _List


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
_GIVEN = "transform"
"""Part of the names of functions that are given to a data set, and may draw numbers."""
_OBJECTS = {"self", "cls"}


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
    """Say whether the loop over the data is itself in one on which the data do not depend."""
    for place, site in enumerate(callers):
        loops = _loops_around(trace, site)
        if loops:
            names = _gone_through(trace, site, loops[-1])
            further = callers[place + 1 :]
            return _stay(trace, site, loops[:-1], names) or (
                trace.in_loop(further) and _stay_in_callers(trace, site, further, names)
            )
    return False


def _loops_around(trace: ProcessTrace, site: SourceLine) -> list[ast.For | ast.While]:
    """Return the loops that a line is in, the outermost first."""
    found = [
        node
        for node in trace.sources.nodes(site.path)
        if isinstance(node, (ast.For, ast.While)) and node.lineno <= site.line
        if site.line <= (node.end_lineno or 0)
    ]
    return sorted(found, key=lambda one: one.lineno)


def _gone_through(trace: ProcessTrace, site: SourceLine, loop: ast.For | ast.While) -> set[str]:
    """Return the names of the data that a loop goes through, or that a line of it takes."""
    names = _names(loop.iter) if isinstance(loop, ast.For) else set()
    if site.line != loop.lineno:
        statement = trace.sources.statement(site.path, site.line)
        for node in ast.walk(statement) if statement is not None else ():
            is_taken = isinstance(node, ast.Call) and called(node) == "next"
            if isinstance(node, ast.Subscript) or is_taken:
                names |= _names(node)
    return names


def _stay(trace: ProcessTrace, site: SourceLine, loops: Sequence[_Loop], names: set[str]) -> bool:
    """Say whether the data of these names are the same in every turn of one of the loops."""
    made_of = _made_of(trace, site, names)
    return any(not made_of & _turning(loop) for loop in loops)


def _stay_in_callers(
    trace: ProcessTrace, site: SourceLine, callers: Sequence[SourceLine], names: set[str]
) -> bool:
    """Say likewise of the loops of the functions that called the one of this line."""
    for caller in callers:
        names = _given(trace, site, caller, _made_of(trace, site, names))
        # What a loop goes through is computed once.
        loops = [
            one
            for one in _loops_around(trace, caller)
            if isinstance(one, ast.While) or one.body[0].lineno <= caller.line
        ]
        if _stay(trace, caller, [*loops, *_lists_around(trace, site, caller)], names):
            return True
        site = caller
    return False


def _lists_around(trace: ProcessTrace, site: SourceLine, caller: SourceLine) -> list[_List]:
    """Return the comprehensions of a caller whose elements call the function of a line."""
    name = site.function.rpartition(".")[2]
    return [
        node
        for node in trace.sources.nodes(caller.path)
        if isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp))
        if node.lineno <= caller.line <= (node.end_lineno or 0)
        if any(isinstance(one, ast.Call) and called(one) == name for one in ast.walk(node.elt))
    ]


def _turning(loop: _Loop) -> set[str]:
    """Return the names by which the turns of a loop differ."""
    if isinstance(loop, (ast.ListComp, ast.SetComp, ast.GeneratorExp)):
        return {name for one in loop.generators for name in _names(one.target)}
    if isinstance(loop, ast.For):
        return _names(loop.target)
    return _names(loop.test) & {name for one in loop.body for name in stored(one)}


def _made_of(trace: ProcessTrace, site: SourceLine, names: set[str]) -> set[str]:
    """Return names, and those of which the function around a line makes what they are of.

    Methods may change what they are called of by what they are given.
    """
    around = trace.sources.functions_around(site.path, site.line)
    nodes = list(ast.walk(around[0]) if around else trace.sources.nodes(site.path))
    made: list[tuple[set[str], set[str]]] = []
    for node in nodes:
        match node:
            case ast.Assign(targets=targets, value=value):
                made.append(({part for one in targets for part in parts_of(one)}, _names(value)))
            case (
                ast.AugAssign(target=target, value=value)
                | ast.NamedExpr(target=target, value=value)
            ):
                made.append(({*parts_of(target)}, _names(value)))
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                made.append(({*parts_of(target)}, _names(value)))
            case ast.For(target=target, iter=value):
                made.append(({*parts_of(target)}, _names(value)))
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=owner)) as call):
                given = [*call.args, *(one.value for one in call.keywords)]
                made.append(({*parts_of(owner)}, {name for one in given for name in _names(one)}))
    found, n_before = set(names), -1
    while len(found) > n_before:
        n_before = len(found)
        for changed, values in made:
            # To store an item, or an attribute, changes what it is of, too.
            if any(_is_part(one, target) for one in found for target in changed):
                found |= values
    return found


def _is_part(name: str, target: str) -> bool:
    """Say whether a name is changed where this target is stored: ``d``, ``d.x`` or ``d[0]``."""
    root = target.partition("[")[0]
    return name == root or (name not in _OBJECTS and root.startswith(f"{name}."))


def _given(trace: ProcessTrace, site: SourceLine, caller: SourceLine, names: set[str]) -> set[str]:
    """Return the names that a caller gives for the parameters among these; others as they are."""
    around = trace.sources.functions_around(site.path, site.line)[:1]
    if not around:
        return names
    of = around[0].args
    own = [one.arg for one in (*of.posonlyargs, *of.args)]
    found = names - {*own, *(one.arg for one in of.kwonlyargs)}
    calls = trace.sources.calls_at(caller.path, caller.line)
    for call in (one for one in calls if called(one) == around[0].name):
        is_method = own[:1] == ["self"] and isinstance(call.func, ast.Attribute)
        if is_method and "self" in names:
            found |= _names(call.func)
        for place, one in enumerate(call.args, int(is_method)):
            if isinstance(one, ast.Starred) or place >= len(own) or own[place] in names:
                found |= _names(one)
        for each in call.keywords:
            if each.arg is None or each.arg in names:
                found |= _names(each.value)
    if all(called(one) != around[0].name for one in calls):  # called by another name
        found |= {name for call in calls for name in _names(call)}
    return found


def _names(node: ast.AST) -> set[str]:
    """Return the variables and attributes of code."""
    return {
        ast.unparse(one) for one in ast.walk(node) if isinstance(one, (ast.Name, ast.Attribute))
    }


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
            if _GIVEN in name.lower() and not _is_written(trace, node):
                return True
            if not isinstance(node, ast.Call):
                continue
            if called(node) in _READS or _is_unknown(trace, one, node):
                return True
            if called(node) not in seen:
                seen.add(called(node))
                left += _functions(trace, called(node))
    return False


def _is_written(trace: ProcessTrace, node: ast.AST) -> bool:
    """Say whether a name is that of a function which the program itself defines."""
    return isinstance(node, ast.Name) and bool(_functions(trace, node.id))


def _is_unknown(trace: ProcessTrace, function: Function, call: ast.Call) -> bool:
    """Say whether a function calls what it or its object was given, which may do anything."""
    match call.func:
        case ast.Attribute(value=ast.Name(id="self"), attr=name):
            return not _functions(trace, name) or _is_kept(trace, name)
        case ast.Name(id=name):
            own = {one.arg for one in ast.walk(function.args) if isinstance(one, ast.arg)}
            return name in own | stored(function)
        case ast.Attribute():
            return False
    return True


def _is_kept(trace: ProcessTrace, name: str) -> bool:
    """Say whether an object of the program keeps something by a name."""
    return any(
        isinstance(node, ast.Attribute) and node.attr == name and isinstance(node.ctx, ast.Store)
        for path in trace.sources.paths
        for node in trace.sources.nodes(path)
    )


def _functions(trace: ProcessTrace, name: str) -> list[tuple[str, Function]]:
    """Return the functions and methods of a name in the program."""
    return [
        (path, node)
        for path in trace.sources.paths
        for node in trace.sources.nodes(path)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == name
    ]


RULE = Rule(findings=_findings, codes=Codes(_REASONS), changes=_CHANGES)
