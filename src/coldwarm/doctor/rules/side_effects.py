"""Side effects while a function is traced, and not when it is called."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import Codes, because
from coldwarm.doctor.rules import Rule
from coldwarm.doctor.source_code import called, extent, stored
from coldwarm.doctor.trace import SourceLine

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coldwarm.contracts.doctor import Finding
    from coldwarm.contracts.reasons import Reason
    from coldwarm.doctor.source_code import Function
    from coldwarm.doctor.trace import CountedLine, ProcessTrace


_REASONS = {
    "doctor_effect": "{call}() ran {n_times:# time} while its function was traced, and does"
    " not run when the compiled function is called",
    "doctor_draw": "{call}() drew random numbers while {function} was traced: each call of the"
    " compiled function gets the same ones",
    "doctor_changes": "{function} was traced, and changes `{what}`: that happens when it is"
    " compiled, and not when it is called",
}
_ADVICE = {
    "doctor_draw": "pass a key to the function, and draw with jax.random",
}
_CHANGES = {
    "side-effect-in-traced": "use jax.debug.print, or return the value",
}

_GENERATORS = ("default_rng", "RandomState", "Random", "SystemRandom")
_NO_FIGURES = ("print", "input", "open")
"""Effects that may well be meant to happen once for each compilation; a clock in a trace is not."""


def _findings(trace: ProcessTrace) -> Iterator[Finding]:
    """Name each line that prints, reads a clock or draws, while its function is traced."""
    for one in trace.places_of("effect"):
        code = "doctor_once" if one.name in _NO_FIGURES else "doctor_wrong_result"
        yield _effect(
            trace, one, because("doctor_effect", call=one.name, n_times=one.n), because(code)
        )
    drawn: dict[SourceLine, list[CountedLine]] = {}
    for one in trace.places_of("draw"):
        if not _has_seed(trace, one):
            drawn.setdefault(one.site, []).append(one)
    for site, places in drawn.items():
        names = dict.fromkeys(_method(one) for one in places)
        says = because("doctor_draw", call="() and ".join(names), function=site.function)
        yield _effect(trace, places[0], says, because("doctor_wrong_result"))
    yield from _changes_outside(trace)


def _method(one: CountedLine) -> str:
    return one.name.rpartition(".")[2]


def _effect(trace: ProcessTrace, one: CountedLine, says: Reason, why: Reason) -> Finding:
    return trace.finding("side-effect-in-traced", one.site, says, n=one.n, no_figure=why)


def _has_seed(trace: ProcessTrace, one: CountedLine) -> bool:
    """Say whether the numbers may be those of a seed, which are the same in every call anyway.

    So they are where a function sets a seed, or has made its generator from one. Where a generator
    comes from that a function is given, or takes from another call, is not known.
    """
    path, line = one.site.path, one.site.line
    roots = {call.function.line for call in trace.calls if call.function.path == path}
    functions = _traced(trace, path, line, roots)
    nodes = [node for function in functions for node in ast.walk(function)]
    if any(isinstance(node, ast.Call) and called(node) == "seed" and node.args for node in nodes):
        return True
    fresh = {
        target.id
        for node in nodes
        if isinstance(node, ast.Assign) and _is_fresh(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    own = {node.arg for node in nodes if isinstance(node, ast.arg)} - {"self"}
    own = own.union(*map(stored, functions))
    owners = (
        node.func.value
        for node in nodes
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == _method(one)
        and node.lineno <= line <= (node.end_lineno or line)
    )
    return any(_may_have_one(owner, own - fresh) for owner in owners)


def _may_have_one(owner: ast.expr, own: set[str]) -> bool:
    """Say whether a generator may be of a seed; ``own`` are names of which this is not known."""
    while isinstance(owner, (ast.Attribute, ast.Subscript)):
        owner = owner.value
    if isinstance(owner, ast.Call):
        return not _is_fresh(owner)
    return isinstance(owner, ast.Name) and owner.id in own


def _is_fresh(node: ast.expr) -> bool:
    """Say whether a generator is made without a seed."""
    if not isinstance(node, ast.Call) or called(node) not in _GENERATORS:
        return False
    return not (node.args or node.keywords)


def _traced(trace: ProcessTrace, path: str, line: int, roots: set[int | None]) -> list[Function]:
    """Return the functions around a line, the innermost first, up to one that is compiled."""
    found: list[Function] = []
    for function in trace.sources.functions_around(path, line):
        found.append(function)
        if (reach := extent(function)) is not None and reach[0] in roots:
            return found
    return found[:1]


_CHANGING = {"append", "extend", "add", "update", "insert", "setdefault"}
"""Methods of lists, sets and dicts that change them."""
_KNOWN = {"shape", "ndim", "size", "dtype", "aval"}
"""Attributes of an array that are known while it is traced."""


def _changes_outside(trace: ProcessTrace) -> Iterator[Finding]:
    """Name each line of a traced function that changes what is outside of it."""
    done: set[SourceLine] = set()
    for call in trace.calls:
        begin = call.definition
        if call.framework != "jax" or begin is None or call.is_frameworks:
            continue
        path = begin.path
        function = trace.sources.function(path, begin.line)
        if function is None:
            continue
        modules = _modules(trace, path)
        for at, what, code in _changes(function, _is_plain(trace, path, function)):
            site = SourceLine(path, at, call.name)
            if what not in modules and site not in done:
                done.add(site)
                why = because(code)
                yield trace.finding(
                    "side-effect-in-traced",
                    site,
                    because("doctor_changes", function=call.name, what=what),
                    framework=call.framework,
                    no_figure=why,
                )


def _modules(trace: ProcessTrace, path: str) -> set[str]:
    """Return the names under which a file has imported something."""
    return {
        (alias.asname or alias.name).partition(".")[0]
        for node in trace.sources.nodes(path)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
    }


def _changes(function: Function, plain: bool) -> Iterator[tuple[int, str, str]]:  # noqa: FBT001 - a fact
    """Yield lines that change a global, a list from outside, or an attribute, what, and the harm.

    What is computed in the function has no value while it is traced: keeping it is always wrong.
    To count, or to keep a shape, may be what is wanted.
    """
    parameters = {one.arg for one in ast.walk(function.args) if isinstance(one, ast.arg)}
    local = parameters | stored(function)
    shared = {
        name
        for node in ast.walk(function)
        if isinstance(node, (ast.Global, ast.Nonlocal))
        for name in node.names
    }
    own = local - shared
    for node in ast.walk(function):
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AugAssign(target=ast.Name(id=name), value=value)
            ) if name in shared:
                yield node.lineno, name, _harm([value], own)
            case ast.Expr(
                value=ast.Call(
                    func=ast.Attribute(value=ast.Name(id=name), attr=method),
                    args=args,
                    keywords=named,
                )
            ) if method in _CHANGING and name not in own:
                yield node.lineno, name, _harm([*args, *(one.value for one in named)], own)
            case ast.AugAssign(
                target=ast.Attribute(value=ast.Name(id="self"), attr=name), value=value
            ) if plain:
                yield node.lineno, f"self.{name}", _harm([value], own)


def _harm(values: list[ast.expr], own: set[str]) -> str:
    """Return why a change costs no time: it keeps what is computed, or not."""
    return "doctor_wrong_result" if any(_has(one, own) for one in values) else "doctor_once"


def _has(node: ast.AST, own: set[str]) -> bool:
    """Say whether an expression takes the value of a function's own variable."""
    match node:
        case ast.Attribute(attr=attr) if attr in _KNOWN:
            return False
        case ast.Call(func=ast.Name(id="len")):
            return False
        case ast.Name(id=name):
            return name in own
    return any(_has(one, own) for one in ast.iter_child_nodes(node))


def _is_plain(trace: ProcessTrace, path: str, function: Function) -> bool:
    """Say whether a method is of a class without bases: others may keep state for JAX."""
    return any(
        isinstance(node, ast.ClassDef) and function in node.body and not node.bases
        for node in trace.sources.nodes(path)
    )


RULE = Rule(
    findings=_findings,
    codes=Codes(_REASONS, _ADVICE),
    changes=_CHANGES,
)
