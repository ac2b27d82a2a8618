"""Two commits of a repository side by side, and what is left of them afterwards: nothing."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from typing import TYPE_CHECKING

import pytest
from tests.faults.lab import collect, wait_for

if TYPE_CHECKING:
    from tests.functions.conftest import Desk

pytestmark = pytest.mark.slow

FIT = "def fit(x):\n    return x * {}\n"
USUAL = ("--input", "x=f64[9]", "--warm-only", "--no-check")


def git(desk: Desk, *arguments: str) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
    done = subprocess.run(
        [str(shutil.which("git")), "-C", str(desk.path / "repository"), *who, *arguments],
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


@pytest.fixture
def repository(desk: Desk) -> Desk:
    """Return a desk with a repository of two commits, and an uncommitted change."""
    desk.write("repository/.gitignore", "__pycache__/\n")
    git(desk, "init", "--quiet", "--initial-branch=main")
    git(desk, "add", "-A")
    git(desk, "commit", "--quiet", "-m", "empty")
    git(desk, "tag", "empty")
    for number in (1, 2):
        desk.write("repository/fit.py", FIT.format(number))
        desk.write("repository/src/fitted/__init__.py", FIT.format(number))
        git(desk, "add", "-A")
        git(desk, "commit", "--quiet", "-m", f"by {number}")
        git(desk, "tag", f"by_{number}")
    desk.write("repository/fit.py", FIT.format(3))
    return desk


def assert_nothing_is_left(desk: Desk) -> None:
    assert len(git(desk, "worktree", "list").splitlines()) == 1
    assert git(desk, "status", "--porcelain") == "M fit.py"


def test_an_uncommitted_change_against_the_last_commit(repository: Desk) -> None:
    code, report = repository.report("repository/fit.py:fit", *USUAL, "--before", "HEAD")
    assert code == 0
    before, after = report.candidates
    assert (before.candidate, after.candidate) == ("before", "after")
    assert before.revision == git(repository, "rev-parse", "HEAD")
    assert after.revision is None
    assert report.reference == "before"
    hashes = [repository.case(name)["protocol"]["workload_sha256"] for name in ("before", "after")]
    assert hashes[0] != hashes[1], "each its own source"
    assert_nothing_is_left(repository)


def test_two_commits_have_answers_of_their_own(repository: Desk) -> None:
    both = ("--before", "by_1", "--after", "by_2")
    checked = ("--input", "x=f64[9]", "--warm-only")
    code, report = repository.report("repository/fit.py:fit", *checked, *both)
    assert code == 3, "2 x is not x: each commit's own file was loaded"
    assert [one.status for one in report.candidates] == ["ok", "failed"]
    assert [one.revision for one in report.candidates] == [
        git(repository, "rev-parse", name) for name in ("by_1", "by_2")
    ]
    assert_nothing_is_left(repository)


def test_changes_that_are_in_neither_commit_are_told(repository: Desk) -> None:
    done = repository.bench("repository/fit.py:fit", *USUAL, "--before", "HEAD", "--after", "HEAD")
    assert "not measured, as they are in no commit: changes in 1 file, such as fit.py" in done.err
    assert "both sides are the same commit" in done.err


def test_a_package_in_src_is_imported_from_its_commit(
    repository: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As where a developer has the package installed from the working tree.
    monkeypatch.setattr(repository, "sites", [repository.path / "repository" / "src"])
    monkeypatch.setattr(repository, "path", repository.path / "repository")
    done = repository.bench(
        *("fitted:fit", "--input", "x=f64[9]", "--warm-only", "--before", "by_1"),
        *("--out", repository.path.parent / "out"),
    )
    assert done.code == 3, "2 x is not x"
    assert not list(repository.path.glob(".git/worktrees/*"))


def test_what_a_benchmark_imports_must_be_of_the_commit_too(
    repository: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """GIVEN a package that is found in the working tree alone THEN both would be one code."""
    repository.write("repository/packages/core/deep.py", FIT.format(1))
    repository.write("repository/bench_deep.py", "from deep import fit\n")
    git(repository, "add", "-A")
    git(repository, "commit", "--quiet", "-m", "deep")
    monkeypatch.setattr(repository, "sites", [repository.path / "repository/packages/core"])
    said = repository.refused("repository/bench_deep.py:fit", *USUAL, "--before", "HEAD")
    assert said.startswith("before: deep came from the files as they are now, not from the commit")


def test_other_worktrees_of_the_users_stay(repository: Desk) -> None:
    """GIVEN one whose folder is away just now THEN git still knows it afterwards."""
    git(repository, "worktree", "add", "--quiet", "--detach", str(repository.path / "disk"))
    (repository.path / "disk").rename(repository.path / "unplugged")
    code, _ = repository.report("repository/fit.py:fit", *USUAL, "--before", "HEAD")
    assert code == 0
    (repository.path / "unplugged").rename(repository.path / "disk")
    assert len(git(repository, "worktree", "list").splitlines()) == 2
    assert git(repository, "-C", str(repository.path / "disk"), "status", "--porcelain") == ""


def test_a_module_from_elsewhere_is_no_commit_of_this_repository(
    repository: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repository, "path", repository.path / "repository")
    said = repository.refused("numpy:sum", *USUAL, "--before", "HEAD", "--out", "../out")
    assert said.startswith("before: numpy was imported from ")
    assert "name its file instead" in said


def test_what_is_not_there_is_named(repository: Desk) -> None:
    fit = ("repository/fit.py:fit", *USUAL)
    said = repository.refused(*fit, "--before", "empty")
    assert said.startswith("fit.py is not in commit ")
    said = repository.refused(*fit, "--before", "nowhere")
    assert said.startswith("nowhere is no commit of ")
    assert "fetch-depth: 0" in said
    assert_nothing_is_left(repository)


def test_a_shallow_clone_is_named(repository: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, shallow = repository.path / "repository", repository.path / "shallow"
    git(repository, "clone", "--quiet", "--depth", "1", f"file://{whole}", str(shallow))
    said = repository.refused("shallow/fit.py:fit", *USUAL, "--before", "by_1")
    assert said.startswith("by_1 is not in this clone, which is shallow (of depth 1)")
    assert said.endswith("give actions/checkout `fetch-depth: 0`")


BENCHMARK = """
from fitted import fit

