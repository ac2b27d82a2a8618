"""Operations outside of ``jit``: hot loops, arrays of ever other sizes, and ever new bodies."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from coldwarm.contracts.doctor import Cause
from coldwarm.contracts.reasons import Codes, because
from coldwarm.doctor.rules import Rule
from coldwarm.doctor.source_code import called
from coldwarm.doctor.trace import Enough

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from coldwarm.contracts.doctor import Finding
    from coldwarm.doctor.trace import (
        CallDifference,
        CompiledCall,
        CountedLine,
        Loop,
        ProcessTrace,
        SourceLine,
        Spot,
    )


_REASONS = {
    "doctor_growing": "{call} made arrays of {n_lengths:# length}, each compiled for itself",
    "doctor_eager_shapes": "this loop's operations outside of `jit` were compiled again"
    " {n_again:# time}: an array had {n_shapes:# shape}, such as {before}, then {now}",
    "doctor_operations": "this loop dispatched {n_operations:# operation} one by one, outside"
    " of `jit`",
    "doctor_elements": "this loop takes an array of JAX's apart, for the host: about"
    " {spent_s:time} went into taking its elements one by one",
    "doctor_dispatches": "about {spent_s:time} of this loop went into operations that JAX"
    " dispatches one by one, outside of `jit`",
    "doctor_many_operations": "this loop dispatched at least {n_operations:# operation} one by one,"
    " outside of `jit`",
    "doctor_new_body": "{function} was compiled {n_compiles:# time} outside of `jit`: each"
    " time its body was another function object",
}
_ADVICE = {
    "doctor_elements": "make a NumPy array of it once, before the loop: numpy.asarray(array)",
    "doctor_eager_shapes": "pad to one fixed size, with a mask, and put what the loop repeats into"
    " one function under jax.jit",
    "doctor_new_body": "put what the line is part of under jax.jit, and make that once",
}
_PARAMETERS = {
    "doctor_eager_shapes": "n_again n_read n_shapes before now",
}
_CHANGES = {
    "growing-array-concat": "collect the parts in a list and join them once, or write into an"
    " array of full length",
    "no-jit-hot-loop": "put what the loop repeats into one function under jax.jit",
}

_FEWEST_LENGTHS = 4
"""For which something was compiled."""
_JOINS = ("concatenate", "append", "stack", "vstack", "hstack")
"""Operations that join arrays, as it is compiled: what is known where calls are not seen."""
_FEWEST_SIZES = 10
"""How often one operation at one line was compiled again for another size, to be reported:
layers of a network, and the grids of a multigrid method, have fewer sizes."""
_MAKERS = ("dynamic_slice", "slice", "iota", "broadcast_in_dim")
"""Operations that make an array of another size out of arguments that are as before."""
_FEWEST_OF_FUNCTION = 4
"""Shapes of one compiled function that are named by themselves."""
_FEWEST_TURNS, _FEWEST_OPERATIONS = 100, 250
"""Least turns of a loop, and operations in it, to be reported."""
_TO_COMPILED = 5
"""Operations for each call of a compiled function in the same loop."""
_LEAST_SHARE, _LEAST_S = 0.01, 0.25
"""Least share of the run, or seconds, of a loop's operations to be reported."""
_WORTH_SHARE, _WORTH_S = 0.03, 0.5
"""Least share of the run, and seconds, of what is known by looks alone."""
_ELEMENTS = frozenset({"jax.ArrayImpl.__getitem__", "jax.ArrayImpl.__iter__", "jax._iter"})
"""What is called where an array is taken apart."""
_TRANSFORMS = frozenset(
    f"jax.{name}"
    for name in ("grad", "value_and_grad", "hessian", "jacfwd", "jacrev", "vmap", "jvp", "vjp")
)
"""Transformations: outside of ``jit`` each call traces again, in Python."""
_TO_HOST = {"float", "int", "bool", "complex", "round", "str", "repr", "print", "format", "item"}
"""Functions that ask for a value on the host."""
_LOOPS = ("scan", "while", "cond")
"""JAX's own, as their operations are called."""
_FEWEST_BODIES = 3
_PACKAGE, _MOSTLY, _NEARLY_ALL = "jax.", 0.5, 0.75
_OF_ARRAYS = (
    *("_value", "block_until_ready", "copy_to_host_async", "tolist", "item", "__array__"),
    *("__float__", "__int__", "__bool__", "__index__", "__complex__", "__format__"),
)
_OF_JAX = (
    *("_cpp_pjit", "_cpp_jit", "emit_python_callback", "pure_callback_impl", "effects_barrier"),
    *("block_until_ready", "device_put", "device_get", "asarray", "array"),
)
_OF_NOTHING = ("zeros", "ones", "full", "empty", "eye", "arange")
_NO_OPERATIONS = frozenset(
    [
        *(f"jax.{name}" for name in (*_OF_JAX, *_OF_NOTHING)),
        *(f"jax.ArrayImpl.{name}" for name in _OF_ARRAYS),
    ]
)
"""What is called in JAX that dispatches no operation: compiled functions, waits, copies; or one of
no other array, which takes long only where it waits for others."""


