"""Loops of Python that call something small very often: each call goes through Python.

How often is counted, and how long that took is known from looks at the program.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import Codes, because
from coldwarm.doctor.rules import Rule
from coldwarm.doctor.rules.reads import is_handed_over, is_needed
from coldwarm.doctor.source_code import called, variables

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from coldwarm.contracts.doctor import Finding
    from coldwarm.contracts.reasons import Reason
    from coldwarm.doctor.trace import CountedLine, ProcessTrace, SourceLine


_REASONS = {
    "doctor_numba_calls": "this loop of Python's called {function} at least {n_calls:# time},"
    " every {each_s:time}; about {spent_s:time} were spent at this line, and each call goes through"
    " Python",
    "doctor_typed_items": "this loop of Python's used {function} for about {spent_s:time}: each"
    " use is a call of compiled code through Python",
    "doctor_class_calls": "this loop of Python's uses methods or attributes of a class under"
    " @jitclass: each use is a call of compiled code through Python; about {spent_s:time} were"
    " spent at lines that do so",
    "doctor_block_in_loop": "compiled code, {function}, goes back to Python here {n_calls:# time}:"
    " with what it does between, that took about {spent_s:time}",
    "doctor_vectorized": "numpy.vectorize calls {function}, which is compiled, from Python once for"
    " each number; about {spent_s:time} were spent at this line",
    "doctor_stencil": "a function under @stencil is called from Python, and is compiled anew in"
    " each call: about {spent_s:time} were spent there",
    "doctor_callback": "SciPy calls {function} through Python for each value: about"
    " {spent_s:time} were spent at this line",
    "doctor_cfunc": "{function} is compiled under @cfunc, but a call from Python runs its Python"
    " code: about {spent_s:time} were spent in it",
    "doctor_generator": "this loop of Python's takes the values of {function} one by one from"
    " compiled code; about {spent_s:time} were spent in its own lines",
    "doctor_object_mode": "compiled code goes back to Python here: about {spent_s:time} were spent"
    " in {function}, which it calls in object mode",
    "doctor_stacked": "{call} copies parts of many objects into one tensor again and again, each"
    " by itself; about {spent_s:time} were spent at this line",
    "doctor_list_of_arrays": "about {spent_s:time} were spent at this line, which makes a tensor of"
    " a list: every number of it becomes a Python object",
    "doctor_list_given": "about {spent_s:time} were spent at this line, which makes a tensor of"
    " {argument}: an array is copied by that, and of a list every number becomes a Python object",
    "doctor_through_list": "about {spent_s:time} were spent at this line, which makes an array of"
    " a list that tolist() has made: every number becomes a Python object on the way",
    "doctor_jit_calls": "this loop called {function} {n_calls:# time}, {each_s:time} a call; what"
    " the loop did took about {spent_s:time}",
    "doctor_jit_carried": "this loop called {function} {n_calls:# time}, {each_s:time} a call, each"
    " with what the one before gave; what the loop did took about {spent_s:time}",
}
_ADVICE = {
    "doctor_jit_calls": "call it once for all of them, with jax.vmap over what changes from turn"
    " to turn",
    "doctor_jit_carried": "put many turns into one compiled call: jax.lax.scan, or"
    " jax.lax.fori_loop",
    "doctor_vectorized": "compile it with @numba.vectorize, which makes a function of whole arrays",
    "doctor_stencil": "call it in a function under @njit, and call that one",
    "doctor_cfunc": "give SciPy scipy.LowLevelCallable(function.ctypes); to call it from Python,"
    " compile it with numba.njit",
    "doctor_generator": "move the loop into a function under @njit, or let that fill an array",
    "doctor_stacked": "keep all of a kind in one tensor of full length, written in place when it"
    " is new, and take a batch by its numbers: states[index]",
    "doctor_list_given": "torch.from_numpy copies nothing; stack a list first, with"
    " torch.from_numpy(numpy.stack(list))",
    "doctor_through_list": "give the array itself, which copies at most its bytes; of a tensor of"
    " PyTorch's, tensor.numpy()",
    "doctor_callback": "compile it with numba.cfunc, and give SciPy"
    " scipy.LowLevelCallable(function.ctypes)",
    "doctor_typed_items": "fill or read it in a function under @njit, or use a NumPy array",
    "doctor_class_calls": "keep the state of all objects in arrays, or in one object, and move the"
    " loop into a compiled function",
}
_CHANGES = {
    "numba-call-per-element": "move the loop into a function under @njit, so that one call does"
    " all of it",
    "numba-object-mode": "write with what Numba compiles what this block asks Python for, or do it"
    " once outside of the compiled function",
    "jit-call-per-element": "do many turns in one compiled call: jax.vmap, jax.lax.scan",
    "tensor-from-list": "stack the arrays first: torch.from_numpy(numpy.stack(list)), or keep them"
    " in one array",
}
_MANY = 10_000
"""Calls of a loop, below which it is no matter that each goes through Python."""
_TURN_S = 2e-5
"""Longest turn in which a call of Numba's is small."""
_SHORT_S, _SHORTEST_S = 3e-4, 1e-4
"""Longest call of JAX's that is small: with an input of its own, and with the result before."""
_FEWEST = 3000
"""Calls with an input of its own."""
_TYPED = ("numba.List.", "numba.Dict.")
_OF_CLASSES = "numba._generate_"
"""Beginning of what calls methods and attributes of a class under ``@jitclass``."""
_HEADER_SHARE = 0.003
"""Share of a line's seconds that its loop's header takes at least where its turns are short."""
_COPIES_SHARE = 0.05
"""Such a share of lines that copy one value."""
_BACK = "numba._numba_unpickle"
"""What each block of object mode begins with."""
_VISIT_S = 1e-5
"""Longest turn that is mostly going to Python and back. While compiled code runs nobody can look,
so that its time is that of the next block: where it is longer, the two cannot be told apart."""
_VECTORIZED = "numpy.vectorize."
_STENCIL = "numba.StencilFunc.__call__"
_LOW_LEVEL = {"quad", "nquad", "dblquad", "tplquad", "generic_filter", "generic_filter1d"}
"""Functions of SciPy's that take a function as an address."""
_JOINS = {"stack", "cat", "concat", "vstack"}
_COLLATES, _AT_COLLATE = "collate", 6
"""Part of the name of a function that a ``DataLoader`` is given for its batches, and its place."""
_MAKERS = {"tensor", "as_tensor", "FloatTensor", "LongTensor", "DoubleTensor"}


