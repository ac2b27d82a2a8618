"""What packages are known to do slowly where a program asks for it in one way, and not in another.

How long it took is known from looks at the program, and what it was from the function that ran.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from math import prod
from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import Codes, because
from coldwarm.doctor.rules import Rule
from coldwarm.doctor.source_code import called, extent
from coldwarm.doctor.written_values import sizes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from coldwarm.contracts.doctor import Finding
    from coldwarm.doctor.trace import CompiledCall, HeldArray, ProcessTrace, SourceLine


_REASONS = {
    "doctor_workers": "starting and ending the workers of a DataLoader took about {spent_s:time} at"
    " this line",
    "doctor_batches": "about {spent_s:time} were spent at this line in getting batches from a"
    " DataLoader",
    "doctor_gradient": "SciPy gets no gradient here and estimates it by finite differences: for"
    " each gradient it calls {function} once more per parameter; about {spent_s:time} were spent in"
    " this call",
    "doctor_gradient_torch": "SciPy gets no gradient here and estimates it by finite differences:"
    " for each gradient it calls {function} once more for each of {n_parameters:# parameter}; about"
    " {spent_s:time} were spent in this call",
    "doctor_jacobian_torch": "SciPy gets no Jacobian here and estimates it by finite differences:"
    " for each one it calls {function} once more for each of {n_parameters:# parameter}; about"
    " {spent_s:time} were spent in this call",
    "doctor_jacobian": "SciPy gets no Jacobian here and estimates it by finite differences: for"
    " each one it calls {function} once more per parameter; about {spent_s:time} were spent in this"
    " call",
    "doctor_distribution": "this loop calls {call} of SciPy for one number at a time, and each call"
    " checks and prepares all that it could be given; about {spent_s:time} were spent at this line",
    "doctor_entries": "this loop sets entries of a sparse matrix of SciPy's one by one; about"
    " {spent_s:time} were spent at this line",
}
_ADVICE = {
    "doctor_jacobian": "give it jac=jax.jit(jax.jacfwd(f))",
    "doctor_gradient_torch": "let the function give value and gradient, of value.backward() and"
    " x.grad, and give it jac=True",
    "doctor_jacobian_torch": "give it jac=, of torch.func.jacfwd",
}
_CHANGES = {
    "dataloader-restart": "keep the workers: DataLoader(…, persistent_workers=True); or none, with"
    " num_workers=0, where the data are in memory",
    "dataloader-wait": "where all data are in memory, take whole batches by index, such as"
    " x[order[i : i + n]]; else use more workers, and keep them with persistent_workers=True",
    "distribution-per-number": "give it all numbers in one array; where each needs the one before,"
    " use scipy.special, such as ndtr and ndtri, or write the density out",
    "sparse-by-entry": "collect rows, columns and values in arrays, and make the matrix of them"
    " once: scipy.sparse.coo_array((values, (rows, columns))), which adds up what is there twice",
    "finite-differences": "give it jac=jax.jit(jax.grad(f)), or jac=True with"
    " jax.jit(jax.value_and_grad(f))",
}
_STARTS = frozenset(
    {
        "torch.DataLoader.__iter__",
        "torch._MultiProcessingDataLoaderIter.__del__",
        "torch._MultiProcessingDataLoaderIter._shutdown_workers",
    }
)
_NEXT = "torch._BaseDataLoaderIter.__next__"
_WAITS, _WAITS_ANEW = 0.25, 0.1
"""Share of the run from which on waiting for batches is reported, and where each loop over a loader
starts workers of its own."""
_FEWEST = 4
"""Parameters."""
_DISTRIBUTION = "scipy.rv_"
"""Beginning of what runs where a distribution is called."""
_DENSITIES = frozenset(
    ("pdf", "logpdf", "pmf", "logpmf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf")
)
_SPARSE = re.compile(r"scipy\.(IndexMixin|_(lil|dok|coo|bsr|cs\w)_base)\.__[gs]etitem__")
"""What runs where an entry of a sparse matrix is read or set."""
_TO_NUMBER, _OF_NUMBER = frozenset(("float", "int", "len")), frozenset(("abs", "min", "max"))
_USES = {
    "minimize": (4, 3, {"cg", "bfgs", "l-bfgs-b", "tnc", "slsqp", ""}),
    "root": (4, 3, {"hybr", "lm", ""}),
    "least_squares": (2, 4, {"trf", "dogbox", "lm", ""}),
    "curve_fit": (9, 8, {"lm", "trf", "dogbox", ""}),
}
"""Functions of SciPy's that take a gradient, the places of ``jac`` and ``method`` among their
arguments, and the methods that use differences where there is no gradient."""
_DIFFERENCES = {None, "2-point", "3-point", "cs"}
"""What ``jac`` is where differences are asked for."""


def _findings(trace: ProcessTrace) -> Iterator[Finding]:
    """Name the lines that ask for it."""
    yield from _restarts(trace)
    yield from _waits(trace)
    yield from _differences(trace)
    yield from _differences_of_torch(trace)
    yield from _number_by_number(trace)


def _restarts(trace: ProcessTrace) -> Iterator[Finding]:
    """Name loops that start workers, if the program makes loaders that do not keep them."""
    found: dict[SourceLine, float] = defaultdict(float)
    for spot, seconds in trace.spent:
        if spot.below in _STARTS and trace.in_loop(spot.stack):
            found[spot.stack[0]] += seconds
    if not found or not _leaves_workers(trace):
        return
    for site, seconds in found.items():
        if trace.is_worth(seconds):
            says = because("doctor_workers", spent_s=seconds)
            yield trace.finding_of_seconds("dataloader-restart", site, says, framework="torch")


def _leaves_workers(trace: ProcessTrace) -> bool:
    """Say whether a loader is made that has workers, and is not told to keep them."""
    loaders = [
        {each.arg for each in one.keywords}
        for path in trace.sources.paths
        for one in trace.sources.nodes(path)
        if isinstance(one, ast.Call) and _is_loader(one)
    ]
    return any("num_workers" in one for one in loaders) and not any(
        "persistent_workers" in one or None in one for one in loaders
    )


def _is_loader(call: ast.Call) -> bool:
    """Say whether a call makes a loader, or a ``functools.partial`` that does."""
    made = [*map(ast.unparse, call.args[:1])] if called(call) == "partial" else [called(call)]
    return any(one.rpartition(".")[2] == "DataLoader" for one in made)


def _waits(trace: ProcessTrace) -> Iterator[Finding]:
    found: dict[SourceLine, float] = defaultdict(float)
    again = set()
    for spot, seconds in trace.spent:
        if spot.below == _NEXT:
            found[spot.stack[0]] += seconds
            if trace.in_loop(spot.stack):
                again.add(spot.stack[0])
    for site, seconds in found.items():
        # The first batch of workers that begin anew waits until they are there.
        share = _WAITS_ANEW if site in again and _leaves_workers(trace) else _WAITS
        if trace.is_worth(seconds) and seconds >= share * trace.lasted_s:
            says = because("doctor_batches", spent_s=seconds)
            yield trace.finding_of_seconds("dataloader-wait", site, says, framework="torch")


def _differences(trace: ProcessTrace) -> Iterator[Finding]:
    """Name calls of SciPy's that call a function of JAX's and are given no gradient of it."""
    jitted: dict[SourceLine, CompiledCall] = {}
    for call in trace.calls:
        if call.framework == "jax" and not call.is_frameworks:
            for line in call.stack:
                jitted.setdefault(line, call)
    found: dict[SourceLine, float] = defaultdict(float)
    for spot, seconds in trace.spent:
        for line in {*spot.stack} & jitted.keys():
            found[line] += seconds
    for site, seconds in found.items():
        if not trace.is_worth(seconds) or not _has_many(jitted[site]):
            continue
        names = _of_scipy(trace, site.path)
        for one in trace.sources.calls_at(site.path, site.line):
            if ast.unparse(one.func) in names and _takes_differences(one):
                code = "doctor_gradient" if called(one) == "minimize" else "doctor_jacobian"
                says = because(code, function=jitted[site].short_name, spent_s=seconds)
                yield trace.finding_of_seconds("finite-differences", site, says, framework="jax")
                break


def _differences_of_torch(trace: ProcessTrace) -> Iterator[Finding]:
    """Name calls of SciPy's whose function computes with PyTorch, and gives no gradient."""
    found: dict[SourceLine, float] = defaultdict(float)
    for spot, seconds in trace.spent:
        for place, line in enumerate(spot.stack):
            inner = {one.path for one in spot.stack[:place]}
            if any(trace.sources.imports(path, "torch") for path in inner):
                found[line] += seconds
    for site, seconds in found.items():
        names = _of_scipy(trace, site.path) if trace.is_worth(seconds) else set()
        for one in trace.sources.calls_at(site.path, site.line) if names else ():
            n = _n_parameters(trace, site, one)
            if ast.unparse(one.func) in names and n >= _FEWEST and _takes_differences(one):
                code = "gradient" if called(one) == "minimize" else "jacobian"
                says = because(
                    f"doctor_{code}_torch",
                    function=ast.unparse(one.args[0]),
                    n_parameters=n,
                    spent_s=seconds,
                )
                yield trace.finding_of_seconds("finite-differences", site, says, framework="torch")
                break