@dataclass
class _Growing:
    """A line of a loop that joins arrays, and compiles anew for each length."""

    site: SourceLine
    name: str
    """Of what joins there."""
    loop: Loop | None
    calls: Sequence[CompiledCall]


@dataclass
class _Again:
    """Programs compiled again in one loop, by the line of the loop."""

    first: list[tuple[SourceLine, CompiledCall]] = field(default_factory=list)
    """For something else, or not again."""
    shaped: list[tuple[SourceLine, CompiledCall]] = field(default_factory=list)
    """For another shape of an argument."""
    makers: list[tuple[SourceLine, CompiledCall]] = field(default_factory=list)

    @property
    def sizes(self) -> list[list[str]]:
        """The shapes of each argument of an operation at a line that had many sizes."""
        n_again = Counter(
            (line, call.name, one.argument)
            for line, call in self.shaped
            for one in call.differences
            if one.kind == "shape"
        )
        found: dict[tuple[SourceLine, str, str], dict[str, None]] = defaultdict(dict)
        for line, call in [*self.first, *self.shaped]:
            for argument, shape in call.arguments.items():
                found[line, call.name, argument].setdefault(shape)
        return [
            list(shapes)
            for key, shapes in found.items()
            if n_again[key] >= _FEWEST_SIZES and _is_one_size(shapes)
        ]


def _findings(trace: ProcessTrace) -> Iterator[Finding]:
    """Name lines that join in loops, loops of operations, and bodies that are compiled anew."""
    growing = list(_growing(trace))
    resized = _resized(trace, {one.loop for one in growing})
    for one in growing:
        n_lengths = max(Counter(call.name for call in one.calls).values()) + 1
        says = because("doctor_growing", call=one.name, n_lengths=n_lengths)
        yield trace.finding("growing-array-concat", one.site, says, again=one.calls)
    for again, sizes in resized.values():
        calls = [call for _, call in [*again.shaped, *again.makers]]
        before, now = sizes[-2:]
        says = because(
            "doctor_eager_shapes",
            n_again=len(calls),
            n_read=sum(call.hit for call in calls),
            n_shapes=len(sizes),
            before=before,
            now=now,
        )
        cause = Cause(kind="shape", before=before, now=now, n_values=len(sizes))
        site = _maker(again, len(sizes))
        yield trace.finding("shape-change", site, says, again=calls, cause=cause)
    elements = _elements(trace)
    yield from elements.values()
    # Where most turns have another size, ``jit`` alone would compile in most turns.
    n_turns = {loop: len(sizes) for loop, (_, sizes) in resized.items()}
    counted = _operations_by_loop(trace)
    hot = dict(_hot_loops(trace, counted, n_turns, elements))
    yield from hot.values()
    # Methods of arrays, and all operations where calls are not seen, are not counted.
    yield from _looked_at(
        trace, counted, {*n_turns, *elements, *hot, *(one.loop for one in growing)}
    )
    yield from _new_bodies(trace)


