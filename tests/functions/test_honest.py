"""Honest functions of real libraries are measured, and nothing is said against them."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from benchmarks.honest.__main__ import DRAWS, RESULT, Honest, cases, measured

if TYPE_CHECKING:
    from pathlib import Path

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


def test_of_the_last_run_hardly_one_was_refused_and_none_accused() -> None:
    total = Counter(one["judged"] for one in json.loads(RESULT.read_text("utf-8"))["cases"])
    assert total["accused"] == 0
    assert total["refused"] <= 0.02 * total.total()
