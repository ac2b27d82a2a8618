"""No headline rests on a candidate that was not tried with other data, or that keeps answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from tests.contracts import samples
from tests.stats import results

from coldwarm.contracts.base import WARM
from coldwarm.contracts.bench import BenchReport
from coldwarm.contracts.observation import Observation, OtherCalls
from coldwarm.contracts.policy import Policy
from coldwarm.contracts.reasons import Reason, because
from coldwarm.report import answer_text as words
from coldwarm.report.answer_text import lines
from coldwarm.report.words import MARKS
from coldwarm.stats import cautions, outcome, planning
from coldwarm.stats.answers import answer
from coldwarm.stats.bench_report import bench_report
from coldwarm.stats.costs import gather
from coldwarm.stats.outcome import with_comparisons
from coldwarm.stats.planning import Job

if TYPE_CHECKING:
    from coldwarm.contracts.result import CaseResult

FINE = OtherCalls(usual_s=1e-3, other_arguments_s=1e-3, varied=["x"], answer_changed=True)
NONE = OtherCalls(
    usual_s=1e-3, varied=[], null_reasons={"other_arguments_s": because("no_other_arguments")}
)
UNVARIED = OtherCalls(usual_s=1e-3, varied=[], not_varied={"text": because("unvaried")})
PARTLY = msgspec.structs.replace(FINE, not_varied={"n": because("unvaried")})
UNCHANGED = msgspec.structs.replace(PARTLY, answer_changed=False)
KEPT = msgspec.structs.replace(FINE, other_arguments_s=0.5)
UNLIKE = msgspec.structs.replace(
    FINE, answers_checked=False, unlike=because("unlike_for_others", argument_names=["x"])
)
BEFORE = OtherCalls(usual_s=1e-3, other_arguments_s=1e-3)
BEFORE_NONE = msgspec.structs.replace(NONE, varied=None)


def _with(case: CaseResult, calls: OtherCalls | None) -> CaseResult:
    seen = [msgspec.structs.replace(one, other_calls=calls) for one in case.observations]
    made = outcome.summary_of(seen, None, case.protocol)
    return msgspec.structs.replace(
        case, observations=seen, cold=made.cold, warm=made.warm, warnings=made.warnings
    )


def _cases(*calls: OtherCalls | None) -> list[CaseResult]:
    """Return a baseline and ever quicker candidates, whose processes have shown these calls."""
    made = []
    for place, seen in enumerate(calls):
        name = f"c{place}"
        case = results.case(
            place,
            0.5**place,
            case=f"{name}_matmul_512_f32",
            candidate=name,
            baseline=place == 0,
        )
        made.append(_with(case, seen))
    return with_comparisons(made)


def _codes(case: CaseResult) -> list[str]:
    return [one.reason.code for one in case.warnings]


@pytest.mark.parametrize(
    ("calls", "code"),
    [
        (None, None),
        (FINE, None),
        (BEFORE, None),
        (PARTLY, None),
        (NONE, "untried"),
        (BEFORE_NONE, "untried"),
        (UNVARIED, "untried"),
        (UNCHANGED, "untried"),
        (KEPT, "answers_kept"),
        (UNLIKE, "unlike_for_others"),
    ],
)
def test_what_was_not_tried_leads_nothing(calls: OtherCalls | None, code: str | None) -> None:
    cases = _cases(FINE, FINE, calls)
    held = cautions.held_back(cases[2])
    assert (held and held.code) == code
    found = answer(cases)
    lead = found.warm
    assert lead is not None
    named = [one.candidate for one in lead.judged]
    if code is None:
        assert (lead.fastest, lead.held_back, "c2" in named) == ("c2", {}, True)
        return
    assert (lead.fastest, [*lead.held_back], named) == ("c1", ["c2"], ["c1"])
    for by in found.by_calls:
        assert by.left_out["c2"].code == code
        assert all("c2" not in one.among for one in by.ranges)
    said = " ".join(one.text for one in lines(found))
    assert "c2 is" not in said
    assert f"c2 {MARKS[code][1]}" in said


@pytest.mark.parametrize("calls", [NONE, KEPT, UNLIKE, UNVARIED])
def test_nothing_is_told_against_a_baseline_that_was_not_tried(calls: OtherCalls) -> None:
    found = answer(_cases(calls, FINE, FINE))
    assert found.warm is not None
    assert (found.warm.fastest, found.warm.judged) == (None, [])
    assert [*found.warm.held_back] == ["c0"]
    told = [one for one in words.lines(found) if one.label == "warm call"]
    seen = "vs c0: not decided: c2 3.99–4.02× faster" if found.warm.untried else "not decided: c0 "
    assert told[0].text.startswith(seen)
    assert bool(found.warm.untried) == (calls in [NONE, UNVARIED])


def test_where_one_is_left_nothing_is_the_cheapest() -> None:
    found = answer(_cases(FINE, NONE))
    for by in found.by_calls:
        assert by.ranges == []
        assert by.reason is not None
        assert by.reason.code == "untried"
    assert all(one.cheapest is None for by in found.by_calls for one in by.ranges)


def test_every_verdict_of_a_report_says_it() -> None:
    cases = _cases(FINE, FINE, NONE)
    report, _ = bench_report(samples.index(), cases, "out", Policy())
    assert isinstance(report, BenchReport)
    held = {one.candidate: one.held_back and one.held_back.code for one in report.verdicts}
    assert held == {"c1": None, "c2": "untried"}


def test_a_process_that_was_lost_in_other_calls_shows_nothing() -> None:
    case = results.case(0)
    lost: dict[str, Reason] = {"other_calls": because("exited", status="9")}
    seen = [msgspec.structs.replace(one, null_reasons=lost) for one in case.observations]
    assert [one.reason.code for one in cautions._untried(seen)] == ["untried"]
    some: list[Observation] = [*seen[1:], msgspec.structs.replace(seen[0], other_calls=FINE)]
    assert cautions._untried(some) == []


def test_an_argument_that_stays_is_named_beside_the_verdict() -> None:
    (found,) = [one for one in _cases(PARTLY)[0].warnings if one.reason.code == "partly_tried"]
    values: dict[str, Any] = found.reason.values
    assert (values["argument_names"], values["other_names"]) == (["x"], ["n"])
    assert found.cache_mode in {None, WARM}


@pytest.mark.parametrize("calls", [NONE, KEPT, UNLIKE])
def test_the_cheapest_of_a_plan_was_tried(calls: OtherCalls) -> None:
    cases = _cases(FINE, FINE, calls)
    job = Job(10, 1, 1, "cold")
    planned = planning.plan(gather("one", cases), job)
    assert planned.cheapest == "c1"
    assert {one.candidate for one in planned.totals} == {"c0", "c1", "c2"}
    none = planning.plan(gather("one", _cases(calls, calls)), job)
    assert none.cheapest is None
    assert none.verdict == "undecided"
    assert none.reason.code in {"untried", "unlike_for_others", "answers_kept"}


def test_what_was_not_tried_is_told_alike_from_a_file() -> None:
    """GIVEN arguments that a file has in the order of their names THEN the same one is named."""
    why = because("unvaried")
    for varied in ([], ["x"]):
        seen = OtherCalls(usual_s=1e-3, varied=varied, not_varied={"y": why, "params": why})
        data = msgspec.json.encode(seen, order="deterministic")
        assert cautions.untried(seen) == cautions.untried(
            msgspec.json.decode(data, type=OtherCalls)
        )
