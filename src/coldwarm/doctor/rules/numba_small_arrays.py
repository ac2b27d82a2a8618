"""Arrays of a few numbers that compiled functions of Numba make in each turn of a loop.

Numba asks for the memory of each and gives it back, which takes longer than computing a few
numbers. An expression element by element is one array, whatever it is made of. Read from the
source of functions that were compiled, and sizes that were given.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple, TypeGuard

from coldwarm.contracts.reasons import Codes, because
from coldwarm.doctor.rules import Rule
from coldwarm.doctor.source_code import called

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from coldwarm.contracts.doctor import Finding
    from coldwarm.doctor.source_code import Function
    from coldwarm.doctor.trace import CompiledCall, ProcessTrace


_REASONS = {
    "doctor_small_arrays": "each turn of this loop of {function}, which is compiled, makes"
    " at least {n_arrays:# array} of {n_elements:# number}; about {spent_s:time} were spent in"
    " calls of it",
    "doctor_small_arrays_called": "{function} makes an array of {n_elements:# number} whenever the"
    " loops of {caller} call it; about {spent_s:time} were spent in calls of {caller}",
    "doctor_small_product": "each turn of this loop of {function}, which is compiled, multiplies"
    " matrices of {n_rows:# row} with {call}, which makes an array and calls BLAS for a few"
    " numbers; about {spent_s:time} were spent in calls of {caller}",
}
_ADVICE = {
    "doctor_small_arrays": "write it number by number, such as dx = x[i, 0] - x[j, 0], or make one"
    " array before the loop and fill it",
    "doctor_small_arrays_called": "return the numbers themselves, as several values",
    "doctor_small_product": "write the product as loops over its few numbers, into an array that is"
    " made once",
}
_CHANGES = {"numba-small-arrays": "make no arrays in the innermost loop"}
_FEW = 8
"""Most numbers of a small array."""
_FEWEST = 2
"""Arrays in a turn."""
_SHORT = 12
"""Most statements of a function beside which making an array takes long."""
_FEW_ROWS = 4
"""Most rows of a small matrix."""
_MAKERS = {"zeros", "empty", "ones", "full", "array", "zeros_like", "empty_like"}
_LOOPS = (ast.For, ast.While)
_NUMPY = {"np", "numpy"}
_ELEMENTWISE = frozenset(
    (
        *("abs", "absolute", "fabs", "sign", "sqrt", "square", "power", "hypot", "copysign"),
        *("exp", "expm1", "exp2", "log", "log1p", "log2", "log10", "floor", "ceil", "rint"),
        *("sin", "cos", "tan", "arcsin", "arccos", "arctan", "arctan2", "sinh", "cosh", "tanh"),
        *("minimum", "maximum", "mod", "isnan", "isfinite", "deg2rad", "rad2deg"),
        *("float32", "float64", "int32", "int64"),
    )
)
"""Functions of NumPy's that compute each number by itself."""
_OF_NUMBERS = {"abs", "min", "max", "int", "float", "round", "len"}
"""Functions of Python's that take no longer than that."""
_TO_NUMBERS = {"sum", "dot", "norm", "max", "min", "mean", "prod", "any", "all", "vdot"}
"""Functions of NumPy's that make one number of an array."""


class _Made(NamedTuple):
    """Arrays that a turn makes: where the first one is, how many, and of how many numbers."""

    line: int
    n_arrays: int
    n_elements: int


def _findings(trace: ProcessTrace) -> Iterator[Finding]:
    """Name each function with such a loop once, where most of its work is in that loop."""
    done: set[int] = set()
    for call, function, spent_s in dear_functions(trace):
        if id(function) in done:
            continue
        made = _in_turns(function, call.given or {})
        if made is not None:
            done.add(id(function))
            says = because(
                "doctor_small_arrays",
                function=call.name,
                n_arrays=made.n_arrays,
                n_elements=made.n_elements,
                spent_s=spent_s,
            )
            yield trace.finding(
                "numba-small-arrays",
                trace.line_at(call.function.path or "", made.line),
                says,
                framework="numba",
                no_figure=because("doctor_depends"),
            )
    yield from _in_called(trace, done)
    yield from _products(trace)


