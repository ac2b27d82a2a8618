"""Work that is done again though nothing that it is made of has changed, or grows with each turn.

How long it took is known from looks at the program, and what it does from its source.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from coldwarm.contracts.reasons import Codes, because
from coldwarm.doctor.rules import Rule
from coldwarm.doctor.source_code import (
    called,
    changed,
    changed_in_place,
    only_assignment,
    variables,
)
from coldwarm.doctor.tensor_names import given_to
from coldwarm.doctor.written_values import sizes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from coldwarm.contracts.doctor import Finding
    from coldwarm.doctor.source_code import Function
    from coldwarm.doctor.trace import HeldArray, ProcessTrace, SourceLine


_REASONS = {
    "doctor_grows": "`{array}` becomes longer in each turn by {call}, which copies all of it; about"
    " {spent_s:time} were spent at this line",
    "doctor_collects": "a loop calls {call}() again and again; about {spent_s:time} were spent at"
    " this line",
    "doctor_rows": "each turn goes back through the whole graph for one element of `{array}`; about"
    " {spent_s:time} were spent at this line",
    "doctor_rows_of": "{function} takes a Jacobian row by row, one backward pass for each; about"
    " {spent_s:time} were spent at this line",
    "doctor_graph_kept": "retain_graph=True keeps the graph of each turn: where a state is not"
    " detached, each backward pass goes through all turns before it, too; about {spent_s:time} were"
    " spent at this line",
    "doctor_constant": "{call} is given the same in each call, {argument_names:list}, and computes"
    " it anew; about {spent_s:time} were spent at this line",
    "doctor_solved": "{call} factors `{matrix}`, {n_rows} by {n_columns}, in each call, and that"
    " stays the same",
    "doctor_factored": "{call} factors `{matrix}` in each turn of a loop, and that stays the same;"
    " about {spent_s:time} were spent at this line",
    "doctor_factored_sparse": "{call} factors `{matrix}` in each turn of a loop, and that stays the"
    " same; about {spent_s:time} were spent at this line",
    "doctor_covariance": "{call} factors {argument_names:list} each time that it is made, and that"
    " stays the same; about {spent_s:time} were spent at this line",
    "doctor_value_again": "{function} and {gradient} are called with the same arguments: what"
    " computes the gradient has the value, too; about {spent_s:time} were spent in these calls",
    "doctor_product_compiled": "{function} makes the whole matrix of {call}, for an array of"
    " {n_elements:# number}, and multiplies it with one vector",
    "doctor_product": "the whole matrix of {call} is made for a product with a vector; about"
    " {spent_s:time} were spent at this line",
    "doctor_product_torch": "the whole matrix of {call} is made for a product with a vector; about"
    " {spent_s:time} were spent at this line",
}
_ADVICE = {
    "doctor_product_torch": "use torch.func.jvp for J @ v, torch.func.vjp for v @ J; of a Hessian,"
    " torch.func.jvp of the gradient",
    "doctor_solved": "factor it once, with scipy.linalg.lu_factor or cho_factor of the same"
    " framework (torch.linalg.lu_factor, torch.linalg.cholesky), and use lu_solve, cho_solve or"
    " torch.cholesky_solve in each turn",
    "doctor_factored": "factor it once, with scipy.linalg.lu_factor or cho_factor, and use lu_solve"
    " or cho_solve in each turn",
    "doctor_factored_sparse": "factor it once, lu = scipy.sparse.linalg.splu(matrix.tocsc()), and"
    " use lu.solve(b) in each turn",
    "doctor_rows_of": "give it vectorize=True, or use torch.func.jacrev or jacfwd",
    "doctor_grows": "collect the parts in a list and join them once with torch.stack or torch.cat,"
    " or write into a tensor of full length",
    "doctor_covariance": "compute scale_tril=torch.linalg.cholesky(covariance) once, and give that,"
    " with validate_args=False",
}
_CHANGES = {
    "tensor-grows": "join them once, after the loop",
    "collected-in-loop": "leave it out: an array's memory is free as soon as nothing refers to it;"
    " or call it rarely, if objects refer to each other in a circle",
    "gradient-per-row": "take all rows in one pass: torch.func.jacrev or jacfwd, or"
    " torch.autograd.grad(…, is_grads_batched=True)",
    "graph-kept": "add the losses up and call backward once; or detach the state after each"
    " backward pass, h = h.detach(), if gradients need not reach back further",
    "constant-recomputed": "compute it once, before the loop or where the object is made, and keep"
    " it",
    "value-and-gradient": "call one function, jax.jit(jax.value_and_grad(f))",
    "matrix-for-product": "use jax.jvp(jax.grad(f), (x,), (v,))[1] for a Hessian, jax.jvp or"
    " jax.vjp for a Jacobian",
}
_JOINS = ("cat", "concat", "concatenate", "hstack", "vstack")
_COLLECTS = {"gc.collect", "torch.cuda.empty_cache"}
_COSTLY = frozenset(
    (
        *("sparse_coo_tensor", "sparse_csr_tensor", "cholesky", "inv", "pinv", "eigh", "eig"),
        *("svd", "qr", "lu_factor", "splu", "factorized", "cho_factor", "inverse", "matrix_exp"),
        *("to_sparse", "to_sparse_csr", "to_sparse_csc", "to_sparse_coo", "coalesce", "to_dense"),
    )
)
"""Functions that compute long for what they are given."""
_SOLVES, _LARGE_MATRIX = frozenset({"solve", "lstsq"}), 200
"""Functions that factor what they are given first, and the fewest of its rows and columns."""
_OF_COVARIANCE = {"covariance_matrix", "precision_matrix"}
_FEW_PRODUCTS = 2
_FEW = 8
"""Turns."""
_LARGE = 100
"""Elements of what is differentiated by."""
_MATRICES = {"hessian", "jacfwd", "jacrev", "jacobian"}
_PACKAGES = frozenset({"torch", "jax", "jnp", "np", "numpy", "scipy", "sp", "splinalg", "linalg"})
"""Names that are no values but packages, or parts of them."""
_OF_THE_HOST = {"np", "numpy", "scipy", "sp", "splinalg"}
"""Packages whose work is not what is looked at here."""
_DRAWS = ("rand", "normal", "sample", "bernoulli", "poisson", "multinomial", "choice", "next")
"""Parts of the names of functions that give something else each time."""
_TRAINED = {"optim", "Parameter", "Optimizer", "requires_grad"}
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_MAKING = {"__init__", "__post_init__", "setup"}
"""Methods that run once for each object."""


class _Seen(NamedTuple):
    """A line that took long."""

    site: SourceLine
    seconds: float


def _findings(trace: ProcessTrace) -> Iterator[Finding]:
    """Name the lines that took a share of the run."""
    spent: dict[SourceLine, float] = defaultdict(float)
    looped = set()
    for spot, seconds in trace.spent:
        spent[spot.stack[0]] += seconds
        if trace.in_loop(spot.stack):
            looped.add(spot.stack[0])
    for site, seconds in spent.items():
        if site in looped and trace.is_worth(seconds):
            one = _Seen(site, seconds)
            for found in (_grows, _collects, _kept_graphs, _constants, _factors_again):
                yield from found(trace, one)
        if trace.is_worth(seconds):
            yield from _rows(trace, _Seen(site, seconds))
    yield from _solved_again(trace)
    yield from _values_again(trace, spent)
    yield from _products(trace)


def _grows(trace: ProcessTrace, seen: _Seen) -> Iterator[Finding]:
    """Name a tensor that is joined with more of it in each turn of a loop."""
    site = seen.site
    own = trace.sources.loop(site.path, site.line)
    for call in trace.sources.calls_at(site.path, site.line):
        name = ast.unparse(call.func)
        if called(call) in _JOINS and name.startswith("torch."):
            longer = sorted(trace.sources.replaced(site.path, site.line, called(call)))
            # A variable of a function that a loop calls begins anew in each turn.
            for array in longer if own else (one for one in longer if "." in one):
                says = because("doctor_grows", array=array, call=name, spent_s=seen.seconds)
                yield trace.finding_of_seconds("tensor-grows", site, says, framework="torch")


def _collects(trace: ProcessTrace, seen: _Seen) -> Iterator[Finding]:
    """Name a loop's call that only makes memory free."""
    site = seen.site
    for call in trace.sources.calls_at(site.path, site.line):
        if (name := ast.unparse(call.func)) in _COLLECTS:
            says = because("doctor_collects", call=name, spent_s=seen.seconds)
            framework = trace.first_framework
            yield trace.finding_of_seconds("collected-in-loop", site, says, framework=framework)


