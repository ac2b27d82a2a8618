"""A change is proved: the program before and after it, in turns, in fresh processes."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner
from tests.doctor.reports import report, site

from coldwarm.cli.doctor import command
from coldwarm.errors import ExitCode, UsageError
from coldwarm.report.doctor.fix import answer, lines
from coldwarm.runner.doctor import earlier, keeping
from coldwarm.runner.doctor.alternating import moved
from coldwarm.stats.doctor.fixed import fix, output

if TYPE_CHECKING:
    from coldwarm.contracts.doctor import CachesAs, Fix

SLOW = "import sys, time\nfrom near import TEXT\ntime.sleep(0.6)\nprint(TEXT, sys.argv[1:])\n"
FAST = SLOW.replace("0.6", "0.0")
GIT = shutil.which("git") or "git"


def git(folder: Path, *arguments: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    command = [GIT, "-C", str(folder), *who, *arguments]
    subprocess.run(command, check=True, capture_output=True)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program that a change has made faster, the earlier one committed, and the folder."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "near.py").write_text("TEXT = 'a text'\n")
    (folder / "it.py").write_text(SLOW)
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "slow")
    (folder / "it.py").write_text(FAST)
    monkeypatch.chdir(folder)
    return folder


def doctor(*arguments: str) -> tuple[dict[str, Any], subprocess.CompletedProcess[str]]:
    command = [sys.executable, "-m", "coldwarm", "doctor", "--json", "--out", "r.json"]
    done = subprocess.run(
        [*command, "--then", "bench", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    out = Path("r.json")
    return json.loads(out.read_text()) if out.exists() else {}, done


def test_a_change_is_measured_against_a_revision(project: Path) -> None:
    report, done = doctor("--before", "HEAD", "--rounds", "3", "it.py", "--an", "argument")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "a text ['--an', 'argument']\n"  # once: of the program as it is
    assert len(report["fix"]["before_s"]) == 3
    assert report["fix"]["output"] == "same"
    assert report["fix"]["before"] == "HEAD"
    assert min(report["fix"]["before_s"]) > max(report["fix"]["after_s"])
    worktrees = [GIT, "-C", str(project), "worktree", "list"]
    listed = subprocess.run(worktrees, capture_output=True, text=True, check=True).stdout
    assert len(listed.splitlines()) == 1


def test_what_became_slower_ends_with_1(project: Path) -> None:
    (project / "fast.py").write_text(FAST)
    (project / "it.py").write_text(SLOW)
    report, done = doctor("--before", "fast.py", "it.py")
    assert report["fix"]["comparison"]["verdict"] == "slower"
    assert done.returncode == ExitCode.REGRESSION


def test_without_an_earlier_state_the_program_is_kept(project: Path) -> None:
    (project / "it.py").write_text(SLOW)
    report, done = doctor("--rounds", "2", "it.py")
    assert (report["fix"], done.returncode) == (None, 0)
    assert "is kept as it was" in done.stderr
    _, done = doctor("--rounds", "2", "it.py")
    assert "nothing has changed" in done.stderr
    (project / "it.py").write_text(FAST.replace("TEXT,", "TEXT * 2,"))
    report, done = doctor("--rounds", "2", "it.py")
    assert min(report["fix"]["before_s"]) > max(report["fix"]["after_s"])
    assert report["fix"]["differing"] == ["a text []", "a texta text []"]


def test_both_are_counted_with_caches_that_are_alike(project: Path) -> None:
    pytest.importorskip("numba")
    (project / "kern.py").write_text(
        "import numba\n\n@numba.njit(cache=True)\ndef f(x):\n    return x + 1\n"
    )
    text = "import kern\nprint(kern.f(1), kern.f(1.0))\n"
    (project / "old.py").write_text(text)
    (project / "it.py").write_text(text + "# no other program\n")
    subprocess.run([sys.executable, "it.py"], check=True, capture_output=True)  # fills the cache
    report, done = doctor("--before", "old.py", "--rounds", "2", "it.py")
    assert done.returncode == 0, done.stderr
    assert report["fix"]["programs_before"] == report["fix"]["programs_after"] > 0


def test_a_program_that_fails_is_not_measured(project: Path) -> None:
    (project / "old.py").write_text("raise ValueError('a message')\n")
    report, done = doctor("--before", "old.py", "it.py")
    assert done.returncode == ExitCode.FAILED
    assert (
        "before the change, run without input, ended with 1: ValueError: a message" in done.stderr
    )
    assert report["fix"] is None


def test_an_earlier_state_is_for_measuring() -> None:
    command = [sys.executable, "-m", "coldwarm", "doctor", "--before", "HEAD", "it.py"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == ExitCode.USAGE
    assert "--then bench" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--then", "bench", "-u", "it.py"), "not -u"),
        (("--rounds", "3", "it.py"), "--rounds is for --then bench"),
        (("--caches", "filled", "it.py"), "--caches is for --then bench"),
        *(
            ((*asked, *more), f"{more[0]} is for a program that is run")
            for asked in (("--hook",), ("--read", "r.json"))
            for more in (
                ("--warmup", "fill.py"),
                ("--then", "bench"),
                ("--passes", "keys"),
                ("--python", "python3"),
                ("--all",),
            )
        ),
    ],
)
def test_what_would_do_nothing_is_refused(arguments: tuple[str, ...], said: str) -> None:
    done = CliRunner().invoke(command, arguments)
    assert isinstance(done.exception, UsageError)
    assert said in str(done.exception)


def test_what_is_nothing_outside_of_git_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.chdir(tmp_path)
    text = "nonsense is no file, no folder, and there is no git repository here"
    with (
        pytest.raises(UsageError, match=text),
        earlier.before("nonsense", ["it.py"], sys.executable, tmp_path),
    ):
        pass


@pytest.mark.parametrize("form", ["text", "html"])
def test_the_answer_is_in_the_report(form: str, project: Path) -> None:
    (project / "old.py").write_text(FAST)
    asked = ("--then", "bench", "--before", "old.py", "--rounds", "2")
    places = ("--format", form, "--out", "report")
    command = [sys.executable, "-m", "coldwarm", "doctor", *asked, *places, "it.py"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert "after the change the whole program" in done.stderr
    assert "after the change the whole program" in (project / "report").read_text()


@pytest.mark.parametrize("what", ["no-such-revision", "empty"])
def test_what_is_not_there_is_refused_before_the_program_runs(project: Path, what: str) -> None:
    (project / "empty").mkdir()
    _, done = doctor("--before", what, "it.py")
    assert done.returncode == ExitCode.USAGE
    assert done.stdout == ""


def test_a_module_runs_in_the_folder_that_it_was_in(project: Path) -> None:
    work = project.parent / "work"
    with earlier.before("HEAD", ["-m", "it"], sys.executable, work) as side:
        assert (side.folder / "it.py").read_text() == SLOW
        assert side.command == ["-m", "it"]


def test_a_script_runs_in_the_folder_of_today(project: Path) -> None:
    copy = project.parent / "copy"
    copy.mkdir()
    (copy / "it.py").write_text(SLOW)
    with earlier.before(str(copy), ["it.py", "a"], sys.executable, project) as side:
        assert (list(side.command), side.folder) == ([str(copy / "it.py"), "a"], project)
    with (
        pytest.raises(UsageError, match="revision or a folder"),
        earlier.before("it.py", ["-m", "it"], sys.executable, project),
    ):
        pass


def test_modules_come_from_where_they_were(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy = project.parent / "copy"
    for folder in (project, copy):
        (folder / "src").mkdir(parents=True)
        (folder / "lib").mkdir()
        (folder / "it.py").write_text(SLOW)
    monkeypatch.setenv("PYTHONPATH", str(project / "lib"))
    side = earlier.of_tree(copy, project, ["it.py"], sys.executable)
    assert list(side.search) == [copy / "src", copy / "lib"]


def test_an_environment_and_results_are_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("it.py", "env/pyvenv.cfg", "env/lib.py", "out/run/a.json", ".hidden/b.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    (tmp_path / "data.bin").write_bytes(b"\0" * (2**20 + 1))
    keeping.keep(["it.py"], "today")
    state = keeping.state(["it.py"])
    assert state is not None
    assert sorted(state.names) == ["data.bin", "it.py"]
    assert (state.tree / "data.bin").is_symlink()
    assert not state.changed()
    (tmp_path / "written.txt").write_text("")
    assert not state.changed()
    (tmp_path / "more.py").write_text("")
    assert state.changed()


def test_jax_gets_no_cache_that_it_has_not(tmp_path: Path) -> None:
    assert "JAX_COMPILATION_CACHE_DIR" not in moved(tmp_path, {})
    found = moved(tmp_path, {"JAX_COMPILATION_CACHE_DIR": "/mine"})
    assert found["JAX_COMPILATION_CACHE_DIR"].startswith(str(tmp_path))
    assert "NUMBA_CACHE_DIR" in found
    assert all(value.startswith(str(tmp_path)) for value in found.values())


def judged(
    before_s: list[float], after_s: list[float], n_reads: int = 0, caches: CachesAs = "empty"
) -> Fix:
    rounds = list(zip(before_s, after_s, strict=True))
    reports = (report(sites=[site(200, n_reads)]), report(sites=[site(2, 0)]))
    return fix("HEAD", caches, rounds, reports, ([["a"], ["a"]], [["a"]]))


def test_the_answer_has_the_interval_of_what_is_saved() -> None:
    found = judged([12.0, 12.1, 11.9, 12.0, 12.05], [8.8, 8.8, 8.7, 8.75, 8.8])
    assert found.comparison.verdict == "faster"
    assert found.saved_low_s is not None
    assert found.saved_high_s is not None
    assert found.saved_low_s < 3.25 < found.saved_high_s
    assert answer(found) == (
        "after the change the whole program takes 3.2–3.3 s less (of 12.0 s), and needs 2 compiled"
        " programs in place of 200"
    )


def test_what_cannot_be_told_apart_is_said() -> None:
    found = judged([12.0, 14.0, 11.0, 12.0, 15.0], [13.0, 11.0, 14.0, 12.5, 12.0])
    assert found.comparison.verdict == "undecided"
    assert "cannot be told apart" in answer(found)
    slower = judged([1.0, 1.01, 1.0, 0.99, 1.0], [2.0, 2.01, 2.0, 2.0, 1.99])
    assert "longer (of 1.00 s)" in answer(slower)
    same = judged([1.0, 1.001, 1.0, 0.999, 1.0], [1.0, 1.001, 1.0, 1.0, 0.999])
    assert "the same time" in answer(same)


def test_a_cache_that_was_not_empty_is_told() -> None:
    told = " ".join(line.plain for line in lines(judged([2.0] * 5, [1.0] * 5, n_reads=3)))
    assert "3 programs were read from a cache on disk that was to be empty" in told
    filled = judged([2.0] * 5, [1.0] * 5, n_reads=3, caches="filled")
    assert filled.limitations == []
    reports = (report(sites=[site(2, 0)]), report(sites=[site(0, 2)]))
    after = fix("HEAD", "empty", [(2.0, 1.0)] * 5, reports, ([["a"]], [["a"]]))
    assert [one.values for one in after.limitations] == [{"n_reads": 2}]


def test_nothing_is_said_of_an_output_that_was_not_compared() -> None:
    reports = (report(sites=[site(2, 0)]), report(sites=[site(2, 0)]))
    rounds = [(2.0, 1.0)] * 5
    uneven = fix("HEAD", "empty", rounds, reports, ([["a"], ["a", "b"]], [["c"]]))
    told = " ".join(line.plain for line in lines(uneven))
    assert "its output was not compared" in told
    assert "unchanged" not in told
    varies = fix("HEAD", "empty", rounds, reports, ([["a", "1"], ["a", "2"]], [["a", "3"]]))
    told = " ".join(line.plain for line in lines(varies))
    assert "Some output lines differ from run to run; all others are unchanged." in told
    none = fix("HEAD", "empty", rounds, reports, ([["0", "1"], ["1", "2"]], [["2", "3"]]))
    told = " ".join(line.plain for line in lines(none))
    assert "all output lines differ from run to run: not compared" in told
    assert "unchanged" not in told
    silent = fix("HEAD", "empty", rounds, reports, ([[], []], [[]]))
    assert (silent.output, silent.limitations) == ("same", [])


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ([["a", "b"], ["a", "b"]], [["a", "b"]], ("same", [])),
        ([["a", "b"], ["a", "b"]], [["a", "c"]], ("differs", ["b", "c"])),
        ([["a", "1 s"], ["a", "2 s"]], [["a", "3 s"]], ("varies", [])),
        ([["a", "1 s"], ["a", "2 s"]], [["b", "3 s"]], ("differs", ["a", "b"])),
        ([["a"], ["a"]], [["a", "more"]], ("differs", ["", "more"])),
        ([["a", "b"], ["a", "b"]], [["a"]], ("differs", ["b", ""])),
        ([["a"], ["a", "b"]], [["a"]], ("varies", [])),
    ],
)
def test_outputs_are_compared_where_they_are_steady(
    before: list[list[str]], after: list[list[str]], expected: tuple[str, list[str]]
) -> None:
    assert output(before, after) == expected