def _findings(trace: ProcessTrace) -> Iterator[Finding]:
    """Name the lines at which such loops call."""
    yield from _of_numba(trace)
    yield from _of_typed(trace)
    yield from _of_classes(trace)
    yield from _of_stencils(trace)
    yield from _of_vectorized(trace)
    yield from _of_callbacks(trace)
    yield from _of_cfuncs(trace)
    yield from _of_generators(trace)
    yield from _of_object_mode(trace)
    yield from _of_jit(trace)
    yield from _of_lists(trace)


def _finding(
    trace: ProcessTrace, pattern: str, site: SourceLine, says: Reason, framework: str = "numba"
) -> Finding:
    n = says.values.get("n_calls", 1)
    n = n if isinstance(n, int) else 1
    return trace.finding_of_seconds(pattern, site, says, framework=framework, n=n)


def _spent_at(trace: ProcessTrace) -> dict[SourceLine, float]:
    """Return the seconds of each line itself, and of what it calls that is not in Python."""
    found: dict[SourceLine, float] = defaultdict(float)
    for spot, seconds in trace.spent:
        if not spot.below:
            found[spot.stack[0]] += seconds
    return found


def _of_numba(trace: ProcessTrace) -> Iterator[Finding]:
    spent_s = _spent_at(trace)
    for one in trace.places_of("numba"):
        seconds = spent_s.get(one.site, 0.0)
        each_s = one.counts[1] / 1e9 / max(one.n, 1)
        is_small = one.n >= _MANY and each_s <= _TURN_S and trace.in_loop(one.stack)
        if is_small and trace.is_worth(seconds):
            says = because(
                "doctor_numba_calls",
                function=one.name,
                n_calls=one.n,
                each_s=each_s,
                spent_s=seconds,
            )
            yield _finding(trace, "numba-call-per-element", one.site, says)