def _kept_graphs(trace: ProcessTrace, seen: _Seen) -> Iterator[Finding]:
    """Name gradients that are taken row by row, and graphs that are kept over turns."""
    site = seen.site
    extent = trace.sources.loop(site.path, site.line)
    if extent is None:
        return
    for call in trace.sources.calls_at(site.path, site.line):
        if called(call) not in {"grad", "backward"} or not _is_true(call, "retain_graph"):
            continue
        of, loop = _differentiated(call), trace.sources.repeating(site.path, site.line)
        turning, turns = set(), None
        if isinstance(loop, (ast.For, ast.comprehension)):
            turning, turns = variables(loop.target), trace.sources.turns(site.path, loop)
        is_short = turns is not None and turns < _FEW
        rows = None if isinstance(of, ast.Subscript) else _rows_of(trace, site, loop, of)
        if rows is not None:
            says = because("doctor_rows", array=rows, spent_s=seen.seconds)
            yield trace.finding_of_seconds("gradient-per-row", site, says, framework="torch")
        elif isinstance(of, ast.Subscript) and variables(of.slice) & turning and not is_short:
            says = because("doctor_rows", array=ast.unparse(of.value), spent_s=seen.seconds)
            yield trace.finding_of_seconds("gradient-per-row", site, says, framework="torch")
        elif _is_kept_alone(trace, site.path, extent, call):
            says = because("doctor_graph_kept", spent_s=seen.seconds)
            yield trace.finding_of_seconds("graph-kept", site, says, framework="torch")
        return


