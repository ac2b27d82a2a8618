"""What is wrong with a program itself: its arguments, its constants, loops that are written out."""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, TypeGuard

from coldwarm.contracts.reasons import Codes, because
from coldwarm.doctor.rules import Rule
from coldwarm.doctor.rules.timing import is_benchmarked
from coldwarm.doctor.source_code import called
from coldwarm.doctor.trace import BlockBegin, ProcessEnd, ProgramError, SourceLine

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from coldwarm.contracts.doctor import Finding
    from coldwarm.doctor.trace import CompiledCall, LoweredProgram, ProcessTrace


_REASONS = {
    "doctor_list": "{function} takes the list `{argument}` as {n_numbers:# argument} of their own",
    "saving_share": "what {equations_share:.0%} of the program took to compile: equations that"
    " each number has",
    "doctor_constants": "{function} holds {constants_bytes:size} of arrays that it takes from"
    " outside of its arguments",
    "doctor_equations": "this loop gave {n_equations} of the {n_all:# equation} of {function}",
    "doctor_written_out": "compiling {function} took {spent_s:time}: torch.compile writes out the"
    " turns of this loop one after the other",
    "doctor_unpaid": "compiling took {spent_s:time}, longest for {function}, and all else that the"
    " program did from then on {ran_s:time}: torch.compile pays off only if the same work without"
    " it takes longer than these two together",
    "doctor_more_programs": "it is written out in {n_programs:# more program}",
    "doctor_donation": "{function} takes {argument_names} and gives it back in other memory:"
    " {state_bytes:size} that it could use again",
    "doctor_all_branches": "under vmap the condition can differ between elements, so {function}"
    " computes all branches and then selects; the branches contain {operation_names}",
    "doctor_kept_steps": "{function} keeps all {n_steps} steps of this scan, {kept_bytes:size},"
    " and uses one of them",
    "doctor_drawn": "each of {n_turns:# turn} puts {n_numbers:# number} in random order, by sorting"
    " them, however few are drawn",
    "doctor_turns_apart": "{function} runs the {n_turns:# turn} of this loop one after the other,"
    " but no turn needs another: each only puts its own numbers into an array",
    "doctor_picked": "each call of {function} multiplies {n_rows:# row} of {n_columns:# number},"
    " all zeros and one 1: that picks rows",
    "saving_turns": "what the loop took to compile, by its share of the equations, less one turn"
    " of {n_turns}",
    "doctor_memory": "it costs memory",
    "doctor_little_copied": "it costs memory; in time at most a copy for each call, which is"
    " little here",
}
_ADVICE = {
    "doctor_picked": "take the rows by their numbers, table[ids] or jnp.take(table, ids, axis=0)",
    "doctor_written_out": "compile what one turn does, and call that in a loop outside of it",
}
_PARAMETERS = {
    "doctor_all_branches": "function operation_names",
    "doctor_kept_steps": "function n_steps kept_bytes",
    "doctor_equations": "function n_equations n_all",
    "doctor_donation": "function state_bytes argument_names",
}
_CHANGES = {
    "list-argument": "make it one array with jnp.asarray before the call",
    "large-constant-capture": "pass the array as an argument",
    "python-loop-unrolled": "use jax.lax.scan or jax.lax.fori_loop for the loop",
    "cond-under-vmap": "if the condition is the same for all, give vmap in_axes=None for what it"
    " depends on, or ask outside of vmap; if not, divide the inputs by the condition before vmap",
    "scan-keeps-steps": "carry what is used, and let the body give None for each step",
    "draw-by-sorting": "draw with replacement, jax.random.randint, or put all in random order once"
    " for many turns, and take the next part of them in each",
    "loop-turns-apart": "compute with whole arrays: shifted slices for neighbours, or jax.vmap over"
    " what the loop counts; jax.lax.map(…, batch_size=…) where all at once need too much memory",
    "compile-unpaid": "leave torch.compile out of runs that are as short as this",
    "no-donation": "give the memory away: jax.jit(…, donate_argnums=…)",
}


