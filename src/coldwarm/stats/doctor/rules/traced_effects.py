"""Functions that were traced and that change something outside of them: it happens once."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import because
from coldwarm.stats.doctor.drafts import Draft
from coldwarm.stats.doctor.seen import Line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coldwarm.stats.doctor.seen import Call, Seen

    Function = ast.FunctionDef | ast.AsyncFunctionDef

REASONS = {
    "doctor_changes": "{function} was traced, and changes `{what}`: that happens when it is"
    " compiled, and not when it is called",
}

_CHANGING = {"append", "extend", "add", "update", "insert", "setdefault"}
"""Methods of lists, sets and dicts that change them."""
_KNOWN = {"shape", "ndim", "size", "dtype", "aval"}
"""Of an array that is traced: what is known then."""


def findings(seen: Seen) -> Iterator[Draft]:
    """Name each line of a traced function that changes what is outside of it."""
    done: set[Line] = set()
    for call in seen.calls:
        path, line = call.function.get("path"), call.function.get("line")
        if call.framework != "jax" or not path or not line or call.is_frameworks:
            continue
        function = seen.sources.function(str(path), int(line))
        if function is None:
            continue
        modules = _modules(seen, str(path))
        for at, what, why in _changes(function, _is_plain(seen, str(path), function)):
            if what in modules:
                continue
            site = Line(str(path), at, call.name)
            if site not in done:
                done.add(site)
                yield _draft(site, what, call, why)


def _modules(seen: Seen, path: str) -> set[str]:
    """Return the names under which a file has imported something."""
    tree = seen.sources.tree(path)
    return {
        (alias.asname or alias.name).partition(".")[0]
        for node in (ast.walk(tree) if tree is not None else ())
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
    }


def _draft(site: Line, what: str, call: Call, why: str) -> Draft:
    return Draft(
        pattern="side-effect-in-traced",
        framework=call.framework,
        site=site,
        n=1,
        cost_s=None,
        saving_s=None,
        says=because("doctor_changes", function=call.name, what=what),
        null_reasons=dict.fromkeys(("cost_s", "saving_s"), because(why)),
    )


def _changes(function: Function, plain: bool) -> Iterator[tuple[int, str, str]]:  # noqa: FBT001 - a fact
    """Yield lines that change a global, a list from outside, or an attribute, what, and the harm.

    What is computed in the function has no value while it is traced: keeping it is always wrong.
    To count, or to keep a shape, may be what is wanted.
    """
    parameters = {one.arg for one in ast.walk(function.args) if isinstance(one, ast.arg)}
    local = parameters | {
        node.id
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
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


def _is_plain(seen: Seen, path: str, function: Function) -> bool:
    """Say whether a method is of a class without bases: others may keep state for JAX."""
    tree = seen.sources.tree(path)
    return any(
        isinstance(node, ast.ClassDef) and function in node.body and not node.bases
        for node in (ast.walk(tree) if tree is not None else ())
    )