def _of_typed(trace: ProcessTrace) -> Iterator[Finding]:
    found: dict[tuple[SourceLine, str], float] = defaultdict(float)
    for spot, seconds in trace.spent:
        if spot.below.startswith(_TYPED) and trace.in_loop(spot.stack):
            found[spot.stack[0], spot.below] += seconds
    for (site, name), seconds in found.items():
        if trace.is_worth(seconds):
            says = because("doctor_typed_items", function=name, spent_s=seconds)
            yield _finding(trace, "numba-call-per-element", site, says)


def _of_classes(trace: ProcessTrace) -> Iterator[Finding]:
    """Name lines that call methods of a compiled class very often."""
    found: dict[SourceLine, float] = defaultdict(float)
    header_s: dict[tuple[str, int], float] = defaultdict(float)
    for spot, seconds in trace.spent:
        site = spot.stack[0]
        if spot.below.startswith(_OF_CLASSES):
            found[site] += seconds
        header_s[site.path, site.line] += seconds
    for site, of_methods_s in found.items():
        extent = trace.sources.loop(site.path, site.line)
        seconds = of_methods_s + (_of_attributes_s(trace, site, found) if extent else 0.0)
        if extent is None or not trace.is_worth(seconds):
            continue
        is_short = (
            header_s[site.path, extent[0]] >= _HEADER_SHARE * seconds
            or _copies_s(trace, site) >= _COPIES_SHARE * seconds
        )
        if is_short and extent[0] != site.line:
            says = because("doctor_class_calls", spent_s=seconds)
            yield _finding(trace, "numba-call-per-element", site, says)


def _copies_s(trace: ProcessTrace, site: SourceLine) -> float:
    """Return the seconds at lines of a loop that compute with single numbers, or copy one."""
    return sum(
        seconds
        for spot, seconds in trace.spent_in(site)
        if not spot.below and _is_quick(trace, spot.stack[0])
    )


def _is_quick(trace: ProcessTrace, site: SourceLine) -> bool:
    """Say whether a line calls nothing, and computes with no array that was seen there."""
    statement = trace.sources.statement(site.path, site.line)
    parts = [statement.test] if isinstance(statement, ast.If) else [statement]
    nodes = [one for part in parts if part is not None for one in ast.walk(part)]
    if not isinstance(statement, (ast.Assign, ast.If)):
        return False
    if any(isinstance(one, (ast.Call, ast.Slice)) for one in nodes):
        return False
    computed = [one for one in nodes if isinstance(one, (ast.BinOp, ast.Compare))]
    inside = [each for one in computed for each in ast.walk(one)]
    if any(isinstance(one, (ast.Attribute, ast.Subscript)) for one in inside):
        return False  # what that is nobody knows
    held = trace.held_at(site.path, site.line)
    return not any(name in held for one in computed for name in variables(one))


def _of_attributes_s(
    trace: ProcessTrace, site: SourceLine, methods: Mapping[SourceLine, float]
) -> float:
    """Return the seconds at other lines of a loop that use attributes of the same object."""
    calls = trace.sources.calls_at(site.path, site.line)
    owners = {ast.unparse(one.func.value) for one in calls if isinstance(one.func, ast.Attribute)}
    return sum(
        seconds
        for spot, seconds in trace.spent_in(site)
        if spot.stack[0] not in methods and not spot.below
        if _uses_attribute(trace.sources.statement(*spot.stack[0][:2]), owners)
    )


def _uses_attribute(statement: ast.stmt | None, owners: set[str]) -> bool:
    """Say whether a simple statement uses an attribute of one of these objects."""
    return isinstance(statement, (ast.Assign, ast.AugAssign, ast.Expr)) and any(
        isinstance(one, ast.Attribute) and ast.unparse(one.value) in owners
        for one in ast.walk(statement)
    )


