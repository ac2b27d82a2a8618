"""Loops of operations outside of ``jit`` whose arrays are ever of another size."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from coldwarm.contracts.doctor import Cause
from coldwarm.contracts.reasons import Codes, because
from coldwarm.doctor.rules import Rule, growing
from coldwarm.doctor.time_account import estimate, freed_s, kind_of, spent_s

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from coldwarm.contracts.doctor import Finding
    from coldwarm.doctor.trace import CallDifference, CompiledCall, Loop, ProcessTrace, SourceLine


_REASONS = {
    "doctor_eager_shapes": "this loop's operations outside of `jit` were compiled again"
    " {n_again:# time}: an array had {n_shapes:# shape}, such as {before}, then {now}",
}
_ADVICE = {
    "doctor_eager_shapes": "pad to one fixed size, with a mask, and put what the loop repeats into"
    " one function under jax.jit",
}
_PARAMETERS = {
    "doctor_eager_shapes": "n_again n_read n_shapes before now",
}

_FEWEST = 10
"""How often one operation at one line was compiled again for another size, to be worth a word:
layers of a network, and the grids of a multigrid method, have fewer sizes."""
_MAKERS = ("dynamic_slice", "slice", "iota", "broadcast_in_dim")
"""Operations that make an array of another size out of arguments that are as before."""
_FEWEST_OF_FUNCTION = 4
"""Shapes of one compiled function that are named by themselves."""


@dataclass
class _Again:
    """What was compiled again in one loop, by the line of the loop."""

    first: list[tuple[SourceLine, CompiledCall]] = field(default_factory=list)
    """For something else, or not again."""
    shaped: list[tuple[SourceLine, CompiledCall]] = field(default_factory=list)
    """For another shape of an argument."""
    makers: list[tuple[SourceLine, CompiledCall]] = field(default_factory=list)


def _findings(trace: ProcessTrace) -> Iterator[Finding]:
    """Name each loop whose operations were compiled again and again for other sizes."""
    for again in loops(trace).values():
        sizes = max(_sizes(again), key=len)
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
        yield trace.finding(
            "shape-change",
            _site(again, len(sizes)),
            says,
            n=len(calls),
            cost_s=spent_s(calls),
            saving_s=freed_s(trace, calls),
            saving_from=estimate(calls),
            cause=Cause(kind="shape", before=before, now=now, n_values=len(sizes)),
        )


def loops(trace: ProcessTrace) -> dict[Loop, _Again]:
    """Return the loops with that, but for those of which another rule says why."""
    groups: dict[Loop, _Again] = defaultdict(_Again)
    functions: Counter[Loop] = Counter()
    made: set[tuple[SourceLine, str]] = set()
    for call in trace.calls:
        line = trace.turned(call.stack)
        loop = trace.loop_at(line)
        if line is None or loop is None or call.framework != "jax":
            continue
        if not call.is_frameworks:
            functions[loop] += kind_of(call) in {"shape", "tree"}
        elif _shapes(call) and call.compiled:
            groups[loop].shaped.append((line, call))
        elif _makes(call) and (line, call.name) in made:
            groups[loop].makers.append((line, call))
        else:
            made.add((line, call.name))  # the first size is compiled in any case
            groups[loop].first.append((line, call))
    named = growing.loops(trace)
    named |= {loop for loop, n in functions.items() if n >= _FEWEST_OF_FUNCTION}
    return {loop: again for loop, again in groups.items() if loop not in named and _sizes(again)}


def n_turns(again: _Again) -> int:
    """Return about how many turns of a loop found an array of a new size."""
    return max(map(len, _sizes(again)))


def _shapes(call: CompiledCall) -> list[CallDifference]:
    return [one for one in call.differences if one.kind == "shape" or _is_size(one)]


def _is_size(difference: CallDifference) -> bool:
    """Say whether it is the size that a function of JAX's is asked for."""
    return difference.kind == "static" and difference.argument == "shape"


def _makes(call: CompiledCall) -> bool:
    return call.compiled and call.is_operation and call.name in _MAKERS and not call.differences


def _sizes(again: _Again) -> list[list[str]]:
    """Return the shapes of each argument of an operation at a line that had many sizes."""
    n_again = Counter(
        (line, call.name, one.argument)
        for line, call in again.shaped
        for one in call.differences
        if one.kind == "shape"
    )
    found: dict[tuple[SourceLine, str, str], dict[str, None]] = defaultdict(dict)
    for line, call in [*again.first, *again.shaped]:
        for argument, shape in call.arguments.items():
            found[line, call.name, argument].setdefault(shape)
    return [
        list(shapes)
        for key, shapes in found.items()
        if n_again[key] >= _FEWEST and _is_one_size(shapes)
    ]


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


def _site(again: _Again, n_sizes: int) -> SourceLine:
    """Return the line that makes the arrays of other sizes, or that takes longest to compile."""
    made = Counter(line for line, _ in again.makers)
    if made and made.most_common(1)[0][1] * 2 >= n_sizes:
        return made.most_common(1)[0][0]
    costs: dict[SourceLine, float] = defaultdict(float)
    for line, call in again.shaped:
        costs[line] += call.total_s
    return max(costs, key=lambda line: costs[line])


RULE = Rule(
    findings=_findings,
    codes=Codes(_REASONS, _ADVICE, _PARAMETERS),
)