def whole(x):
    return fit(x)
"""


def test_a_new_benchmark_judges_the_last_release(repository: Desk) -> None:
    """GIVEN a benchmark that no commit has THEN it runs on the code of each."""
    repository.write("repository/benchmarks/inputs.py", "FACTOR = 1\n")
    repository.write("repository/benchmarks/bench_fit.py", f"import inputs\n{BENCHMARK}")
    both = ("--input", "x=f64[9]", "--warm-only", "--before", "by_1", "--after", "by_2")
    code, report = repository.report("repository/benchmarks/bench_fit.py:whole", *both)
    assert code == 3, "2 x is not x: each commit's own package was loaded"
    assert [one.status for one in report.candidates] == ["ok", "failed"]
    notes = [[it.code for it in one.limitations] for one in report.candidates]
    assert all("benchmark_of_today" in codes for codes in notes)


def test_a_changed_benchmark_is_todays_on_both_sides(repository: Desk) -> None:
    """GIVEN one in the repository's root that the old commit has with another answer."""
    repository.write("repository/bench_fit.py", BENCHMARK.replace("fit(x)", "x - 7"))
    git(repository, "add", "bench_fit.py")
    git(repository, "commit", "--quiet", "-m", "benchmark")
    repository.write("repository/bench_fit.py", BENCHMARK)
    checked = ("--input", "x=f64[9]", "--warm-only")
    code, report = repository.report(
        "repository/bench_fit.py:whole", *checked, "--before", "HEAD", "--after", "by_2"
    )
    assert code == 0, report
    hashes = [repository.case(name)["protocol"]["workload_sha256"] for name in ("before", "after")]
    assert hashes[0] == hashes[1], "one benchmark"


def test_a_benchmark_that_the_old_commit_cannot_run_is_told(repository: Desk) -> None:
    """GIVEN one of something that only today's code has THEN that is said, and what to do."""
    repository.write("repository/src/fitted/__init__.py", "def new(x):\n    return x\n")
    repository.write(
        "repository/bench_fit.py",
        BENCHMARK.replace("fit(x)", "new(x)").replace("import fit", "import new"),
    )
    asked = ("repository/bench_fit.py:whole", "--input", "x=f64[9]", "--warm-only")
    done = repository.bench(*asked, "--before", "by_1", "--format", "github")
    assert done.code == 2
    assert "note: bench_fit.py: as it is now on both sides, with the code of each" in done.err
    told = "before: bench_fit.py as it is now failed with the code of commit "
    assert told in done.err
    assert "cannot import name 'new'" in done.err
    assert "; name a function that needs only what both commits have" in done.err
    assert done.out.startswith(f"::error title=coldwarm::{told}")


def test_a_folder_that_is_no_repository(desk: Desk) -> None:
    desk.write("fit.py", FIT.format(1))
    said = desk.refused("fit.py:fit", *USUAL, "--before", "HEAD")
    assert "is in no git repository, so no commit can be named" in said


