"""The commit that changed a figure is found, and one that cannot be judged is never named."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.started import coldwarm

from coldwarm.contracts.answer import Comparison
from coldwarm.contracts.reasons import RefusedError, because
from coldwarm.errors import UsageError
from coldwarm.history.bisect import _Search

if TYPE_CHECKING:
    from pathlib import Path


def compared(ratio: float, half: float = 0.02) -> Comparison:
    return Comparison(
        metric="warm.call_s",
        baseline="before",
        ratio=ratio,
        low=ratio * math.exp(-half),
        high=ratio * math.exp(half),
        threshold=0.02,
        smallest_detectable=None,
        verdict="slower" if ratio > 1 else "faster",
        reason=because("few_processes", n_processes=1, n_needed=5),
    )


@dataclass
class Known:
    """Commits of which each is known."""

    at: int
    ratio: float
    unclear: set[int] = field(default_factory=set)
    failing: set[int] = field(default_factory=set)
    few: set[int] = field(default_factory=set)
    interrupted: int | None = None

    def compared(self, commit: str, number: int) -> Comparison | None:
        """Return what is known of a commit.

        Raises:
            KeyboardInterrupt: it is where a person interrupts.
            UsageError: it fails.
            RefusedError: likewise.
        """
        place = int(commit)
        if place == self.interrupted:
            raise KeyboardInterrupt
        if place in self.failing:
            raise UsageError("the function is not in it") if place % 2 else refused()
        half = 3.0 if place in self.unclear else 0.02 / (1 + number)
        found = compared(self.ratio if place >= self.at else 1.0, half)
        return replace(found, confidence=0.75) if place in self.few else found


def search(n: int, known: Known) -> _Search:
    return _Search([str(place) for place in range(n)], known, compared(known.ratio))


def refused() -> RefusedError:
    return RefusedError(because("unstated"))


@given(
    st.integers(1, 40).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n - 1))),
    st.sampled_from([0.5, 0.9, 1.1, 3.0]),
)
def test_the_commit_is_found_in_a_few_steps(where: tuple[int, int], ratio: float) -> None:
    n, at = where
    one = search(n, Known(at, ratio))
    assert one.run() == str(at)
    assert len(one.steps) <= 2 + math.log2(n + 1)


@given(
    st.integers(2, 12).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n - 1))),
    st.sets(st.integers(0, 10)),
    st.sets(st.integers(0, 10)),
)
def test_what_cannot_be_judged_is_left_and_never_named(
    where: tuple[int, int], unclear: set[int], failing: set[int]
) -> None:
    n, at = where
    one = search(n, Known(at, 1.2, unclear - {n - 1}, failing - {n - 1}))
    first = one.run()
    assert first in {str(at), None}
    assert one.good < at <= one.bad
    if first is None:
        assert (unclear | failing) & set(range(one.good + 1, one.bad))


def test_ranges_of_a_few_rounds_decide_nothing() -> None:
    one = search(8, Known(5, 1.2, few=set(range(8))))
    assert one.run() is None
    assert {step.side for step in one.steps[1:]} == {"left_out"}


def test_an_interruption_leaves_what_is_known() -> None:
    one = search(8, Known(5, 1.2, interrupted=5))
    assert one.run() is None
    assert one.interrupted
    assert len(one.steps) >= 2


FIT = """
import numpy as np

def fit(x):
    for _ in range({n}):
        out = np.sqrt(x * x + 1.0)
    return out
"""


def git(folder: Path, *line: str) -> str:
    program = shutil.which("git") or ""
    done = subprocess.run([program, *line], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def repository(folder: Path, slower: int) -> list[str]:
    """Make a repository of eight commits of which one makes a function slower; return them."""
    git(folder, "init", "-q")
    git(folder, "config", "user.email", "a@example.org")
    git(folder, "config", "user.name", "A")
    commits = []
    for place in range(8):
        n = 20 if place < slower else 26
        (folder / "fit.py").write_text(FIT.format(n=n) + f"# {place}\n", encoding="utf-8")
        git(folder, "add", "fit.py")
        git(folder, "commit", "-qm", str(place))
        commits.append(git(folder, "rev-parse", "HEAD"))
    return commits


@pytest.mark.slow
def test_a_planted_change_is_found(tmp_path: Path) -> None:
    commits = repository(tmp_path, slower=5)
    line = ("history", "bisect", "fit.py:fit", "--good", commits[0], "--bad", commits[-1])
    more = ("--input", "x=f64[20000]", "--time-budget", "12s", "--out", tmp_path / "out")
    done = coldwarm(*line, *more, "--format", "json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["first"] == commits[5]
    assert found["n_commits"] == 7
    assert found["low"] < 1.3 < found["high"] * 1.05
    assert git(tmp_path, "worktree", "list").count("\n") == 0
    again = coldwarm(*line, *more[:-1], tmp_path / "again", "--bad", commits[3], cwd=tmp_path)
    assert (again.returncode, "was shown" in again.stderr) == (4, True)


def test_a_good_commit_must_be_before_the_bad_one(tmp_path: Path) -> None:
    commits = repository(tmp_path, slower=5)
    git(tmp_path, "checkout", "-qb", "beside", commits[2])
    (tmp_path / "fit.py").write_text("x = 1\n", encoding="utf-8")
    git(tmp_path, "commit", "-qam", "beside")
    for good, bad in ((commits[3], commits[1]), ("beside", commits[7]), (commits[4], commits[4])):
        line = ("history", "bisect", "fit.py:fit", "--good", good, "--bad", bad)
        done = coldwarm(*line, "--out", tmp_path / "out", cwd=tmp_path)
        assert (done.returncode, "is not before" in done.stderr) == (2, True), done.stderr
