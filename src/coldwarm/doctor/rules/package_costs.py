"""What packages are known to do slowly where a program asks for it in one way, and not in another.

How long it took is known from looks at the program, and what it was from the function that ran.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import Codes, because
from coldwarm.doctor.rules import Rule
from coldwarm.doctor.source_code import called

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coldwarm.contracts.doctor import Finding
    from coldwarm.doctor.trace import ProcessTrace, SourceLine


_REASONS = {
    "doctor_workers": "this loop started the workers of a DataLoader anew each time, and ended"
    " them: about {spent_s:time} were spent on it",
    "doctor_batches": "about {spent_s:time} were spent at this line in getting batches from a"
    " DataLoader",
    "doctor_rows": "about {spent_s:time} were spent at this line in {function}, which runs backward"
    " once for each number that comes out",
    "doctor_differences": "SciPy is given no gradient here, and takes it from differences: it calls"
    " {function} once more for each parameter; about {spent_s:time} were spent in this call",
}
_CHANGES = {
    "dataloader-restart": "keep the workers: DataLoader(…, persistent_workers=True); or none, with"
    " num_workers=0, where the data are in memory",
    "dataloader-wait": "where all data are in memory, take whole batches by index, such as"
    " x[order[i : i + n]]; else use more workers, and keep them with persistent_workers=True",
    "jacobian-by-rows": "give it vectorize=True; or use torch.func.jacfwd, where fewer numbers go"
    " in than come out",
    "finite-differences": "give it jac: jax.jit(jax.grad(f)), or jac=True with"
    " jax.jit(jax.value_and_grad(f))",
}


@dataclass(frozen=True)
class _Cost:
    """What takes long in a package: by the function of it that a line calls."""

    pattern: str
    code: str
    functions: frozenset[str]
    in_loop: bool = False
    """Whether it matters in a loop alone."""
    share: float = 0.0
    """Least share of the run, if more than of all findings."""
    unless: str = ""
    """Keyword that makes it another matter."""


_COSTS = (
    _Cost(
        "dataloader-restart",
        "doctor_workers",
        frozenset(
            {
                "torch.DataLoader.__iter__",
                "torch._MultiProcessingDataLoaderIter.__del__",
                "torch._MultiProcessingDataLoaderIter._shutdown_workers",
            }
        ),
        in_loop=True,
    ),
    _Cost(
        "dataloader-wait",
        "doctor_batches",
        frozenset({"torch._BaseDataLoaderIter.__next__"}),
        share=0.25,
    ),
    _Cost(
        "jacobian-by-rows",
        "doctor_rows",
        frozenset({"torch.jacobian", "torch.hessian"}),
        unless="vectorize",
    ),
)
_GRADIENT = {"minimize": 4, "least_squares": 2, "root": 4, "curve_fit": 9}
"""Functions of SciPy's that take a gradient as ``jac``, and its place among the arguments."""
_METHOD = {"minimize": 3, "root": 3}
"""The same of the method."""
_WITHOUT = {"", "nelder-mead", "powell", "cobyla", "cobyqa"}
"""Methods that use none."""
_DIFFERENCES = {"None", "2-point", "3-point", "cs"}
"""What ``jac`` is where it is to be taken from differences."""


def _findings(trace: ProcessTrace) -> Iterator[Finding]:
    """Name the lines that ask for it."""
    for cost in _COSTS:
        found: dict[SourceLine, float] = defaultdict(float)
        names: dict[SourceLine, str] = {}
        for spot, seconds in trace.spent:
            if spot.below in cost.functions and (trace.in_loop(spot.stack) or not cost.in_loop):
                found[spot.stack[0]] += seconds
                names[spot.stack[0]] = spot.below
        for site, seconds in found.items():
            is_long = trace.is_worth(seconds) and seconds >= cost.share * trace.lasted_s
            if is_long and not _is_given(trace, site, cost.unless):
                function = {"function": names[site]} if cost.code == "doctor_rows" else {}
                says = because(cost.code, spent_s=seconds, **function)
                yield trace.finding(
                    cost.pattern,
                    site,
                    says,
                    framework="torch",
                    cost_s=seconds,
                    no_saving=because("doctor_depends"),
                )
    yield from _differences(trace)


def _is_given(trace: ProcessTrace, site: SourceLine, keyword: str) -> bool:
    return any(
        one.arg == keyword for call in _calls_at(trace, site) for one in call.keywords if one.arg
    )


def _calls_at(trace: ProcessTrace, site: SourceLine) -> list[ast.Call]:
    return [
        node
        for node in trace.sources.nodes(site.path)
        if isinstance(node, ast.Call) and node.lineno <= site.line <= (node.end_lineno or 0)
    ]


def _differences(trace: ProcessTrace) -> Iterator[Finding]:
    """Name calls of SciPy's that call a function of JAX's and are given no gradient of it."""
    jitted = {line: one.name for one in reversed(trace.places_of("jitted")) for line in one.stack}
    for call in trace.calls:
        if call.framework == "jax" and not call.is_frameworks:
            jitted.update(dict.fromkeys(call.stack, call.short_name))
    found: dict[SourceLine, float] = defaultdict(float)
    for spot, seconds in trace.spent:
        for line in {*spot.stack} & jitted.keys():
            found[line] += seconds
    for site, seconds in found.items():
        if not trace.is_worth(seconds) or not _of_scipy(trace, site.path):
            continue
        if any(map(_takes_differences, _calls_at(trace, site))):
            says = because("doctor_differences", function=jitted[site], spent_s=seconds)
            yield trace.finding(
                "finite-differences",
                site,
                says,
                cost_s=seconds,
                no_saving=because("doctor_depends"),
            )


def _of_scipy(trace: ProcessTrace, path: str) -> bool:
    """Say whether a file imports SciPy's optimisers."""
    for node in trace.sources.nodes(path):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("scipy"):
            return True
        if isinstance(node, ast.Import) and any(one.name.startswith("scipy") for one in node.names):
            return True
    return False


def _takes_differences(call: ast.Call) -> bool:
    """Say whether a call is one of SciPy's that takes a gradient, and has none."""
    name = called(call)
    given = {one.arg: one.value for one in call.keywords}
    if name not in _GRADIENT or None in given or ast.unparse(call.func).startswith("jax."):
        return False
    gradient = _argument(call, given.get("jac"), _GRADIENT[name])
    method = _argument(call, given.get("method"), _METHOD.get(name, len(call.args)))
    if gradient is not None and _constant(gradient) not in _DIFFERENCES:
        return False
    return method is None or _constant(method).lower() not in _WITHOUT


def _constant(node: ast.expr) -> str:
    """Return a constant as a text; a name of no method where it is none."""
    return str(node.value) if isinstance(node, ast.Constant) else ""


def _argument(call: ast.Call, named: ast.expr | None, place: int) -> ast.expr | None:
    """Return an argument that is given by its name or by its place."""
    return named if named is not None else next(iter(call.args[place:]), None)


RULE = Rule(
    findings=_findings,
    codes=Codes(_REASONS),
    changes=_CHANGES,
)
