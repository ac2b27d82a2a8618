"""What a program that JAX has lowered is made of: its constants, its inputs, its equations."""

import sys

from coldwarm.doctor import sites
from coldwarm.frameworks.programs import n_equations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

MOST_EQUATIONS = 20_000
FEWEST_EQUATIONS = 200
"""From so many on it is asked which lines they are from."""
_LINES = 12
"""The user's lines that have the most equations."""
_COMPILED = ("xla_executable", "compiled")
"""How JAX calls what it has just compiled."""
_NEAR = 8
"""Frames above a listener in which JAX holds it."""


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


def looked_into(lowered: "Any") -> "dict[str, Any] | None":
    """Return what is known of a program; ``None``: this version of JAX shows nothing."""
    closed, donated = lowered
    if closed is None:
        return None
    jaxpr = closed.jaxpr
    n_all = n_equations(jaxpr)
    inputs = [_bytes(var.aval) for var in jaxpr.invars]
    return {
        "equations": n_all,
        "lines": _lines(jaxpr) if FEWEST_EQUATIONS <= n_all <= MOST_EQUATIONS else [],
        "constants_bytes": sum(map(_bytes, closed.consts)),
        "constants_line": _first_use(jaxpr, closed.consts),
        "input_bytes": sum(inputs),
        "output_bytes": sum(_bytes(var.aval) for var in jaxpr.outvars),
        "donated_bytes": sum(n for n, given in zip(inputs, donated, strict=False) if given),
        "reusable_bytes": _reusable(jaxpr, donated),
    }


def _reusable(jaxpr: "Any", donated: "Any") -> int:
    """Return the bytes of outputs that could take the place of an input of the same form."""
    given = [*donated, *[False] * len(jaxpr.invars)]
    free = [_form(var.aval) for var, gone in zip(jaxpr.invars, given, strict=False) if not gone]
    found = 0
    for var in jaxpr.outvars:
        form = _form(var.aval)
        if form in free:
            free.remove(form)
            found += _bytes(var.aval)
    return found


def _form(aval: "Any") -> "tuple[Any, ...]":
    return getattr(aval, "shape", None), str(getattr(aval, "dtype", None))


def _bytes(array: "Any") -> int:
    size, dtype = getattr(array, "size", 0), getattr(array, "dtype", None)
    try:
        return int(size) * int(getattr(dtype, "itemsize", 0))
    except TypeError:  # a size that is not known
        return 0


def _first_use(jaxpr: "Any", constants: "Any") -> "tuple[str, int] | None":
    """Return the user's line that uses the largest constant first."""
    pairs = sorted(zip(jaxpr.constvars, constants, strict=False), key=lambda pair: -_bytes(pair[1]))
    for var, _ in pairs[:1]:
        for equation in jaxpr.eqns:
            if any(one is var for one in equation.invars):
                return _line(equation.source_info)
    return None


def _lines(jaxpr: "Any") -> "list[Any]":
    """Return the user's lines that have the most equations, how many, and in how many turns.

    What a loop has written out is there once a turn at least: the primitive that a line has the
    fewest of tells how often it was run.
    """
    counts: dict[Any, dict[str, int]] = {}
    for equation in jaxpr.eqns:
        line = _line(equation.source_info)
        if line is not None:
            of_line = counts.setdefault(line, {})
            name = equation.primitive.name
            of_line[name] = of_line.get(name, 0) + 1
    most = sorted(counts.items(), key=lambda item: -sum(item[1].values()))[:_LINES]
    return [[*line, sum(names.values()), min(names.values())] for line, names in most]


def _line(source: "Any") -> "tuple[str, int] | None":
    """Return the user's file and line that an equation is from."""
    util = sys.modules["jax._src.source_info_util"]
    try:
        frames = list(util.user_frames(getattr(source, "traceback", source)))
    except AttributeError:  # up to 0.6 it takes the source information itself
        frames = list(util.user_frames(source))
    for frame in frames:
        if sites.kind(frame.file_name) == sites.USERS:
            return frame.file_name, frame.start_line
    return None