def _n_parameters(trace: ProcessTrace, site: SourceLine, call: ast.Call) -> int:
    """Return how many numbers SciPy begins with, as far as that was seen; else 0."""
    named = [one.value for one in call.keywords if one.arg == "x0"]
    begin = next(iter([*named, *call.args[1:2]]), None)
    statement = trace.sources.statement(site.path, site.line)
    if begin is None or statement is None or not call.args:
        return 0
    for line in range(statement.lineno, (statement.end_lineno or statement.lineno) + 1):
        held = trace.held_at(site.path, line)
        found = [held[name].size for name in _names(begin) if name in held]
        if found:
            return max(found)
    return 0


def _names(node: ast.expr) -> set[str]:
    """Return the variables and attributes in an expression."""
    parts = (one for one in ast.walk(node) if isinstance(one, (ast.Name, ast.Attribute)))
    return {ast.unparse(one) for one in parts}


def _has_many(call: CompiledCall) -> bool:
    """Say whether the first argument of a function has more than a few numbers."""
    first = next(iter(call.arguments.values()), "")
    return prod(sizes(first)) >= _FEWEST


def _of_scipy(trace: ProcessTrace, path: str) -> set[str]:
    """Return how a file writes the functions of SciPy's that take a gradient."""
    found: set[str] = set()
    for node in trace.sources.nodes(path):
        module = node.module if isinstance(node, ast.ImportFrom) else ""
        if isinstance(node, ast.ImportFrom) and module == "scipy.optimize":
            found |= {one.name for one in node.names if one.name in _USES and not one.asname}
        elif isinstance(node, ast.ImportFrom) and module == "scipy":
            modules = {one.asname or one.name for one in node.names if one.name == "optimize"}
            found |= {f"{one}.{name}" for one in modules for name in _USES}
        elif isinstance(node, ast.Import):
            for one in node.names:
                whole = one.asname or one.name
                if one.name == "scipy":
                    whole += ".optimize"
                if one.name in {"scipy", "scipy.optimize"}:
                    found |= {f"{whole}.{name}" for name in _USES}
    return found