def _rows_of(
    trace: ProcessTrace, site: SourceLine, loop: ast.AST | None, of: ast.expr | None
) -> str | None:
    """Return the tensor whose elements a loop goes through and differentiates one by one."""
    if not isinstance(loop, (ast.For, ast.comprehension)) or not isinstance(of, ast.Name):
        return None
    through = loop.iter
    if isinstance(through, ast.Call) and called(through) == "enumerate" and through.args:
        through = through.args[0]
    array = trace.held_at(site.path, site.line).get(ast.unparse(through))
    is_many = array is not None and array.package == "torch" and (*array.shape, 0)[0] >= _FEW
    return ast.unparse(through) if is_many and of.id in variables(loop.target) else None


def _rows(trace: ProcessTrace, seen: _Seen) -> Iterator[Finding]:
    """Name Jacobians and Hessians of PyTorch's that are not taken in one pass."""
    site = seen.site
    for call in trace.sources.calls_at(site.path, site.line):
        name = ast.unparse(call.func)
        module = trace.sources.imported_from(site.path, name)
        is_theirs = module == "torch.autograd.functional" or name.startswith(
            ("torch.autograd.functional.", "functional.")
        )
        if is_theirs and called(call) in _MATRICES and not _is_true(call, "vectorize"):
            says = because("doctor_rows_of", function=name, spent_s=seen.seconds)
            yield trace.finding_of_seconds("gradient-per-row", site, says, framework="torch")
            return


def _differentiated(call: ast.Call) -> ast.expr | None:
    """Return what is differentiated by ``x.backward()``, ``autograd.grad(x, …)``."""
    if called(call) == "backward" and isinstance(call.func, ast.Attribute):
        return call.func.value
    return call.args[0] if call.args else None


def _backwards(trace: ProcessTrace, path: str, extent: tuple[int, int]) -> int:
    """Return how many backward passes, and gradients of graphs, a loop writes."""
    return sum(
        isinstance(one, ast.Call)
        and extent[0] <= one.lineno <= extent[1]
        and called(one) in {"backward", "grad"}
        for one in trace.sources.nodes(path)
    )


def _is_kept_alone(trace: ProcessTrace, path: str, extent: tuple[int, int], call: ast.Call) -> bool:
    """Say whether a loop makes a graph in each turn, and keeps it after its only backward pass."""
    of = _differentiated(call)
    given = [one for one in call.keywords if one.arg not in {"retain_graph", "create_graph"}]
    if called(call) != "backward" or call.args or given or not isinstance(of, ast.Name):
        return False
    loop = trace.sources.repeating(path, call.lineno)
    turning = variables(loop.target) if isinstance(loop, ast.For) else set()
    is_made = of.id not in turning and _changes(trace, path, of.id, extent)
    return bool(is_made) and _backwards(trace, path, extent) == 1


def _constants(trace: ProcessTrace, seen: _Seen) -> Iterator[Finding]:
    """Name what is computed anew from what does not change."""
    site = seen.site
    for call in trace.sources.calls_at(site.path, site.line):
        function, code = called(call), "doctor_constant"
        given = [*call.args, *(one.value for one in call.keywords)]
        if function == "MultivariateNormal":
            code = "doctor_covariance"
            given = [one.value for one in call.keywords if one.arg in _OF_COVARIANCE]
            given = given or call.args[1:2]
        elif function not in _COSTLY:
            continue
        package = ast.unparse(call.func).partition(".")[0]
        if package in _OF_THE_HOST:
            continue
        if package not in _PACKAGES and isinstance(call.func, ast.Attribute):
            given = [call.func.value, *given]  # a method of what may change
        if not all(map(_depends_on_values_alone, given)):
            continue
        names = sorted({name for one in given for name in _values(one)})
        if names and all(_is_constant(trace, site, name) for name in names):
            says = because(
                code, call=ast.unparse(call.func), argument_names=names, spent_s=seen.seconds
            )
            framework = "torch" if _uses(trace, site.path, "torch") else "jax"
            yield trace.finding_of_seconds("constant-recomputed", site, says, framework=framework)
            return


