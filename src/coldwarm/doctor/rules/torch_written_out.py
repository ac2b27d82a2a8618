"""What a program writes out in several operations of PyTorch's, and PyTorch has one function for.

How long it took and how large the arrays are is known from looks at the program, and what it does
from its source.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from coldwarm.contracts.reasons import Codes, because
from coldwarm.doctor.rules import Rule
from coldwarm.doctor.rules.sized_arrays import sized_lines
from coldwarm.doctor.source_code import called, only_assignment, stored, variables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from coldwarm.contracts.doctor import Finding
    from coldwarm.doctor.rules.sized_arrays import SizedLine
    from coldwarm.doctor.trace import ProcessTrace


_REASONS = {
    "doctor_distances": "the differences of {n_rows:# point} from {n_columns:# point} are made as"
    " an array of {n_elements:# number}, only to add up their squares; about {spent_s:time} were"
    " spent in that",
    "doctor_one_hot": "a matrix of zeros and ones is made of numbers, to multiply with it: that"
    " picks rows; about {spent_s:time} were spent in that",
    "doctor_sorted_for_few": "{call} sorts {n_elements:# number} in each row, of which {n_used} are"
    " used; about {spent_s:time} were spent in that",
    "doctor_inverse": "the inverse of {n_rows} by {n_rows} numbers is made for one product; about"
    " {spent_s:time} were spent in that",
    "doctor_attention": "attention is written out, with the whole matrix of its weights; about"
    " {spent_s:time} were spent in that",
    "doctor_cells": "this loop gives {call} one step of a sequence after the other; about"
    " {spent_s:time} were spent in that",
}
_CHANGES = {
    "distances-written-out": "use torch.cdist(x, y), or x.square().sum(1)[:, None] - 2 * x @ y.T +"
    " y.square().sum(1) for squares, where rounding of small distances does not matter",
    "one-hot-product": "take the rows by their numbers, weight[index], or"
    " torch.nn.functional.embedding(index, weight)",
    "sorted-for-few": "torch.topk(x, k), with largest=False for the smallest",
    "inverse-for-product": "torch.linalg.solve(a, b) for the inverse of a times b",
    "attention-written-out": "torch.nn.functional.scaled_dot_product_attention(q, k, v), which"
    " divides by the root of the last dimension by itself",
    "cells-in-loop": "give the whole sequence at once to torch.nn.LSTM, GRU or RNN, which has the"
    " same weights",
}
_MANY_DIFFERENCES, _FEW_NUMBERS = 200_000, 4
"""Fewest numbers of all differences, and how many times as many are sorted as are used."""
_LARGE_MATRIX, _LONG_ROW = 200, 200
_POINTS = 2
"""Dimensions of an array of points."""
_REDUCING = {"sum", "norm", "vector_norm"}
_SQUARING = {"pow", "square"}
_LAST = {"-1", "2"}
"""The last dimension of the differences."""
_INVERSES = {"inv", "inverse"}
_SORTS = {"sort", "argsort"}
_PRODUCTS = {"matmul", "mm", "bmm"}
_CASTS = {"float", "double", "half", "to", "type", "type_as", "bfloat16"}
_CELLS = {"LSTMCell", "GRUCell", "RNNCell"}


class _Scope(NamedTuple):
    """A line that took long, and the function or the module that it is in."""

    line: SizedLine
    nodes: list[ast.AST]
    """All of the function."""
    seconds: Mapping[int, float]
    """Of each line of the file."""

    def spent(self, *nodes: ast.AST) -> float:
        """Return the seconds of the lines of some statements."""
        lines = {
            number
            for node in nodes
            for number in range(node.lineno, (node.end_lineno or node.lineno) + 1)  # type: ignore[attr-defined] # of statements
        }
        return sum(self.seconds.get(number, 0.0) for number in lines)

    def uses(self, name: str) -> int:
        """Return how often a variable is read."""
        return sum(
            isinstance(one, ast.Name) and one.id == name and isinstance(one.ctx, ast.Load)
            for one in self.nodes
        )

    def value(self, node: ast.expr, n_uses: int = 1) -> tuple[ast.expr, list[ast.AST]]:
        """Return what an expression stands for, and the statement that has made it, if another.

        Nothing else may use it: it is read so often.
        """
        node = _bare(node)
        made = only_assignment(self.nodes, node.id) if isinstance(node, ast.Name) else None
        if made is None or not isinstance(node, ast.Name) or self.uses(node.id) != n_uses:
            return node, []
        return _bare(made.value), [made]


def _findings(trace: ProcessTrace) -> Iterator[Finding]:
    """Name each statement once."""
    seen = list(sized_lines(trace))
    done: set[tuple[str, str, int]] = set()
    for line in seen:
        path = line.site.path
        if not trace.sources.imports(path, "torch"):
            continue
        around = next(iter(trace.sources.functions_around(path, line.site.line)), None)
        nodes = list(ast.walk(around)) if around is not None else list(trace.sources.nodes(path))
        seconds = {one.site.line: one.seconds for one in seen if one.site.path == path}
        scope = _Scope(line, nodes, seconds)
        for pattern, find in _KINDS.items():
            for one in find(trace, scope):
                place = pattern, path, line.statement.lineno
                if place not in done and trace.is_worth(float(str(one.says.values["spent_s"]))):
                    done.add(place)
                    yield one


def _finding(
    trace: ProcessTrace, scope: _Scope, pattern: str, code: str, **values: str | float
) -> Finding:
    says = because(code, **values)
    return trace.finding_of_seconds(pattern, scope.line.site, says, framework="torch")


def _distances(trace: ProcessTrace, scope: _Scope) -> Iterator[Finding]:
    """Name distances for which all differences are made."""
    for node in ast.walk(scope.line.statement):
        squares = _reduced(node) if isinstance(node, ast.Call) else None
        if squares is None or not isinstance(node, ast.Call):
            continue
        squared = _squared(squares)
        if squared is None and called(node) == "sum":
            continue
        differences, statements = scope.value(*(squared or (squares, 1)))
        shapes = _outer(differences, scope)
        if shapes is None:
            continue
        (n, d), (m, _) = shapes
        spent_s = scope.spent(scope.line.statement, *statements)
        if n * m * d >= _MANY_DIFFERENCES:
            told = {"n_rows": n, "n_columns": m, "n_elements": n * m * d, "spent_s": spent_s}
            yield _finding(trace, scope, "distances-written-out", "doctor_distances", **told)


def _reduced(node: ast.Call) -> ast.expr | None:
    """Return what is added up, or made a norm of, along the last dimension."""
    if called(node) not in _REDUCING:
        return None
    is_function = ast.unparse(node.func).startswith("torch.")
    own = node.func.value if isinstance(node.func, ast.Attribute) else None
    dimension = next((one.value for one in node.keywords if one.arg in {"dim", "axis"}), None)
    if dimension is None and called(node) == "sum":
        dimension = next(iter(node.args[is_function:]), None)
    if dimension is None or ast.unparse(dimension) not in _LAST:
        return None
    return next(iter(node.args), None) if is_function else own


def _squared(node: ast.expr) -> tuple[ast.expr, int] | None:
    """Return what is squared, and how often it stands there; ``None``: nothing is."""
    match node:
        case ast.BinOp(left=left, op=ast.Pow()):
            return left, 1
        case ast.BinOp(left=left, right=right, op=ast.Mult()) if _same(left, right):
            return left, 2
        case ast.Call(func=ast.Attribute(value=ast.Name(id="torch"))) if called(node) in _SQUARING:
            return node.args[0], 1
        case ast.Call(func=ast.Attribute(value=value)) if called(node) in _SQUARING:
            return value, 1
    return None


def _same(one: ast.expr, other: ast.expr) -> bool:
    return ast.unparse(one) == ast.unparse(other)


def _outer(node: ast.expr, scope: _Scope) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """Return the shapes of two arrays of points, each of whose differences is made."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Sub):
        return None
    sides = [_with_new_dimension(one) for one in (node.left, node.right)]
    if None in sides or {side[1] for side in sides if side} != {0, 1}:
        return None
    arrays = [scope.line.size_of(side[0]) for side in sides if side]
    shapes = [one.shape for one in arrays if one is not None and len(one.shape) == _POINTS]
    return (shapes[0], shapes[1]) if len(shapes) == len(sides) else None