def _growing(trace: ProcessTrace) -> Iterator[_Growing]:
    for site, (name, stack) in _joins(trace).items():
        if trace.in_loop(stack):
            calls = [
                call
                for call in trace.calls
                if call.site == site and call.is_frameworks and _grows(call)
            ]
            if len(calls) >= _FEWEST_LENGTHS:
                yield _Growing(site, name, trace.loop_at(trace.turned(stack)), calls)


def _joins(trace: ProcessTrace) -> dict[SourceLine, tuple[str, list[SourceLine]]]:
    """Return by line what joins arrays there, and from where it is called."""
    if trace.sees_calls:
        return {one.site: (one.name, one.stack) for one in trace.places_of("concatenation")}
    return {
        call.stack[0]: (call.name, call.stack)
        for call in trace.calls
        if call.is_frameworks and call.stack and call.name in _JOINS
    }


def _grows(call: CompiledCall) -> bool:
    return any(one.kind in {"shape", "tree"} for one in call.differences)


def _resized(
    trace: ProcessTrace, named: Collection[Loop | None]
) -> dict[Loop, tuple[_Again, list[str]]]:
    """Return loops whose operations found ever new sizes, and the sizes of which there are most.

    Those in ``named``, and those with a compiled function that did, are named by themselves.
    """
    groups: dict[Loop, _Again] = defaultdict(_Again)
    functions: Counter[Loop] = Counter()
    made: set[tuple[SourceLine, str]] = set()
    for call in trace.calls:
        line = trace.turned(call.stack)
        loop = trace.loop_at(line)
        if line is None or loop is None or call.framework != "jax":
            continue
        if not call.is_frameworks:
            functions[loop] += call.again_for in {"shape", "tree"}
        elif call.compiled and any(map(_is_size, call.differences)):
            groups[loop].shaped.append((line, call))
        elif _makes(call) and (line, call.name) in made:
            groups[loop].makers.append((line, call))
        else:
            made.add((line, call.name))  # the first size is compiled in any case
            groups[loop].first.append((line, call))
    return {
        loop: (again, max(sizes, key=len))
        for loop, again in groups.items()
        if loop not in named and functions[loop] < _FEWEST_OF_FUNCTION and (sizes := again.sizes)
    }


def _is_size(one: CallDifference) -> bool:
    """Say whether it is a shape, or the size that a function of JAX's is asked for."""
    return one.kind == "shape" or (one.kind == "static" and one.argument == "shape")


def _makes(call: CompiledCall) -> bool:
    return call.compiled and call.is_operation and call.name in _MAKERS and not call.differences


def _is_one_size(texts: Iterable[str]) -> bool:
    """Say whether shapes are alike but for one number.

    Those of a network's parameters are not: they need one function under ``jit``, no padding.
    """
    shapes = {_numbers(one) for one in texts}
    if len({len(one) for one in shapes}) != 1:
        return False
    axes = [axis for axis in zip(*shapes, strict=True) if len(set(axis)) > 1]
    return bool(axes) and all(axis == axes[0] for axis in axes)


def _numbers(shape: str) -> tuple[str, ...]:
    """Return the numbers of a shape, as of ``f32[3,4]``."""
    inside = shape.partition("[")[2].rpartition("]")[0]
    return tuple(inside.split(",")) if inside else ()


def _maker(again: _Again, n_sizes: int) -> SourceLine:
    """Return the line that makes the arrays of other sizes, or that takes longest to compile."""
    made = Counter(line for line, _ in again.makers)
    if made and made.most_common(1)[0][1] * 2 >= n_sizes:
        return made.most_common(1)[0][0]
    costs: dict[SourceLine, float] = defaultdict(float)
    for line, call in again.shaped:
        costs[line] += call.total_s
    return max(costs, key=lambda line: costs[line])