def _factors_again(trace: ProcessTrace, seen: _Seen) -> Iterator[Finding]:
    """Name a matrix that NumPy or SciPy factors in each turn, where nothing can change it."""
    site = seen.site
    for call in trace.sources.calls_at(site.path, site.line):
        package = _host_package(trace, site.path, ast.unparse(call.func))
        is_sparse = called(call) == "spsolve" and package.startswith("scipy")
        is_dense = called(call) == "solve" and package.startswith(("scipy", "numpy"))
        if not call.args or not (is_sparse or is_dense):
            continue
        matrix = ast.unparse(call.args[0])
        array = trace.held_at(site.path, site.line).get(matrix)
        is_small = array is not None and min(array.shape, default=0) < _WORTH_FACTORING
        if not is_small and _stays(trace, site, call.args[0]):
            code = "doctor_factored_sparse" if is_sparse else "doctor_factored"
            told = {"call": ast.unparse(call.func), "matrix": matrix}
            says = because(code, spent_s=seen.seconds, **told)
            framework = trace.first_framework
            yield trace.finding_of_seconds("constant-recomputed", site, says, framework=framework)


_WORTH_FACTORING = 50
"""Rows of a matrix, below which solving with its factors saves nothing."""
_PURE = frozenset(("shape", "T", "dtype", "ndim", "nnz", "dot", "copy", "tocsr", "tocsc", "size"))
"""Attributes and methods of a matrix that leave it as it is."""


def _host_package(trace: ProcessTrace, path: str, name: str) -> str:
    """Return the package that a function's name begins with in a file; empty: it is not told."""
    first = name.partition(".")[0]
    for node in trace.sources.nodes(path):
        if isinstance(node, ast.Import):
            for one in node.names:
                if first == (one.asname or one.name.partition(".")[0]):
                    return one.name
    return trace.sources.imported_from(path, first)


def _stays(trace: ProcessTrace, site: SourceLine, matrix: ast.expr) -> bool:
    """Say whether a matrix is the same in each turn: it is only read where it is at hand.

    An attribute is set where its object is made, and no loop of the program makes such objects.
    """
    name = ast.unparse(matrix)
    around = trace.sources.functions_around(site.path, site.line)
    if isinstance(matrix, ast.Name):
        extent = trace.sources.loop(site.path, site.line)
        if extent is None or _changes(trace, site.path, name, extent):
            return False
        parts = [one for outer in around[:1] for one in ast.walk(outer)]
        return _is_only_read(parts or list(trace.sources.nodes(site.path)), name)
    if not isinstance(matrix, ast.Attribute) or not name.startswith("self."):
        return False
    return (
        _is_kept(trace, site, matrix.attr)
        and _is_only_read(list(trace.sources.nodes(site.path)), name)
        and not _is_made_in_loop(trace, site)
    )


def _is_only_read(nodes: Sequence[ast.AST], name: str) -> bool:
    """Say whether a matrix is multiplied, solved with, looked at, and never given to others."""
    allowed: set[int] = set()
    for one in nodes:
        read: list[ast.expr] = []
        if isinstance(one, ast.Call) and called(one) in _SOLVES | {"spsolve", "dot", "norm"}:
            read = one.args
        elif isinstance(one, ast.Attribute) and one.attr in _PURE:
            read = [one.value]
        elif isinstance(one, ast.BinOp):
            read = [one.left, one.right]
        elif isinstance(one, ast.Subscript) and isinstance(one.ctx, ast.Load):
            read = [one.value]
        allowed |= {id(each) for each in read}
    uses = [
        one
        for one in nodes
        if isinstance(one, (ast.Name, ast.Attribute))
        if ast.unparse(one) == name and isinstance(one.ctx, ast.Load)
    ]
    return all(id(one) in allowed for one in uses)


