"""What a program of JAX does in vain: branches that are not chosen, steps that nobody uses.

Read from the program as JAX has traced it, and from the lines that its equations are from.
"""

from coldwarm.doctor.record import sites
from coldwarm.frameworks.jax_programs import equations, inner, n_equations, programs
from coldwarm.wire import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
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
_MANY_SORTED, _MANY_TURNS = 50_000, 1000
"""Fewest numbers that a turn sorts, and turns of a loop whose turns are looked at."""
_SMALL_TURN, _FEW_PUT = 4096, 16
"""Most numbers of an array that a turn makes, and that it puts into one."""
_ONE_HOT, _MANY_COLUMNS = "_one_hot", 256
"""How JAX calls what makes rows of zeros with one 1, and the fewest columns of such that matter."""
_FORMS = {"convert_element_type", "reshape", "broadcast_in_dim", "stop_gradient"}
"""Operations after which rows of zeros with one 1 may still lie along the last axis."""
_PUTS = {"scatter", "dynamic_update_slice"}


def in_vain(jaxpr: "Any") -> "dict[str, Any]":
    """Return what a program does in vain, as the journal has it; of a very large one nothing."""
    if n_equations(jaxpr) > MOST_EQUATIONS:
        return {}
    asking = _asking(jaxpr)
    return {
        "asking": asking,
        "heavy": _heavy(jaxpr) if asking else [],
        "kept_steps": _kept_steps(jaxpr),
        "sorted_turns": _sorted_turns(jaxpr),
        "apart": _apart(jaxpr),
        "picked": _picked(jaxpr),
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


def _picked(jaxpr: "Any") -> "list[Any]":
    """Return the user's lines that multiply with ``jax.nn.one_hot``, with its rows and columns.

    Where the product goes along its columns, so that it picks a row for each of its rows.
    """
    found: dict[Site, list[int]] = {}
    for program in programs(jaxpr):
        products = [one for one in program.eqns if one.primitive.name == "dot_general"]
        makers = {id(var): one for one in program.eqns for var in one.outvars} if products else {}
        for product in products:
            for var in _contracted_last(product):
                made = makers.get(id(var))
                while made is not None and _keeps_last(made):
                    made = makers.get(id(made.invars[0]))
                if made is None or not _makes_one_hot(made):
                    continue
                site = _first(product.source_info.traceback)
                shape = getattr(made.outvars[0].aval, "shape", ())
                if site is not None and shape and shape[-1] >= _MANY_COLUMNS:
                    numbers = found.setdefault(site, [0, 0])
                    numbers[0] += int(made.outvars[0].aval.size) // int(shape[-1])
                    numbers[1] = max(numbers[1], int(shape[-1]))
    return [[site, *numbers] for site, numbers in found.items()]


def _contracted_last(product: "Any") -> "list[Any]":
    """Return what a product goes through along the last axis alone; none where it has batches."""
    contracted, batches = product.params["dimension_numbers"]
    if any(map(len, batches)):
        return []
    return [
        var
        for var, axes in zip(product.invars, contracted, strict=True)
        if tuple(axes) == (len(var.aval.shape) - 1,)
    ]


def _keeps_last(equation: "Any") -> bool:
    """Say whether an operation gives an array another form, and leaves its last axis."""
    if equation.primitive.name not in _FORMS:
        return False
    before = getattr(equation.invars[0].aval, "shape", ())
    after = getattr(equation.outvars[0].aval, "shape", ())
    if not before or not after or before[-1] != after[-1]:
        return False
    placed = equation.params.get("broadcast_dimensions")
    return equation.params.get("dimensions") is None and (
        placed is None or (len(placed) > 0 and placed[-1] == len(after) - 1)
    )


def _makes_one_hot(equation: "Any") -> bool:
    """Say whether this is ``jax.nn.one_hot`` with its ones along the last axis."""
    if equation.params.get("name") != _ONE_HOT or not equation.invars:
        return False
    rows = getattr(equation.invars[0].aval, "shape", None)
    shape: tuple[int, ...] = getattr(equation.outvars[0].aval, "shape", ())
    # Where it is as long as wide, its shape does not tell which axis was asked for.
    return shape[:-1] == rows and shape[-1] not in shape[:-1]


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


def _in_loops(jaxpr: "Any") -> "Iterator[tuple[Any, Chain, int]]":
    """Yield the sorts of a program, and what is made of programs, with lines and turns.

    These are the user's lines, and how often loops repeat each. How often a ``while`` turns is not
    known: it counts as once.
    """
    left: list[tuple[Any, Chain, int]] = [(jaxpr, (), 1)]
    n_seen = 0  # what is shared is seen from each place
    while left and n_seen <= MOST_EQUATIONS:
        program, around, n_turns = left.pop()
        n_seen += len(program.eqns)
        for equation in program.eqns:
            name, below = equation.primitive.name, list(inner(equation))
            if not below and name != "sort":
                continue
            traceback = equation.source_info.traceback
            chain = (users_lines(traceback) if traceback is not None else ()) or around
            yield equation, chain, n_turns
            length = equation.params["length"] if name == "scan" else 1
            left += [(one, chain, n_turns * int(length)) for one in below]


def _sorted_turns(jaxpr: "Any") -> "list[Any]":
    """Return the user's lines that sort many numbers, with how often scans do so, and how many."""
    found: dict[Site, list[int]] = {}
    for equation, chain, n_turns in _in_loops(jaxpr):
        if equation.primitive.name != "sort" or not chain:
            continue
        size = max(int(getattr(one.aval, "size", 0)) for one in equation.outvars)
        if size >= _MANY_SORTED:
            found.setdefault(chain[0], [n_turns, size])
    return [[site, *numbers] for site, numbers in found.items()]


def _apart(jaxpr: "Any") -> "list[Any]":
    """Return the user's lines whose loops turn one by one though no turn needs another.

    With each are its turns, and how often loops around it repeat it, or turn in each of them.
    """
    found: dict[Site, list[int]] = {}
    for scan, chain, n_around in _in_loops(jaxpr):
        if scan.primitive.name != "scan" or scan.params["length"] < _MANY_TURNS:
            continue
        (body,) = inner(scan)
        # ``jit`` may have been given ``lax.map`` itself, so that no line of the user's calls it.
        lines = chain or tuple(filter(None, map(_made_by, body.eqns)))
        if lines and _only_puts(body, *_n_carried(scan.params)):
            n_further = n_around * _turns_inside(body)
            found.setdefault(lines[0], [int(scan.params["length"]), n_further])
    return [[site, *numbers] for site, numbers in found.items()]


def _made_by(equation: "Any") -> "Site | None":
    """Return where the user's function begins that an equation is from."""
    traceback = equation.source_info.traceback
    codes = traceback.raw_frames()[0] if traceback is not None else ()
    code = next(filter(sites.is_users, codes), None)
    if code is None:
        return None
    return sites.path_of(code.co_filename), code.co_firstlineno, code.co_qualname


def _turns_inside(program: "Any") -> int:
    """Return how often the innermost loop of a program turns that does so most often."""
    most = 1
    for equation in program.eqns:
        length = equation.params["length"] if equation.primitive.name == "scan" else 1
        most = max([most, *(int(length) * _turns_inside(one) for one in inner(equation))])
    return most


def _n_carried(parameters: "Any") -> "tuple[int, int]":
    """Return how many arrays a scan takes that stay, and how many that each turn gives on."""
    if "num_carry" in parameters:
        return parameters["num_consts"], parameters["num_carry"]
    # Later versions of JAX tell it by the trees of what stays, of what is carried and the rest.
    unpack = getattr(parameters.get("ft_in"), "unpack", None)
    stay, carried, *_ = map(len, unpack()) if unpack is not None else (0, 0)
    return stay, carried


def _only_puts(body: "Any", n_constants: int, n_carried: int) -> bool:
    """Say whether a turn takes nothing from those before it but where it puts its few numbers.

    ``jax.lax.map`` carries nothing at all.
    """
    uses, n_puts = _uses(body), 0
    carried = zip(
        body.invars[n_constants : n_constants + n_carried], body.outvars[:n_carried], strict=True
    )
    for before, after in carried:
        if int(getattr(before.aval, "size", 0)) == 1:
            if not _counts_up(body, before, after):
                return False
        elif _is_put_into(uses, before, after):
            n_puts += 1
        else:
            return False
    arrays = {id(one) for one in body.outvars}
    made = [one for equation in body.eqns for one in equation.outvars if id(one) not in arrays]
    return (n_puts > 0 or not n_carried) and all(
        int(getattr(one.aval, "size", 0)) <= _SMALL_TURN for one in made
    )


def _counts_up(body: "Any", before: "Any", after: "Any") -> bool:
    """Say whether a number of a loop only counts its turns, or stays."""
    if before is after:
        return True
    made = next((one for one in body.eqns if any(each is after for each in one.outvars)), None)
    if made is None or made.primitive.name != "add":
        return False
    return any(one is before for one in made.invars) and any(
        hasattr(one, "val") for one in made.invars
    )


def _is_put_into(uses: "dict[int, list[Any]]", before: "Any", after: "Any") -> bool:
    """Say whether a loop does nothing with an array but put a few numbers into it."""
    (use,) = uses.get(id(before), [None])[:1]
    if use is None or len(uses[id(before)]) != 1 or use.primitive.name not in _PUTS:
        return False
    given = use.invars[1 if use.primitive.name == "dynamic_update_slice" else -1]
    is_next = use.outvars[0] is after and uses.get(id(after)) == [None]
    return use.invars[0] is before and is_next and int(given.aval.size) <= _FEW_PUT


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
