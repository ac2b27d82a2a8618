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
from coldwarm.doctor.source_code import called
from coldwarm.doctor.written_values import sizes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from coldwarm.contracts.doctor import Finding
    from coldwarm.contracts.reasons import Reason
    from coldwarm.doctor.trace import ProcessTrace, SourceLine


_REASONS = {
    "doctor_grows": "`{array}` becomes longer in each turn by {call}, which copies all of it; about"
    " {spent_s:time} were spent at this line",
    "doctor_rows": "each turn goes back through the whole graph for one element of `{array}`; about"
    " {spent_s:time} were spent at this line",
    "doctor_graph_kept": "retain_graph=True keeps the graph of each turn: where a state is not"
    " detached, each backward pass goes through all turns before it, too; about {spent_s:time} were"
    " spent at this line",
    "doctor_constant": "{call} is given the same in each call, {argument_names:list}, and computes"
    " it anew; about {spent_s:time} were spent at this line",
    "doctor_covariance": "{call} factors {argument_names:list} each time that it is made, and that"
    " stays the same; about {spent_s:time} were spent at this line",
    "doctor_value_again": "{function} and {gradient} are called with the same arguments: what"
    " computes the gradient has the value, too; about {spent_s:time} were spent in these calls",
    "doctor_product_compiled": "{function} makes the whole matrix of {call} for one product with a"
    " vector; an array that it is given has {n_elements:# element}",
    "doctor_product": "the whole matrix of {call} is made for one product with a vector; about"
    " {spent_s:time} were spent at this line",
}
_ADVICE = {
    "doctor_grows": "collect the parts in a list and join them once with torch.stack or torch.cat,"
    " or write into a tensor of full length",
    "doctor_covariance": "compute scale_tril=torch.linalg.cholesky(covariance) once, and give that,"
    " with validate_args=False",
}
_CHANGES = {
    "tensor-grows": "join them once, after the loop",
    "gradient-per-row": "take all rows in one pass: torch.func.jacrev or jacfwd, or"
    " torch.autograd.grad(…, is_grads_batched=True)",
    "graph-kept": "detach the state after each backward pass, such as h = h.detach(), or add the"
    " losses up and call backward once",
    "constant-recomputed": "compute it once, before the loop or where the object is made, and keep"
    " it",
    "value-and-gradient": "call one function, jax.jit(jax.value_and_grad(f))",
    "matrix-for-product": "use jax.jvp(jax.grad(f), (x,), (v,))[1] for a Hessian, jax.jvp or"
    " jax.vjp for a Jacobian",
}
_JOINS = ("cat", "concat", "concatenate", "hstack", "vstack")
_COSTLY = frozenset(
    (
        *("sparse_coo_tensor", "sparse_csr_tensor", "cholesky", "inv", "pinv", "eigh", "eig"),
        *("svd", "qr", "lu_factor", "splu", "factorized", "cho_factor"),
    )
)
"""Functions that compute long for what they are given."""
_OF_COVARIANCE = {"covariance_matrix", "precision_matrix"}
_LARGE = 100
"""Elements of an argument."""
_MATRICES = {"hessian", "jacfwd", "jacrev", "jacobian"}
_PACKAGES = frozenset({"torch", "jax", "jnp", "np", "numpy", "scipy", "sp", "splinalg", "linalg"})
"""Names that are no values but packages, or parts of them."""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_MAKING = {"__init__", "__post_init__", "setup"}
"""Methods that run once for each object."""


class _Seen(NamedTuple):
    """A line that took long, in a loop of the program."""

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
            for found in (_grows, _kept_graphs, _constants):
                yield from found(trace, one)
    yield from _values_again(trace, spent)
    yield from _products(trace, spent)


def _finding(
    trace: ProcessTrace, pattern: str, site: SourceLine, says: Reason, framework: str
) -> Finding:
    return trace.finding_of_seconds(pattern, site, says, framework=framework)