def _is_made_in_loop(trace: ProcessTrace, site: SourceLine) -> bool:
    """Say whether the innermost loop that leads to a line makes objects of the line's class.

    It does so in its own lines, or in a function on the way to the line.
    """
    classes = {
        node.name
        for node in trace.sources.nodes(site.path)
        if isinstance(node, ast.ClassDef)
        and node.lineno <= site.line <= (node.end_lineno or node.lineno)
    }
    for spot, _ in trace.spots_at({site}):
        turned = trace.turned(spot.stack)
        if turned is None:
            continue
        for one in spot.stack[: spot.stack.index(turned) + 1]:
            extent = trace.sources.loop(one.path, one.line) if one == turned else None
            around = trace.sources.functions_around(one.path, one.line)[:1]
            inside = [node for outer in around for node in ast.walk(outer)]
            nodes = inside if extent is None else trace.sources.nodes(one.path)
            made = [
                node.lineno
                for node in nodes
                if isinstance(node, ast.Call) and called(node) in classes
            ]
            if any(extent is None or extent[0] <= line <= extent[1] for line in made):
                return True
    return False


def _solved_again(trace: ProcessTrace) -> Iterator[Finding]:
    """Name what factors a large matrix in each turn, where all calls give it the same one.

    Compiled functions run beside Python, so that their seconds are not those of the line: there
    the loop that leads to it is to take long.
    """
    solving = [
        (path, node)
        for path in trace.sources.paths
        for node in trace.sources.nodes(path)
        if isinstance(node, ast.Call) and called(node) in _SOLVES and node.args
        if ast.unparse(node.func).partition(".")[0] in _PACKAGES - _OF_THE_HOST
        if not _host_package(trace, path, ast.unparse(node.func)).startswith(("scipy", "numpy"))
    ]
    for path, call in solving:
        matrix = _large_constant(trace, path, call)
        if matrix is not None:
            told = {"call": ast.unparse(call.func), "matrix": matrix.name}
            says = because(
                "doctor_solved", n_rows=matrix.shape[-2], n_columns=matrix.shape[-1], **told
            )
            site = trace.line_at(path, call.lineno)
            yield trace.finding(
                "constant-recomputed",
                site,
                says,
                framework="torch" if matrix.package == "torch" else "jax",
                no_figure=because("doctor_untimed"),
            )


def _large_constant(trace: ProcessTrace, path: str, call: ast.Call) -> HeldArray | None:
    """Return the matrix that a call factors, where it is large and the same in each turn."""
    around = next(iter(trace.sources.functions_around(path, call.lineno)), None)
    given, name = call.args[0], ast.unparse(call.args[0])
    places = [(path, call.lineno, given)]
    taken = ast.walk(around.args) if around is not None else ()
    if around is not None and name in {one.arg for one in taken if isinstance(one, ast.arg)}:
        places = [*_given_by_calls(trace, around, name)]
    found = [_held_constant(trace, *one) for one in places]
    return found[0] if found and all(found) else None


def _given_by_calls(
    trace: ProcessTrace, function: Function, name: str
) -> Iterator[tuple[str, int, ast.expr]]:
    """Yield where the program calls a function, and what it gives it for an argument."""
    for path in trace.sources.paths:
        for node in trace.sources.nodes(path):
            if isinstance(node, ast.Call) and called(node) == function.name:
                one = given_to(function, name, node)
                if one is not None:
                    yield path, node.lineno, one


def _held_constant(trace: ProcessTrace, path: str, line: int, given: ast.expr) -> HeldArray | None:
    """Return an array that a line of a loop that takes long gives, if it is the same each time."""
    if not isinstance(given, (ast.Name, ast.Attribute)):
        return None
    array = trace.held_at(path, line).get(ast.unparse(given))
    if array is None or len(array.shape) <= 1 or min(array.shape[-2:]) < _LARGE_MATRIX:
        return None
    stacks = [spot.stack for spot, _ in trace.spent]
    inner = [one[at:] for one in stacks for at in range(len(one)) if one[at][:2] == (path, line)]
    turned = next(filter(None, map(trace.turned, inner)), None)
    if turned is None or not trace.is_worth(sum(cost for _, cost in trace.spent_in(turned))):
        return None
    site = trace.line_at(path, line)
    return array if _is_constant(trace, site, ast.unparse(given)) else None


def _values(node: ast.expr) -> Iterator[str]:
    """Yield the variables and attributes that an expression is made of, not those of packages."""
    if isinstance(node, (ast.Name, ast.Attribute)):
        name = ast.unparse(node)
        if name.partition(".")[0] not in _PACKAGES:
            yield name
    elif isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute):  # a method of what may change
            yield from _values(node.func.value)
        for one in [*node.args, *(each.value for each in node.keywords)]:
            yield from _values(one)
    else:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                yield from _values(child)