def _spent_by_loop(trace: ProcessTrace) -> dict[Loop, list[tuple[SourceLine, Spot, float]]]:
    """Return by loop where it has called JAX: at its own line, at what spot, and its seconds."""
    found: dict[Loop, list[tuple[SourceLine, Spot, float]]] = defaultdict(list)
    for spot, seconds in trace.spent:
        line = trace.turned(spot.stack)
        loop = trace.loop_at(line)
        if line is not None and loop is not None and spot.below.startswith(_PACKAGE):
            found[loop].append((line, spot, seconds))
    return found


def _elements(trace: ProcessTrace) -> dict[Loop, Finding]:
    """Return a finding for each loop that takes arrays apart, and uses them on the host."""
    least_s = max(_WORTH_S, _WORTH_SHARE * trace.lasted_s)
    found = {}
    for loop, spots in _spent_by_loop(trace).items():
        costs: dict[SourceLine, float] = defaultdict(float)
        for line, spot, seconds in spots:
            if spot.below in _ELEMENTS and spot.stack[0] == line:
                costs[line] += seconds
        used = {line: cost for line, cost in costs.items() if _is_for_host(trace, line)}
        cost_s = sum(used.values())
        if cost_s >= least_s and cost_s >= _MOSTLY * sum(seconds for *_, seconds in spots):
            site = max(used, key=lambda line: used[line])
            found[loop] = trace.finding(
                "host-sync-in-loop",
                site,
                because("doctor_elements", spent_s=cost_s),
                cost_s=cost_s,
                saving_s=cost_s,
                saving_from=because("doctor_looks"),
            )
    return found


def _is_for_host(trace: ProcessTrace, line: SourceLine) -> bool:
    """Say whether a line uses on the host what it takes from an array."""
    return any(
        (isinstance(one, (ast.For, ast.If, ast.While)) and one.lineno == line.line)
        or (isinstance(one, ast.JoinedStr) and one.lineno == line.line)
        or (isinstance(one, ast.Call) and one.lineno == line.line and called(one) in _TO_HOST)
        for one in trace.sources.nodes(line.path)
    )


def _looked_at(
    trace: ProcessTrace, counted: Collection[Loop], named: Collection[Loop | None]
) -> Iterator[Finding]:
    """Name loops by looks alone: those whose operations were not counted, or take most of it.

    Few operations beside a compiled function may wait for that, and take as long by the look.
    """
    least_s = max(_WORTH_S, _WORTH_SHARE * trace.lasted_s)
    # What is traced there as part of one transformation after another is named for that.
    transformed = {one.site for one in trace.calls if one.again_for == "transform"}
    whole_s: dict[Loop | None, float] = defaultdict(float)
    for spot, seconds in trace.spent:
        whole_s[trace.loop_at(trace.turned(spot.stack))] += seconds
    for loop, spots in _spent_by_loop(trace).items():
        costs: dict[SourceLine, float] = defaultdict(float)
        inner: dict[SourceLine, float] = defaultdict(float)
        elements_s = transforms_s = 0.0
        for line, spot, seconds in spots:
            if spot.below in _ELEMENTS:
                elements_s += 0.0 if _is_for_host(trace, line) else seconds
            elif spot.below not in _NO_OPERATIONS and line not in transformed:
                costs[line] += seconds
                inner[spot.stack[0]] += seconds
                transforms_s += seconds if spot.below in _TRANSFORMS else 0.0
        cost_s = sum(costs.values())
        is_most = cost_s + elements_s >= _NEARLY_ALL * whole_s[loop] or transforms_s >= least_s
        if cost_s >= least_s and loop not in named and (is_most or loop not in counted):
            site = max(inner, key=lambda line: inner[line])
            if inner[site] < _MOSTLY * cost_s:  # no line alone, but what the loop repeats
                site = max(costs, key=lambda line: costs[line])
            yield trace.finding(
                "no-jit-hot-loop",
                site,
                because("doctor_dispatches", spent_s=cost_s),
                cost_s=cost_s,
                no_saving=because("doctor_depends"),
            )


