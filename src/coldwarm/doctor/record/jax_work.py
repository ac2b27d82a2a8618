"""What a program of JAX does in vain: branches that are not chosen, steps that nobody uses.

Read from the program as JAX has traced it, and from the lines that its equations are from.
"""

from coldwarm.doctor.record import sites
from coldwarm.frameworks.jax_programs import equations, inner, n_equations, programs
from coldwarm.wire import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    from coldwarm.doctor.record.sites import Site

    Chain = tuple[Site, ...]
    """Lines of the user's that called each other, the innermost first."""


MOST_EQUATIONS = 20_000
"""Of a program whose lines are looked at."""
_TRACES = "trace_to_jaxpr"
"""A function of JAX that traces another."""
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
_LARGE = 1000
"""Numbers that such an operation gives, below which it is no matter."""
_MOST_LINES, _MOST_HEAVY = 5, 24
"""Lines that called each other, and operations, that are told."""
_FEWEST_STEPS = 16


def in_vain(jaxpr: "Any") -> "dict[str, Any]":
    """Return what a program does in vain, as the journal has it; of a very large one nothing."""
    if n_equations(jaxpr) > MOST_EQUATIONS:
        return {}
    asking = _asking(jaxpr)
    return {
        "asking": asking,
        "heavy": _heavy(jaxpr) if asking else [],
        "kept_steps": _kept_steps(jaxpr),
    }


def _asking(jaxpr: "Any") -> "list[Site]":
    """Return the user's lines that ask by ``lax.cond`` or ``lax.switch`` and compute all branches.

    So it is below ``vmap`` where the condition may be another for each element.
    """
    found = [
        _condition(one.source_info.traceback)
        for one in equations(jaxpr)
        if one.primitive.name == "select_n" and one.source_info.traceback is not None
    ]
    return list(dict.fromkeys(one for one in found if one is not None))


def _condition(traceback: "Any") -> "Site | None":
    """Return the user's line that has asked, where that made a choice of JAX's: by element."""
    is_asked = False
    for code, offset in zip(*traceback.raw_frames(), strict=True):
        if sites.is_users(code):
            return _site(traceback, code, offset) if is_asked else None
        if code.co_name.startswith(_TRACES):  # the choice is in a branch, or around all
            return None
        is_asked |= code.co_filename.endswith(_CONDITIONALS)
    return None


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
            below = list(inner(equation))
            name = equation.primitive.name
            if not below and name not in _HEAVY:
                continue
            traceback = equation.source_info.traceback
            chain = (users_lines(traceback) if traceback is not None else ()) or around
            if name in _HEAVY and _n_numbers(equation) >= _LARGE:
                found.setdefault((name, chain))
            left += [(one, chain) for one in below]
    return list(found)[:_MOST_HEAVY]


def _n_numbers(equation: "Any") -> int:
    return sum(int(getattr(one.aval, "size", 0)) for one in equation.outvars)


def _kept_steps(jaxpr: "Any") -> "list[Any]":
    """Return the user's lines that keep every step of a scan of which they use one alone.

    With each are the steps, and the bytes of what is kept.
    """
    found: dict[Site, list[int]] = {}
    for program in programs(jaxpr):
        scans = [one for one in program.eqns if one.primitive.name == "scan"]
        uses = _uses(program) if scans else {}
        for scan in scans:
            length, (body,) = scan.params["length"], inner(scan)
            kept = [
                n_bytes(var.aval)
                for var, each in zip(scan.outvars, body.outvars, strict=True)
                if form(var.aval) != form(each.aval) and _is_one_step(uses.get(id(var), ()))
            ]
            site = _first(scan.source_info.traceback) if kept and length >= _FEWEST_STEPS else None
            if site is not None:
                found.setdefault(site, [length, 0])[1] += sum(kept)
    return [[site, *numbers] for site, numbers in found.items()]


def _uses(program: "Any") -> "dict[int, list[Any]]":
    """Return the equations that use each variable; ``None`` among them: it comes out."""
    found: dict[int, list[Any]] = {}
    for equation in program.eqns:
        for var in equation.invars:
            found.setdefault(id(var), []).append(equation)
    for var in program.outvars:
        found.setdefault(id(var), []).append(None)
    return found


def _is_one_step(uses: "Any") -> bool:
    """Say whether of an array, which has an element for each step, one step alone is used."""
    if len(uses) != 1 or uses[0] is None:
        return False
    (use,) = uses
    sizes: Any = getattr(use.outvars[0].aval, "shape", ()) if use.primitive.name == "slice" else ()
    if use.primitive.name in {"dynamic_slice", "gather"}:
        sizes = use.params["slice_sizes"]
    is_alone = use.primitive.name != "gather" or use.invars[1].aval.ndim == 1
    return is_alone and bool(sizes) and sizes[0] == 1


def _first(traceback: "Any") -> "Site | None":
    """Return the user's line that an equation is from; ``None``: a package has made it."""
    for code, offset in zip(*traceback.raw_frames(), strict=True) if traceback else ():
        kind = sites.kind(code.co_filename)
        if kind == sites.USERS:
            return _site(traceback, code, offset)
        if kind == sites.INSTALLED:
            return None
    return None


def users_lines(traceback: "Any") -> "Chain":
    """Return the user's lines that an equation is from, inside of the function that is traced."""
    found: list[Site] = []
    for code, offset in zip(*traceback.raw_frames(), strict=True):
        if sites.is_users(code):
            found.append(_site(traceback, code, offset))
        elif code.co_name.startswith(_TRACES):
            break  # up to some version of JAX the lines that called the function come next
    return tuple(found[:_MOST_LINES])


def _site(traceback: "Any", code: "Any", offset: int) -> "Site":
    line = traceback.code_addr2line(code, offset)
    return sites.path_of(code.co_filename), line, code.co_qualname


def form(aval: "Any") -> "tuple[Any, ...]":
    """Return the shape and dtype of an array."""
    return getattr(aval, "shape", None), str(getattr(aval, "dtype", None))


def n_bytes(array: "Any") -> int:
    """Return the size of an array; 0 where it is not known."""
    size, dtype = getattr(array, "size", 0), getattr(array, "dtype", None)
    try:
        return int(size) * int(getattr(dtype, "itemsize", 0))
    except TypeError:  # a size that is not known
        return 0