def _of_stencils(trace: ProcessTrace) -> Iterator[Finding]:
    found: dict[SourceLine, float] = defaultdict(float)
    for spot, seconds in trace.spent:
        if spot.below == _STENCIL:
            found[spot.stack[0]] += seconds
    for site, seconds in found.items():
        if trace.is_worth(seconds):
            says = because("doctor_stencil", spent_s=seconds)
            yield _finding(trace, "numba-call-per-element", site, says)


def _of_vectorized(trace: ProcessTrace) -> Iterator[Finding]:
    """Name lines at which NumPy calls a compiled function for each number."""
    compiled = {one.short_name for one in trace.calls if one.framework == "numba"}
    given = [
        ast.unparse(node.args[0])
        for path in trace.sources.paths
        for node in trace.sources.nodes(path)
        if isinstance(node, ast.Call) and called(node) == "vectorize" and node.args
    ]
    names = sorted({one for one in given if one.rpartition(".")[2] in compiled})
    found: dict[SourceLine, float] = defaultdict(float)
    for spot, seconds in trace.spent if names else ():
        if spot.below.startswith(_VECTORIZED):
            found[spot.stack[0]] += seconds
    for site, seconds in found.items():
        if trace.is_worth(seconds):
            says = because("doctor_vectorized", function=names[0], spent_s=seconds)
            yield _finding(trace, "numba-call-per-element", site, says)


def _of_callbacks(trace: ProcessTrace) -> Iterator[Finding]:
    """Name calls of SciPy's that are given a compiled function, and could do without Python."""
    compiled = {one.short_name for one in trace.calls if one.framework == "numba"}
    found: dict[tuple[SourceLine, str], float] = defaultdict(float)
    for spot, seconds in trace.spent:
        if spot.below.startswith("scipy."):
            site = spot.stack[0]
            for call in trace.sources.calls_at(site.path, site.line):
                names = {one.id for one in call.args if isinstance(one, ast.Name)} & compiled
                if called(call) in _LOW_LEVEL and names:
                    found[site, names.pop()] += seconds
    for (site, name), seconds in found.items():
        if trace.is_worth(seconds):
            says = because("doctor_callback", function=name, spent_s=seconds)
            yield _finding(trace, "numba-call-per-element", site, says)


def _of_cfuncs(trace: ProcessTrace) -> Iterator[Finding]:
    """Name calls from Python of what is compiled for C alone."""
    found: dict[SourceLine, float] = defaultdict(float)
    names: dict[SourceLine, str] = {}
    for spot, seconds in trace.spent:
        here, *callers = spot.stack
        around = trace.sources.functions_around(here.path, here.line)
        if callers and around and any(map(_is_cfunc, around[0].decorator_list)):
            found[callers[0]] += seconds
            names.setdefault(callers[0], around[0].name)
    for site, seconds in found.items():
        if trace.is_worth(seconds):
            says = because("doctor_cfunc", function=names[site], spent_s=seconds)
            yield _finding(trace, "numba-call-per-element", site, says)


def _is_cfunc(decorator: ast.expr) -> bool:
    return isinstance(decorator, ast.Call) and called(decorator) == "cfunc"


def _of_generators(trace: ProcessTrace) -> Iterator[Finding]:
    """Name loops over what a compiled function yields, by the time of their own plain lines.

    What a turn calls may take long by itself: then it is no matter that it comes from Python.
    """
    done: set[SourceLine] = set()
    for call in trace.calls:
        place, site = call.definition, call.site
        if call.framework != "numba" or place is None or site is None or site in done:
            continue
        done.add(site)
        made = trace.sources.function(place.path, place.line)
        loop = _loop_over(trace, site) if made is not None and _yields(made) else None
        if loop is None:
            continue
        extent = range(loop.lineno, (loop.end_lineno or loop.lineno) + 1)
        spent_s = sum(
            seconds
            for spot, seconds in trace.spent
            if spot.stack[0].path == site.path and spot.stack[0].line in extent
            if not spot.below and _is_plain(trace, spot.stack[0])
        )
        if trace.is_worth(spent_s):
            says = because("doctor_generator", function=call.short_name, spent_s=spent_s)
            yield _finding(trace, "numba-call-per-element", site, says)