_LARGE_BYTES = 2**20
"""Least size of constants, and of state that could be given away."""
_COPIED_BYTES_S, _LITTLE_SHARE = 5e9, 0.01
"""What a processor copies in a second, and the share of the run that is little."""
_VERY_LARGE_BYTES = 2**28
"""Size of state from which on its memory is scarce."""
_KEPT_BYTES = 16 * 2**20
"""The same of steps of a scan that are kept and not used."""
_FEWEST_EQUATIONS = 100
_FEWEST_TURNS, _FEW_TURNS = 16, 4
"""Least size of a loop that was written out to be reported: equations, and turns."""
_DEAR_S, _DEAR_SHARE = 5.0, 0.3
"""Seconds, and share of the run, from which what PyTorch took to compile a loop is reported."""
_UNPAID = 10
"""How often as long as all that comes after it PyTorch's compiling has to take to be reported."""
_MANY_SORTED, _MANY_TURNS = 20_000_000, 200_000
"""Numbers that a compiled loop sorts, and turns, that take about half a second and more."""
_MANY_PICKED = 500_000_000
"""Numbers of such rows, of all calls, that take about a second and more."""
_FEWEST_CALLS = 3
_FEWEST_NUMBERS = 64


@dataclass(frozen=True)
class _Unrolled:
    """Loop that was written out in a program."""

    call: CompiledCall
    n_equations: int
    n_all: int
    turns: int

    @property
    def cost_s(self) -> float:
        """Seconds of compiling, by the loop's share of the equations."""
        return self.call.total_s * min(1.0, self.n_equations / self.n_all)


def _findings(trace: ProcessTrace) -> Iterator[Finding]:
    """Look into every program that was compiled."""
    done: set[tuple[str, SourceLine]] = set()
    unrolled: dict[SourceLine, list[_Unrolled]] = {}
    for call in trace.calls:
        if call.is_operation or call.site is None:
            continue
        program = call.program
        found = [_list(trace, call.site, call)]
        if program is not None:
            found += [_constants(trace, call, program), _not_donated(trace, call, program)]
            found += [*_all_branches(trace, call, program), *_kept_steps(trace, call, program)]
            found += [*_drawn(trace, call, program), *_apart(trace, call, program)]
            found += _picked(trace, call, program)
            for site, loop in _loop_of(trace, call, program):
                unrolled.setdefault(site, []).append(loop)
        for one in filter(None, found):
            key = one.pattern, SourceLine(one.path, one.line, one.function)
            if key not in done:
                done.add(key)
                yield one
    for site, loops in unrolled.items():
        yield _unrolled(trace, site, loops)
    yield from _of_torch(trace)


def _of_torch(trace: ProcessTrace) -> Iterator[Finding]:
    """Name loops that were written out, or else that compiling took longer than it can bring."""
    calls = [one for one in trace.calls if one.framework == "torch"]
    written_out = list(_written_out(trace, calls))
    yield from written_out
    # What is compiled again and again is named by its cause.
    n_again = Counter(one.name for one in calls if one.again_for is not None)
    calls = [one for one in calls if n_again[one.name] <= 1]
    spent_s = sum(one.total_s for one in calls)
    # Of a program that goes on, or was ended, it is not known whether it would have paid.
    is_whole = trace.rows_of(ProcessEnd) and not trace.rows_of(BlockBegin)
    if written_out or spent_s < _DEAR_S or not is_whole or trace.rows_of(ProgramError):
        return
    begin_s = min(span[0] for one in calls for span in one.spans)
    ran_s = trace.ran_s(begin_s)
    most = max(calls, key=lambda one: one.total_s)
    if is_benchmarked(trace, most.stack):
        return  # it is what the program wants to know
    if spent_s >= _UNPAID * ran_s and most.site is not None:
        says = because("doctor_unpaid", function=most.name, spent_s=spent_s, ran_s=ran_s)
        yield trace.finding_of_seconds("compile-unpaid", most.site, says, framework="torch")


def _written_out(trace: ProcessTrace, calls: Iterable[CompiledCall]) -> Iterator[Finding]:
    """Name loops of PyTorch's functions that took a large part of the run to compile."""
    least_s = max(_DEAR_S, _DEAR_SHARE * trace.lasted_s)
    done: set[SourceLine] = set()
    for call in calls:
        place = call.definition
        if place is None or call.total_s < least_s:
            continue
        for site in _counting_loops(trace, place, call.name):
            if site not in done:
                done.add(site)
                says = because("doctor_written_out", function=call.name, spent_s=call.total_s)
                yield trace.finding_of_seconds(
                    "python-loop-unrolled", site, says, framework="torch"
                )