def _operations_by_loop(trace: ProcessTrace) -> dict[Loop, list[tuple[SourceLine, CountedLine]]]:
    """Return by loop its own lines, and what was counted below each."""
    groups: dict[Loop, list[tuple[SourceLine, CountedLine]]] = {}
    for one in [*trace.places_of("operation"), *trace.places_of("concatenation")]:
        turned = trace.turned(one.stack)
        loop = trace.loop_at(turned)
        if turned is not None and loop is not None:
            groups.setdefault(loop, []).append((turned, one))
    return groups


def _hot_loops(
    trace: ProcessTrace,
    counted: Mapping[Loop, Sequence[tuple[SourceLine, CountedLine]]],
    n_turns: Mapping[Loop, int],
    named: Collection[Loop],
) -> Iterator[tuple[Loop, Finding]]:
    """Name loops of operations; ``n_turns`` has about how many turns found a new size.

    Those in ``named`` are named already. The seconds are those of operations, or what the looks
    say where that is more: a gradient is made of Python's work too.
    """
    looked_s = {
        loop: sum(seconds for _, spot, seconds in spots if spot.below not in _NO_OPERATIONS)
        for loop, spots in _spent_by_loop(trace).items()
    }
    code = "doctor_many_operations" if trace.rows_of(Enough) else "doctor_operations"
    for loop, members in counted.items():
        n = sum(one.n for _, one in members)
        cost_s = sum(one.counts[1] for _, one in members) / 1e9
        cost_s = max(cost_s, looked_s.get(loop, 0.0))
        if loop in named or cost_s < min(_LEAST_S, _LEAST_SHARE * trace.lasted_s):
            continue
        most = max(one.n for _, one in members)
        if n_turns.get(loop, 0) * 2 >= most:
            continue
        counts: Counter[SourceLine] = Counter()
        for line, one in members:
            counts[line] += one.n
        site = counts.most_common(1)[0][0]
        compiled = trace.n_below(site, "jitted")
        if most >= _FEWEST_TURNS and n >= _FEWEST_OPERATIONS and n >= _TO_COMPILED * compiled:
            found = trace.finding(
                "no-jit-hot-loop",
                site,
                because(code, n_operations=n),
                n=n,
                cost_s=cost_s,
                no_saving=because("doctor_depends"),
            )
            yield loop, found


def _new_bodies(trace: ProcessTrace) -> Iterator[Finding]:
    groups: dict[tuple[SourceLine, str], list[CompiledCall]] = {}
    # What comes again by the same way is repeated, though no loop is written: by ``map``.
    ways = Counter((call.name, *call.stack) for call in trace.calls if call.is_frameworks)
    for call in trace.calls:
        name = call.name.removeprefix("jit(").removesuffix(")")
        if not call.is_frameworks or name not in _LOOPS or call.site is None:
            continue
        # What is called once compiles once in any case.
        if trace.in_loop(call.stack) or ways[call.name, *call.stack] >= _FEWEST_BODIES:
            groups.setdefault((call.site, name), []).append(call)
    for (site, name), calls in groups.items():
        again = [one for one in calls[1:] if not one.differences]
        if len(again) >= _FEWEST_BODIES - 1:
            says = because("doctor_new_body", function=name, n_compiles=len(calls))
            cause = Cause(kind="new_function", n_values=len(calls))
            yield trace.finding("fresh-callable", site, says, again=again, cause=cause)


RULE = Rule(
    findings=_findings,
    codes=Codes(_REASONS, _ADVICE, _PARAMETERS),
    changes=_CHANGES,
    compiled_again={"growing-array-concat"},
    pages={"no-jit-hot-loop": "jit-hot-loop"},
)