def _loop_over(trace: ProcessTrace, site: SourceLine) -> ast.For | None:
    """Return the loop whose values come from a line."""
    nodes = trace.sources.nodes(site.path)
    loops = (one for one in nodes if isinstance(one, ast.For) and one.iter.lineno == site.line)
    return next(loops, None)


def _is_plain(trace: ProcessTrace, site: SourceLine) -> bool:
    """Say whether a line calls nothing but what takes one number."""
    loop = _loop_over(trace, site)
    header = set() if loop is None else set(ast.walk(loop.iter))
    calls = trace.sources.calls_at(site.path, site.line)
    return all(_is_simple(one) for one in calls if one not in header)


def _yields(function: ast.AST) -> bool:
    return any(isinstance(one, (ast.Yield, ast.YieldFrom)) for one in ast.walk(function))


def _of_object_mode(trace: ProcessTrace) -> Iterator[Finding]:
    """Name blocks of object mode in whose Python code a compiled function was seen."""
    compiled = {one.site for one in trace.calls if one.framework == "numba" and one.site}
    compiled |= {one.site for one in trace.places_of("numba")}
    named: set[SourceLine] = set()
    times: dict[str, float] = defaultdict(float)
    for spot, seconds in trace.spots_at(compiled):
        if spot.below and not spot.below.startswith("numba."):
            times[spot.below] += seconds
    for name, seconds in times.items():
        site = _block_that_calls(trace, name) if trace.is_worth(seconds) else None
        if site is not None:
            named.add(site)
            says = because("doctor_object_mode", function=name, spent_s=seconds)
            yield _finding(trace, "numba-object-mode", site, says)
    yield from _of_blocks(trace, named)


def _of_blocks(trace: ProcessTrace, named: set[SourceLine]) -> Iterator[Finding]:
    """Name blocks of object mode that compiled code goes through again and again."""
    blocks = trace.places_of("object_mode")
    looked_s = sum(seconds for spot, seconds in trace.spent if spot.below == _BACK)
    each_s = looked_s / max(1, sum(one.n for one in blocks))
    for one in blocks if each_s <= _VISIT_S else ():
        spent_s = each_s * one.n
        if one.site not in named and trace.is_worth(spent_s):
            says = because(
                "doctor_block_in_loop", function=one.name, n_calls=one.n, spent_s=spent_s
            )
            yield _finding(trace, "numba-object-mode", one.site, says)


def _is_simple(call: ast.Call) -> bool:
    """Say whether a call is of a function of one number."""
    name = ast.unparse(call.func)
    return name.startswith("math.") or name in {"abs", "min", "max", "float", "int", "len"}


def _is_object_mode(block: ast.With) -> bool:
    heads = [one.context_expr for one in block.items]
    return any(isinstance(one, ast.Call) and called(one) == "objmode" for one in heads)


def _block_that_calls(trace: ProcessTrace, name: str) -> SourceLine | None:
    """Return the block of object mode that calls a function of this name."""
    last = name.rpartition(".")[2]
    for path in trace.sources.paths:
        for block in trace.sources.nodes(path):
            if not isinstance(block, ast.With) or not _is_object_mode(block):
                continue
            inside = [one for one in ast.walk(block) if isinstance(one, ast.Call)]
            if any(called(one) == last for one in inside):
                return trace.line_at(path, block.lineno)
    return None


def _of_jit(trace: ProcessTrace) -> Iterator[Finding]:
    for one in trace.places_of("jitted"):
        turned = trace.turned(one.stack)
        if turned is None or one.n < _FEWEST or is_handed_over(trace, one.stack, turned):
            continue
        each_s = one.counts[1] / 1e9 / one.n
        carried = _is_carried(trace, turned, one)
        if _is_for_host(trace, turned):
            continue
        if carried and (one.n < _MANY or each_s > _SHORTEST_S):
            continue
        spent_s = sum(seconds for _, seconds in trace.spent_in(turned))
        if each_s <= _SHORT_S and trace.is_worth(spent_s):
            code = "doctor_jit_carried" if carried else "doctor_jit_calls"
            n, name = one.n, one.name
            says = because(code, function=name, n_calls=n, each_s=each_s, spent_s=spent_s)
            yield _finding(trace, "jit-call-per-element", one.site, says, "jax")