def test_worktrees_are_removed_after_a_failure_too(repository: Desk) -> None:
    repository.write("repository/fit.py", "def fit(x):\n    raise ValueError('no')\n")
    said = repository.refused("repository/fit.py:fit", *USUAL, "--before", "HEAD")
    assert "ValueError: no" in said
    assert_nothing_is_left(repository)


def test_a_limit_brings_a_control_of_the_old_commit(repository: Desk) -> None:
    fit = ("repository/fit.py:fit", *USUAL, "--before", "by_1")
    code, report = repository.report(*fit, "--fail-on", "slower:5%")
    assert code == 0
    assert [one.candidate for one in report.candidates] == ["before", "after", "control"]
    before, _, control = report.candidates
    assert control.revision == before.revision == git(repository, "rev-parse", "by_1")
    assert report.control is not None
    assert (report.control.candidate, report.control.of) == ("control", "before")
    assert {one.candidate for one in report.verdicts} == {"after"}
    (coarse,) = report.unshown
    assert (coarse.case, coarse.metric, coarse.limit) == ("after", "warm.call_s", 0.05)
    assert coarse.n_further == 4, "of the five rounds that a verdict needs"
    assert coarse.further_s
    assert coarse.not_excluded is None
    assert repository.own("control")["control_of"] == "before"
    assert_nothing_is_left(repository)


RESTLESS = """
import os
import time

SLOW = any("caches-control" in value for value in os.environ.values())

def fit(x):
    time.sleep(0.008 if SLOW else {})
    return x
"""


def test_a_verdict_is_withheld_where_the_old_commit_differs_from_itself(repository: Desk) -> None:
    """GIVEN code that is as slow as its caches are called THEN the change is not judged."""
    repository.write("repository/fit.py", RESTLESS.format(0.002))
    git(repository, "commit", "--quiet", "-a", "-m", "restless")
    repository.write("repository/fit.py", RESTLESS.format(0.004))
    five = ("--rounds", "5", "--max-rounds", "5", "--fail-on", "undecided")
    done = repository.bench("repository/fit.py:fit", *USUAL, *five, "--before", "HEAD")
    assert done.code == 1
    shown = " ".join(done.out.split())
    assert (
        "before, measured twice: it differs from itself, so no verdict is given for warm call"
        in shown
    )
    assert "): before differs from itself 3." in shown
    (case,) = repository.case("after")["comparisons"]
    assert (case["verdict"], case["reason"]["code"]) == ("undecided", "control_differs")


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ((), 0),
        (("--no-control", "--fail-on", "slower"), 0),
        (("--no-control", "--fail-on", "undecided"), 1),
    ],
)
def test_no_control_without_a_limit_or_where_it_is_left_out(
    repository: Desk, options: tuple[str, ...], code: int
) -> None:
    """GIVEN one process each THEN nothing is decided, which fails where that was asked for."""
    fit = ("repository/fit.py:fit", *USUAL, "--before", "by_1")
    done, report = repository.report(*fit, *options)
    assert (done, len(report.candidates), report.control) == (code, 2, None)
    assert bool(report.n_failing) is bool(code)


def test_a_budget_too_short_says_so_before_it_is_spent(repository: Desk) -> None:
    fit = ("repository/fit.py:fit", *USUAL, "--before", "by_1")
    done = repository.bench(*fit, "--time-budget", "2s", "--fail-on", "undecided")
    lines = done.err.splitlines()
    told = next(n for n, line in enumerate(lines) if "is too short for a verdict" in line)
    assert "5 rounds of all candidates take at least " in lines[told]
    begun = next(n for n, line in enumerate(lines) if line.startswith("measuring with"))
    assert told < begun
    assert done.code in {1, 4}, "nothing decided, or not even measured"
    shown = " ".join(done.out.split())
    assert "before, measured twice" in shown


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_worktrees_are_removed_after_an_interruption_too(
    repository: Desk, number: signal.Signals
) -> None:
    slow = "import time\ndef fit(x):\n    time.sleep(100)\n"
    repository.write("repository/fit.py", slow)
    running = repository.open(
        "bench", "repository/fit.py:fit", *USUAL, "--before", "HEAD", "--out", repository.out
    )
    wait_for(lambda: bool(repository.workers()), repository.alive)
    time.sleep(1.0)
    assert len(git(repository, "worktree", "list").splitlines()) == 2
    os.kill(running.pid, number)
    assert collect(running, 20.0).code == 130
    assert_nothing_is_left(repository)