def _in_called(trace: ProcessTrace, done: set[int]) -> Iterator[Finding]:
    """Name functions without a loop that make a small array, called in the loop of a dear one."""
    for call, function, spent_s in dear_functions(trace):
        if id(function) in done:
            continue
        depths = dict(loops(function, 0))
        deepest = [one for one, depth in depths.items() if depth == max(depths.values())]
        names = {called(one) for loop in deepest for one in ast.walk(loop) if _is_call(one)}
        for path, inner in _reached(trace, call.function.path or "", function):
            made = _given_back(inner) if _does_little(inner) else []
            is_short = not dict(loops(inner, 0)) and len(inner.body) <= _SHORT
            if inner.name in names and is_short and made and id(inner) not in done:
                done.add(id(inner))
                says = because(
                    "doctor_small_arrays_called",
                    function=inner.name,
                    caller=call.name,
                    n_elements=max(map(_constant, made)),
                    spent_s=spent_s,
                )
                site = trace.line_at(path, made[0].lineno)
                figure = because("doctor_depends")
                yield trace.finding(
                    "numba-small-arrays", site, says, framework="numba", no_figure=figure
                )


def _does_little(function: Function) -> bool:
    """Say whether a function calls nothing that may take longer than to make a small array."""
    for statement in function.body:
        for node in ast.walk(statement):
            if not _is_call(node):
                continue
            owner, _, name = ast.unparse(node.func).rpartition(".")
            is_known = (
                (
                    owner in _NUMPY
                    and (name in _ELEMENTWISE or (name in _MAKERS and _constant(node)))
                )
                or owner == "math"
                or (not owner and name in _OF_NUMBERS)
            )
            if not is_known:
                return False
    return True


def _given_back(function: Function) -> list[ast.Call]:
    """Return the small arrays that a function makes and returns, on each of its ways out."""
    made: dict[str, ast.Call] = {}
    found: list[ast.Call] = []
    nodes = list(ast.walk(function))
    for node in nodes:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as value) if _is_small(
                value
            ):
                made[name] = value
    for node in nodes:
        if isinstance(node, ast.Return):
            parts = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
            calls = [made.get(one.id) if isinstance(one, ast.Name) else one for one in parts]
            small = [one for one in calls if isinstance(one, ast.Call) and _is_small(one)]
            if not small:
                return []
            found += small
    return found


def _is_small(call: ast.Call) -> bool:
    """Say whether a call makes a small array of NumPy's."""
    owner, _, name = ast.unparse(call.func).rpartition(".")
    return owner in _NUMPY and name in _MAKERS and bool(_constant(call))


def _is_call(node: ast.AST) -> TypeGuard[ast.Call]:
    return isinstance(node, ast.Call)


def _products(trace: ProcessTrace) -> Iterator[Finding]:
    """Name products of small matrices in loops, also of functions that a dear one calls."""
    done: set[int] = set()
    for call, function, spent_s in dear_functions(trace):
        for path, inner in _reached(trace, call.function.path or "", function):
            found = None if id(inner) in done else _small_product(inner)
            done.add(id(inner))
            if found is not None:
                says = because(
                    "doctor_small_product",
                    function=inner.name,
                    n_rows=found[1],
                    call=_written(found[0]),
                    caller=call.name,
                    spent_s=spent_s,
                )
                site = trace.line_at(path, found[0].lineno)
                figure = because("doctor_depends")
                yield trace.finding(
                    "numba-small-arrays", site, says, framework="numba", no_figure=figure
                )


def _reached(trace: ProcessTrace, path: str, function: Function) -> Iterator[tuple[str, Function]]:
    """Yield a function, and those of the program that it calls by a name which one alone has."""
    by_name: dict[str, list[tuple[str, Function]]] = defaultdict(list)
    for file in trace.sources.paths:
        for node in trace.sources.nodes(file):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and _is_compiled(node):
                by_name[node.name].append((file, node))
    left, seen = [(path, function)], {function.name}
    while left:
        one = left.pop()
        yield one
        for node in ast.walk(one[1]):
            called_by = node.func if isinstance(node, ast.Call) else None
            name = called_by.id if isinstance(called_by, ast.Name) else ""
            if name not in seen and len(by_name[name]) == 1:
                seen.add(name)
                left += by_name[name]