def _is_for_host(trace: ProcessTrace, turned: SourceLine) -> bool:
    """Say whether a loop can't go on without what it reads."""
    reads = [one for one in trace.places_of("read") if trace.lines_within(one, turned)]
    return any(
        is_needed(trace, one, line, one.n)
        for one in reads
        if (line := trace.turned(one.stack)) is not None
    )


def _is_carried(trace: ProcessTrace, turned: SourceLine, one: CountedLine) -> bool:
    """Say whether a call is given what an earlier turn of the loop has made.

    A method may keep that in its object: then it is so unless each turn has an object of its own.
    """
    first, last = trace.sources.loop(turned.path, turned.line) or (0, 0)
    nodes = [
        node
        for node in trace.sources.nodes(turned.path)
        if first <= getattr(node, "lineno", 0) <= last or isinstance(node, ast.comprehension)
    ]
    turning = {
        name
        for node in nodes
        if isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension))
        and first <= node.target.lineno <= last
        for name in _names(node.target)
    }
    calls = _calls_at(nodes, turned.line)
    if one.site != turned and _keeps(trace, one.site):
        owners = {name for call in calls for name in _names(call.func)}
        return not owners & turning
    given = {name for call in calls for name in _given(call)}
    return bool(given & (_stored(nodes) - turning))


def _keeps(trace: ProcessTrace, site: SourceLine) -> bool:
    """Say whether the function at a line gives a call what it stores: in an object, for later."""
    around = trace.sources.functions_around(site.path, site.line)
    nodes = list(ast.walk(around[0])) if around else []
    calls = trace.sources.calls_at(site.path, site.line)
    given = {name for call in calls for name in _given(call)}
    return any("." in name for name in given & _stored(nodes))


def _calls_at(nodes: Iterable[ast.AST], line: int) -> list[ast.Call]:
    return [
        node
        for node in nodes
        if isinstance(node, ast.Call) and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]


def _given(call: ast.Call) -> set[str]:
    return {
        name
        for each in (*call.args, *(one.value for one in call.keywords))
        for name in _names(each)
    }


def _stored(nodes: Sequence[ast.AST]) -> set[str]:
    return {
        ast.unparse(node)
        for node in nodes
        if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Store)
    }


def _names(node: ast.AST) -> set[str]:
    return {
        ast.unparse(one) for one in ast.walk(node) if isinstance(one, (ast.Name, ast.Attribute))
    }


def _of_lists(trace: ProcessTrace) -> Iterator[Finding]:
    """Name lines of loops that make tensors of lists, where these lines themselves take long."""
    spent_s = _spent_at(trace)
    for spot, _ in trace.spent:
        site = spot.stack[0]
        seconds = spent_s.pop(site, 0.0)
        if not trace.is_worth(seconds):
            continue
        argument = _made_of(trace, site)
        if _goes_through_list(trace, site):
            says = because("doctor_through_list", spent_s=seconds)
            yield _finding(trace, "tensor-from-list", site, says, "jax")
        elif (call := _stacked(trace, site)) is not None and _is_repeated(trace, spot.stack):
            says = because("doctor_stacked", call=call, spent_s=seconds)
            yield _finding(trace, "tensor-from-list", site, says, "torch")
        elif argument is not None:
            is_list = _is_list(argument, _lists(trace, site))
            says = (
                because("doctor_list_of_arrays", spent_s=seconds)
                if is_list
                else because("doctor_list_given", spent_s=seconds, argument=ast.unparse(argument))
            )
            yield _finding(trace, "tensor-from-list", site, says, "torch")


def _goes_through_list(trace: ProcessTrace, site: SourceLine) -> bool:
    """Say whether a line makes an array of JAX's of what ``tolist`` gives."""
    return any(
        ast.unparse(one.func).partition(".")[0] in {"jnp", "jax"}
        and called(one) in {"array", "asarray"}
        and bool(one.args)
        and isinstance(one.args[0], ast.Call)
        and called(one.args[0]) == "tolist"
        for one in trace.sources.calls_at(site.path, site.line)
    )


