"""Operations outside of ``jit``: loops of them, and loops of JAX's whose body is ever new."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from coldwarm.contracts.doctor import Cause
from coldwarm.contracts.reasons import Codes, because
from coldwarm.doctor.rules import Rule, eager_shapes
from coldwarm.doctor.time_account import estimate, freed_s, spent_s

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coldwarm.contracts.doctor import Finding
    from coldwarm.doctor.trace import CompiledCall, CountedLine, Loop, ProcessTrace, SourceLine


_REASONS = {
    "doctor_new_body": "{function} was compiled {n_compiles:# time} outside of `jit`: each"
    " time its body was another function object",
    "doctor_operations": "this loop dispatched {n_operations:# operation} one by one, outside"
    " of `jit`",
}
_ADVICE = {
    "doctor_new_body": "put what the line is part of under jax.jit, and make that once",
}
_CHANGES = {
    "no-jit-hot-loop": "put what the loop repeats into one function under jax.jit",
}


_FEWEST_TURNS, _FEWEST = 100, 250
"""Of a loop, and of operations in it, to be worth a word."""
_TO_COMPILED = 5
"""Operations for each call of a compiled function in the same loop."""
_LEAST_SHARE, _LEAST_S = 0.01, 0.25
"""Of the run, or seconds, that the operations of a loop must take to be worth a word."""
_LOOPS = ("scan", "while", "cond")
"""JAX's own, as their operations are called."""
_FEWEST_BODIES = 3


def _findings(trace: ProcessTrace) -> Iterator[Finding]:
    """Name loops that dispatch operation by operation, and those that compile their body anew."""
    yield from _hot_loops(trace)
    yield from _new_bodies(trace)


def _hot_loops(trace: ProcessTrace) -> Iterator[Finding]:
    groups: dict[Loop, list[tuple[SourceLine, CountedLine]]] = {}
    for one in [*trace.places_of("operation"), *trace.places_of("concatenation")]:
        turned = trace.turned(one.stack)
        loop = trace.loop_at(turned)
        if turned is not None and loop is not None:
            groups.setdefault(loop, []).append((turned, one))
    # Where most turns have another size, ``jit`` alone would compile in most turns.
    sizes = {loop: eager_shapes.n_turns(one) for loop, one in eager_shapes.loops(trace).items()}
    for loop, members in groups.items():
        n = sum(one.n for _, one in members)
        cost_s = sum(one.counts[1] for _, one in members) / 1e9
        if cost_s < min(_LEAST_S, _LEAST_SHARE * trace.lasted_s):
            continue
        most = max(one.n for _, one in members)
        if sizes.get(loop, 0) * 2 >= most:
            continue
        counts: Counter[SourceLine] = Counter()
        for line, one in members:
            counts[line] += one.n
        site = counts.most_common(1)[0][0]
        compiled = trace.n_below(site, "jitted")
        if most >= _FEWEST_TURNS and n >= _FEWEST and n >= _TO_COMPILED * compiled:
            yield trace.finding(
                "no-jit-hot-loop",
                site,
                because("doctor_operations", n_operations=n),
                n=n,
                cost_s=cost_s,
                no_saving=because("doctor_depends"),
            )


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
            yield trace.finding(
                "fresh-callable",
                site,
                because("doctor_new_body", function=name, n_compiles=len(calls)),
                n=len(again),
                cost_s=spent_s(again),
                saving_s=freed_s(trace, again),
                saving_from=estimate(again),
                cause=Cause(kind="new_function", n_values=len(calls)),
            )


RULE = Rule(
    findings=_findings,
    codes=Codes(_REASONS, _ADVICE),
    changes=_CHANGES,
    pages={"no-jit-hot-loop": "jit-hot-loop"},
)
