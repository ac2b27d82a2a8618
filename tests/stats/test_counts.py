"""Counts of what was compiled: joined over processes, and held against limits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.contracts import samples

from coldwarm.contracts.observation import Counts
from coldwarm.contracts.policy import CountLimit
from coldwarm.contracts.reasons import because
from coldwarm.report.sentences import words
from coldwarm.stats.compared_figures import judge_counts, unheard
from coldwarm.stats.summarise import summarise

if TYPE_CHECKING:
    from coldwarm.contracts.answer import Caution
    from coldwarm.contracts.observation import Observation

CACHED = because("inside_cached", cache="Numba's cache")


def counted(n: int | None, **changes: Any) -> Observation:
    counts = (
        Counts(null_reasons={"signatures": CACHED})
        if n is None
        else Counts(numbers={"signatures": n})
    )
    return samples.observation(counts=counts, **changes)


def of_case(observations: list[Observation]) -> tuple[Counts, list[Caution]]:
    """Return the counts of a case, and the cautions about them."""
    made = summarise(observations, ["cold_process_cold_cache"])
    return made.counts, [one for one in made.warnings if one.kind == "counts"]


def test_what_processes_have_counted_alike_is_the_cases() -> None:
    made, cautions = of_case([counted(3), counted(None), counted(3)])
    assert made == Counts(numbers={"signatures": 3})
    assert cautions == []


def test_a_count_that_nobody_could_take_has_its_reason() -> None:
    made, cautions = of_case([counted(None), counted(None)])
    assert made == Counts(null_reasons={"signatures": CACHED})
    assert cautions == []


def test_counts_that_differ_are_no_count_and_a_caution() -> None:
    made, (caution,) = of_case([counted(3), counted(5), counted(3)])
    assert made.numbers == {}
    assert words(made.null_reasons["signatures"]) == (
        "signatures differ from process to process: 3 to 5"
    )
    assert (caution.kind, caution.n_processes, caution.of_processes) == ("counts", 1, 3)


def test_processes_that_do_not_count_have_no_counts() -> None:
    failed = counted(7, status="failed", reason=because("killed"))
    rejected = counted(8, status="rejected", reason=because("no_hits", owner="jax"))
    assert of_case([counted(3), failed, rejected])[0].numbers == {"signatures": 3}


@pytest.mark.parametrize(
    ("limit", "allowed"),
    [
        (CountLimit(), 100),
        (CountLimit(more=1), 101),
        (CountLimit(share=0.05), 105),
        (CountLimit(share=0.059), 105),
        (CountLimit(share=0.07), 107),
    ],
)
def test_a_limit_is_the_most_that_does_not_fail(limit: CountLimit, allowed: int) -> None:
    before = Counts(numbers={"equations": 100})
    for now, failing in ((99, 0), (100, 0), (allowed, 0), (allowed + 1, 1)):
        verdicts = judge_counts(
            "new", before, Counts(numbers={"equations": now}), {"equations": limit}
        )
        assert sum(one.fails_beyond is not None for one in verdicts) == failing
        expected = "same" if now == 100 else "more" if now > 100 else "less"
        assert [one.verdict for one in verdicts] == [expected]


def test_a_share_of_nothing_is_nothing() -> None:
    (one,) = judge_counts(
        "new",
        Counts(numbers={"graph_breaks": 0}),
        Counts(numbers={"graph_breaks": 1}),
        {"graph_breaks": CountLimit(share=0.5)},
    )
    assert one.fails_beyond == 0


def test_what_is_not_known_on_both_sides_is_undecided_and_says_why() -> None:
    known, unknown = Counts(numbers={"signatures": 3}), Counts(null_reasons={"signatures": CACHED})
    for sides in ((known, unknown), (unknown, known)):
        (one,) = judge_counts("new", *sides, {"signatures": CountLimit()})
        assert (one.verdict, one.reason, one.fails_beyond) == ("undecided", CACHED, None)
    (one,) = judge_counts("new", known, Counts(), {})
    assert one.reason == because("not_counted")
    assert not one.guarded


def test_a_guard_of_what_nobody_counts_is_noticed() -> None:
    limits = {"signatures": CountLimit(), "programs": CountLimit()}
    verdicts = judge_counts("new", Counts(numbers={"signatures": 3}), Counts(), limits)
    assert [one.name for one in verdicts] == ["programs", "signatures"]
    assert unheard(limits, verdicts) == ["programs"]