def _is_compiled(function: Function) -> bool:
    """Say whether a function is under ``njit`` or ``jit``."""
    made = (one.func if isinstance(one, ast.Call) else one for one in function.decorator_list)
    return any(ast.unparse(one).rpartition(".")[2] in {"njit", "jit"} for one in made)


def _written(product: ast.Call | ast.BinOp) -> str:
    return ast.unparse(product.func) if isinstance(product, ast.Call) else "@"


def _small_product(function: Function) -> tuple[ast.Call | ast.BinOp, int] | None:
    """Return a product of small matrices in a loop, and its rows.

    That is one whose result is again the small matrix of the function's own that it is made of.
    """
    rows = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            n = _rows(node.value)
            names = [one.id for one in node.targets if isinstance(one, ast.Name)]
            rows.update(dict.fromkeys(names, n) if n else {})
    depths = dict(loops(function, 0))
    for loop in (one for one, depth in depths.items() if depth == max(depths.values())):
        for node in ast.walk(loop):
            made = node.value if isinstance(node, ast.Assign) else None
            targets = [*map(ast.unparse, node.targets)] if isinstance(node, ast.Assign) else []
            sides = _sides(made)
            known = [
                rows[name] for name in map(ast.unparse, sides) if name in rows.keys() & {*targets}
            ]
            if known and isinstance(made, (ast.Call, ast.BinOp)):
                return made, known[0]
    return None


def _sides(made: ast.expr | None) -> list[ast.expr]:
    """Return what a product multiplies; nothing where it is none."""
    if isinstance(made, ast.BinOp) and isinstance(made.op, ast.MatMult):
        return [made.left, made.right]
    is_dot = isinstance(made, ast.Call) and ast.unparse(made.func) in {"np.dot", "numpy.dot"}
    return made.args if isinstance(made, ast.Call) and is_dot else []


def _rows(made: ast.Call) -> int:
    """Return the rows of a square matrix that is written out and small; else 0."""
    name, first = ast.unparse(made.func), made.args[0] if made.args else None
    match first:
        case ast.Constant(value=int(n)) if name in {"np.eye", "np.identity"}:
            pass
        case ast.Tuple(elts=[ast.Constant(value=int(n)), ast.Constant(value=int(m))]) if (
            n == m and name in {"np.zeros", "np.ones", "np.empty"}
        ):
            pass
        case ast.List(elts=[ast.List(elts=inner), *_] as outer) if (
            len(inner) == len(outer) and name == "np.array"
        ):
            n = len(outer)
        case _:
            return 0
    return n if n <= _FEW_ROWS else 0


def dear_functions(trace: ProcessTrace) -> Iterator[tuple[CompiledCall, Function, float]]:
    """Yield the compiled functions whose calls took a share of the run, and their seconds."""
    for call in trace.calls:
        function = trace.sources.function(call.function.path or "", call.function.line or 0)
        if call.framework == "numba" and call.given is not None and function is not None:
            spent_s = _spent(trace, call)
            if trace.is_worth(spent_s):
                yield call, function, spent_s


def _spent(trace: ProcessTrace, call: CompiledCall) -> float:
    sites = {one.site for one in trace.places_of("numba") if one.name == call.short_name}
    return trace.spent_at(sites | ({call.site} if call.site is not None else set()))


def _in_turns(function: Function, given: Mapping[str, list[int]]) -> _Made | None:
    """Return what the innermost loop makes; ``None``: nothing, or others do as much work.

    Only where it is the one loop of its depth, and no loop is deeper.
    """
    depths = dict(loops(function, 0))
    if not depths:
        return None
    deepest = [one for one, depth in depths.items() if depth == max(depths.values())]
    if len(deepest) != 1 or not all(_contains(one, deepest[0]) for one in depths):
        return None
    (loop,) = deepest
    rows = {name: sizes[-1] for name, sizes in given.items() if len(sizes) > 1}
    arrays = _Arrays({name: size for name, size in rows.items() if size <= _FEW})
    for statement in ast.walk(function):
        if isinstance(statement, ast.Assign) and not _contains(loop, statement):
            arrays.take(statement)
    arrays.begin_turn()
    for statement in loop.body:
        arrays.take(statement)
    if arrays.calls_others or len(arrays.made) < _FEWEST:
        return None
    return _Made(min(arrays.lines), len(arrays.made), max(arrays.made))


