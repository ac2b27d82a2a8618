"""What packages are known to do slowly where a program asks for it in one way, and not in another.

How long it took is known from looks at the program, and what it was from the function that ran.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from math import prod
from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import Codes, because
from coldwarm.doctor.rules import Rule
from coldwarm.doctor.source_code import called
from coldwarm.doctor.written_values import sizes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coldwarm.contracts.doctor import Finding
    from coldwarm.doctor.trace import CompiledCall, ProcessTrace, SourceLine


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


RULE = Rule(
    findings=_findings,
    codes=Codes(_REASONS, _ADVICE),
    changes=_CHANGES,
)
