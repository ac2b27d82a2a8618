"""Parts of a program that JAX has lowered: its constants, its inputs, its equations.

And what it takes when it runs, and what tells it from others, from the frames above a listener.
"""

from coldwarm.doctor.record import sites
from coldwarm.frameworks.jax_programs import equations, inner, n_equations, programs
from coldwarm.wire import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

    from coldwarm.doctor.record.sites import Site

    Chain = tuple[Site, ...]
    """Lines of the user's that called each other, the innermost first."""


_MOST_EQUATIONS = 20_000
_FEWEST_EQUATIONS = 200
"""From so many on it is asked which lines they are from."""
_TRACES = "trace_to_jaxpr"
"""A function of JAX that traces another."""
_MOST_CHAINS, _MOST_LINES = 24, 5
"""The user's lines that have the most equations, and how many that called each other."""
_CONDITIONALS = "conditionals.py"
"""File of JAX's in which ``lax.cond`` and ``lax.switch`` are."""
_HEAVY = frozenset(
    (
        *("eigh", "eig", "svd", "qr", "lu", "cholesky", "schur", "hessenberg", "tridiagonal"),
        *("householder_product", "custom_linear_solve", "while", "scan", "fft", "sort"),
        "conv_general_dilated",
    )
)
"""Operations that take long next to those on each element."""
_PARTS = frozenset({"slice", "dynamic_slice", "gather"})
_FEWEST_STEPS = 16
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
    is_small = n_all <= _MOST_EQUATIONS
    asking = _asking(jaxpr) if is_small else []
    inputs = [_bytes(var.aval) for var in jaxpr.invars]
    return {
        "equations": n_all,
        "lines": _lines(jaxpr) if n_all >= _FEWEST_EQUATIONS and is_small else [],
        "constants_bytes": sum(map(_bytes, closed.consts)),
        "constants_line": _first_use(jaxpr, closed.consts),
        "input_bytes": sum(inputs),
        "output_bytes": sum(_bytes(var.aval) for var in jaxpr.outvars),
        "donated_bytes": sum(n for n, given in zip(inputs, donated, strict=False) if given),
        "reusable_bytes": _reusable(jaxpr, donated),
        "asking": asking,
        "heavy": _heavy(jaxpr) if asking else [],
        "kept_steps": _kept_steps(jaxpr) if is_small else [],
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


def _first_use(jaxpr: "Any", constants: "Any") -> "Site | None":
    """Return the user's line that uses the largest constant first."""
    pairs = sorted(zip(jaxpr.constvars, constants, strict=False), key=lambda pair: -_bytes(pair[1]))
    for var, _ in pairs[:1]:
        for equation in jaxpr.eqns:
            if any(one is var for one in equation.invars):
                traceback = equation.source_info.traceback
                return next(iter(_chain(traceback)), None) if traceback else None
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
            chains[key] = _chain(traceback)
    found: dict[Chain, list[int]] = {}
    for key, chain in chains.items():
        found.setdefault(chain, []).append(times[key])
    most = sorted(found.items(), key=lambda item: -sum(item[1]))
    return [[chain, sum(each), _usual(each)] for chain, each in most[:_MOST_CHAINS] if chain]


def _asking(jaxpr: "Any") -> "list[Site]":
    """Return the user's lines that ask by ``lax.cond`` or ``lax.switch`` and compute all branches.

    So it is below ``vmap`` where the condition is another for each element.
    """
    found = [
        _condition(one.source_info.traceback)
        for one in equations(jaxpr)
        if one.primitive.name == "select_n" and one.source_info.traceback is not None
    ]
    return list(dict.fromkeys(one for one in found if one is not None))


def _heavy(jaxpr: "Any") -> "list[Any]":
    """Return the operations that take long, each with the user's lines that it is from.

    What JAX has compiled as a function of its own is from where that is called.
    """
    found: dict[tuple[str, Chain], None] = {}
    left: list[tuple[Any, Chain]] = [(jaxpr, ())]
    seen: dict[int, Any] = {}
    while left:
        program, around = left.pop()
        if id(program) in seen:
            continue
        seen[id(program)] = program
        for equation in program.eqns:
            traceback = equation.source_info.traceback
            chain = (_chain(traceback) if traceback is not None else ()) or around
            if equation.primitive.name in _HEAVY:
                found.setdefault((equation.primitive.name, chain))
            left += [(one, chain) for one in inner(equation)]
    return list(found)[:_MOST_CHAINS]


def _condition(traceback: "Any") -> "Site | None":
    """Return the user's line that has asked, where that made a choice of JAX's: by element."""
    is_asked = False
    for code, offset in zip(*traceback.raw_frames(), strict=True):
        if sites.is_users(code):
            line = traceback.code_addr2line(code, offset)
            return (sites.path_of(code.co_filename), line, code.co_qualname) if is_asked else None
        is_asked |= code.co_filename.endswith(_CONDITIONALS)
    return None


def _kept_steps(jaxpr: "Any") -> "list[Any]":
    """Return the user's lines that keep every step of a scan of which they use one alone.

    With each are the steps, and the bytes of what is kept.
    """
    found: dict[Site, list[int]] = {}
    for program in programs(jaxpr):
        scans = [one for one in program.eqns if one.primitive.name == "scan"]
        for scan in scans:
            length, (body,) = scan.params["length"], inner(scan)
            kept = [
                _bytes(var.aval)
                for var, each in zip(scan.outvars, body.outvars, strict=True)
                if _form(var.aval) != _form(each.aval) and _is_used_once(program, var, length)
            ]
            traceback = scan.source_info.traceback
            site = next(iter(_chain(traceback)), None) if kept and traceback else None
            if site is not None and length >= _FEWEST_STEPS:
                found.setdefault(site, [length, 0])[1] += sum(kept)
    return [[site, *numbers] for site, numbers in found.items()]


def _is_used_once(program: "Any", var: "Any", length: int) -> bool:
    """Say whether of an array, which has an element for each step, one step alone is used."""
    if any(one is var for one in program.outvars):
        return False
    uses = [one for one in program.eqns if any(each is var for each in one.invars)]
    return bool(uses) and all(
        one.primitive.name in _PARTS
        and all(_bytes(out.aval) * length <= _bytes(var.aval) for out in one.outvars)
        for one in uses
    )


def _usual(times: "list[int]") -> int:
    """Return how often a place made what is in the middle of all equations."""
    passed = 0
    for each in sorted(times):
        passed += each
        if 2 * passed >= sum(times):
            return each
    return 0


def _chain(traceback: "Any") -> "Chain":
    """Return the user's lines that an equation is from, inside of the function that is traced."""
    found: list[Site] = []
    for code, offset in zip(*traceback.raw_frames(), strict=True):
        if sites.is_users(code):
            line = traceback.code_addr2line(code, offset)
            found.append((sites.path_of(code.co_filename), line, code.co_qualname))
        elif code.co_name.startswith(_TRACES):
            break  # up to some version of JAX the lines that called the function come next
    return tuple(found[:_MOST_LINES])


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
