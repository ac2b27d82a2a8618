"""A bill in words, line by line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.integrations.testing.bill import OTHER, OUTSIDE
from coldwarm.report.sentences import counted
from coldwarm.report.units import duration

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coldwarm.integrations.testing.bill import Bill, Program

TITLE = "coldwarm: seconds of compiling"
_KEEP_ALL = "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS=0"
"""By default JAX keeps programs alone that take a second to compile."""
_MOST_TESTS, _MOST_PROGRAMS = 10, 5
_STAGES = {
    "trace": "trace",
    "lower": "lower",
    "compile": "compile",
    "cache_read": "read",
    OTHER: "other",
}
_LEAST_S = 5e-4
"""Below it a stage is not worth a word."""


def lines(bill: Bill, tests_s: float, missing: list[str]) -> Iterator[str]:
    """Yield what is printed at the end of a session.

    ``tests_s``: seconds of all tests, their fixtures included; ``missing``: workers that ended
    without telling their bill.
    """
    ranked = sorted(bill.by_test.items(), key=lambda item: -item[1])
    paid = [(test, seconds) for test, seconds in ranked if seconds > 0]
    for test, seconds in paid[:_MOST_TESTS]:
        yield f"{seconds:8.2f} s  {test or 'while modules were imported and tests collected'}"
    rest = paid[_MOST_TESTS:]
    if rest:
        seconds = sum(seconds for _, seconds in rest)
        yield f"{seconds:8.2f} s  in {counted(len(rest), 'other test')}"
    share = "" if missing else _of(bill, tests_s)
    yield f"{bill.total_s:8.2f} s  in {counted(bill.n_tests, 'test')}{share}"
    if bill.n_compiled or bill.n_read:
        yield f"            {_programs(bill)}"
    yield from _repeated(bill)
    yield from _saving(bill)
    for failure in bill.failures:
        yield f"watching itself has failed, and something may be missing here: {failure}"
    for worker in missing:
        yield f"worker {worker} has ended without its bill: what its tests compiled is missing"


def _of(bill: Bill, tests_s: float) -> str:
    in_tests_s = bill.total_s - bill.by_test.get(OUTSIDE, 0.0)
    if not tests_s:
        return ""
    return f", which took {duration(tests_s)}: {min(1.0, in_tests_s / tests_s):.0%} of it"


def _programs(bill: Bill) -> str:
    parts = [
        f"{words} {duration(bill.by_stage[stage])}"
        for stage, words in _STAGES.items()
        if bill.by_stage.get(stage, 0.0) > _LEAST_S
    ]
    read = f" and {bill.n_read} read from a cache on disk" if bill.n_read else ""
    return f"{counted(bill.n_compiled, 'program')} compiled{read}: {', '.join(parts)}"


def _repeated(bill: Bill) -> Iterator[str]:
    found = bill.repeated
    if not found:
        return
    n_again = sum(one.n_again for one in found)
    yield ""
    yield (
        f"Compiled more than once: {counted(len(found), 'program')},"
        f" {'once' if n_again == 1 else f'{n_again} times'} too often,"
        f" {duration(sum(one.again_s for one in found))}"
    )
    for one in found[:_MOST_PROGRAMS]:
        yield f"{one.again_s:8.2f} s  {one.name}, {len(one.seconds)} times{_where(one)}"
    if len(found) > _MOST_PROGRAMS:
        yield f"            … and {counted(len(found) - _MOST_PROGRAMS, 'other program')}"


def _where(one: Program) -> str:
    first = one.tests[0] or "the collection"
    others = len(one.tests) - 1
    return f" in {first}" + (f" and {counted(others, 'other test')}" if others else "")


def _saving(bill: Bill) -> Iterator[str]:
    """Say what a cache on disk would save, of which only the programs of JAX can be kept."""
    whole_s = sum(sum(one.seconds) for one in bill.programs.values())
    again_s = sum(one.again_s for one in bill.repeated)
    if not whole_s:
        return
    yield ""
    if bill.n_read:
        yield f"A cache on disk is in use: {counted(bill.n_read, 'program')} came from there."
        if again_s:
            yield "What was compiled more than once all the same it does not keep. To keep all:"
            yield f"    {_KEEP_ALL}"
        return
    yield (
        "A cache on disk that all tests and workers share would save at most"
        f" {duration(again_s)} of this run"
    )
    yield (
        f"and {duration(whole_s)} of each later one, less the time of reading. Tracing and"
        " lowering remain. To set it:"
    )
    yield f"    JAX_COMPILATION_CACHE_DIR=DIR {_KEEP_ALL}"