def _with_new_dimension(node: ast.expr) -> tuple[ast.expr, int] | None:
    """Return an array of points that is given one more dimension, and where."""
    match node:
        case ast.Call(func=ast.Attribute(value=value, attr="unsqueeze"), args=[place]):
            return (value, int(ast.unparse(place))) if ast.unparse(place) in "01" else None
        case ast.Subscript(value=value, slice=ast.Constant(value=None)):
            return value, 0
        case ast.Subscript(value=value, slice=ast.Tuple(elts=[first, second, *_])):
            new = [isinstance(one, ast.Constant) and one.value is None for one in (first, second)]
            return (value, new.index(True)) if any(new) else None
    return None


def _one_hot(trace: ProcessTrace, scope: _Scope) -> Iterator[Finding]:
    """Name products with a matrix that picks rows."""
    for left, _ in _products(scope.line.statement):
        made, statements = scope.value(left)
        if isinstance(made, ast.Call) and called(made) == "one_hot":
            spent_s = scope.spent(scope.line.statement, *statements)
            told = {"spent_s": spent_s}
            yield _finding(trace, scope, "one-hot-product", "doctor_one_hot", **told)


def _sorted_for_few(trace: ProcessTrace, scope: _Scope) -> Iterator[Finding]:
    """Name what is sorted as a whole, and used in its first part alone."""
    for node in ast.walk(scope.line.statement):
        n_used = _first_few(trace, scope, node) if isinstance(node, ast.Subscript) else None
        if n_used is None or not isinstance(node, ast.Subscript):
            continue
        made, statements = scope.value(_of_sorted(node.value))
        made = _of_sorted(made)
        if not isinstance(made, ast.Call) or called(made) not in _SORTS:
            continue
        is_function = ast.unparse(made.func).startswith("torch.")
        own = made.func.value if isinstance(made.func, ast.Attribute) else None
        array = scope.line.size_of(next(iter(made.args), None) if is_function else own)
        shape = array.shape if array is not None else ()
        longest = shape[-1] if _is_along_last(node, made, is_function, len(shape)) else 0
        if longest >= max(_LONG_ROW, _FEW_NUMBERS * n_used):
            told: dict[str, str | float] = {"call": called(made), "n_elements": longest}
            told |= {"n_used": n_used}
            spent_s = scope.spent(scope.line.statement, *statements)
            code = "doctor_sorted_for_few"
            yield _finding(trace, scope, "sorted-for-few", code, **told, spent_s=spent_s)


