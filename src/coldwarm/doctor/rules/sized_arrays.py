"""Work that is as large as it is by the sizes of arrays: far more numbers than are used, or one.

How long it took and how large the arrays are is known from looks at the program, and what it does
from its source.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from coldwarm.contracts.reasons import Codes, because
from coldwarm.doctor.rules import Rule
from coldwarm.doctor.source_code import called, stored, variables

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from coldwarm.contracts.doctor import Finding
    from coldwarm.contracts.reasons import Reason
    from coldwarm.doctor.trace import HeldArray, ProcessTrace, SourceLine


_REASONS = {
    "doctor_full_svd": "{call} of {n_rows} by {n_columns} numbers makes square factors, the larger"
    " of {n_larger} by {n_larger}; about {spent_s:time} were spent at this line",
    "doctor_diagonal": "{call} makes a matrix of {n_rows} by {n_rows} of {n_rows} numbers, to"
    " multiply with it; about {spent_s:time} were spent at this line",
    "doctor_masks": "each turn compares all {n_elements:# number} of `{array}` with one of the"
    " loop's; about {spent_s:time} were spent in these turns",
    "doctor_tiny": "the operations of PyTorch's at this line are of {n_elements:# number} at most,"
    " and each is dispatched by itself; about {spent_s:time} were spent in this function's lines"
    " of that kind",
    "doctor_promoted": "`{array}` is float64 and makes float64 of float32 here, of which line"
    " {line} makes float32 again; about {spent_s:time} were spent from here to there",
}
_CHANGES = {
    "svd-full-matrices": "torch.linalg.svd(x, full_matrices=False): the factors that are left have"
    " the same numbers",
    "diagonal-for-product": "multiply the rows by the vector, v.unsqueeze(-1) * x for"
    " torch.diag(v) @ x, or the columns, x * v for x @ torch.diag(v)",
    "mask-per-number": "go through the array once for all numbers: torch.bincount or index_add_"
    " for counts and sums, scatter_reduce_ for the smallest and the largest",
    "torch-tiny-operations": "put all that is computed alike into one tensor with one more"
    " dimension, and compute with that; or use NumPy or Python's own numbers for single ones",
    "float64-promoted": "make it float32 where it is made, as with torch.from_numpy(x).float():"
    " the result is float32 in any case; where an exact sum needs float64, convert for that alone",
}
_TIMES = 4
"""How many times as long as wide a matrix is, from which on its square factors are far larger."""
_LARGE_DIAGONAL, _LARGE_MASK = 200, 10_000
"""Fewest numbers of the vector, and of what is compared."""
_FEW_MASKS = 30
"""Numbers, below which an array may well be looked at once for each."""
_TINY = 8
"""Most numbers of each tensor at a line whose operations are tiny."""
_DIAGONALS = {"diag", "diag_embed", "diagflat"}
_PRODUCTS = {"matmul", "mm", "multi_dot", "chain_matmul", "einsum", "bmm"}
_FORMS = {"unfold", "reshape", "view", "unsqueeze", "squeeze", "transpose", "permute", "flatten"}
_SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return, ast.Expr)


class SizedLine(NamedTuple):
    """A line that took long, and the arrays that it could use."""

    site: SourceLine
    seconds: float
    statement: ast.stmt
    held: Mapping[str, HeldArray]

    def size_of(self, node: ast.expr | None) -> HeldArray | None:
        """Return the tensor of PyTorch's that an expression names."""
        found = None if node is None else self.held.get(ast.unparse(node))
        return found if found is not None and found.package == "torch" else None


def _findings(trace: ProcessTrace) -> Iterator[Finding]:
    """Name the lines that took a share of the run."""
    seen = list(sized_lines(trace))
    for one in seen:
        if trace.is_worth(one.seconds):
            yield from _full_svd(trace, one)
            yield from _diagonals(trace, one)
    yield from _masks(trace, seen)
    yield from _tiny(trace, seen)
    yield from _promoted(trace, seen)


def sized_lines(trace: ProcessTrace) -> Iterator[SizedLine]:
    """Yield the lines whose own work was looked at, and not that of the user's functions."""
    spent: dict[SourceLine, float] = defaultdict(float)
    for spot, seconds in trace.spent:
        spent[spot.stack[0]] += seconds
    for site, seconds in spent.items():
        statement = trace.sources.statement(site.path, site.line)
        held = trace.held_at(site.path, site.line)
        if statement is not None and held:
            yield SizedLine(site, seconds, statement, held)