def _counting_loops(trace: ProcessTrace, place: SourceLine, name: str) -> Iterator[SourceLine]:
    """Yield the outermost loops over numbers in a function, but for those of few turns.

    One over layers is what a network is made of.
    """
    function = trace.sources.function(place.path, place.line)
    inside: set[int] = set()
    for node in ast.walk(function) if function is not None else ():
        if not _counts(node) or id(node) in inside:
            continue
        loops = [one for one in ast.walk(node) if _counts(one)]
        inside |= {id(one) for one in loops}
        turns = [trace.sources.turns(place.path, one) for one in loops]
        if prod(one or _FEWEST_TURNS for one in turns) >= _FEWEST_TURNS:
            yield SourceLine(place.path, node.lineno, name)


def _counts(node: ast.AST) -> TypeGuard[ast.For]:
    return (
        isinstance(node, ast.For)
        and isinstance(node.iter, ast.Call)
        and called(node.iter) == "range"
    )


def _list(trace: ProcessTrace, site: SourceLine, call: CompiledCall) -> Finding | None:
    """Name a long list of Python numbers as an argument: each number is one of its own."""
    counts = Counter(
        name.partition("[")[0]
        for name, kind in call.arguments.items()
        if "[" in name and kind.startswith("Python ")
    )
    argument, n_numbers = next(iter(counts.most_common(1)), ("", 0))
    if n_numbers < _FEWEST_NUMBERS:
        return None
    # What is compiled again is saved as a whole by another finding.
    share = _share(call, n_numbers) if call.again_for is None else None
    return trace.finding(
        "list-argument",
        site,
        because("doctor_list", function=call.name, argument=argument, n_numbers=n_numbers),
        framework=call.framework,
        n=n_numbers,
        cost_s=call.total_s,
        saving_s=call.total_s * share if share else None,
        saving_from=because("saving_share", equations_share=share) if share else None,
        no_saving=None if share else because("doctor_depends"),
    )


def _share(call: CompiledCall, n_numbers: int) -> float | None:
    """Return the share of a program's equations that are there once for each number.

    ``None``: there are fewer equations than numbers, so none can be told to be theirs.
    """
    equations = call.program.equations if call.program else 0
    each = equations // n_numbers
    return each * n_numbers / equations if each else None


def _constants(trace: ProcessTrace, call: CompiledCall, program: LoweredProgram) -> Finding | None:
    n_bytes = program.constants_bytes
    if n_bytes < _LARGE_BYTES:
        return None
    return trace.finding(
        "large-constant-capture",
        _use(trace, call, program),
        because("doctor_constants", function=call.name, constants_bytes=n_bytes),
        framework=call.framework,
        cost_s=call.total_s,
        no_saving=because("doctor_depends"),
    )


def _all_branches(
    trace: ProcessTrace, call: CompiledCall, program: LoweredProgram
) -> Iterator[Finding]:
    """Name where branches are computed that were not chosen, if something in them takes long."""
    for site in program.asking:
        branches = [
            each
            for one in trace.sources.calls_at(site.path, site.line)
            for each in _branches_of(one)
        ]
        names = sorted(
            {
                operation
                for operation, chain in program.heavy
                if any(_is_in(each, site, at) for each in branches for at in chain)
            }
        )
        if names:
            says = because("doctor_all_branches", function=call.name, operation_names=names)
            no_figure = because("doctor_depends")
            yield trace.finding(
                "cond-under-vmap", site, says, framework=call.framework, no_figure=no_figure
            )


def _branches_of(call: ast.Call) -> list[ast.expr]:
    """Return what ``lax.cond`` or ``lax.switch`` is given to choose from."""
    places = {"cond": slice(1, 3), "switch": slice(1, 2)}.get(called(call), slice(0, 0))
    named = {"true_fun", "false_fun", "branches"} if places.stop else set()
    return [*call.args[places], *(one.value for one in call.keywords if one.arg in named)]


def _is_in(branch: ast.expr, site: SourceLine, at: SourceLine) -> bool:
    """Say whether a line is in a branch that is written there, or in a function that it names."""
    names = {
        one.id if isinstance(one, ast.Name) else one.attr
        for one in ast.walk(branch)
        if isinstance(one, (ast.Name, ast.Attribute))
    }
    is_there = at.path == site.path and branch.lineno <= at.line <= (branch.end_lineno or 0)
    is_written = is_there and any(isinstance(one, ast.Lambda) for one in ast.walk(branch))
    return is_written or at.function.rpartition(".")[2] in names