def _is_along_last(node: ast.Subscript, made: ast.Call, is_function: bool, n: int) -> bool:  # noqa: FBT001 - of one call
    """Say whether a slice takes a part of the last of ``n`` dimensions, along which is sorted."""
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    is_whole = isinstance(parts[0], ast.Constant) and parts[0].value is ...
    positional = next(iter(made.args[is_function:]), None)
    along = next((one.value for one in made.keywords if one.arg == "dim"), positional)
    is_last = along is None or ast.unparse(along) in {"-1", str(n - 1)}
    return n > 0 and is_last and (is_whole or len(parts) == n)


def _of_sorted(node: ast.expr) -> ast.expr:
    """Return what ``.values``, ``.indices``, ``[0]`` or ``[1]`` are of."""
    match node:
        case ast.Attribute(value=value, attr="values" | "indices"):
            return value
        case ast.Subscript(value=value, slice=ast.Constant(value=0 | 1)):
            return value
    return node


def _first_few(trace: ProcessTrace, scope: _Scope, node: ast.Subscript) -> int | None:
    """Return how many numbers a slice has, from the first or up to the last one."""
    part = node.slice.elts[-1] if isinstance(node.slice, ast.Tuple) else node.slice
    if not isinstance(part, ast.Slice) or part.step is not None:
        return None
    if part.lower is None and part.upper is not None:
        return _number(trace, scope, part.upper)
    match part:
        case ast.Slice(lower=ast.UnaryOp(op=ast.USub(), operand=operand), upper=None):
            return _number(trace, scope, operand)
    return None


def _number(trace: ProcessTrace, scope: _Scope, node: ast.expr) -> int | None:
    """Return a whole number above zero that is written out, here or where its name is set."""
    value = node.value if isinstance(node, ast.Constant) else None
    if isinstance(node, ast.Name):
        made = [
            one.value.value
            for one in trace.sources.nodes(scope.line.site.path)
            if isinstance(one, ast.Assign) and isinstance(one.value, ast.Constant)
            if [node.id] == [ast.unparse(each) for each in one.targets]
        ]
        value = made[0] if len(made) == 1 else None
    return value if isinstance(value, int) and value > 0 else None


