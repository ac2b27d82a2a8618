"""The answer says in at most three lines what the ranges and verdicts come to, and no more."""

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


def judged(candidate: str, verdict: Verdict, ratio: float) -> CaseResult:
    comparison = conftest.against("warm.call_s", verdict, ratio)
    return conftest.case(candidate, JOB, comparisons=[comparison])


def told(*cases: CaseResult) -> list[str]:
    found = answer([conftest.case("numpy", JOB), *cases])
    return [f"{one.label}: {one.text}" for one in answer_text.lines(found)]


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


def of(by: ByCalls, *changes: Reason, **more: object) -> str:
    """Return the line about the cheapest."""
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
    (line,) = answer_text.lines(made)
    assert line.label == "cheapest"
    return line.text


@pytest.mark.parametrize(
    ("cases", "text"),
    [
        ([judged("numba", "faster", 0.4)], "numba is 2.4–2.6× faster than numpy"),
        ([judged("jax", "slower", 4.0)], "jax is 3.8–4.2× slower than numpy"),
        ([judged("jax", "same", 1.0)], "jax is the same as numpy, within 5 %"),
        ([judged("jax", "undecided", 1.0)], "jax against numpy: undecided (0.960–1.05×)"),
        (
            [judged("jax", "slower", 4.0), judged("numba", "faster", 0.4)],
            "numba is the fastest: 2.4–2.6× faster than numpy; jax 3.8–4.2× slower",
        ),
        (
            [judged("jax", "faster", 0.41), judged("numba", "faster", 0.4)],
            "numba 2.4–2.6× faster, jax 2.3–2.5× faster than numpy",
        ),
        (
            [judged("a", "slower", 4.0), judged("b", "same", 1.0), judged("c", "undecided", 1.1)],
            "b the same as numpy; a 3.8–4.2× slower; c undecided",
        ),
        (
            [judged(name, "slower", 2.0 + place) for place, name in enumerate("abcd")],
            "numpy is the fastest; 4 others 1.9–5.2× slower",
        ),
    ],
)
def test_an_answer_for_each_set_of_verdicts(cases: list[CaseResult], text: str) -> None:
    assert told(*cases) == [f"warm call: {text}"]


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


SURE = " (95 %, 5 rounds)"


@pytest.mark.parametrize(
    ("by", "text"),
    [
        (
            ranges(
                (1, 400, "numpy"),
                (401, 19_999, "numpy jax"),
                (20_000, None, "jax"),
                about=((1, "numpy"), (5_023, "jax")),
            ),
            (
                "numpy below about 5,000 calls of a process, from there jax; between 400 and 20,000"
                " this run cannot tell"
            ),
        ),
        (ranges((1, None, "numpy"), more="jax"), "numpy at any number of calls"),
        (
            ranges((1, None, "numpy jax")),
            "this run cannot tell at any number of calls: jax or numpy",
        ),
        (
            ranges((1, 40, "numpy"), (41, None, "numpy jax")),
            "numpy up to 40 calls of a process; above this run cannot tell",
        ),
        (
            ranges((1, 1, "numpy"), (2, 40, "numpy jax"), (41, None, "numpy")),
            "numpy; between 1 and 41 this run cannot tell",
        ),
        (
            ranges((1, 40, "numpy jax"), (41, None, "jax")),
            "from 41 calls of a process jax; below 41 this run cannot tell",
        ),
        (
            ranges(
                (1, 8, "numpy"),
                (9, 20, "numpy numba"),
                (21, 60, "numba"),
                (61, 700, "numba jax"),
                (701, None, "jax"),
                about=((1, "numpy"), (12, "numba"), (300, "jax")),
            ),
            (
                "numpy below about 12 calls of a process, from there numba, from about 300 jax;"
                " between 8 and 21 and between 60 and 701 this run cannot tell"
            ),
        ),
        (
            ranges((1, 8, "numpy"), (9, 20, "numpy numba jax"), (21, None, "numba jax")),
            (
                "numpy below 21 calls of a process, from there numba or jax; between 8 and 21"
                " this run cannot tell"
            ),
        ),
    ],
)
def test_ranges_of_calls_in_words(by: ByCalls, text: str) -> None:
    assert of(by) == text + SURE


def test_what_would_change_it_and_who_is_missing_is_told() -> None:
    by = ranges((1, None, "numpy"), more="jax")
    changes = [
        because("filled_caches", candidate_names=["jax", "numba"], n_calls=90),
        because("longer_process", candidate_names=["jax"], n_calls=900),
        because("more_shapes", candidate="jax", extra_s=0.25),
    ]
    failed = {"not_measured": {"numba": because("correctness_gate")}}
    assert of(by, *changes, **failed) == (
        "numpy at any number of calls (95 %, 5 rounds, without numba); with filled caches jax or"
        " numba from 90 calls on; each further shape costs jax 250 ms more"
    )
    one = because("filled_caches", candidate_names=["jax"], n_calls=1)
    assert of(by, one).endswith("with filled caches jax from the first call on")


@pytest.mark.parametrize(("n_calls", "end"), [(40, "40 calls on"), (41, "on (extrapolated)")])
def test_a_change_beyond_what_was_measured_is_extrapolated(n_calls: int, end: str) -> None:
    begin = [("numpy", 1, n_calls - 1), ("jax", n_calls, None)]
    filled = msgspec.structs.replace(
        ranges(*((a, b, name) for name, a, b in begin)), reading="cached", measured_calls=40
    )
    change = because("filled_caches", candidate_names=["jax"], n_calls=n_calls)
    by = ranges((1, None, "numpy"), more="jax")
    assert of(by, change, by_calls=[by, filled]).endswith(end)


def test_no_ranges_say_why() -> None:
    why = because("no_other_total")
    by = ByCalls(reading="process", ranges=[], candidates=["a"], left_out={"b": why}, reason=why)
    assert of(by) == "this run cannot tell: no other candidate has a total"


def test_a_scenario_has_no_number_of_calls_and_says_so() -> None:
    made = answer([conftest.case("numpy", JOB, scenario=True)])
    assert made.null_reasons["by_calls"].code == "whole_loops"
    (line,) = answer_text.lines(msgspec.structs.replace(made, candidates=["numpy", "jax"]))
    assert line.label == "by calls"
    assert "a call is a whole loop" in line.text


def test_there_are_at_most_three_lines(cases: list[CaseResult]) -> None:
    for workload in dict.fromkeys(case.workload for case in cases):
        found = answer([case for case in cases if case.workload == workload])
        assert 1 <= len(answer_text.lines(found)) <= len(("cheapest", "first result", "warm call"))
