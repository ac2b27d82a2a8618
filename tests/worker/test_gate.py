"""The correctness gate: what passes and what is said of what does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coldwarm.wire import because
from coldwarm.worker import gate

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

ANSWER = np.array([[4.0, -8.0], [1.0, 0.0]])


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("gate") / "answer.npz"
    np.savez(path, ANSWER, np.zeros(3))
    return str(path)


def check(stored: str, first: NDArray[np.float64], tolerance: float = 1e-3) -> dict[str, object]:
    return gate.check([first, np.zeros(3)], stored, tolerance)


def test_the_answer_itself_passes(stored: str) -> None:
    assert check(stored, ANSWER, 0.0) == {
        "passed": True,
        "max_abs_error": 0.0,
        "max_relative_error": 0.0,
        "tolerance": 0.0,
        "reason": None,
    }


@given(st.floats(-1, 1), st.integers(0, 1), st.integers(0, 1))
def test_the_error_is_over_the_magnitude_of_the_number_itself(
    stored: str, error: float, row: int, column: int
) -> None:
    out = ANSWER.copy()
    out[row, column] += error
    said = check(stored, out)
    moved = abs(out[row, column] - ANSWER[row, column])
    # What is exactly 0 has no size of its own.
    relative = moved / (abs(ANSWER[row, column]) or 1.0)
    assert said["max_abs_error"] == moved
    told = relative if moved > np.finfo(float).tiny else 0.0
    assert said["max_relative_error"] == told
    assert said["passed"] == (told <= 1e-3)


def test_an_answer_of_zeros_is_compared_as_it_is(stored: str) -> None:
    said = gate.check([ANSWER, np.full(3, 2e-3)], stored, 1e-3)
    assert not said["passed"]
    assert said["max_relative_error"] == 2e-3


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_never_passes(stored: str, value: float) -> None:
    out = ANSWER.copy()
    out[0, 0] = value
    said = check(stored, out, 1e300)
    assert not said["passed"]
    assert said["max_abs_error"] is None
    assert said["reason"] == because("output_not_finite")


def test_other_shapes_and_other_numbers_of_outputs(stored: str, tmp_path: Path) -> None:
    reason = because("other_shape", n_place=0, expected="(2, 2)", shape="(3,)")
    assert check(stored, np.ones(3))["reason"] == reason
    reason = because("other_outputs", n_expected=2, n_outputs=1)
    assert gate.check([ANSWER], stored, 1.0)["reason"] == reason
    np.savez(tmp_path / "empty.npz", np.empty((0, 2)))
    assert gate.check([np.empty((0, 2))], str(tmp_path / "empty.npz"), 0.0)["passed"]


def test_a_complex_answer_to_a_real_question_is_wrong(stored: str) -> None:
    said = gate.check([ANSWER + 1j, np.zeros(3)], stored, 1e-3)
    assert said["passed"] is False
    assert said["reason"] == because("output_complex")


def test_whole_numbers_are_compared_as_such(tmp_path: Path) -> None:
    """GIVEN numbers that float64 cannot tell apart THEN any difference is wrong."""
    path = tmp_path / "answer.npz"
    right = np.arange(5, dtype=np.int64) + 2**60
    np.savez(path, right)
    assert gate.check([right], str(path), 0.0)["passed"] is True
    assert gate.check([right.astype(np.uint64)], str(path), 0.0)["passed"] is True
    off = right.copy()
    off[3] += 7
    said = gate.check([off], str(path), 1e-8)
    assert (said["passed"], said["max_abs_error"]) == (False, 7.0)
    np.savez(path, np.array([True, False]))
    assert gate.check([np.array([True, True])], str(path), 0.0)["passed"] is False


@pytest.mark.parametrize(
    ("out", "passed"),
    [
        ([np.nan, -np.inf, 2.0], True),
        ([np.nan, -np.inf, 2.1], False),
        ([np.nan, np.inf, 2.0], False),
        ([0.0, -np.inf, 2.0], False),
        ([np.nan, -np.inf, np.nan], False),
    ],
)
def test_a_users_function_may_answer_what_is_not_finite(
    tmp_path: Path,
    out: list[float],
    passed: bool,  # noqa: FBT001 - of a table
) -> None:
    path = tmp_path / "answer.npz"
    np.savez(path, np.array([np.nan, -np.inf, 2.0]))
    assert gate.check([np.array(out)], str(path), 1e-3, finite=False)["passed"] is passed


def test_a_reference_that_is_not_finite_passes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "answer.npz"
    np.savez(path, np.array([np.nan, 1.0]))
    assert gate.check([np.array([5.0, 7.0])], str(path), 1e-3)["passed"] is False