def _inverses(trace: ProcessTrace, scope: _Scope) -> Iterator[Finding]:
    """Name inverses that are made for one product."""
    for left, _ in _products(scope.line.statement):
        made, statements = scope.value(left)
        if not isinstance(made, ast.Call) or called(made) not in _INVERSES:
            continue
        is_function = ast.unparse(made.func).startswith("torch.")
        own = made.func.value if isinstance(made.func, ast.Attribute) else None
        array = scope.line.size_of(next(iter(made.args), None) if is_function else own)
        if array is not None and len(array.shape) >= _POINTS and array.shape[-1] >= _LARGE_MATRIX:
            spent_s = scope.spent(scope.line.statement, *statements)
            told = {"n_rows": array.shape[-1], "spent_s": spent_s}
            yield _finding(trace, scope, "inverse-for-product", "doctor_inverse", **told)


def _attention(trace: ProcessTrace, scope: _Scope) -> Iterator[Finding]:
    """Name products with the softmax of a product, whose weights nothing else uses."""
    for left, _ in _products(scope.line.statement):
        weights, statements = scope.value(left)
        if isinstance(weights, ast.Call) and "dropout" in called(weights) and weights.args:
            weights, more = scope.value(weights.args[0])
            statements += more
        if not isinstance(weights, ast.Call) or called(weights) != "softmax":
            continue
        own = weights.func.value if isinstance(weights.func, ast.Attribute) else None
        is_function = ast.unparse(weights.func).startswith(("torch.", "F.", "nn.", "functional."))
        given = next(iter(weights.args), None) if is_function else own
        scores, more = scope.value(given) if given is not None else (None, [])
        if scores is not None and any(map(_is_product, ast.walk(scores))):
            spent_s = scope.spent(scope.line.statement, *statements, *more)
            told = {"spent_s": spent_s}
            yield _finding(trace, scope, "attention-written-out", "doctor_attention", **told)


def _cells(trace: ProcessTrace, scope: _Scope) -> Iterator[Finding]:
    """Name loops that give a cell one step of what is known before."""
    site = scope.line.site
    loop = trace.sources.repeating(site.path, site.line)
    if not isinstance(loop, ast.For):
        return
    turning = variables(loop.target)
    cells = _cells_of(trace)
    for call in trace.sources.calls_at(site.path, site.line):
        name = ast.unparse(call.func)
        first = next(iter(call.args), None)
        is_step = isinstance(first, (ast.Subscript, ast.Name)) and bool(variables(first) & turning)
        if name.rpartition(".")[2] in cells and is_step and _alone(loop, scope.line.statement):
            spent_s = scope.line.seconds
            yield _finding(
                trace, scope, "cells-in-loop", "doctor_cells", call=name, spent_s=spent_s
            )


def _alone(loop: ast.For, statement: ast.stmt) -> bool:
    """Say whether what a statement makes is made nowhere else in a loop."""
    made = stored(statement)
    inside = {id(one) for one in ast.walk(statement)}
    return bool(made) and not any(
        isinstance(one, ast.Name)
        and isinstance(one.ctx, ast.Store)
        and one.id in made
        and id(one) not in inside
        for one in ast.walk(loop)
    )


def _cells_of(trace: ProcessTrace) -> set[str]:
    """Return the names that the program gives to cells of recurrent networks."""
    return {
        ast.unparse(target).rpartition(".")[2]
        for path in trace.sources.paths
        for node in trace.sources.nodes(path)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
        if called(node.value) in _CELLS
        for target in node.targets
    }


def _products(statement: ast.stmt) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield the factors of the products of matrices in a statement."""
    for node in ast.walk(statement):
        match node:
            case ast.BinOp(left=left, right=right, op=ast.MatMult()):
                yield left, right
            case ast.Call(func=ast.Attribute(value=ast.Name(id="torch")), args=[left, right]):
                if called(node) in _PRODUCTS:
                    yield left, right
            case ast.Call(func=ast.Attribute(value=left), args=[right]):
                if called(node) in _PRODUCTS:
                    yield left, right


def _is_product(node: ast.AST) -> bool:
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.MatMult)
    return isinstance(node, ast.Call) and called(node) in {*_PRODUCTS, "einsum", "baddbmm"}


def _bare(node: ast.expr) -> ast.expr:
    """Return what is only made another type."""
    while (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and called(node) in _CASTS
    ):
        node = node.func.value
    return node


_KINDS: dict[str, Callable[[ProcessTrace, _Scope], Iterator[Finding]]] = {
    "distances-written-out": _distances,
    "one-hot-product": _one_hot,
    "sorted-for-few": _sorted_for_few,
    "inverse-for-product": _inverses,
    "attention-written-out": _attention,
    "cells-in-loop": _cells,
}

RULE = Rule(findings=_findings, codes=Codes(_REASONS), changes=_CHANGES)
