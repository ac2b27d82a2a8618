"""What is wrong with a program itself: constants in it, loops written out, state not given away."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import because
from coldwarm.stats.doctor.drafts import Draft
from coldwarm.stats.doctor.elsewhere import called_at
from coldwarm.stats.doctor.seen import Line
from coldwarm.stats.doctor.sites import kind_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from coldwarm.stats.doctor.seen import Call, Seen

REASONS = {
    "doctor_constants": "{function} holds {constants_bytes:size} of arrays that it takes from"
    " outside of its arguments",
    "doctor_equations": "this loop gave {n_equations} of the {n_all:# equation} of {function}",
    "doctor_donation": "{function} takes {argument_names} and gives it back in other memory:"
    " {state_bytes:size} that it could use again",
    "saving_turns": "what the loop took to compile, by its share of the equations, less one turn"
    " of {n_turns}",
    "doctor_memory": "it costs memory",
}
PARAMETERS = {
    "doctor_equations": "function n_equations n_all",
    "doctor_donation": "function state_bytes argument_names",
}
CHANGES = {
    "large-constant-capture": "pass the array as an argument",
    "python-loop-unrolled": "use jax.lax.scan or jax.lax.fori_loop for the loop",
    "no-donation": "give the memory away: jax.jit(…, donate_argnums=…)",
}

_LARGE_BYTES = 2**20
"""Of constants, and of state that could be given away."""
_FEWEST_EQUATIONS = 100
_FEWEST_TURNS = 16
"""Of a loop that was written out, for it to be worth a word: equations, and turns."""
_FEWEST_CALLS = 3


def findings(seen: Seen) -> Iterator[Draft]:
    """Look into every program that was compiled."""
    done: set[tuple[str, Line]] = set()
    for call in seen.calls:
        if call.program is None or call.is_operation or call.site is None:
            continue
        for draft in (_constants(seen, call), _unrolled(seen, call), _not_donated(seen, call)):
            if draft is not None and (draft.pattern, draft.site) not in done:
                done.add((draft.pattern, draft.site))
                yield draft


def _constants(seen: Seen, call: Call) -> Draft | None:
    n_bytes = int(call.program["constants_bytes"]) if call.program else 0
    if n_bytes < _LARGE_BYTES:
        return None
    return Draft(
        pattern="large-constant-capture",
        framework=call.framework,
        site=_use(seen, call),
        n=1,
        cost_s=call.total_s,
        saving_s=None,
        says=because("doctor_constants", function=call.name, constants_bytes=n_bytes),
        null_reasons={"saving_s": because("doctor_depends")},
    )


def _unrolled(seen: Seen, call: Call) -> Draft | None:
    """Name the loop that most of the equations are from, if it has many turns."""
    if call.program is None:
        return None
    found: dict[Line, tuple[int, int]] = {}
    for chain, number, turns in call.program["lines"]:
        header = _header(seen, chain)
        if header is not None:
            before = found.get(header, (0, 0))
            found[header] = before[0] + number, max(before[1], turns)
    for site, (number, turns) in sorted(found.items(), key=lambda item: -item[1][0]):
        if number >= _FEWEST_EQUATIONS and turns >= _FEWEST_TURNS:
            cost_s = call.total_s * min(1.0, number / call.program["equations"])
            is_again = kind_of(call) is not None  # what that saves is told of its own
            return Draft(
                pattern="python-loop-unrolled",
                framework=call.framework,
                site=site,
                n=number,
                cost_s=cost_s,
                saving_s=None if is_again else cost_s * (1 - 1 / turns),
                saving_from=None if is_again else because("saving_turns", n_turns=turns),
                null_reasons={"saving_s": because("doctor_depends")} if is_again else {},
                says=because(
                    "doctor_equations",
                    function=call.name,
                    n_equations=number,
                    n_all=call.program["equations"],
                ),
            )
    return None


def _header(seen: Seen, chain: Iterable[tuple[str, int, str]]) -> Line | None:
    """Return where the innermost loop begins that one of these lines is in."""
    for path, line, function in chain:
        loop = seen.sources.loop(path, line)
        if loop is not None:
            return Line(path, loop[0], function)
    return None


def _not_donated(seen: Seen, call: Call) -> Draft | None:
    """Name state that goes in and comes out again, where its memory is not given away."""
    n_bytes = int(call.program["reusable_bytes"]) if call.program else 0
    if n_bytes < _LARGE_BYTES:
        return None
    name = call.name.rpartition(".")[2]
    for stack in called_at(seen, call):
        replaced = _replaced(seen, stack, name)
        n_calls = _n_calls(seen, stack[0], name)
        if replaced and n_calls >= _FEWEST_CALLS:
            return Draft(
                pattern="no-donation",
                framework=call.framework,
                site=stack[0],
                n=n_calls,
                cost_s=None,
                saving_s=None,
                says=because(
                    "doctor_donation",
                    function=call.name,
                    state_bytes=n_bytes,
                    argument_names=sorted(replaced),
                ),
                null_reasons=dict.fromkeys(("cost_s", "saving_s"), because("doctor_memory")),
            )
    return None


def _replaced(seen: Seen, stack: Sequence[Line], name: str) -> set[str]:
    """Return what a line of a loop gives to a function and replaces by what comes back.

    In a method that a loop calls these are attributes: a variable may have another name outside.
    """
    site = stack[0]
    replaced = seen.sources.replaced(site.path, site.line, name)
    if seen.sources.loop(site.path, site.line):
        return replaced
    if seen.turned(stack[1:]) is None:
        return set()
    kept = {one for one in replaced if one.startswith("self.")}
    return kept - seen.sources.also_called(site.path)


def _n_calls(seen: Seen, site: Line, name: str) -> int:
    if not seen.sees_calls:
        return _FEWEST_CALLS  # in a loop: it is called again
    return sum(one.n for one in seen.places_at("jitted", site) if one.name == name)


def _use(seen: Seen, call: Call) -> Line:
    """Return where the largest constant is used, or else the function."""
    defined = seen.sources.function(
        str(call.function.get("path")), int(call.function.get("line", 0))
    )
    for name in call.captured if defined is not None else ():
        for node in ast.walk(defined) if defined is not None else ():
            if isinstance(node, ast.Name) and node.id == name:
                return Line(str(call.function["path"]), node.lineno, call.name)
    used = call.program["constants_line"] if call.program else None
    if used:
        return Line(str(used[0]), int(used[1]), call.name)
    path, line = call.function.get("path"), call.function.get("line")
    if path and line:
        return Line(str(path), int(line), call.name)
    return call.stack[0]
