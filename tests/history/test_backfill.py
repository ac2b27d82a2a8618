"""Old commits of a history: each step of a range is measured, and both sides of each change."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.history.test_bisect import git, repository
from tests.history.test_history import made, told
from tests.started import coldwarm

from coldwarm.errors import RunDirectoryError
from coldwarm.history import backfill, store
from coldwarm.history.backfill import _Filling
from coldwarm.runner import environment
from coldwarm.runner.functions import revisions
from coldwarm.runner.functions.targets import Request

if TYPE_CHECKING:
    from pathlib import Path

    from coldwarm.runner.suite import Outcome


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
        self.slower, self.failing, self.n, self.folder = slower, failing, n, folder
        self.measured: list[int] = []

    def _add(self, _place: Path, at: int) -> None:
        self.measured.append(at)
        if at in self.failing:
            self._left_out.add(at)
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


@given(n=st.integers(2, 60), every=st.integers(1, 20), data=st.data())
def test_those_that_fail_are_left_out_and_a_change_is_found_up_to_them(
    tmp_path_factory: pytest.TempPathFactory, n: int, every: int, data: st.DataObject
) -> None:
    slower = data.draw(st.integers(1, n - 1))
    failing = data.draw(st.sets(st.integers(0, n - 2)))
    one = Known(tmp_path_factory.getbasetemp() / "none", n, slower, failing)
    one.run(one.folder, every)
    assert len(one.measured) == len({*one.measured}), "once"
    known = {*one.measured, n - 1} - failing
    old = [at for at in known if at < slower]
    if old:
        new = min(at for at in known if at >= slower)
        assert {*range(max(old) + 1, new)} <= failing


def test_figures_that_one_commit_alone_has_do_not_differ(tmp_path: Path) -> None:
    one = Known(tmp_path / "none", 5, 1, set())
    one._known = {4: {}, 2: {"warm.call_s": (0.5, 0.6)}, 0: {"empty.ttfr_s": (2.0, 3.0)}}
    assert one._differ(2, 4), "from the newest, to which all are held"
    assert not one._differ(0, 2)


def test_why_a_commit_failed_is_told(tmp_path: Path) -> None:
    def refuse(*_: object) -> Outcome:
        raise RunDirectoryError("out holds other files")

    commits = [str(place) for place in range(8)]
    request = Request(targets=["fit.py:fit"])
    found = _Filling(request, commits, tmp_path / "none", refuse).run(tmp_path, 3)
    assert [one.commit for one in found.steps] == ["4", "1", "0"]
    assert {(one.outcome, one.text) for one in found.steps} == {("failed", "out holds other files")}


def test_only_runs_of_this_machine_with_these_inputs_are_there(tmp_path: Path) -> None:
    repository(tmp_path, slower=5)
    case, newest = "fit.py:fit(x=f64[9])", "f" * 40
    here = store.machine_of(environment.collect())
    folder = tmp_path / "history"
    for since, machine, name in ((0, here, case), (1, "b" * 12, case), (2, here, "fit")):
        made(folder, [0.0], machine=machine, since=since, case=name, baseline=f"{name}@ffffffff")
    commits = [*(f"{place:040x}" for place in range(3)), newest]
    request = Request(targets=[f"{tmp_path / 'fit.py'}:fit"], inputs=["x=f64[9]"])
    one = _Filling(request, commits, folder, lambda *_: pytest.fail("nothing is measured"))
    assert one._there.keys() == {commits[0]}


def test_commits_of_one_second_keep_their_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds = {"a": 5, "b": 5, "c": 3, "d": 9}
    monkeypatch.setattr(
        revisions, "date_of", lambda _, one: f"2026-01-01T00:00:0{seconds[one]}+00:00"
    )
    dates = backfill._dates(tmp_path, list(seconds))
    assert [one[17:19] for one in dates.values()] == ["05", "06", "07", "09"]


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
    assert {one["figure"]["case"] for one in rows} == {"fit.py:fit(x=f64[20000])"}
    dates = {one["commit"]: one["started_at"] for one in rows}
    committed = git(tmp_path, "show", "--no-patch", "--format=%ct", commits[4])
    assert dates[commits[4]][:4] == "2026" or int(committed) > 0
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
