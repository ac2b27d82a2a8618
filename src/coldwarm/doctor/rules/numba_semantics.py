"""What functions that Numba compiles do otherwise than Python: results that are wrong, and waits.

Read from the source of functions that were compiled.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import Codes, because
from coldwarm.doctor.rules import Rule
from coldwarm.doctor.source_code import called
from coldwarm.doctor.trace import SourceLine

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coldwarm.contracts.doctor import Finding
    from coldwarm.contracts.reasons import Reason
    from coldwarm.doctor.trace import ProcessTrace

    _Function = ast.FunctionDef | ast.AsyncFunctionDef


_REASONS = {
    "doctor_fastmath": "{function} is compiled with fastmath=True, which assumes that no number is"
    " NaN or infinite: {call}() may then always be false",
    "doctor_seed": "this seeds NumPy's generator, but {function} draws from Numba's own: its"
    " numbers differ from run to run",
    "doctor_lock": "threads call {function}, which holds the GIL while it runs: they run one after"
    " the other, and the first thread waited for them for about {spent_s:time}",
    "doctor_race": "all threads of the prange loop in {function} write into the same elements of"
    " `{array}`, which is made before the loop",
}
_CHANGES = {
    "numba-fastmath-nan": "leave fastmath=True out, or give a set of flags without nnan and ninf",
    "numba-seed": "call np.random.seed in a function under @njit, or pass a"
    " numpy.random.Generator to the compiled function",
    "numba-holds-lock": "compile it with nogil=True",
    "numba-race": "make the array inside of the loop, so that each turn has its own",
}
_WAITS = ("threading.", "_base.", "thread.", "queue.")
"""Beginnings of what waits for threads, in Python's own library."""
_TESTS = {"isnan", "isinf", "isfinite"}
_RANDOM = ("np.random.", "numpy.random.")
_DECORATORS = {"jit", "njit", "vectorize", "guvectorize"}


def _findings(trace: ProcessTrace) -> Iterator[Finding]:
    """Name lines in, or about, functions that were compiled in this run."""
    compiled = _compiled(trace)
    for path, function in compiled:
        yield from _fastmath(trace, path, function)
        yield from _races(trace, path, function)
    yield from _seeds(trace, compiled)
    yield from _locks(trace, compiled)


def _compiled(trace: ProcessTrace) -> list[tuple[str, _Function]]:
    """Return the functions of the user's files that Numba has compiled, or what they call."""
    calls = [one for one in trace.calls if one.framework == "numba"]
    paths = {one.definition.path for one in calls if one.definition is not None}
    return [
        (path, node)
        for path in sorted(paths)
        for node in trace.sources.nodes(path)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and _decorator(node)
    ]


def _decorator(function: _Function) -> ast.expr | None:
    """Return Numba's decorator of a function; ``None``: it has none."""
    for one in function.decorator_list:
        base = one.func if isinstance(one, ast.Call) else one
        if ast.unparse(base).rpartition(".")[2] in _DECORATORS:
            return one
    return None


def _is_set(function: _Function, option: str) -> bool:
    """Say whether an option of the decorator is written as true."""
    decorator = _decorator(function)
    return isinstance(decorator, ast.Call) and any(
        one.arg == option and isinstance(one.value, ast.Constant) and one.value.value is True
        for one in decorator.keywords
    )


def _wrong(trace: ProcessTrace, pattern: str, site: SourceLine, says: Reason) -> Finding:
    return trace.finding(
        pattern,
        site,
        says,
        framework="numba",
        no_figure=because("doctor_wrong_result"),
    )


def _fastmath(trace: ProcessTrace, path: str, function: _Function) -> Iterator[Finding]:
    if not _is_set(function, "fastmath"):
        return
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and called(node) in _TESTS:
            says = because("doctor_fastmath", function=function.name, call=called(node))
            site = SourceLine(path, node.lineno, function.name)
            yield _wrong(trace, "numba-fastmath-nan", site, says)
            return


def _seeds(trace: ProcessTrace, compiled: list[tuple[str, _Function]]) -> Iterator[Finding]:
    """Name where NumPy is seeded from Python, while compiled functions draw and none is seeded."""
    drawing = [one for one in compiled if _uses_random(one[1], seed=False)]
    if not drawing or any(_uses_random(function, seed=True) for _, function in compiled):
        return
    inside = {id(node) for _, function in compiled for node in ast.walk(function)}
    paths = {one.path for spot, _ in trace.spent for one in spot.stack}
    for path in sorted(paths | {path for path, _ in compiled}):
        for node in trace.sources.nodes(path):
            if isinstance(node, ast.Call) and id(node) not in inside and _is_seed(node):
                says = because("doctor_seed", function=drawing[0][1].name)
                yield _wrong(trace, "numba-seed", trace.line_at(path, node.lineno), says)


