"""Honest functions of real libraries are measured, and nothing is said against them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from benchmarks.honest.__main__ import DRAWS, RESULT, Honest, cases, measured

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "refuses.md"

FEW = {
    "heartbeat_thread",
    "own_class_with_compute",
    "matrix and list_of_lists",
    "relative import",
    "collected",
}


def _params() -> list[object]:
    return [
        pytest.param(
            one, id=f"{one.library}:{one.name}", marks=() if one.name in FEW else pytest.mark.slow
        )
        for one in cases()
    ]


@pytest.mark.parametrize("one", _params())
def test_an_honest_function_is_measured(one: Honest, tmp_path: Path) -> None:
    said = measured(one, tmp_path)
    expected = "refused" if (one.library, one.name) in DRAWS else "fine"
    assert (said["judged"], said["codes"]) == (expected, []), said["said"]


def test_the_page_has_what_the_last_run_said() -> None:
    counts: dict[str, Counter[str]] = {}
    for one in json.loads(RESULT.read_text("utf-8"))["cases"]:
        counts.setdefault(one["library"], Counter())[one["judged"]] += 1
    rows = [
        f"| {name} | {sum(of.values())} | {of['refused']} | {of['accused']} |"
        for name, of in sorted(counts.items())
    ]
    assert "\n".join(rows) in PAGE.read_text("utf-8")
    total: Counter[str] = sum(counts.values(), Counter())
    assert total["accused"] == 0
    assert total["refused"] <= 0.02 * sum(total.values())