def _takes_differences(call: ast.Call) -> bool:
    """Say whether a call is given no gradient, and a method that uses one, or none."""
    place, method_place, methods = _USES[called(call)]
    given = {one.arg: one.value for one in call.keywords}
    if None in given or any(isinstance(one, ast.Starred) for one in call.args):
        return False
    gradient = given.get("jac", next(iter(call.args[place:]), ast.Constant(None)))
    method = given.get("method", next(iter(call.args[method_place:]), ast.Constant("")))
    return (
        isinstance(gradient, ast.Constant)
        and gradient.value in _DIFFERENCES
        and isinstance(method, ast.Constant)
        and str(method.value).lower() in methods
    )


def _number_by_number(trace: ProcessTrace) -> Iterator[Finding]:
    """Name calls of SciPy's for one number, or one entry, in a loop."""
    found: dict[tuple[SourceLine, str], float] = defaultdict(float)
    for spot, seconds in trace.spent:
        site = spot.stack[0]
        if trace.sources.loop(site.path, site.line) is None:
            continue
        method = spot.below.rpartition(".")[2]
        if spot.below.startswith(_DISTRIBUTION) and method in _DENSITIES:
            found[site, method] += seconds
        elif _SPARSE.fullmatch(spot.below):
            found[site, ""] += seconds
    for (site, method), seconds in found.items():
        says, pattern = None, ""
        if not trace.is_worth(seconds):
            continue
        if not method and _sets_one(trace, site):
            says, pattern = because("doctor_entries", spent_s=seconds), "sparse-by-entry"
        elif method and (call := _of_one_number(trace, site, method)) is not None:
            pattern = "distribution-per-number"
            written = ast.unparse(call.func)
            says = because("doctor_distribution", call=written, spent_s=seconds)
        if says is not None:
            framework = trace.first_framework
            yield trace.finding_of_seconds(pattern, site, says, framework=framework)