def loops(node: ast.AST, depth: int) -> Iterator[tuple[ast.For | ast.While, int]]:
    """Yield the loops inside of something, and how deep each is."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _LOOPS):
            yield child, depth + 1
        yield from loops(child, depth + isinstance(child, _LOOPS))


def _contains(outer: ast.AST, inner: ast.AST) -> bool:
    return any(one is inner for one in ast.walk(outer))


class _Arrays:
    """The small arrays that one turn of a loop makes."""

    def __init__(self, rows: Mapping[str, int]) -> None:
        """Know of the arguments whose rows are small."""
        self._rows = rows
        self._small: dict[str, int] = {}
        self.made: list[int] = []
        self.lines: list[int] = []
        self.calls_others = False
        """Whether a turn calls something that may take longer than all of this."""

    def begin_turn(self) -> None:
        """Count from here on."""
        self.made, self.lines, self.calls_others = [], [], False

    def take(self, statement: ast.stmt) -> None:
        """Go through a statement, and those inside of it."""
        match statement:
            case ast.If(test=test, body=body, orelse=other):
                self._size(test)
                made, lines = [*self.made], [*self.lines]
                for one in (*body, *other):
                    self.take(one)
                self.made, self.lines = made, lines  # not made in each turn
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                size = self._size(value)
                if size:
                    self._small[name] = size
            case _:
                for child in ast.iter_child_nodes(statement):
                    if isinstance(child, ast.expr):
                        self._size(child)

    def _size(self, node: ast.expr, *, is_part: bool = False) -> int:
        """Return how many numbers a small array has; 0: it is none.

        What is made is counted, but not what is a part of a larger expression of this kind.
        """
        match node:
            case ast.Name(id=name):
                return self._small.get(name, 0)
            case ast.Subscript(value=ast.Name(id=name), slice=place):
                is_row = name in self._rows and not isinstance(place, (ast.Tuple, ast.Slice))
                return self._rows[name] if is_row else 0
            case ast.BinOp(left=left, right=right):
                sides = [self._size(one, is_part=True) for one in (left, right)]
                return max(sides) if is_part else self._new(node, max(sides))
            case ast.UnaryOp(operand=operand):
                size = self._size(operand, is_part=True)
                return size if is_part else self._new(node, size)
            case ast.Call():
                return self._of_call(node, is_part=is_part)
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self._size(child)
        return 0

    def _of_call(self, call: ast.Call, *, is_part: bool) -> int:
        name, owner = called(call), ast.unparse(call.func).partition(".")[0]
        if isinstance(call.func, ast.Attribute) and owner not in _NUMPY and name in _TO_NUMBERS:
            self._size(call.func.value)  # a method of an array, such as (d * d).sum()
            return 0
        is_elementwise = owner in _NUMPY and name not in {*_MAKERS, *_TO_NUMBERS}
        sizes = [self._size(one, is_part=is_elementwise) for one in call.args]
        given = max(sizes, default=0)
        if owner in _NUMPY and name in _MAKERS:
            return self._new(call, given or _constant(call))
        if owner in _NUMPY:
            is_new = is_elementwise and not is_part
            return self._new(call, given) if is_new else given * is_elementwise
        if owner not in {"math", "abs", "min", "max", "int", "float", "range", "len"}:
            self.calls_others = True
        return 0

    def _new(self, node: ast.expr, size: int) -> int:
        if size:
            self.made.append(size)
            self.lines.append(node.lineno)
        return size


def _constant(call: ast.Call) -> int:
    """Return the size of an array that is written out, where it is small."""
    first = call.args[0] if call.args else None
    match first:
        case ast.Constant(value=int(value)):
            return value if value <= _FEW else 0
        case ast.List(elts=elements) | ast.Tuple(elts=elements) if called(call) == "array":
            return len(elements) if len(elements) <= _FEW else 0
    return 0


RULE = Rule(findings=_findings, codes=Codes(_REASONS, _ADVICE), changes=_CHANGES)
