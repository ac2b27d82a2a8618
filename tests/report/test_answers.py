"""The answer has a row for each range of calls, a number in each, and a next step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec
import pytest
from tests.report import conftest

from coldwarm.contracts.answer import Answer, ByCalls, CallRange, Crossing
from coldwarm.contracts.reasons import Reason, because
from coldwarm.report import answer_text
from coldwarm.stats.answers import answer

if TYPE_CHECKING:
    from coldwarm.contracts.result import CaseResult

Verdict = Literal["faster", "slower", "same", "undecided"]
JOB = conftest.Job(modes=(conftest.WARM,))
EVERYONE = ["numpy", "jax", "numba"]
MOST_ROWS = 4


def judged(candidate: str, verdict: Verdict, ratio: float) -> CaseResult:
    comparison = conftest.against("warm.call_s", verdict, ratio)
    return conftest.case(candidate, JOB, comparisons=[comparison])


def told(*cases: CaseResult) -> list[str]:
    found = answer([conftest.case("numpy", JOB), *cases])
    rows = answer_text.lines(found)
    return [f"{one.label}: {one.text}" for one in rows if one.label != "next step"]


def ranges(
    *parts: tuple[int, int | None, str], about: tuple[tuple[int, str], ...] = (), more: str = ""
) -> ByCalls:
    """Give ranges, whose candidates are separated by blanks, and ``more`` that are in none."""
    return ByCalls(
        reading="process",
        ranges=[
            CallRange(
                from_calls=begin,
                to_calls=end,
                cheapest=None if " " in names else names,
                among=names.split(),
            )
            for begin, end, names in parts
        ],
        estimates=[Crossing(value=value, cheapest=name) for value, name in about],
        candidates=sorted({one for *_, names in parts for one in f"{names} {more}".split()}),
        n_rounds=5,
    )


def of(by: ByCalls, *changes: Reason, **more: object) -> dict[str, str]:
    """Return the rows about the cheapest, and what follows them."""
    made = Answer(
        group="matmul_512_f32",
        workload="matmul",
        size=512,
        dtype="f32",
        baseline="numpy",
        candidates=by.candidates,
        by_calls=[by],
        changes=list(changes),
        n_processes=20,
        n_rounds=5,
    )
    made = msgspec.structs.replace(made, **more)
    found = {one.label: one.text for one in answer_text.lines(made)}
    assert len(found) == len(answer_text.lines(made)), "each row has a label of its own"
    return found


@pytest.mark.parametrize(
    ("cases", "text"),
    [
        ([judged("numba", "faster", 0.4)], "numba 2.38–2.61× faster"),
        ([judged("jax", "slower", 4.0)], "jax 3.84–4.20× slower"),
        ([judged("jax", "same", 1.0)], "jax the same within 5 %"),
        ([judged("jax", "undecided", 1.0)], "jax undecided (0.960–1.05×)"),
        (
            [judged("jax", "slower", 4.0), judged("numba", "faster", 0.4)],
            "numba 2.38–2.61× faster; jax 3.84–4.20× slower",
        ),
        (
            [judged("jax", "faster", 0.41), judged("numba", "faster", 0.4)],
            "numba 2.38–2.61× faster, jax 2.32–2.55× faster",
        ),
        (
            [judged("a", "slower", 4.0), judged("b", "same", 1.0), judged("c", "undecided", 1.1)],
            "b the same within 5 %; a 3.84–4.20× slower; c undecided (1.05–1.16×)",
        ),
        (
            [judged(name, "slower", 2.0 + place) for place, name in enumerate("abcd")],
            "4 others 1.92–5.25× slower",
        ),
    ],
)
def test_an_answer_for_each_set_of_verdicts(cases: list[CaseResult], text: str) -> None:
    assert told(*cases) == [f"warm call: vs numpy: {text}"]


def fastest(cases: list[CaseResult]) -> str | None:
    """Return who leads the warm call, among these and the baseline."""
    found = answer([conftest.case("numpy", JOB), *cases])
    assert found.warm is not None
    return found.warm.fastest


def test_who_is_the_fastest_is_told_from_bounds_that_do_not_meet() -> None:
    near = [judged("numba", "faster", 0.40), judged("jax", "faster", 0.41)]
    assert fastest(near) is None
    far = [judged("numba", "faster", 0.40), judged("jax", "undecided", 0.9)]
    assert fastest(far) == "numba"
    few = msgspec.structs.replace(far[1].comparisons[0], smallest_detectable=None)
    of_few = msgspec.structs.replace(far[1], comparisons=[few])
    assert fastest([far[0], of_few]) is None


LONGER = "a longer --time-budget, on an idle machine, about halves the intervals"


@pytest.mark.parametrize(
    ("by", "rows"),
    [
        (
            ranges(
                (1, 400, "numpy"),
                (401, 19_999, "numpy jax"),
                (20_000, None, "jax"),
                about=((1, "numpy"), (5_023, "jax")),
                more="numba",
            ),
            {
                "1–400 calls": "numpy · 95 %, 5 rounds",
                "401–19,999": (
                    "not decided: numpy or jax (best guess: numpy, jax from about 5,000); not numba"
                ),
                "from 20,000": "jax",
                "next step": LONGER,
            },
        ),
        (ranges((1, None, "numpy"), more="jax"), {"any number of calls": "numpy · 95 %, 5 rounds"}),
        (
            ranges((1, None, "numpy jax"), about=((1, "jax"),)),
            {
                "any number of calls": ("not decided: numpy or jax (best guess) · 95 %, 5 rounds"),
                "next step": LONGER,
            },
        ),
        (
            ranges((1, 1, "numpy"), (2, 40, "numpy jax"), (41, None, "numpy")),
            {
                "1 call": "numpy · 95 %, 5 rounds",
                "2–40": "not decided: numpy or jax",
                "from 41": "numpy",
                "next step": LONGER,
            },
        ),
    ],
)
def test_each_range_of_calls_has_a_row(by: ByCalls, rows: dict[str, str]) -> None:
    assert of(by) == rows


def test_candidates_that_cost_the_same_are_an_answer() -> None:
    by = ranges((1, 40, "numpy"), (41, None, "numpy jax"))
    same = msgspec.structs.replace(by.ranges[1], same_within=0.02)
    found = of(msgspec.structs.replace(by, ranges=[by.ranges[0], same]))
    assert found["from 41"] == "numpy or jax: the same within 2 %"
    assert "next step" not in found


def test_of_many_ranges_open_neighbours_share_a_row() -> None:
    names = "abcdefgh"
    parts = [(2**n, 2 ** (n + 1) - 1, f"{names[n]} {names[n + 1]}") for n in range(7)]
    by = ranges(*parts, (128, None, "h"))
    rows = [one for one in of(by) if one != "next step"]
    assert len(rows) == MOST_ROWS
    assert rows[0].startswith("1–")
    assert rows[-1] == "from 128"


def test_who_is_not_judged_is_named_with_the_reason() -> None:
    by = ranges((1, None, "numpy"), more="jax")
    few = because("few_processes", n_processes=2, n_needed=3)
    found = of(
        msgspec.structs.replace(by, left_out={"torch": few}),
        because("more_shapes", candidate="jax", extra_s=0.25),
        not_measured={
            "numba": because("correctness_gate"),
            "gpu": because("gpu_unavailable"),
        },
    )
    assert found["not judged"] == (
        "torch: 2 processes; an interval needs 3; numba: its answer is wrong"
    )
    assert found["further shape"] == "each further shape costs jax 250 ms more"
    assert found["next step"] == "measure again with --rounds 5"


@pytest.mark.parametrize(("n_calls", "end"), [(40, "jax"), (41, "jax (extrapolated)")])
def test_a_range_beyond_what_was_measured_is_extrapolated(n_calls: int, end: str) -> None:
    begin = [("numpy", 1, n_calls - 1), ("jax", n_calls, None)]
    filled = msgspec.structs.replace(
        ranges(*((a, b, name) for name, a, b in begin)), reading="cached", measured_calls=40
    )
    by = ranges((1, None, "numpy"), more="jax")
    assert of(by, by_calls=[by, filled])["filled caches"].endswith(end)


def test_no_ranges_say_why() -> None:
    why = because("no_other_total")
    by = ByCalls(reading="process", ranges=[], candidates=["a"], left_out={"b": why}, reason=why)
    found = of(by)
    assert found["by calls"] == "no answer yet"
    assert found["not judged"] == "b: no other candidate was measured often enough"


def test_a_scenario_has_no_number_of_calls_and_says_so() -> None:
    made = answer([conftest.case("numpy", JOB, scenario=True)])
    assert made.null_reasons["by_calls"].code == "whole_loops"
    (line,) = answer_text.lines(msgspec.structs.replace(made, candidates=["numpy", "jax"]))
    assert line.label == "by calls"
    assert "a call is a whole loop" in line.text


def test_an_answer_is_short(cases: list[CaseResult]) -> None:
    for workload in dict.fromkeys(case.workload for case in cases):
        found = answer([case for case in cases if case.workload == workload])
        assert 1 <= len(answer_text.lines(found)) <= MOST_ROWS + len(("", "", "", "", "", ""))