def _locks(trace: ProcessTrace, compiled: list[tuple[str, _Function]]) -> Iterator[Finding]:
    """Name functions that several threads call, and that let no other thread run."""
    waited_s = sum(seconds for spot, seconds in trace.spent if spot.below.startswith(_WAITS))
    if not trace.is_worth(waited_s):
        return
    names = {one.name for one in trace.places_of("numba") if one.counts[2]}
    names |= {
        one.short_name
        for one in trace.calls
        if one.framework == "numba" and one.thread != trace.main_thread
    }
    for path, function in compiled:
        if function.name in names and not _is_set(function, "nogil"):
            says = because("doctor_lock", function=function.name, spent_s=waited_s)
            yield trace.finding(
                "numba-holds-lock",
                SourceLine(path, function.lineno, function.name),
                says,
                framework="numba",
                no_figure=because("doctor_depends"),
            )


def _is_seed(node: ast.Call) -> bool:
    return ast.unparse(node.func) in {"np.random.seed", "numpy.random.seed"}


def _uses_random(function: _Function, *, seed: bool) -> bool:
    calls = [one for one in ast.walk(function) if isinstance(one, ast.Call)]
    drawn = (one for one in calls if ast.unparse(one.func).startswith(_RANDOM))
    return any(_is_seed(one) == seed for one in drawn)


def _races(trace: ProcessTrace, path: str, function: _Function) -> Iterator[Finding]:
    """Name arrays that each turn of a parallel loop writes at the same places."""
    if not _is_set(function, "parallel"):
        return
    for loop in ast.walk(function):
        if not isinstance(loop, ast.For) or not isinstance(loop.iter, ast.Call):
            continue
        if called(loop.iter) != "prange":
            continue
        turning = {one.id for one in ast.walk(loop.target) if isinstance(one, ast.Name)}
        own, dependent = _of_turn(loop, turning)
        chosen = {
            id(node)
            for branch in ast.walk(loop)
            if isinstance(branch, ast.If) and _names(branch.test) & dependent
            for node in ast.walk(branch)
        }
        for node in ast.walk(loop):
            written = _written_element(node)
            # Where it depends on the turn, it may be one alone that writes.
            if written is None or written[0] in own or id(node) in chosen:
                continue
            array, names = written
            if not names & dependent:
                line = _made_at(function, array) or loop.lineno
                says = because("doctor_race", function=function.name, array=array)
                site = SourceLine(path, line, function.name)
                yield _wrong(trace, "numba-race", site, says)
                own.add(array)  # once is enough


def _of_turn(loop: ast.For, turning: set[str]) -> tuple[set[str], set[str]]:
    """Return the names that a turn makes for itself, and those that depend on which turn it is."""
    own, dependent = set(turning), set(turning)
    for _ in range(3):  # what is assigned before is used behind, and the other way round in loops
        for node in ast.walk(loop):
            if isinstance(node, ast.For):
                own |= _names(node.target)
                if _names(node.iter) & dependent:
                    dependent |= _names(node.target)
            if not isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
                continue
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = {one.id for one in targets if isinstance(one, ast.Name)}
            names |= {
                one.id
                for target in targets
                if isinstance(target, ast.Tuple)
                for one in target.elts
                if isinstance(one, ast.Name)
            }
            own |= names
            value = node.value
            if value is not None and _names(value) & dependent:
                dependent |= names
    return own, dependent


def _written_element(node: ast.AST) -> tuple[str, set[str]] | None:
    """Return the array of which a statement writes elements, and the names in their places."""
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AugAssign):
        targets = [node.target]
    for one in targets:
        if isinstance(one, ast.Subscript) and isinstance(one.value, ast.Name):
            return one.value.id, _names(one.slice)
    return None


def _names(node: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}


def _made_at(function: _Function, array: str) -> int | None:
    """Return the line that makes an array of a function's own."""
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and any(
            isinstance(one, ast.Name) and one.id == array for one in node.targets
        ):
            return node.lineno
    return None


RULE = Rule(
    findings=_findings,
    codes=Codes(_REASONS),
    changes=_CHANGES,
)
