"""Honest functions of real libraries are measured, and nothing is said against them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from benchmarks.honest.__main__ import Honest, cases, measured

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
    assert (said["judged"], said["codes"]) == ("fine", []), said["said"]