def _sets_one(trace: ProcessTrace, site: SourceLine) -> bool:
    """Say whether a line sets one entry of something, at places that are numbers."""
    statement = trace.sources.statement(site.path, site.line)
    targets: list[ast.expr] = []
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AugAssign) and isinstance(statement.op, (ast.Add, ast.Sub)):
        targets = [statement.target]
    held = trace.held_at(site.path, site.line)
    return any(
        isinstance(one, ast.Subscript)
        and isinstance(one.slice, ast.Tuple)
        and all(
            _is_number(trace, site, place) or (isinstance(place, ast.Name) and place.id not in held)
            for place in one.slice.elts
        )
        for one in targets
    )


def _of_one_number(trace: ProcessTrace, site: SourceLine, method: str) -> ast.Call | None:
    """Return the call of a distribution's method at a line, where it is given numbers alone."""
    calls = [one for one in trace.sources.calls_at(site.path, site.line) if called(one) == method]
    given = [
        each for one in calls for each in (*one.args, *(named.value for named in one.keywords))
    ]
    is_told = given and all(_is_number(trace, site, one) for one in given)
    return calls[0] if calls and is_told else None


def _is_number(trace: ProcessTrace, site: SourceLine, node: ast.expr) -> bool:
    """Say whether the source tells that an expression is one number."""
    parts: list[ast.expr] | None = None
    match node:
        case ast.Constant():
            parts = []
        case ast.UnaryOp(operand=operand):
            parts = [operand]
        case ast.BinOp(left=left, right=right):
            parts = [left, right]
        case ast.Call():
            name = ast.unparse(node.func)
            if name in _TO_NUMBER or name.startswith("math."):
                return True
            parts = node.args if name in _OF_NUMBER and not node.keywords else None
        case ast.Subscript(value=value, slice=place):
            array = trace.held_at(site.path, site.line).get(ast.unparse(value))
            places = place.elts if isinstance(place, ast.Tuple) else [place]
            parts = places if array is not None and len(places) == len(array.shape) else None
        case ast.Name():
            is_array = node.id in trace.held_at(site.path, site.line)
            return not is_array and node.id in _turning_numbers(trace, site)
    return parts is not None and all(_is_number(trace, site, one) for one in parts)


def _turning_numbers(trace: ProcessTrace, site: SourceLine) -> set[str]:
    """Return the variables of the loops around a line that are one number in each turn."""
    held = trace.held_at(site.path, site.line)
    found: set[str] = set()
    for loop in trace.sources.nodes(site.path):
        reach = extent(loop) if isinstance(loop, ast.For) else None
        if isinstance(loop, ast.For) and reach is not None and reach[0] <= site.line <= reach[1]:
            found |= {name for name, given in _pairs(loop.target, loop.iter) if _has(held, given)}
    return found


def _pairs(target: ast.expr, given: ast.expr) -> Iterator[tuple[str, ast.expr | None]]:
    """Yield the variables of a loop, and what each goes through; ``None``: it counts."""
    name = ast.unparse(given.func) if isinstance(given, ast.Call) else ""
    arguments = given.args if isinstance(given, ast.Call) else []
    match target:
        case ast.Tuple(elts=[ast.Name(id=number), inner]) if name == "enumerate" and arguments:
            yield number, None
            yield from _pairs(inner, arguments[0])
        case ast.Tuple(elts=elements) if name == "zip" and len(elements) == len(arguments):
            for one, through in zip(elements, arguments, strict=True):
                yield from _pairs(one, through)
        case ast.Name(id=number):
            yield number, None if name == "range" else given


def _has(held: Mapping[str, HeldArray], given: ast.expr | None) -> bool:
    """Say whether each turn takes one number of what it goes through."""
    array = held.get(ast.unparse(given)) if given is not None else None
    return given is None or (array is not None and len(array.shape) == 1)


RULE = Rule(
    findings=_findings,
    codes=Codes(_REASONS, _ADVICE),
    changes=_CHANGES,
)