def _is_constant(trace: ProcessTrace, site: SourceLine, name: str, depth: int = 3) -> bool:
    """Say whether a value is the same in each turn, as far as the program's source tells."""
    owner, _, attribute = name.rpartition(".")
    around = trace.sources.functions_around(site.path, site.line)
    parts = [one for outer in around[:1] for one in ast.walk(outer)]
    if _is_given_to_change(trace, parts or trace.sources.nodes(site.path), name):
        return False
    if owner:
        return owner == "self" and _is_kept(trace, site, attribute)
    given = {one.arg for one in parts if isinstance(one, ast.arg)}
    if name not in given and not any(name in changed(one) for one in parts):
        return _is_set_once(trace, site.path, name)
    made = None if name in given else only_assignment(parts, name)
    if made is not None and depth and _depends_on_values_alone(made.value):
        return all(_is_constant(trace, site, one, depth - 1) for one in _values(made.value))
    extent = trace.sources.loop(site.path, site.line)
    if extent is None or made is not None or (name in given and _is_training(trace)):
        return False
    return not _changes(trace, site.path, name, extent)


def _is_given_to_change(trace: ProcessTrace, nodes: Iterable[ast.AST], name: str) -> bool:
    """Say whether a value, or a part of it, is given to a function that changes it."""
    for call in nodes:
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            continue
        places = [
            place
            for place, one in enumerate(call.args)
            if f"{ast.unparse(one)}.".startswith((f"{name}.", f"{name}["))
        ]
        if places and any(
            one.args.args[place].arg in changed_in_place(one)
            for one in _functions(trace, call.func.id)
            for place in places
            if place < len(one.args.args)
        ):
            return True
    return False


def _functions(trace: ProcessTrace, name: str) -> Iterator[Function]:
    """Yield the functions of the program's that have a name."""
    for path in trace.sources.paths:
        for node in trace.sources.nodes(path):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == name:
                yield node


def _depends_on_values_alone(made: ast.expr) -> bool:
    """Say whether an expression calls nothing but functions of packages that draw no numbers."""
    calls = [one for one in ast.walk(made) if isinstance(one, ast.Call)]
    drawn = any(part in called(one) for one in calls for part in _DRAWS)
    ours = any(isinstance(one.func, ast.Name) for one in calls)
    return not drawn and not ours and not _mentions(made, _TRAINED)


def _is_kept(trace: ProcessTrace, site: SourceLine, attribute: str) -> bool:
    """Say whether an attribute is set where objects are made, and nowhere else."""
    n_set = 0
    for path in trace.sources.paths:
        for node in trace.sources.nodes(path):
            for name in _attributes_changed(node):
                if name != attribute:
                    continue
                around = trace.sources.functions_around(path, getattr(node, "lineno", 0))
                if not around or around[0].name not in _MAKING:
                    return False
                made = getattr(node, "value", None)
                is_given = isinstance(made, ast.Name) and _is_training(trace)
                if is_given or (made is not None and _mentions(made, _TRAINED)):
                    return False
                n_set += path == site.path
    return n_set > 0


def _is_training(trace: ProcessTrace) -> bool:
    """Say whether an optimizer may change arrays in place."""
    found = _TRAINED - {"requires_grad"}
    return any(
        _mentions(one, found) for path in trace.sources.paths for one in trace.sources.nodes(path)
    )


def _mentions(node: ast.AST, names: AbstractSet[str]) -> bool:
    """Say whether one of these names stands in an expression, also as that of an argument."""
    said = ("id", "attr", "arg", "name", "module")
    return any(
        str(getattr(one, field, "")).rpartition(".")[2].rstrip("_") in names
        for one in ast.walk(node)
        for field in said
    )


def _attributes_changed(node: ast.AST) -> Iterator[str]:
    """Yield the attributes that a statement sets, or changes in place."""
    targets: Iterable[ast.expr] = ()
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, (ast.AugAssign, ast.AnnAssign)):
        targets = [node.target]
    elif isinstance(node, ast.Call) and called(node).endswith("_"):  # PyTorch's own convention
        targets = [node.func.value] if isinstance(node.func, ast.Attribute) else []
    for one in targets:
        for part in getattr(one, "elts", [one]):
            yield from (one.attr for one in ast.walk(part) if isinstance(one, ast.Attribute))


def _changes(trace: ProcessTrace, path: str, name: str, extent: tuple[int, int]) -> int:
    """Return how many statements between two lines store a variable, or change it in place."""
    return sum(
        name in changed(node)
        for node in trace.sources.nodes(path)
        if extent[0] <= getattr(node, "lineno", -1) <= extent[1]
    )


