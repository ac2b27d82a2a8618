"""How much of a measured interval was compiling, in words: as the table of lines adds it up."""

from __future__ import annotations

from typing import Any

import pytest
from tests.doctor import journals
from tests.doctor.journals import BEGIN_S, MAIN

from coldwarm.doctor.judge import findings
from coldwarm.doctor.source_code import SourceFiles
from coldwarm.doctor.trace import ProcessTrace

PATH = "/timed.py"
TEXT = "begin = perf_counter()\nout = total(jnp.stack(parts))\nspent = perf_counter() - begin\n"


def clock(slot: int, line: int, at_s: float) -> list[dict[str, Any]]:
    """Return the rows of a clock that is read once."""
    stack = [[PATH, line, "<module>"]]
    place = {"kind": "place", "at_s": BEGIN_S, "what": "clock", "name": "perf_counter"}
    read = {"kind": "clock", "at_s": BEGIN_S + at_s, "slot": slot, "thread": MAIN, "caller": None}
    return [{**place, "stack": stack, "slot": slot, "bound": []}, {**read, "after": None}]


def compiled(number: int, begin_s: float, seconds: float, **function: Any) -> list[dict[str, Any]]:
    described = {"name": "total", "path": PATH, "line": 9, "whose": "user", **function}
    row = journals.call(number, stack=[[PATH, 2, "<module>"]], function=described)
    return [row, journals.stage(number, begin_s, {"compile": seconds})]


def test_operations_are_compiling_too() -> None:
    operation = {"name": "stack", "operation": True, "whose": "framework"}
    rows = [
        journals.process(),
        *clock(0, 1, 1.0),
        *clock(4, 3, 5.0),
        *compiled(1, 1.5, 2.0),
        *compiled(2, 3.5, 1.0, **operation),
        *compiled(3, 4.0, 1.5),  # beside the operation, and on beyond the reading
    ]
    (one,) = findings(ProcessTrace.of(rows, [1, 0, 0, 0] * 2, SourceFiles({PATH: TEXT})))
    assert one.pattern == "first-call-in-timing"
    assert one.says.values["interval_s"] == pytest.approx(4.0)
    assert one.says.values["compiled_s"] == pytest.approx(3.5)


ONE = "t = perf_counter()\ntotal(x)\nspent = perf_counter() - t\n{use}\n"
SEVERAL = """t = perf_counter()
x = load()
total(x)
y = other(x)
report(y)
spent = perf_counter() - t
{use}
"""
INSIDE = "t = perf_counter()\nfitted = fit(x)\nspent = perf_counter() - t\n{use}\n"


@pytest.mark.parametrize(
    ("text", "use", "line", "named"),
    [
        (ONE, "print(spent)", 2, True),  # a time of a call
        (ONE, "print('first call', spent)", 2, False),
        (ONE, "first_s = spent", 2, False),
        (SEVERAL, "print(spent)", 3, False),  # how long all of it took
        (SEVERAL, "print(spent / 60)", 3, False),
        (SEVERAL, "print(1000 / spent)", 3, True),  # so many in a second
        (SEVERAL, "rate = spent / n", 3, True),
        (INSIDE, "print(spent)", 9, False),  # it is compiled in a function that is called
    ],
)
def test_a_time_of_all_is_no_time_of_calls(text: str, use: str, line: int, *, named: bool) -> None:
    source = text.format(use=use)
    last = 1 + next(at for at, one in enumerate(source.splitlines()) if "spent = " in one)
    call = compiled(1, 1.5, 2.0)
    call[0]["stack"] = [[PATH, line, "<module>"]]
    rows = [journals.process(), *clock(0, 1, 1.0), *clock(4, last, 5.0), *call]
    found = findings(ProcessTrace.of(rows, [1, 0, 0, 0] * 2, SourceFiles({PATH: source})))
    assert [one.pattern for one in found] == ["first-call-in-timing"] * named


RUN = """def run(self, x):
    t = perf_counter()
    out = total(x)
    {add}
    return out

def told(self):
    return {told}
"""
PLUS, MEAN = "self.seconds += perf_counter() - t", "self.seconds / self.n"


@pytest.mark.parametrize(
    ("add", "told", "compiled_s", "named"),
    [
        (PLUS, MEAN, 2.0, True),
        (PLUS, "1e3 * self.seconds / self.n", 2.0, True),
        (PLUS, "self.n * size / self.seconds / 1e6", 2.0, True),
        (PLUS, MEAN, 0.5, False),  # so little that the mean is as good
        (PLUS, "self.seconds", 2.0, False),  # how long all took
        (PLUS, "self.seconds / 60", 2.0, False),
        ("self.all.append(perf_counter() - t)", "min(self.all)", 2.0, False),
    ],
)
def test_a_mean_of_times_has_the_first_call_in_it(
    add: str, told: str, compiled_s: float, *, named: bool
) -> None:
    source = RUN.format(add=add, told=told)
    call = compiled(1, 1.5, compiled_s)
    call[0]["stack"] = [[PATH, 3, "run"], [PATH, 20, "<module>"]]
    rows = [journals.process(), *clock(0, 2, 1.0), *clock(4, 4, 4.0), *call]
    for place in (rows[1], rows[3]):
        place["stack"] = [[PATH, place["stack"][0][1], "run"]]
    for turn in (1, 2):
        rows += [rows[2] | {"at_s": BEGIN_S + 4 + turn}, rows[4] | {"at_s": BEGIN_S + 4.5 + turn}]
    found = findings(ProcessTrace.of(rows, [3, 0, 0, 0] * 2, SourceFiles({PATH: source})))
    assert [one.pattern for one in found] == ["first-call-in-timing"] * named


@pytest.mark.parametrize(
    ("late_s", "named"), [(None, True), (1.0, True), (0.001, False)], ids=["unknown", "much", "no"]
)
def test_a_reading_that_was_hardly_too_early_is_let_alone(
    late_s: float | None, *, named: bool
) -> None:
    source = "t = perf_counter()\nx = f(x)\nspent = perf_counter() - t\nprint(spent)\n"
    rows = [journals.process(), *clock(0, 1, 1.0), *clock(4, 3, 5.0)]
    rows[-1] |= {"pending": 2, "number": 0}
    if late_s is not None:
        rows.append({"kind": "ready", "at_s": BEGIN_S, "slot": 4, "number": 0, "late_s": late_s})
    counts = [1, 0, 0, 0, 1, 1, 0, 0]
    found = findings(ProcessTrace.of(rows, counts, SourceFiles({PATH: source})))
    assert [one.pattern for one in found] == ["missing-sync-timing"] * named