def _grows(trace: ProcessTrace, seen: _Seen) -> Iterator[Finding]:
    """Name a tensor that is joined with more of it in each turn of a loop."""
    site = seen.site
    for node in trace.sources.nodes(site.path):
        if not isinstance(node, ast.Assign) or not _covers(node, site.line):
            continue
        call = node.value
        if not isinstance(call, ast.Call) or called(call) not in _JOINS or not call.args:
            continue
        if not ast.unparse(call.func).startswith("torch."):
            continue
        parts = getattr(call.args[0], "elts", [])
        stored = {ast.unparse(one) for one in node.targets}
        joined = [name for name in map(ast.unparse, parts[:1]) if name in stored]
        if joined and trace.sources.loop(site.path, site.line):
            says = because(
                "doctor_grows", array=joined[0], call=ast.unparse(call.func), spent_s=seen.seconds
            )
            yield _finding(trace, "tensor-grows", site, says, "torch")


def _kept_graphs(trace: ProcessTrace, seen: _Seen) -> Iterator[Finding]:
    """Name gradients that are taken row by row, and graphs that are kept over turns."""
    site = seen.site
    extent = trace.sources.loop(site.path, site.line)
    if extent is None:
        return
    for call in trace.sources.calls_at(site.path, site.line):
        if called(call) not in {"grad", "backward"} or not _is_true(call, "retain_graph"):
            continue
        of = _differentiated(call)
        turning = _turning(trace, site.path, extent)
        if isinstance(of, ast.Subscript) and _names(of.slice) & turning:
            says = because("doctor_rows", array=ast.unparse(of.value), spent_s=seen.seconds)
            yield _finding(trace, "gradient-per-row", site, says, "torch")
        elif called(call) == "backward" and _backwards(trace, site.path, extent) == 1:
            says = because("doctor_graph_kept", spent_s=seen.seconds)
            yield _finding(trace, "graph-kept", site, says, "torch")
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


def _turning(trace: ProcessTrace, path: str, extent: tuple[int, int]) -> set[str]:
    """Return the variables of the loop that begins where an extent does."""
    return {
        name
        for node in trace.sources.nodes(path)
        if isinstance(node, (ast.For, ast.comprehension))
        and extent[0] <= node.target.lineno <= extent[1]
        for name in _names(node.target)
    }


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
        names = sorted({name for one in given for name in _values(one)})
        if names and all(_is_constant(trace, site, name) for name in names):
            says = because(
                code, call=ast.unparse(call.func), argument_names=names, spent_s=seen.seconds
            )
            framework = "torch" if _uses(trace, site.path, "torch") else "jax"
            yield _finding(trace, "constant-recomputed", site, says, framework)
            return


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
    if owner == "self":
        return _is_kept(trace, site, attribute)
    if owner:
        return False
    around = trace.sources.functions_around(site.path, site.line)
    if around and name in {one.arg for one in ast.walk(around[0].args) if isinstance(one, ast.arg)}:
        extent = trace.sources.loop(site.path, site.line)
        return extent is not None and not _changes(trace, site.path, name, extent)
    inside = ast.walk(around[0]) if around else trace.sources.nodes(site.path)
    is_local = any(name in _stored(one) for one in inside)
    extent = trace.sources.loop(site.path, site.line)
    if is_local and around:
        made = _made_of(around[0], name)
        if made is not None and depth:
            return all(_is_constant(trace, site, one, depth - 1) for one in _values(made))
        return extent is not None and not _changes(trace, site.path, name, extent)
    whole = (0, 10**9)
    return _changes(trace, site.path, name, whole) == 1


def _made_of(function: ast.AST, name: str) -> ast.expr | None:
    """Return what a variable of a function is, where it is stored once; ``None``: not so."""
    stored = [one for one in ast.walk(function) if name in _stored(one)]
    found = [
        one.value
        for one in ast.walk(function)
        if isinstance(one, ast.Assign) and [name] == [ast.unparse(each) for each in one.targets]
    ]
    return found[0] if len(stored) == len(found) == 1 else None