def _kept_steps(
    trace: ProcessTrace, call: CompiledCall, program: LoweredProgram
) -> Iterator[Finding]:
    for site, n_steps, n_bytes in program.kept_steps:
        if n_bytes >= _KEPT_BYTES:
            says = because(
                "doctor_kept_steps", function=call.name, n_steps=n_steps, kept_bytes=n_bytes
            )
            yield trace.finding(
                "scan-keeps-steps",
                site,
                says,
                framework=call.framework,
                n=n_steps,
                no_figure=because("doctor_memory"),
            )


def _drawn(trace: ProcessTrace, call: CompiledCall, program: LoweredProgram) -> Iterator[Finding]:
    """Name draws without replacement in a compiled loop, each of which sorts all numbers."""
    for site, n_turns, n_numbers in program.sorted_turns:
        calls = trace.sources.calls_at(site.path, site.line)
        # A permutation is mostly used as a whole.
        is_draw = n_turns > 1 and any(called(one) == "choice" for one in calls)
        if is_draw and n_turns * n_numbers * _n_calls(trace, call) >= _MANY_SORTED:
            says = because("doctor_drawn", n_turns=n_turns, n_numbers=n_numbers)
            yield trace.finding(
                "draw-by-sorting",
                site,
                says,
                framework=call.framework,
                n=n_turns,
                no_figure=because("doctor_depends"),
            )


def _n_calls(trace: ProcessTrace, call: CompiledCall) -> int:
    """Return how often a compiled function was called, as far as that is known: once at least."""
    places = (one for one in trace.places_of("jitted") if one.name == call.short_name)
    return max(1, sum(one.n for one in places))


def _picked(trace: ProcessTrace, call: CompiledCall, program: LoweredProgram) -> Iterator[Finding]:
    """Name products with rows of zeros and one 1, which only pick rows of what they multiply."""
    for site, n_rows, n_columns in program.picked:
        if n_rows * n_columns * _n_calls(trace, call) >= _MANY_PICKED:
            says = because("doctor_picked", function=call.name, n_rows=n_rows, n_columns=n_columns)
            yield trace.finding(
                "one-hot-product",
                site,
                says,
                framework=call.framework,
                no_figure=because("doctor_depends"),
            )


def _apart(trace: ProcessTrace, call: CompiledCall, program: LoweredProgram) -> Iterator[Finding]:
    """Name compiled loops that could be computed at once, where they turn very often."""
    for site, n_turns, n_around in program.apart:
        if n_turns * n_around * _n_calls(trace, call) >= _MANY_TURNS:
            says = because("doctor_turns_apart", function=call.name, n_turns=n_turns)
            yield trace.finding(
                "loop-turns-apart",
                site,
                says,
                framework=call.framework,
                no_figure=because("doctor_depends"),
            )


def _loop_of(
    trace: ProcessTrace, call: CompiledCall, program: LoweredProgram
) -> Iterator[tuple[SourceLine, _Unrolled]]:
    """Yield the loop that most of the equations are from, if it has many turns."""
    found: dict[SourceLine, tuple[int, int]] = {}
    for chain, number, turns in program.lines:
        header = _header(trace, [one for one in chain if one not in call.stack])
        if header is not None:
            before = found.get(header, (0, 0))
            found[header] = before[0] + number, max(before[1], turns)
    for site, (number, turns) in sorted(found.items(), key=lambda item: -item[1][0]):
        if number >= _FEWEST_EQUATIONS and turns >= _FEWEST_TURNS:
            yield site, _Unrolled(call, number, program.equations, turns)
            return


