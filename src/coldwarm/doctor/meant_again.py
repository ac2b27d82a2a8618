"""Whether a program means to compile a function again, as for another size of a study. Pure.

What it does not mean is named from the first time on, where it costs a share of the run.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from coldwarm.doctor.source_code import called
from coldwarm.doctor.written_values import (
    dtype,
    is_dtype_alone,
    is_laid_out_otherwise,
    is_number,
    kind_of_values,
    sizes,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coldwarm.contracts.doctor import CauseKind
    from coldwarm.doctor.trace import CallDifference, CompiledCall, ProcessTrace, SourceLine


_FEWEST: dict[CauseKind, int] = {
    "static": 3,
    "shape": 4,
    "dtype": 1,
    "weak_type": 1,
    "tree": 2,
    "type": 2,
    "commitment": 1,
    "sharding": 1,
    "context": 1,
    "transform": 4,
    "new_function": 2,
    "guard": 3,
    "unknown": 3,
}
"""How often a cause must have made a function compile again to be reported: a few static values
and a few shapes are what they are for."""
_MANY_SIZES = 8
"""The same of a static argument that makes shapes."""
_MANY_VARIANTS = 4
"""The same of functions that are made with other numbers or texts, or used for several
precisions."""
_MAKERS = frozenset(
    (
        *("arange", "linspace", "zeros", "ones", "full", "empty", "eye", "identity", "logspace"),
        *("reshape", "broadcast_to", "range", "tile", "repeat", "split", "iota", "meshgrid"),
    )
)
_SIZED = frozenset({"shape", "length", "num", "total_repeat_length"})
"""Functions, and arguments of functions, by which sizes are made."""
_DEAR_S, _DEAR_SHARE = 1.0, 0.1
"""Seconds, and share of the run, from which a single shorter input is reported."""
_MOST_SHARE = 0.3
"""Share of the run that is too much for sizes which PyTorch would leave open."""
_WARM_S, _WARM_SHARE = 0.3, 0.03
"""The same of a first call that was given something else than all others."""
_ROUND = 8
"""What round sizes are multiples of."""
_FEW, _USED_AGAIN = 16, 3
"""Functions that are kept, and calls of each, for them to be made on purpose."""


def is_meant(
    trace: ProcessTrace, site: SourceLine, kind: CauseKind, calls: Sequence[CompiledCall]
) -> bool:
    """Say whether a function was compiled again at a line for what a program may well want."""
    if kind == "new_function" and _are_remembered(trace, calls):
        return True
    if _are_dear(trace, kind, calls) or _is_unmeant(trace, site, calls):
        return False
    if kind == "shape" and _is_fixed(trace, calls):
        return False
    if kind == "static" and _is_computed_with(trace, calls):
        return False
    if kind == "new_function" and _are_a_packages(trace, calls):
        return True
    return len(calls) < _fewest(trace, kind, calls) or _are_kept(trace, site, kind, calls)


def _are_a_packages(trace: ProcessTrace, calls: Sequence[CompiledCall]) -> bool:
    """Say whether a package compiles functions of its own for one call of the user's.

    What it makes in one call, nobody else can make before.
    """
    own = all(one.function.whose == "package" for one in calls)
    return own and not any(trace.in_loop(one.stack) for one in calls)


_REMEMBER = {"cache", "lru_cache"}
"""Decorators of a function that makes another one only for arguments that it has not had."""


def _are_remembered(trace: ProcessTrace, calls: Sequence[CompiledCall]) -> bool:
    """Say whether function objects are made once for each argument: few, or each is used again."""
    for call in calls:
        path, line = call.function.path, call.function.line
        around = trace.sources.functions_around(path, line) if path and line else []
        if not any(map(_remembers, around)):
            return False
    n = len(calls)
    return n < _MANY_VARIANTS or (n < _FEW and _are_used_again(trace, calls))


def _remembers(function: ast.AST) -> bool:
    written = [ast.unparse(one) for one in getattr(function, "decorator_list", ())]
    return any(one.partition("(")[0].rpartition(".")[2] in _REMEMBER for one in written)


def first_of(trace: ProcessTrace, call: CompiledCall) -> CompiledCall | None:
    """Return the call that a function was compiled for first; ``None``: it was not seen."""
    where = _where(call)
    found = (one for one in trace.calls if one.cause.kind == "first" and _where(one) == where)
    return next(found, None)


def _where(call: CompiledCall) -> tuple[object, ...]:
    return call.framework, call.function.name, call.function.path, call.function.line


def _fewest(trace: ProcessTrace, kind: CauseKind, calls: Sequence[CompiledCall]) -> int:
    """Return how often a cause must have made a function compile again to be reported."""
    if kind == "static" and _make_sizes(trace, calls):
        return _MANY_SIZES
    if kind == "new_function" and _are_variants(trace, calls):
        return _MANY_VARIANTS
    if kind in {"type", "dtype"} and _are_precisions(trace, kind, calls):
        return _MANY_VARIANTS
    return _FEWEST[kind]


def _are_variants(trace: ProcessTrace, calls: Sequence[CompiledCall]) -> bool:
    """Say whether each function object holds something else, and is called several times."""
    held = [tuple((each.argument, each.now) for each in one.cause.held or ()) for one in calls]
    return all(held) and len(set(held)) == len(held) and _are_used_again(trace, calls)


def _are_used_again(trace: ProcessTrace, calls: Sequence[CompiledCall]) -> bool:
    """Say whether a function was called several times for each program, as far as is seen."""
    name = calls[0].short_name
    places = (*trace.places_of("jitted"), *trace.places_of("numba"))
    n_calls = sum(one.n for one in places if one.name == name)
    return n_calls >= _USED_AGAIN * (len(calls) + 1)


def _are_precisions(trace: ProcessTrace, kind: CauseKind, calls: Sequence[CompiledCall]) -> bool:
    """Say whether a function was called several times with arrays of each of a few dtypes.

    That all arrays have become of another dtype together is taken for a choice, too.
    """
    differing = [[one for one in call.differences if one.kind == kind] for call in calls]
    if not all(is_dtype_alone(one.before, one.now) for of in differing for one in of):
        return False
    if all(map(_is_precision, calls, differing)):
        return True
    return _are_used_again(trace, calls)


def _is_precision(call: CompiledCall, differing: Sequence[CallDifference]) -> bool:
    """Say whether all arrays of one dtype, of which there are several, have become of another."""
    pairs = {(dtype(one.before), dtype(one.now)) for one in differing}
    if len(pairs) != 1 or len(differing) == 1:
        return False
    ((before, _),) = pairs
    return before not in {dtype(one) for one in call.arguments.values()}


def _make_sizes(trace: ProcessTrace, calls: Sequence[CompiledCall]) -> bool:
    """Say whether a static argument is the size of what the function makes: it can't be another.

    So are the grids of a study.
    """
    path, line = calls[0].function.path, calls[0].function.line
    function = trace.sources.function(path or "", line or 0)
    differing = [one for call in calls for one in call.differences if one.kind == "static"]
    if any(kind_of_values(one.before, one.now) not in {"whole", "sizes"} for one in differing):
        return False
    names = {one.argument for one in differing}
    return function is not None and all(
        any(
            isinstance(one, ast.Call)
            and (called(one) in _MAKERS or any(each.arg in _SIZED for each in one.keywords))
            and any(isinstance(each, ast.Name) and each.id == name for each in ast.walk(one))
            for one in ast.walk(function)
        )
        for name in names
    )


def _are_dear(trace: ProcessTrace, kind: CauseKind, calls: Sequence[CompiledCall]) -> bool:
    """Say whether a share of the run that matters went into a single input that is hardly another.

    That is a shorter one, or one that only lies otherwise in memory. Several sizes are mostly
    meant, such as grids of a study or buckets of lengths.
    """
    differing = calls[0].differences
    if len(calls) > 1:
        return False
    if kind == "shape":
        is_alike = bool(differing) and all(map(_is_shorter, differing))
    else:
        pairs = [(one.before, one.now) for one in differing if kind == "type"]
        is_alike = any(is_laid_out_otherwise(*pair) for pair in pairs)
    return is_alike and calls[0].total_s >= max(_DEAR_S, _DEAR_SHARE * trace.lasted_s)


def _is_fixed(trace: ProcessTrace, calls: Sequence[CompiledCall]) -> bool:
    """Say whether PyTorch compiled again and again for sizes that it would leave open by itself.

    It leaves a size open that has changed once, unless it was told otherwise. Round sizes are
    taken for a choice, as of buckets, unless much of the run went into them.
    """
    spent_s = sum(one.total_s for one in calls)
    if calls[0].framework != "torch" or len(calls) <= 1:
        return False
    found = [
        now
        for call in calls
        for one in call.differences
        for before, now in zip(sizes(one.before), sizes(one.now), strict=False)
        if now != before
    ]
    is_dear = spent_s >= max(_DEAR_S, _DEAR_SHARE * trace.lasted_s)
    is_much = spent_s >= _MOST_SHARE * trace.lasted_s
    return is_dear and (is_much or any(one % _ROUND for one in found))


def _is_computed_with(trace: ProcessTrace, calls: Sequence[CompiledCall]) -> bool:
    """Say whether PyTorch compiled for much of the run for values of a number it could be given.

    Nobody declares it static there. It is meant to be so where it makes a loop, a branch, or a
    place or a size of an array, and not where it is only added or multiplied.
    """
    spent_s = sum(one.total_s for one in calls)
    if calls[0].framework != "torch" or spent_s < max(_DEAR_S, _DEAR_SHARE * trace.lasted_s):
        return False
    function = trace.sources.function(calls[0].function.path or "", calls[0].function.line or 0)
    differing = [one for call in calls for one in call.differences if one.kind == "static"]
    kinds = {kind_of_values(one.before, one.now) for one in differing}
    if function is None or not kinds <= {"whole", "number"}:
        return False
    deciding = {id(one) for part in _deciding(function) for one in ast.walk(part)}
    uses = [
        node
        for node in ast.walk(function)
        if isinstance(node, (ast.Name, ast.Attribute))
        and ast.unparse(node) in {one.argument for one in differing}
    ]
    return bool(uses) and not any(id(one) in deciding for one in uses)


def _deciding(function: ast.AST) -> Iterator[ast.AST]:
    """Yield the parts of a function by which its loops, branches, places and sizes are decided."""
    for node in ast.walk(function):
        match node:
            case ast.If(test=part) | ast.While(test=part) | ast.IfExp(test=part):
                yield part
            case ast.For(iter=part) | ast.comprehension(iter=part) | ast.Subscript(slice=part):
                yield part
            case ast.Call() if called(node) in _MAKERS:
                yield node


def _is_shorter(one: CallDifference) -> bool:
    """Say whether an array is only shorter than before, as the last batch is."""
    before, now = (sizes(text) for text in (one.before, one.now))
    if one.kind != "shape" or not before or not now:
        return False
    return now[0] < before[0] and now[1:] == before[1:]


def _is_unmeant(trace: ProcessTrace, site: SourceLine, calls: Sequence[CompiledCall]) -> bool:
    """Say whether a share of the run went into a first call that was given something else.

    It was to warm up, or a variable had its first value alone: what it compiled is of no use then.
    """
    spent_s = sum(one.total_s for one in calls)
    if len(calls) > 1 or spent_s < max(_WARM_S, _WARM_SHARE * trace.lasted_s):
        return False
    return _begins_as_number(trace, site, calls[0]) or _is_warmed_up_otherwise(
        trace, site, calls[0]
    )


def _begins_as_number(trace: ProcessTrace, site: SourceLine, call: CompiledCall) -> bool:
    """Say whether a loop gives a number at first, and then the array that comes back."""
    pairs = [(one.before, one.now) for one in call.differences if one.kind == "shape"]
    if not any(is_number(before) and sizes(now) for before, now in pairs):
        return False
    replaced = trace.sources.replaced(site.path, site.line, call.short_name)
    return bool(replaced) and trace.in_loop([site])


def _is_warmed_up_otherwise(trace: ProcessTrace, site: SourceLine, call: CompiledCall) -> bool:
    """Say whether the first call throws its result away, and is made once, and others often."""
    first = first_of(trace, call)
    if first is None or first.site is None or first.site == site:
        return False
    name = call.short_name
    if not trace.sources.is_called_for_nothing(first.site.path, first.site.line, name):
        return False
    if trace.sees_calls:
        is_once = trace.n_calls(first.site, name) == 1
        return is_once and trace.n_calls(site, name) >= _USED_AGAIN
    return trace.in_loop(call.stack) and not trace.in_loop(first.stack)


def _are_kept(
    trace: ProcessTrace, site: SourceLine, kind: CauseKind, calls: Sequence[CompiledCall]
) -> bool:
    """Say whether these are a few functions that the program has made once and calls again.

    A program that makes them anew in each turn keeps one at a time.
    """
    cause = calls[-1].cause
    if kind != "new_function" or cause.n_kept != (cause.n_objects or 0):
        return False
    if not trace.sees_calls:
        return len(calls) < _FEW
    return trace.n_calls(site, calls[0].short_name) >= _USED_AGAIN * (len(calls) + 1)
