"""What happens while a function is traced, and not when it is called."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import because
from coldwarm.stats.doctor.code.lines import extent
from coldwarm.stats.doctor.drafts import Draft

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coldwarm.contracts.reasons import Reason
    from coldwarm.stats.doctor.seen import Line, Place, Seen

    Function = ast.FunctionDef | ast.AsyncFunctionDef

REASONS = {
    "doctor_effect": "{call}() ran {n_times:# time} while its function was traced, and does"
    " not run when the compiled function is called",
    "doctor_draw": "{call}() drew random numbers while {function} was traced: each call of the"
    " compiled function gets the same ones",
}
ADVICE = {
    "doctor_draw": "pass a key to the function, and draw with jax.random",
}
CHANGES = {
    "side-effect-in-traced": "use jax.debug.print, or return the value",
}

_GENERATORS = ("default_rng", "RandomState", "Random", "SystemRandom")
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
    """Say whether the numbers may be those of a seed, which are the same in every call anyway.

    So they are where a function sets a seed, or has made its generator from one. Where a generator
    comes from that a function is given, or takes from another call, is not known.
    """
    path, line = one.site.path, one.site.line
    roots = {call.function.get("line") for call in seen.calls if call.function.get("path") == path}
    functions = _traced(seen, path, line, roots)
    nodes = [node for function in functions for node in ast.walk(function)]
    if any(isinstance(node, ast.Call) and _called(node) == "seed" and node.args for node in nodes):
        return True
    fresh = {
        target.id
        for node in nodes
        if isinstance(node, ast.Assign) and _is_fresh(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    own = {node.arg for node in nodes if isinstance(node, ast.arg)} - {"self"}
    own |= {
        node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
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
    if not isinstance(node, ast.Call) or _called(node) not in _GENERATORS:
        return False
    return not (node.args or node.keywords)


def _traced(seen: Seen, path: str, line: int, roots: set[object]) -> list[Function]:
    """Return the functions around a line, the innermost first, up to one that is compiled."""
    found: list[Function] = []
    for function in seen.sources.functions_around(path, line):
        found.append(function)
        if (reach := extent(function)) is not None and reach[0] in roots:
            return found
    return found[:1]


def _called(call: ast.Call) -> str:
    return ast.unparse(call.func).rpartition(".")[2]