def _full_svd(trace: ProcessTrace, seen: SizedLine) -> Iterator[Finding]:
    """Name decompositions that make factors far larger than the matrix."""
    for call in trace.sources.calls_at(seen.site.path, seen.site.line):
        array = seen.size_of(next(iter(call.args), None))
        names = {one.arg for one in call.keywords}
        is_full = called(call) == "svd" and "linalg" in ast.unparse(call.func)
        if not is_full or array is None or len(call.args) > 1 or "full_matrices" in names:
            continue
        if len(array.shape) == 1:  # the name had another array then
            continue
        rows, columns = array.shape[-2:]
        if max(rows, columns) >= _TIMES * min(rows, columns):
            says = because(
                "doctor_full_svd",
                call=ast.unparse(call.func),
                n_rows=rows,
                n_columns=columns,
                n_larger=max(rows, columns),
                spent_s=seen.seconds,
            )
            yield _finding(trace, "svd-full-matrices", seen.site, says)


def _diagonals(trace: ProcessTrace, seen: SizedLine) -> Iterator[Finding]:
    """Name products with a matrix that is made of a vector."""
    for factor in _factors(seen.statement):
        if not isinstance(factor, ast.Call) or called(factor) not in _DIAGONALS:
            continue
        array = seen.size_of(next(iter(factor.args), None))
        if array is not None and len(array.shape) == 1 and array.size >= _LARGE_DIAGONAL:
            says = because(
                "doctor_diagonal",
                call=ast.unparse(factor.func),
                n_rows=array.size,
                spent_s=seen.seconds,
            )
            yield _finding(trace, "diagonal-for-product", seen.site, says)


def _factors(statement: ast.stmt) -> Iterator[ast.expr]:
    """Yield what a statement multiplies as matrices."""
    for node in ast.walk(statement):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            yield from (node.left, node.right)
        elif isinstance(node, ast.Call) and called(node) in _PRODUCTS:
            for given in node.args:
                yield from getattr(given, "elts", [given])
            if called(node) in {"matmul", "mm"} and isinstance(node.func, ast.Attribute):
                yield node.func.value


def _masks(trace: ProcessTrace, seen: list[SizedLine]) -> Iterator[Finding]:
    """Name loops that look at a whole array once for each of some numbers."""
    done: set[tuple[str, int]] = set()
    for one in seen:
        for line in _turning(trace, one.site):
            loop = trace.sources.repeating(line.path, line.line)
            if not isinstance(loop, (ast.For, ast.comprehension)):
                continue
            place = line.path, loop.iter.lineno
            turns = trace.sources.turns(line.path, loop)
            if turns is not None and turns < _FEW_MASKS:
                continue
            compared = _compared(loop, variables(loop.target), trace, line)
            if compared is None or place in done:
                continue
            done.add(place)
            spent_s = sum(seconds for _, seconds in trace.spent_in(line))
            node, array = compared
            if trace.is_worth(spent_s):
                says = because(
                    "doctor_masks",
                    array=array.name,
                    n_elements=array.size,
                    spent_s=spent_s,
                )
                at = trace.line_at(line.path, node.lineno)
                yield _finding(trace, "mask-per-number", at, says)


def _turning(trace: ProcessTrace, site: SourceLine) -> Iterator[SourceLine]:
    """Yield the lines of loops through which a line was seen."""
    for spot, _ in trace.spent:
        if spot.stack[0] == site:
            yield from (one for one in spot.stack if trace.in_loop([one]))


def _compared(
    loop: ast.For | ast.comprehension,
    turning: set[str],
    trace: ProcessTrace,
    line: SourceLine,
) -> tuple[ast.Compare, HeldArray] | None:
    """Return where a loop compares a whole tensor with its own number, and that tensor."""
    statement = trace.sources.statement(line.path, line.line)
    inside = ast.walk(loop if isinstance(loop, ast.For) else statement or ast.Pass())
    for node in inside:
        if not isinstance(node, ast.Compare) or not isinstance(node.ops[0], ast.Eq):
            continue
        sides = [node.left, node.comparators[0]]
        for whole, number in (sides, sides[::-1]):
            if not isinstance(number, ast.Name) or number.id not in turning:
                continue
            array = trace.held_at(line.path, line.line).get(ast.unparse(whole))
            is_large = array is not None and array.size >= _LARGE_MASK
            if array is not None and is_large and array.package == "torch":
                return node, array
    return None


def _tiny(trace: ProcessTrace, seen: list[SizedLine]) -> Iterator[Finding]:
    """Name functions that a loop calls, or its lines, whose tensors are of a few numbers."""
    turned = {spot.stack[0] for spot, _ in trace.spent if trace.in_loop(spot.stack)}
    by_function: dict[tuple[str, str], list[tuple[SizedLine, int]]] = defaultdict(list)
    for one in seen:
        largest = _largest(one) if one.site in turned else None
        if largest is not None and largest <= _TINY:
            by_function[one.site.path, one.site.function].append((one, largest))
    for found in by_function.values():
        spent_s = sum(one.seconds for one, _ in found)
        if trace.is_worth(spent_s):
            most, _ = max(found, key=lambda each: each[0].seconds)
            says = because(
                "doctor_tiny", n_elements=max(size for _, size in found), spent_s=spent_s
            )
            yield _finding(trace, "torch-tiny-operations", most.site, says)


