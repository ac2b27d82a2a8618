"""The answer above the tables says what the verdicts come to, and no more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec
import pytest
from tests.report import conftest

from coldwarm.contracts.plan import BreakEven
from coldwarm.contracts.reasons import because
from coldwarm.report import leading
from coldwarm.stats.plan.leading import leads

if TYPE_CHECKING:
    from coldwarm.contracts.result import CaseResult

Verdict = Literal["faster", "slower", "same", "undecided"]
JOB = conftest.Job(modes=(conftest.WARM,))


def judged(candidate: str, verdict: Verdict, ratio: float) -> CaseResult:
    comparison = conftest.against("warm.call_s", verdict, ratio)
    return conftest.case(candidate, JOB, comparisons=[comparison])


def told(*cases: CaseResult, paying: tuple[BreakEven, ...] = ()) -> list[str]:
    everyone = [conftest.case("numpy", JOB), *cases]
    lines = leading.lines(leads(everyone, [conftest.WARM]), paying, loop=False)
    return [f"{one.label}: {one.text}" for one in lines]


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


def test_who_is_the_fastest_is_told_from_bounds_that_do_not_meet() -> None:
    near = [judged("numba", "faster", 0.40), judged("jax", "faster", 0.41)]
    assert leads(near, [conftest.WARM])[0].fastest is None
    far = [judged("numba", "faster", 0.40), judged("jax", "undecided", 0.9)]
    assert leads(far, [conftest.WARM])[0].fastest == "numba"
    few = msgspec.structs.replace(far[1].comparisons[0], smallest_detectable=None)
    of_few = msgspec.structs.replace(far[1], comparisons=[few])
    assert leads([far[0], of_few], [conftest.WARM])[0].fastest is None


def test_from_when_it_pays_off() -> None:
    pays = BreakEven(
        candidate="numba",
        baseline="numpy",
        reading="process",
        verdict="from",
        calls=5000,
        low=3900,
        high=7100,
        reason=because("stated", text=""),
    )
    cached = msgspec.structs.replace(pays, reading="cached", verdict="at_once", calls=1)
    found = told(judged("numba", "faster", 0.4), paying=(pays, cached))
    assert found[1] == (
        "pays off: numba costs no more than numpy from 5,000 calls on (3,900–7,100) with empty"
        " caches; from the first call on with filled caches"
    )
    open_ = msgspec.structs.replace(pays, verdict="undecided", calls=None)
    (_, line) = told(judged("numba", "faster", 0.4), paying=(open_,))
    assert line == "pays off: numba: from how many calls on, is undecided"
