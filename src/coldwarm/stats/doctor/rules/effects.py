"""What happens while a function is traced, and not when it is called."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import because
from coldwarm.stats.doctor.drafts import Draft
from coldwarm.stats.doctor.lines import extent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coldwarm.contracts.reasons import Reason
    from coldwarm.stats.doctor.seen import Line, Place, Seen

    Function = ast.FunctionDef | ast.AsyncFunctionDef

_NO_FIGURES = ("print", "input", "open")
"""What may well be meant to happen once for each compilation; a clock in a trace is not."""


def findings(seen: Seen) -> Iterator[Draft]:
    """Name each line that prints, reads a clock or draws, while its function is traced."""
    for one in seen.places_of("effect"):
        code = "doctor_once" if one.name in _NO_FIGURES else "doctor_wrong_result"
        yield _draft(one, because("doctor_effect", call=one.name, n_times=one.n), because(code))
    drawn: dict[Line, list[Place]] = {}
    for one in seen.places_of("draw"):
        if not _has_seed(seen, one):
            drawn.setdefault(one.site, []).append(one)
    for site, places in drawn.items():
        names = dict.fromkeys(_method(one) for one in places)
        says = because("doctor_draw", call="() and ".join(names), function=site.function)
        yield _draft(places[0], says, because("doctor_wrong_result"))


def _method(one: Place) -> str:
    return one.name.rpartition(".")[2]


def _draft(one: Place, says: Reason, why: Reason) -> Draft:
    return Draft(
        pattern="side-effect-in-traced",
        framework="jax",
        site=one.site,
        n=one.n,
        cost_s=None,
        saving_s=None,
        says=says,
        null_reasons=dict.fromkeys(("cost_s", "saving_s"), why),
    )


def _has_seed(seen: Seen, one: Place) -> bool:
    """Say whether a function makes its generator itself, from a seed, or is given one.

    The numbers of a seed are the same in every call, compiled or not; where a generator comes from
    that a function is given is not known.
    """
    path, line = one.site.path, one.site.line
    roots = {call.function.get("line") for call in seen.calls if call.function.get("path") == path}
    functions = _traced(seen, path, line, roots)
    nodes = [node for function in functions for node in ast.walk(function)]
    if any(isinstance(node, ast.Call) and _called(node) == "seed" and node.args for node in nodes):
        return True
    given = {node.arg for node in nodes if isinstance(node, ast.arg)}
    seeded = {
        target.id
        for node in nodes
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and _given(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    name = _method(one)
    for node in nodes:
        match node:
            case ast.Call(func=ast.Attribute(value=owner, attr=attr)) if attr == name:
                if node.lineno <= line <= (node.end_lineno or line) and (
                    (isinstance(owner, ast.Name) and owner.id in given | seeded)
                    or (isinstance(owner, ast.Call) and _given(owner))
                ):
                    return True
    return False


def _traced(seen: Seen, path: str, line: int, roots: set[object]) -> list[Function]:
    """Return the functions around a line, the innermost first, up to one that is compiled."""
    found: list[Function] = []
    for function in seen.sources.functions_around(path, line):
        found.append(function)
        if (reach := extent(function)) is not None and reach[0] in roots:
            return found
    return found[:1]


def _given(call: ast.Call) -> bool:
    return bool(call.args or call.keywords)


def _called(call: ast.Call) -> str:
    return ast.unparse(call.func).rpartition(".")[2]
