"""Functions that hide their cost: a figure is right, refused, or named as doubtful."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest
from tests.deceit.every import deceits
from tests.deceit.trying import attempt

if TYPE_CHECKING:
    from pathlib import Path

    from tests.deceit.base import Deceit

FEWEST = 100
HIDING = 0.5
"""Up to what share of the truth a figure hides something, whatever else the machine does."""
ALL = deceits()
PASSING = {"right", "refused", "named"}


def _case(deceit: Deceit) -> object:
    marks = [
        pytest.mark.skipif(find_spec(name) is None, reason=f"{name} is not installed")
        for name in deceit.needs
    ]
    return pytest.param(deceit, id=deceit.name, marks=marks)


def _shown(deceit: Deceit, folder: Path, *, here: bool = False) -> None:
    trial = attempt(deceit, folder, here=here)
    near = trial.outcome == "SILENTLY WRONG" and (trial.ratio or 0.0) > HIDING
    if near:  # one of the two was measured while the machine was busier
        (folder / "again").mkdir()
        trial = attempt(deceit, folder / "again", here=here)
    told = f"hidden: {deceit.hides}; true: {trial.truths}; published: {trial.said}"
    assert trial.outcome in PASSING, f"{trial.outcome}; {told}"


def test_there_are_enough_and_each_has_a_name_of_its_own() -> None:
    assert len({one.name for one in ALL}) == len(ALL) >= FEWEST


@pytest.mark.parametrize("deceit", [_case(one) for one in ALL if one.quick])
def test_the_quick_ones_are_not_believed(deceit: Deceit, tmp_path: Path) -> None:
    _shown(deceit, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("deceit", [_case(one) for one in ALL if not one.quick])
def test_none_is_believed(deceit: Deceit, tmp_path: Path) -> None:
    _shown(deceit, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("deceit", [_case(one) for one in ALL if one.here])
def test_none_is_believed_in_the_process_that_has_it(deceit: Deceit, tmp_path: Path) -> None:
    _shown(deceit, tmp_path, here=True)