def _largest(seen: SizedLine) -> int | None:
    """Return the most numbers of a tensor that a line computes with; ``None``: with none.

    A line that calls a function whose work may be large by itself is none of them.
    """
    statement = seen.statement
    if not isinstance(statement, _SIMPLE):
        return None
    if any(isinstance(one, (ast.Call, ast.MatMult)) for one in ast.walk(statement)):
        return None
    if not any(isinstance(one, ast.BinOp) for one in ast.walk(statement)):
        return None
    parts = [one for one in ast.walk(statement) if isinstance(one, (ast.Name, ast.Attribute))]
    names = {ast.unparse(one) for one in parts}
    if any(name.count(".") > 1 or name.partition(".")[0] not in {name, "self"} for name in names):
        return None  # what other objects hold was not looked at
    found = [seen.held[name] for name in names if name in seen.held]
    if not found or any(one.package != "torch" for one in found):
        return None
    return max(one.size for one in found)


def _promoted(trace: ProcessTrace, seen: list[SizedLine]) -> Iterator[Finding]:
    """Name what makes float64 of float32 in a function that gives float32 back."""
    done: set[tuple[str, str]] = set()
    for one in sorted(seen, key=lambda each: each.site.line):
        path, first = one.site.path, one.site.line
        back = _made_float32_at(trace, one)
        name = next(_double_of(one), None)
        if back is None or name is None or (path, one.site.function) in done:
            continue
        spent_s = sum(
            seconds
            for spot, seconds in trace.spent
            if spot.stack[0].path == path and first <= spot.stack[0].line <= back
        )
        if trace.is_worth(spent_s):
            done.add((path, one.site.function))
            says = because("doctor_promoted", array=name, line=str(back), spent_s=spent_s)
            yield _finding(trace, "float64-promoted", one.site, says)


def _double_of(seen: SizedLine) -> Iterator[str]:
    """Yield the tensors by which a line makes float64 of float32, number by number."""
    for node in ast.walk(seen.statement):
        if not isinstance(node, ast.BinOp) or isinstance(node.op, ast.MatMult):
            continue
        sides = [seen.size_of(_whole(side)) for side in (node.left, node.right)]
        types = {one.dtype: one for one in sides if one is not None}
        double = types.get("float64")
        if types.keys() != {"float32", "float64"} or double is None:
            continue
        # One number has the precision of what it is combined with, and a sum is exact on purpose.
        if double.shape and double.name not in _kept_in(seen.statement):
            yield double.name


def _kept_in(statement: ast.stmt) -> set[str]:
    """Return what a statement stores."""
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return {ast.unparse(one) for one in targets}


def _whole(node: ast.expr) -> ast.expr:
    """Return what an expression has the numbers of, in another form."""
    while True:
        match node:
            case ast.Subscript(value=inner):
                node = inner
            case ast.Call(func=ast.Attribute(value=inner, attr=name)) if name in _FORMS:
                node = inner
            case _:
                return node


def _made_float32_at(trace: ProcessTrace, seen: SizedLine) -> int | None:
    """Return the line that makes float32 of what a statement stores, or of what comes of that."""
    around = trace.sources.functions_around(seen.site.path, seen.site.line)
    parts = [one for outer in around[:1] for one in ast.walk(outer)]
    later = [
        one
        for one in parts
        if isinstance(one, (ast.Assign, ast.Return, ast.Expr)) and one.lineno >= seen.site.line
    ]
    doubles: set[str] = set()
    for statement in sorted(later, key=lambda each: each.lineno):
        is_it = statement is seen.statement
        for call in ast.walk(statement):
            if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
                continue
            of = variables(call.func.value)
            is_double = bool(of & doubles) or (is_it and len(of) > 1)
            is_back = called(call) == "float" or (
                called(call) == "to" and "float32" in ast.unparse(call)
            )
            if is_back and is_double:
                return statement.lineno
        if is_it or variables(statement) & doubles:
            doubles |= stored(statement)
    return None


def _finding(trace: ProcessTrace, pattern: str, site: SourceLine, says: Reason) -> Finding:
    return trace.finding_of_seconds(pattern, site, says, framework="torch")


RULE = Rule(findings=_findings, codes=Codes(_REASONS), changes=_CHANGES)