def _is_kept(trace: ProcessTrace, site: SourceLine, attribute: str) -> bool:
    """Say whether an attribute is set where objects are made, and nowhere else."""
    n_set = 0
    for path in trace.files:
        for node in trace.sources.nodes(path):
            for name in _attributes_changed(node):
                if name != attribute:
                    continue
                around = trace.sources.functions_around(path, getattr(node, "lineno", 0))
                if not around or around[0].name not in _MAKING:
                    return False
                n_set += path == site.path
    return n_set > 0


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
            base = part.value if isinstance(part, ast.Subscript) else part
            if isinstance(base, ast.Attribute):
                yield base.attr


def _changes(trace: ProcessTrace, path: str, name: str, extent: tuple[int, int]) -> int:
    """Return how many statements between two lines store a variable, or change it in place."""
    return sum(
        name in _stored(node)
        for node in trace.sources.nodes(path)
        if extent[0] <= getattr(node, "lineno", -1) <= extent[1]
    )


def _stored(node: ast.AST) -> set[str]:
    """Return the variables that a statement stores, or changes in place."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return {node.id}
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
        return _names(node.value)
    if isinstance(node, ast.Call) and called(node).endswith("_"):
        return _names(node.func)
    return set()


class _Jitted(NamedTuple):
    """Names under which a function, and its gradient, are compiled."""

    value: str
    gradient: str


def _values_again(trace: ProcessTrace, spent: Mapping[SourceLine, float]) -> Iterator[Finding]:
    """Name pairs of compiled functions, a value's and its gradient's, for the same arguments."""
    pairs = [one for path in trace.files for one in _pairs(trace, path)]
    for path in trace.files if pairs else ():
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
                beside = [one for one in same if trace.sources.loop(path, one.lineno) == extent]
                if not beside:
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
                    yield _finding(trace, "value-and-gradient", site, says, "jax")


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


def _products(trace: ProcessTrace, spent: Mapping[SourceLine, float]) -> Iterator[Finding]:
    """Name matrices of derivatives that are made for one product, where they run or are part of.

    What is compiled runs beside Python, so that its seconds are not those of the line: there the
    matrix is to be large.
    """
    large: dict[str, int] = defaultdict(int)
    for call in trace.calls:
        if call.framework == "jax":
            lengths = (prod(sizes(text)) for text in call.arguments.values())
            large[call.short_name] = max(large[call.short_name], *lengths, 0)
    for path in trace.files:
        for node in trace.sources.nodes(path):
            matrix = _multiplied(node)
            if matrix is None:
                continue
            site = trace.line_at(path, matrix.lineno)
            seconds = spent.get(site, 0.0)
            around = trace.sources.functions_around(path, matrix.lineno)
            inside = next((one for one in around if large[one.name] >= _LARGE), None)
            if trace.is_worth(seconds):
                says = because("doctor_product", call=called(matrix), spent_s=seconds)
                yield _finding(trace, "matrix-for-product", site, says, "jax")
            elif inside is not None:
                told = {"call": called(matrix), "function": inside.name}
                yield trace.finding(
                    "matrix-for-product",
                    site,
                    because("doctor_product_compiled", n_elements=large[inside.name], **told),
                    no_figure=because("doctor_untimed"),
                )


def _multiplied(node: ast.AST) -> ast.Call | None:
    """Return ``jax.hessian(f)`` of ``jax.hessian(f)(x) @ v``; ``None``: it is no such product."""
    matrix: ast.expr | None = None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        matrix = node.left
    elif isinstance(node, ast.Call) and called(node) in {"dot", "matmul"} and node.args:
        matrix = node.args[0]
    if not isinstance(matrix, ast.Call) or not isinstance(matrix.func, ast.Call):
        return None
    return matrix.func if called(matrix.func) in _MATRICES else None


def _covers(node: ast.stmt, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or 0)


def _is_true(call: ast.Call, name: str) -> bool:
    return any(
        one.arg == name and isinstance(one.value, ast.Constant) and one.value.value is True
        for one in call.keywords
    )


def _names(node: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}


def _uses(trace: ProcessTrace, path: str, package: str) -> bool:
    return any(isinstance(one, ast.Name) and one.id == package for one in trace.sources.nodes(path))


RULE = Rule(
    findings=_findings,
    codes=Codes(_REASONS, _ADVICE),
    changes=_CHANGES,
)