def _unrolled(trace: ProcessTrace, site: SourceLine, loops: Sequence[_Unrolled]) -> Finding:
    """Name a loop that was written out, by its largest program; the seconds are of all."""
    most = max(loops, key=lambda one: one.n_equations)
    more = [because("doctor_more_programs", n_programs=len(loops) - 1)] if len(loops) > 1 else []
    says = because(
        "doctor_equations",
        *more,
        function=most.call.name,
        n_equations=most.n_equations,
        n_all=most.n_all,
    )
    # What is compiled again is saved as a whole by another finding.
    first = [one for one in loops if one.call.again_for is None]
    saving_s = sum(one.cost_s * (1 - 1 / one.turns) for one in first)
    return trace.finding(
        "python-loop-unrolled",
        site,
        says,
        framework=most.call.framework,
        n=most.n_equations,
        cost_s=sum(one.cost_s for one in loops),
        saving_s=saving_s if first else None,
        saving_from=because("saving_turns", n_turns=most.turns) if first else None,
        no_saving=None if first else because("doctor_depends"),
    )


def _header(trace: ProcessTrace, chain: Iterable[SourceLine]) -> SourceLine | None:
    """Return where the innermost loop begins that one of these lines is in.

    A comprehension, and a loop of few turns, count where no other is around them: what they go
    through is mostly little, as the neighbours of a point.
    """
    short: SourceLine | None = None
    for path, line, function in chain:
        at = line
        while (loop := trace.sources.loop(path, at)) is not None:
            found = SourceLine(path, loop[0], function)
            if not _is_short(trace, path, at):
                return found
            short = short or found
            if loop[0] == at:  # all of it stands in one line
                break
            at = loop[0]
    return short


def _is_short(trace: ProcessTrace, path: str, line: int) -> bool:
    """Say whether the innermost loop around a line is a comprehension, or has few turns."""
    loop = trace.sources.repeating(path, line)
    if isinstance(loop, ast.comprehension):
        return True
    turns = trace.sources.turns(path, loop) if isinstance(loop, ast.For) else None
    return turns is not None and turns < _FEW_TURNS


def _not_donated(
    trace: ProcessTrace, call: CompiledCall, program: LoweredProgram
) -> Finding | None:
    """Name state that goes in and comes out again, where its memory is not given away."""
    n_bytes = program.reusable_bytes
    if n_bytes < _LARGE_BYTES:
        return None
    name = call.short_name
    for stack in trace.stacks_of(call):
        replaced = _replaced(trace, stack, name)
        # In a loop it is called again.
        n_calls = trace.n_calls(stack[0], name) if trace.sees_calls else _FEWEST_CALLS
        if replaced and n_calls >= _FEWEST_CALLS:
            names = sorted(replaced)
            says = because(
                "doctor_donation", function=call.name, state_bytes=n_bytes, argument_names=names
            )
            copied_s = n_calls * n_bytes / _COPIED_BYTES_S
            is_little = trace.sees_calls and copied_s < _LITTLE_SHARE * trace.lasted_s
            is_little &= n_bytes < _VERY_LARGE_BYTES
            memory = because("doctor_little_copied" if is_little else "doctor_memory")
            return trace.finding(
                "no-donation",
                stack[0],
                says,
                framework=call.framework,
                n=n_calls,
                no_figure=memory,
            )
    return None


def _replaced(trace: ProcessTrace, stack: Sequence[SourceLine], name: str) -> set[str]:
    """Return what a line of a loop gives to a function and replaces by what comes back.

    In a method that a loop calls these are attributes: a variable may have another name outside.
    """
    site = stack[0]
    replaced = trace.sources.replaced(site.path, site.line, name)
    if trace.sources.loop(site.path, site.line):
        return replaced
    if trace.turned(stack[1:]) is None:
        return set()
    kept = {one for one in replaced if one.startswith("self.")}
    return kept - trace.sources.also_called(site.path)


def _use(trace: ProcessTrace, call: CompiledCall, program: LoweredProgram) -> SourceLine:
    """Return where the largest constant is used, or else the function."""
    at = call.definition
    defined = trace.sources.function(at.path, at.line) if at is not None else None
    if at is not None and defined is not None:
        for name in call.captured or ():
            for node in ast.walk(defined):
                if isinstance(node, ast.Name) and node.id == name:
                    return SourceLine(at.path, node.lineno, call.name)
    if used := program.constants_line:
        return SourceLine(used.path, used.line, call.name)
    return at or call.stack[0]


RULE = Rule(
    findings=_findings,
    codes=Codes(_REASONS, _ADVICE, _PARAMETERS),
    changes=_CHANGES,
    sizes={"list-argument", "python-loop-unrolled", "scan-keeps-steps"},
)
