"""What functions that Numba compiles do otherwise than Python: results that are wrong, and waits.

Read from the source of functions that were compiled.
"""

from __future__ import annotations

import ast
from pathlib import PurePath
from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import Codes, because
from coldwarm.doctor.rules import Rule
from coldwarm.doctor.source_code import called, stored, variables
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
    "doctor_histogram": "turns of the prange loop in {function} add to elements of `{array}` whose"
    " place they compute by rounding: two threads that add to one at once lose one of both",
    "doctor_frozen_global": "{function} is compiled with the value that {name} has at its first"
    " call, and this line sets it again between its calls: it still computes with the first one",
    "doctor_race": "all threads of the prange loop in {function} write into the same elements of"
    " `{array}`, which is made before the loop",
}
_ADVICE = {
    "doctor_histogram": "give each thread, or each part of the loop, an array of its own, and add"
    " these up after the loop",
}
_CHANGES = {
    "numba-fastmath-nan": "leave fastmath=True out, or give a set of flags without nnan and ninf",
    "numba-seed": "call np.random.seed in a function under @njit, or pass a"
    " numpy.random.Generator to the compiled function",
    "numba-holds-lock": "compile it with nogil=True",
    "numba-frozen-global": "give the function this value as an argument",
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
    yield from _frozen(trace, compiled)


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
        yield from _histograms(trace, path, function, loop, own)
        chosen = {
            id(node)
            for branch in ast.walk(loop)
            if isinstance(branch, ast.If) and variables(branch.test) & dependent
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


def _histograms(
    trace: ProcessTrace, path: str, function: _Function, loop: ast.For, own: set[str]
) -> Iterator[Finding]:
    """Name arrays to which turns add at places that are rounded, so that several share one."""
    rounded = {
        target.id
        for node in ast.walk(loop)
        if isinstance(node, ast.Assign) and _is_rounded(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(loop):
        if not isinstance(node, ast.AugAssign) or not isinstance(node.target, ast.Subscript):
            continue
        array, place = node.target.value, node.target.slice
        if not isinstance(array, ast.Name) or array.id in own:
            continue
        is_binned = _is_rounded(place) or (isinstance(place, ast.Name) and place.id in rounded)
        if is_binned:
            says = because("doctor_histogram", function=function.name, array=array.id)
            site = SourceLine(path, node.lineno, function.name)
            yield _wrong(trace, "numba-race", site, says)
            own.add(array.id)


def _is_rounded(node: ast.expr) -> bool:
    """Say whether a number is made whole, so that many have the same."""
    return isinstance(node, ast.Call) and called(node) in {"int", "floor", "round", "searchsorted"}


def _frozen(trace: ProcessTrace, compiled: list[tuple[str, _Function]]) -> Iterator[Finding]:
    """Name where a module's variable is set in a loop that calls what was compiled with it."""
    sites = {one.site for one in trace.calls if one.framework == "numba" and one.site}
    sites |= {one.site for one in trace.places_of("numba")}
    for path in () if _is_recompiled(trace) else trace.sources.paths:
        for node in trace.sources.nodes(path):
            if not isinstance(node, ast.Assign) or len(node.targets) != 1:
                continue
            target = node.targets[0]
            if not isinstance(target, ast.Attribute) or not isinstance(target.value, ast.Name):
                continue
            extent = trace.sources.loop(path, node.lineno) or _called_again(trace, path, node)
            is_called = extent is not None and any(
                one.path == path and extent[0] <= one.line <= extent[1] for one in sites
            )
            reader = _reader(trace, compiled, path, target) if is_called else None
            if reader is not None:
                says = because(
                    "doctor_frozen_global", function=reader.name, name=ast.unparse(target)
                )
                site = trace.line_at(path, node.lineno)
                yield _wrong(trace, "numba-frozen-global", site, says)


def _called_again(trace: ProcessTrace, path: str, node: ast.Assign) -> tuple[int, int] | None:
    """Return the lines of the function that sets a variable to its argument, if a loop calls it."""
    for function in trace.sources.functions_around(path, node.lineno)[:1]:
        given = {one.arg for one in ast.walk(function.args) if isinstance(one, ast.arg)}
        if not given & variables(node.value):
            return None
        for other in trace.sources.paths:
            for call in trace.sources.nodes(other):
                if not isinstance(call, ast.Call) or called(call) != function.name:
                    continue
                if trace.sources.loop(other, call.lineno):
                    return function.lineno, function.end_lineno or function.lineno
    return None


def _is_recompiled(trace: ProcessTrace) -> bool:
    return any(
        isinstance(one, ast.Attribute) and one.attr == "recompile"
        for path in trace.sources.paths
        for one in trace.sources.nodes(path)
    )


def _reader(
    trace: ProcessTrace,
    compiled: list[tuple[str, _Function]],
    path: str,
    target: ast.Attribute,
) -> _Function | None:
    """Return a compiled function that reads a variable of the module that a name stands for."""
    module = target.value.id if isinstance(target.value, ast.Name) else ""
    stems = {
        each.name.rpartition(".")[2]
        for node in trace.sources.nodes(path)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for each in node.names
        if (each.asname or each.name.rpartition(".")[2]) == module
    }
    for file, function in compiled:
        if PurePath(file).stem not in stems:
            continue
        given = {one.arg for one in ast.walk(function) if isinstance(one, ast.arg)}
        if target.attr in variables(function) - given - stored(function):
            return function
    return None


def _of_turn(loop: ast.For, turning: set[str]) -> tuple[set[str], set[str]]:
    """Return the names that a turn makes for itself, and those that depend on which turn it is."""
    own, dependent = set(turning), set(turning)
    for _ in range(3):  # what is assigned before is used behind, and the other way round in loops
        for node in ast.walk(loop):
            if isinstance(node, ast.For):
                own |= variables(node.target)
                if variables(node.iter) & dependent:
                    dependent |= variables(node.target)
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
            if value is not None and variables(value) & dependent:
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
            return one.value.id, variables(one.slice)
    return None


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
    codes=Codes(_REASONS, _ADVICE),
    changes=_CHANGES,
)