def _is_set_once(trace: ProcessTrace, path: str, name: str) -> bool:
    """Say whether a variable of a file is set in one place, and in no loop."""
    places = []
    for node in trace.sources.nodes(path):
        if isinstance(node, ast.Global) and name in node.names:
            return False
        if isinstance(node, (ast.For, ast.comprehension)) and name in variables(node.target):
            return False
        line = getattr(node, "lineno", 0)
        if name in changed(node) and not trace.sources.functions_around(path, line):
            places.append(line)
    return len(places) == 1 and trace.sources.loop(path, places[0]) is None


class _Jitted(NamedTuple):
    """Names under which a function, and its gradient, are compiled."""

    value: str
    gradient: str


def _values_again(trace: ProcessTrace, spent: Mapping[SourceLine, float]) -> Iterator[Finding]:
    """Name pairs of compiled functions, a value's and its gradient's, for the same arguments."""
    pairs = [one for path in trace.sources.paths for one in _pairs(trace, path)]
    for path in trace.sources.paths if pairs else ():
        calls = [one for one in trace.sources.nodes(path) if isinstance(one, ast.Call)]
        by_name = defaultdict(list)
        for one in calls:
            by_name[ast.unparse(one.func)].append(one)
        for value, gradient in pairs:
            for first in by_name[value]:
                same = [one for one in by_name[gradient] if _gives(one) == _gives(first)]
                extent = trace.sources.loop(path, first.lineno)
                if extent is None:
                    continue
                beside = [
                    one
                    for one in same
                    if trace.sources.loop(path, one.lineno) == extent
                    if not _is_set_between(trace, path, first, one)
                ]
                if not beside or _is_chosen(trace, path, extent, first):
                    continue
                numbers = {first.lineno, *(one.lineno for one in beside)}
                seconds = sum(
                    cost for at, cost in spent.items() if at.path == path and at.line in numbers
                )
                if trace.is_worth(seconds):
                    says = because(
                        "doctor_value_again", function=value, gradient=gradient, spent_s=seconds
                    )
                    site = trace.line_at(path, first.lineno)
                    yield trace.finding_of_seconds(
                        "value-and-gradient", site, says, framework="jax"
                    )


def _is_set_between(trace: ProcessTrace, path: str, one: ast.Call, other: ast.Call) -> bool:
    """Say whether what two calls are given may be something else for the second."""
    first, last = sorted((one.lineno, other.lineno))
    given = {name for each in one.args for name in variables(each)}
    return bool(given & trace.sources.assigned_between(path, first + 1, last - 1))


def _is_chosen(trace: ProcessTrace, path: str, extent: tuple[int, int], call: ast.Call) -> bool:
    """Say whether a call is made in some turns of a loop only."""
    return any(
        isinstance(one, ast.If)
        and extent[0] <= one.lineno <= extent[1]
        and any(inner is call for inner in ast.walk(one))
        for one in trace.sources.nodes(path)
    )


def _pairs(trace: ProcessTrace, path: str) -> Iterator[_Jitted]:
    """Yield what a file calls ``jax.jit(f)`` and ``jax.jit(jax.grad(f))``, for each such ``f``."""
    values, gradients = {}, {}
    for node in trace.sources.nodes(path):
        if isinstance(node, _FUNCTIONS) and any(_is_jit(one) for one in node.decorator_list):
            values[node.name] = node.name
        if not isinstance(node, ast.Assign) or len(node.targets) != 1:
            continue
        name, given = ast.unparse(node.targets[0]), _first(node.value)
        if given is None or not isinstance(node.value, ast.Call) or not _is_jit(node.value.func):
            continue
        inner = _first(given)
        if inner is None:
            values[ast.unparse(given)] = name
        elif isinstance(given, ast.Call) and called(given) == "grad" and not given.keywords:
            gradients[ast.unparse(inner)] = name
    for function, gradient in gradients.items():
        if function in values:
            yield _Jitted(values[function], gradient)


def _is_jit(node: ast.expr) -> bool:
    return ast.unparse(node) in {"jax.jit", "jit"}


def _first(node: ast.expr) -> ast.expr | None:
    """Return what a call is given first."""
    return node.args[0] if isinstance(node, ast.Call) and len(node.args) == 1 else None


def _gives(call: ast.Call) -> list[str]:
    return [ast.unparse(one) for one in [*call.args, *(each.value for each in call.keywords)]]


