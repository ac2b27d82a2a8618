"""Parts of a program that JAX has lowered: its constants, its inputs, its equations.

And what it takes when it runs, and what tells it from others, from the frames above a listener.
"""

from coldwarm.doctor.record.jax_work import MOST_EQUATIONS, form, n_bytes, users_lines
from coldwarm.frameworks.jax_programs import equations, n_equations
from coldwarm.wire import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

    from coldwarm.doctor.record.sites import Site

    Chain = tuple[Site, ...]
    """Lines of the user's that called each other, the innermost first."""


_FEWEST_EQUATIONS = 200
"""From so many on it is asked which lines they are from."""
_MOST_CHAINS = 24
"""The user's lines that have the most equations."""
_COMPILED = ("xla_executable", "compiled")
"""How JAX calls what it has just compiled."""
_NEAR = 8
"""Frames above a listener in which JAX holds it."""


def looked_into(lowered: "Any") -> "dict[str, Any] | None":
    """Return what is known of a program; ``None``: this version of JAX shows nothing."""
    closed, donated = lowered
    if closed is None:
        return None
    jaxpr = closed.jaxpr
    n_all = n_equations(jaxpr)
    is_small = n_all <= MOST_EQUATIONS
    inputs = [n_bytes(var.aval) for var in jaxpr.invars]
    return {
        "equations": n_all,
        "lines": _lines(jaxpr) if n_all >= _FEWEST_EQUATIONS and is_small else [],
        "constants_bytes": sum(map(n_bytes, closed.consts)),
        "constants_line": _first_use(jaxpr, closed.consts),
        "input_bytes": sum(inputs),
        "output_bytes": sum(n_bytes(var.aval) for var in jaxpr.outvars),
        "donated_bytes": sum(n for n, given in zip(inputs, donated, strict=False) if given),
        "reusable_bytes": _reusable(jaxpr, donated),
    }


def _reusable(jaxpr: "Any", donated: "Any") -> int:
    """Return the bytes of outputs that could take the place of an input of the same form.

    Those that have one which is given away need no other.
    """
    forms = [form(var.aval) for var in jaxpr.invars]
    gone = [one for one, given in zip(forms, donated, strict=False) if given]
    free = [one for place, one in enumerate(forms) if not any(donated[place : place + 1])]
    found = 0
    for var in jaxpr.outvars:
        one = form(var.aval)
        if one in gone:
            gone.remove(one)
        elif one in free:
            free.remove(one)
            found += n_bytes(var.aval)
    return found


def _first_use(jaxpr: "Any", constants: "Any") -> "Site | None":
    """Return the user's line that uses the largest constant first."""
    pairs = sorted(
        zip(jaxpr.constvars, constants, strict=False), key=lambda pair: -n_bytes(pair[1])
    )
    for var, _ in pairs[:1]:
        for equation in jaxpr.eqns:
            if any(one is var for one in equation.invars):
                traceback = equation.source_info.traceback
                return next(iter(users_lines(traceback)), None) if traceback else None
    return None


def _lines(jaxpr: "Any") -> "list[Any]":
    """Return the user's lines that have the most equations, each with the lines that called it.

    With each are the number of its equations, and how often the same place made one of them.
    """
    times: dict[Any, int] = {}
    chains: dict[Any, Chain] = {}
    for equation in equations(jaxpr):
        traceback = equation.source_info.traceback
        if traceback is None:
            continue
        codes, offsets = traceback.raw_frames()
        key = (*codes, *offsets, equation.primitive)
        times[key] = times.get(key, 0) + 1
        if key not in chains:
            chains[key] = users_lines(traceback)
    found: dict[Chain, list[int]] = {}
    for key, chain in chains.items():
        found.setdefault(chain, []).append(times[key])
    most = sorted(found.items(), key=lambda item: -sum(item[1]))
    return [[chain, sum(each), _usual(each)] for chain, each in most[:_MOST_CHAINS] if chain]


def _usual(times: "list[int]") -> int:
    """Return how often a place made what is in the middle of all equations."""
    passed = 0
    for each in sorted(times):
        passed += each
        if 2 * passed >= sum(times):
            return each
    return 0


def memory_of(frame: "FrameType | None") -> "dict[str, int] | None":
    """Return the bytes that the program just compiled takes when it runs, as XLA has planned them.

    ``None``: this version of JAX does not show them.
    """
    for _ in range(_NEAR):
        if frame is None:
            break
        name = next((one for one in _COMPILED if one in frame.f_code.co_varnames), None)
        compiled = frame.f_locals.get(name) if name is not None else None
        stats = getattr(compiled, "get_compiled_memory_stats", None)
        if stats is not None:
            planned = stats()
            return {
                "temporary": planned.temp_size_in_bytes,
                "arguments": planned.argument_size_in_bytes,
            }
        frame = frame.f_back
    return None


def fingerprint(frame: "FrameType | None") -> "str | None":
    """Return what tells a program that JAX is about to compile from others, as 16 digits.

    Two with the same fingerprint have the same text, without the lines of the source that it is
    from, and the same options. ``None``: this version of JAX does not show the program.
    """
    import hashlib

    for _ in range(_NEAR):
        if frame is None:
            break
        held = frame.f_locals
        program = held.get("computation")
        if program is not None and hasattr(program, "operation"):
            digest = hashlib.sha256(str(program).encode())
            options = held.get("compile_options")
            told = getattr(options, "SerializeAsString", None)
            digest.update(told() if told else b"")
            return digest.hexdigest()[:16]
        frame = frame.f_back
    return None
