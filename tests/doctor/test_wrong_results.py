"""What makes a figure or a result wrong: for which line it is said, and what may be meant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.doctor import journals
from tests.doctor.reports import worded

from coldwarm.doctor.judge import findings, ranked
from coldwarm.doctor.source_code import SourceFiles
from coldwarm.doctor.trace import ProcessTrace

if TYPE_CHECKING:
    from coldwarm.contracts.doctor import Finding

FILE = "/a.py"
MAIN = "<module>"


def found(text: str, *rows: dict[str, Any], counts: tuple[int, ...] = ()) -> list[Finding]:
    seen = ProcessTrace.of([journals.process(), *rows], list(counts), SourceFiles({FILE: text}))
    return ranked(findings(seen), 10.0)


def place(slot: int, what: str, name: str, *stack: tuple[int, str]) -> dict[str, Any]:
    lines = [[FILE, *one] for one in stack]
    return {
        "kind": "place",
        "at_s": 1000.0,
        "slot": slot,
        "what": what,
        "stack": lines,
        "name": name,
    }


def key(name: str, before: list[Any], stack: list[Any], apart: int | None) -> dict[str, Any]:
    lines = [[[FILE, *one] for one in rows] for rows in (before, stack)]
    return {
        "kind": "key",
        "at_s": 1000.0,
        "name": name,
        "before": lines[0],
        "stack": lines[1],
        "made": [],
        "n_made": 0,
        "apart": apart,
    }


KEYS = """
def init(key):
    key, part = split(key)
    for one in range(2):
        part = draw(part)
a = init(root)
b = init(root)
for turn in range(3):
    c = init(root)
"""


def test_a_helper_that_is_given_a_key_twice_is_right_and_its_callers_are_not() -> None:
    first, second = [(3, "init"), (6, MAIN)], [(3, "init"), (7, MAIN)]
    rows = [
        key("split", first, second, 1),
        key("normal", [(5, "init"), (6, MAIN)], [(5, "init"), (7, MAIN)], 1),
    ]
    (one,) = found(KEYS, *rows)
    assert (one.pattern, one.line) == ("key-reuse", 7)
    assert "a key that line 6 has used" in worded(one).text


def test_two_calls_of_one_line_are_told_apart_from_turns_of_a_loop() -> None:
    stack = [(3, "init"), (9, MAIN)]
    (twice,) = found(KEYS, key("split", stack, stack, 1))
    (turns,) = found(KEYS, key("split", stack, stack, None))
    assert (twice.pattern, twice.line) == ("key-reuse", 9)
    assert (turns.pattern, turns.line) == ("key-not-split-in-loop", 9)


def test_what_comes_of_a_key_that_is_split_again_in_each_turn_is_no_finding_of_its_own() -> None:
    outer, inner = [(3, "init"), (9, MAIN)], [(5, "init"), (9, MAIN)]
    rows = [key("split", outer, outer, None), key("normal", inner, inner, None)]
    assert [(one.pattern, one.line) for one in found(KEYS, *rows)] == [("key-not-split-in-loop", 9)]


TRACED = """
def step(x):
    global count
    count += 1
    shapes.append(x.shape)
    y = x + 1
    values.append(y)
    return y
"""


def test_a_count_may_be_meant_and_a_value_of_a_trace_that_is_kept_is_wrong() -> None:
    call = journals.call(1, function={"name": "step", "path": FILE, "line": 2})
    told = found(TRACED, call, place(0, "effect", "print", (6, "step")), counts=(2, 0, 0, 0))
    why = [(one.line, one.null_reasons["cost_s"].code) for one in told]
    assert why[0] == (7, "doctor_wrong_result")
    assert sorted(why[1:]) == [(4, "doctor_once"), (5, "doctor_once"), (6, "doctor_once")]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("rng = default_rng(0)\ndef step(x):\n    return x + rng.normal()\n", True),
        ("def step(x):\n    rng = default_rng()\n    return x + rng.normal()\n", True),
        ("def step(x):\n    rng = default_rng(0)\n    return x + rng.normal()\n", False),
        ("def step(x):\n    y = x\n    return y + default_rng(seed=3).normal()\n", False),
        ("def step(x):\n    rng = make()\n    return x + rng.normal()\n", False),
        ("def step(self):\n    y = self.x\n    return y + self.rng.normal()\n", True),
        ("def step(x, state):\n    y = x\n    return y + state.rng.normal()\n", False),
        ("def step(x, rng):\n    y = x\n    return y + rng.normal()\n", False),
        ("def step(x):\n    np.random.seed(3)\n    return x + np.random.normal()\n", False),
    ],
)
def test_numbers_of_a_seed_are_meant_to_be_the_same(text: str, said: bool) -> None:  # noqa: FBT001 - a parameter
    told = found(text, place(0, "draw", "Generator.normal", (3, "step")), counts=(1, 0, 0, 0))
    assert bool(told) == said
    if said:
        assert worded(told[0]).text.startswith("normal() drew random numbers while step was traced")


CLOCKS = """
def timer(function):
    begin = perf_counter()
    function()
    print(perf_counter() - begin)
timer(first)
timer(second)
"""


@pytest.mark.parametrize(("callers", "named"), [((6, 7), True), ((6, 6), False)])
def test_a_clock_of_a_helper_says_for_which_line_it_was_read_first(
    callers: tuple[int, int],
    named: bool,  # noqa: FBT001 - a parameter
) -> None:
    reads = [
        {
            "kind": "clock",
            "at_s": 1000.0 + at,
            "slot": 0,
            "thread": 1,
            "pending": 2,
            "after": None,
            "caller": [[FILE, line, MAIN]],
        }
        for at, line in enumerate(callers)
    ]
    clock = place(0, "clock", "perf_counter", (5, "timer"), (6, MAIN))
    (one,) = found(CLOCKS, clock, *reads, counts=(2, 2, 0, 0))
    assert one.pattern == "missing-sync-timing"
    assert worded(one).text.endswith("; first for a.py:6") == named