def _products(trace: ProcessTrace) -> Iterator[Finding]:
    """Name matrices of derivatives that are made for one product, where they run or are part of.

    What is compiled runs beside Python, so that its seconds are not those of the line: there the
    matrix is to be large.
    """
    spent: dict[tuple[str, int], float] = defaultdict(float)
    for spot, seconds in trace.spent:
        for at in {(one.path, one.line) for one in spot.stack}:
            spent[at] += seconds
    given: dict[tuple[str, str], int] = defaultdict(int)
    for call in trace.calls:
        for argument, shape in call.arguments.items() if call.framework == "jax" else ():
            key = call.short_name, argument
            given[key] = max(given[key], prod(sizes(shape)))
    for path in trace.sources.paths:
        nodes = list(trace.sources.nodes(path))
        for matrix, by in [*filter(None, map(_multiplied, nodes)), *_kept_matrices(nodes)]:
            site = trace.line_at(path, matrix.lineno)
            seconds = spent[path, site.line]
            around = trace.sources.functions_around(path, matrix.lineno)
            inside = next((one for one in around if given[one.name, by] >= _LARGE), None)
            if trace.is_worth(seconds):
                is_torch = _is_torchs(trace, path, matrix)
                code = "doctor_product_torch" if is_torch else "doctor_product"
                says = because(code, call=called(matrix), spent_s=seconds)
                framework = "torch" if is_torch else "jax"
                yield trace.finding_of_seconds(
                    "matrix-for-product", site, says, framework=framework
                )
            elif inside is not None:
                told = {"call": called(matrix), "function": inside.name}
                yield trace.finding(
                    "matrix-for-product",
                    site,
                    because("doctor_product_compiled", n_elements=given[inside.name, by], **told),
                    no_figure=because("doctor_untimed"),
                )


def _multiplied(node: ast.AST) -> tuple[ast.Call, str] | None:
    """Return ``jax.hessian(f)`` and ``x`` of ``jax.hessian(f)(x) @ v``; ``None``: it is no such."""
    matrix: ast.expr | None = None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        matrix = node.left
    elif isinstance(node, ast.Call) and called(node) in {"dot", "matmul"} and node.args:
        matrix = node.args[0]
    return _matrix(matrix) if matrix is not None else None


def _matrix(made: ast.expr) -> tuple[ast.Call, str] | None:
    """Return ``jax.hessian(f)`` and ``x`` of ``jax.hessian(f)(x)``; ``None``: it is no such."""
    if not isinstance(made, ast.Call) or not isinstance(made.func, ast.Call):
        return None
    if called(made.func) not in _MATRICES or not made.args:
        return None
    return made.func, ast.unparse(made.args[0])


def _kept_matrices(nodes: Iterable[ast.AST]) -> Iterator[tuple[ast.Call, str]]:
    """Yield such matrices that have a name, and are multiplied once or twice and nothing else."""
    for function in nodes:
        for node in ast.walk(function) if isinstance(function, _FUNCTIONS) else ():
            if not isinstance(node, ast.Assign) or len(node.targets) != 1:
                continue
            found, target = _matrix(node.value), node.targets[0]
            if found is None or not isinstance(target, ast.Name):
                continue
            parts = [
                one for one in ast.walk(function) if target.id in variables(one) and one is not node
            ]
            uses = sum(isinstance(one, ast.Name) and one.id == target.id for one in parts)
            n_products = sum(_is_product_of(one, target.id) for one in parts)
            if 1 <= n_products <= _FEW_PRODUCTS and uses == n_products + 1:
                yield found


def _is_product_of(node: ast.AST, name: str) -> bool:
    """Say whether something is ``J @ v`` or ``J.T @ v``, of another ``v``."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.MatMult):
        return False
    sides = [ast.unparse(one) for one in (node.left, node.right)]
    return sum(one in {name, f"{name}.T", f"{name}.mT"} for one in sides) == 1


def _is_torchs(trace: ProcessTrace, path: str, call: ast.Call) -> bool:
    """Say whether a function is PyTorch's, by its name or by where it is imported from."""
    first = ast.unparse(call.func).partition(".")[0]
    return first == "torch" or trace.sources.imported_from(path, first).startswith("torch")


def _is_true(call: ast.Call, name: str) -> bool:
    return any(
        one.arg == name and isinstance(one.value, ast.Constant) and one.value.value is True
        for one in call.keywords
    )


def _uses(trace: ProcessTrace, path: str, package: str) -> bool:
    return any(isinstance(one, ast.Name) and one.id == package for one in trace.sources.nodes(path))


RULE = Rule(
    findings=_findings,
    codes=Codes(_REASONS, _ADVICE),
    changes=_CHANGES,
)
