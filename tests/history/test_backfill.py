"""Old commits of a history: each step of a range is measured, and both sides of each change."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.history.test_bisect import git, repository
from tests.history.test_history import told
from tests.started import coldwarm

from coldwarm.history.backfill import _Filling
from coldwarm.runner.functions.targets import Request

if TYPE_CHECKING:
    from pathlib import Path


class Known(_Filling):
    """Commits of which it is known from which on a function is slower, and which fail."""

    def __init__(self, folder: Path, n: int, slower: int, failing: set[int]) -> None:
        """Know of so many commits."""
        super().__init__(
            Request(targets=["fit.py:fit"]),
            [str(place) for place in range(n)],
            folder,
            lambda *_: pytest.fail("nothing is measured"),
        )
        self.slower, self.failing, self.n = slower, failing, n
        self.measured: list[int] = []

    def _add(self, _place: Path, at: int) -> None:
        self.measured.append(at)
        if at in self.failing:
            self._known[at] = self._known[self.n - 1]  # nothing is known of it
            return
        is_slow = (at >= self.slower) != (self.n - 1 >= self.slower)
        self._known[at] = {"warm.call_s": (0.69, 0.71) if is_slow else (0.99, 1.01)}


@given(n=st.integers(2, 60), every=st.integers(1, 20), data=st.data())
def test_both_sides_of_a_change_are_measured(
    tmp_path_factory: pytest.TempPathFactory, n: int, every: int, data: st.DataObject
) -> None:
    slower = data.draw(st.integers(1, n - 1))
    folder = tmp_path_factory.getbasetemp() / "none"
    one = Known(folder, n, slower, set())
    one.run(folder, every)
    known = {*one.measured, n - 1}
    assert {slower - 1, slower} <= known
    assert len(one.measured) == len({*one.measured}), "once"
    assert all(any(at in known for at in range(a, a + every)) for a in range(n - every + 1))
    assert len(one.measured) <= n // every + 2 + 6, "no more than the gap's halves"


@pytest.mark.slow
def test_a_planted_change_is_between_two_commits(tmp_path: Path) -> None:
    commits = repository(tmp_path, slower=5)
    line: tuple[Any, ...] = ("history", "backfill", "fit.py:fit", f"{commits[0]}..{commits[-1]}")
    line += ("--to", tmp_path / "history", "--input", "x=f64[20000]", "--every", "4")
    line += ("--time-budget", "10s", "--format", "json", "--out")
    done = coldwarm(*line, tmp_path / "a", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    outcomes = {one["commit"]: one["outcome"] for one in found["steps"]}
    assert set(outcomes.values()) == {"added"}
    assert {commits[0], commits[4], commits[5]} <= outcomes.keys()
    rows = told("query", tmp_path / "history", "--metric", "warm")["rows"]
    ratios = {one["commit"]: one["figure"]["ratio"] for one in rows}
    assert ratios.keys() == outcomes.keys()
    assert ratios[commits[4]] < 0.9 < ratios[commits[5]]
    assert {one["figure"]["case"] for one in rows} == {"fit"}
    dates = {one["commit"]: one["started_at"] for one in rows}
    made = git(tmp_path, "show", "--no-patch", "--format=%ct", commits[4])
    assert dates[commits[4]][:4] == "2026" or int(made) > 0
    again = json.loads(coldwarm(*line, tmp_path / "b", cwd=tmp_path).stdout)
    assert {one["outcome"] for one in again["steps"]} == {"there"}
    assert git(tmp_path, "worktree", "list").count("\n") == 0


def test_what_is_no_range_is_refused(tmp_path: Path) -> None:
    repository(tmp_path, slower=5)
    for told_ in ("HEAD", "..HEAD", "HEAD~1..", "HEAD..HEAD~2"):
        line = ("history", "backfill", "fit.py:fit", told_, "--to", tmp_path / "h")
        done = coldwarm(*line, "--out", tmp_path / "out", cwd=tmp_path)
        assert done.returncode == 2, told_
        assert len(done.stderr.splitlines()) == 1
