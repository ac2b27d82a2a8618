"""What a claim's rule reads of functions that several processes have called."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.publish.judged import pattern

from coldwarm.catalogue.spec import patterns
from coldwarm.catalogue.verdict import Evidence, NotSeenError, judged
from coldwarm.contracts.catalogue import FactSheet, Raised
from coldwarm.contracts.reasons import because


def _sheet(facts: dict[str, bool | int | float | str | None]) -> FactSheet:
    return FactSheet(function="f", facts=facts, call_s=1.0, programs=None, versions={})


def test_of_several_processes_the_median_stands_between_the_least_and_the_largest() -> None:
    seen = Evidence(sheets=[_sheet({"spent_s": value}) for value in (3.0, 1.0, 2.0, 5.0, 4.0, 9.0)])
    bound = seen.over_processes("f", "spent_s")
    assert (bound.low, bound.value, bound.high) == (1.0, 3.5, 9.0)
    assert bound.confidence == 1 - 2 * 0.5**6
    assert seen.asked == [bound]


@pytest.mark.parametrize("sheets", [[], [_sheet({"spent_s": 1.0}), _sheet({})]])
def test_a_process_that_has_not_shown_the_number_leaves_none(sheets: list[FactSheet]) -> None:
    with pytest.raises(NotSeenError, match="f: spent_s"):
        Evidence(sheets=sheets).over_processes("f", "spent_s")


def test_a_side_that_ended_before_it_saw_anything_tells_nothing() -> None:
    error = Raised(error="AttributeError", text="not in this version")
    sheets = [
        FactSheet(function=side, facts={}, raised=error, call_s=0.1, programs=0, versions={})
        for side in ("do", "dont")
    ]
    spec = replace(patterns()["key-reuse"], holds=lambda do, _: do["variance"] == 1)
    shown = judged(spec, pattern(sheets=sheets), {})
    assert (shown.verdict, shown.reason) == ("undecided", because("not_seen", what="variance"))