def _is_repeated(trace: ProcessTrace, stack: Iterable[SourceLine]) -> bool:
    """Say whether a loop is around one of these lines, and not only a comprehension in it."""
    loops = (trace.sources.repeating(one.path, one.line) for one in stack)
    return any(isinstance(one, (ast.For, ast.While)) for one in loops)


def _stacked(trace: ProcessTrace, site: SourceLine) -> str | None:
    """Return the call by which a line puts parts of many objects together, each as it is kept."""
    for one in trace.sources.calls_at(site.path, site.line):
        parts = one.args[0] if one.args else None
        if (
            called(one) in _JOINS
            and ast.unparse(one.func).startswith("torch.")
            and isinstance(parts, (ast.ListComp, ast.GeneratorExp))
            and isinstance(parts.elt, (ast.Attribute, ast.Subscript))
            and isinstance(parts.elt.value, ast.Name)
            and parts.elt.value.id == ast.unparse(parts.generators[0].target)
            and not _is_collated(trace, site, parts.generators[0].iter)
        ):
            return ast.unparse(one.func)
    return None


def _is_collated(trace: ProcessTrace, site: SourceLine, given: ast.expr) -> bool:
    """Say whether these are the items that a data loader gives a function of the program's.

    It gives them one by one, so that to put them together is what the function is for.
    """
    names: set[str] = set()
    for path in trace.sources.paths:
        for node in trace.sources.nodes(path):
            for value in _collating(node):
                if any(one is given for one in ast.walk(value)):  # of a lambda
                    return True
                names |= {one.rpartition(".")[2] for one in _names(value)}
    for function in trace.sources.functions_around(site.path, site.line):
        own = {one.arg for one in ast.walk(function.args) if isinstance(one, ast.arg)}
        made = {one for one in _stored(list(ast.walk(function))) if "." not in one}
        called_by = {function.name, *_classes_around(trace, site)}
        is_so = any(one in names or _COLLATES in one.lower() for one in called_by)
        if is_so and _names(given) & (own | made):
            return True
    return False


def _collating(node: ast.AST) -> list[ast.expr]:
    """Return what a call gives as the function that puts items together."""
    if not isinstance(node, ast.Call):
        return []
    placed = node.args[_AT_COLLATE : _AT_COLLATE + 1] if called(node) == "DataLoader" else []
    return placed + [one.value for one in node.keywords if _COLLATES in (one.arg or "").lower()]


def _classes_around(trace: ProcessTrace, site: SourceLine) -> list[str]:
    return [
        node.name
        for node in trace.sources.nodes(site.path)
        if isinstance(node, ast.ClassDef) and node.lineno <= site.line <= (node.end_lineno or 0)
    ]


def _made_of(trace: ProcessTrace, site: SourceLine) -> ast.expr | None:
    """Return what a line makes a tensor of, where that is or may be a list."""
    found = (
        one.args[0]
        for one in trace.sources.calls_at(site.path, site.line)
        if ast.unparse(one.func).partition(".")[0] == "torch"
        and called(one) in _MAKERS
        and one.args
    )
    may_be = (ast.List, ast.ListComp, ast.Name, ast.Attribute)
    return next((one for one in found if isinstance(one, may_be) or _is_list(one, set())), None)


def _is_list(node: ast.expr, lists: set[str]) -> bool:
    is_made = isinstance(node, ast.Call) and called(node) in {"tolist", "list"}
    return is_made or isinstance(node, (ast.List, ast.ListComp)) or ast.unparse(node) in lists


def _lists(trace: ProcessTrace, site: SourceLine) -> set[str]:
    """Return the variables of the function around a line that are lists and nothing else."""
    found: set[str] = set()
    others: set[str] = set()
    for function in trace.sources.functions_around(site.path, site.line)[:1]:
        for node in ast.walk(function):
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                names = set(map(ast.unparse, targets))
                (found if _is_list(node.value, set()) else others).update(names)
    return found - others


RULE = Rule(
    findings=_findings,
    codes=Codes(_REASONS, _ADVICE),
    changes=_CHANGES,
    pages={"jit-call-per-element": "vmap-over-compiled-loop"},
)
