"""A change is proved: the program before and after it, in turns, in fresh processes."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest
from click.testing import CliRunner
from tests.doctor.reports import report, site
from tests.started import coldwarm

from coldwarm.cli.main import cli
from coldwarm.doctor import watch
from coldwarm.doctor.before_after import BeforeAfterBench, ThenBench, prepared
from coldwarm.doctor.findings_document import fix_blocks
from coldwarm.doctor.judge import fix
from coldwarm.errors import ExitCode, UsageError
from coldwarm.runner.spawn import terminable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from coldwarm.contracts.doctor import CachesAs, Fix

SLOW = "import sys, time\nfrom near import TEXT\ntime.sleep(0.6)\nprint(TEXT, sys.argv[1:])\n"
FAST = SLOW.replace("0.6", "0.0")
GIT = shutil.which("git") or "git"


def git(folder: Path, *arguments: str) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    command = [GIT, "-C", str(folder), *who, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


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
    command = ("doctor", "--json", "--out", "r.json", "--then", "bench")
    done = coldwarm(*command, *arguments, timeout_s=500)
    out = Path("r.json")
    return json.loads(out.read_text()) if out.exists() else {}, done


def test_a_change_is_measured_against_a_revision(project: Path) -> None:
    report, done = doctor("--before", "HEAD", "--rounds", "3", "it.py", "--an", "argument")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "a text ['--an', 'argument']\n"  # once: of the program as it is
    assert len(report["fix"]["before_s"]) == 3
    assert report["fix"]["output"] == "same"
    assert report["fix"]["before"] == "HEAD"
    assert min(report["fix"]["before_s"]) > min(report["fix"]["after_s"])
    worktrees = [GIT, "-C", str(project), "worktree", "list"]
    listed = subprocess.run(worktrees, capture_output=True, text=True, check=True).stdout
    assert len(listed.splitlines()) == 1


def test_what_became_slower_ends_with_1(project: Path) -> None:
    (project / "fast.py").write_text(FAST)
    (project / "it.py").write_text(SLOW)
    report, done = doctor("--before", "fast.py", "it.py")
    assert report["fix"]["comparison"]["verdict"] == "slower"
    assert done.returncode == ExitCode.REGRESSION


def test_the_last_commit_is_before_unless_another_state_is_named(project: Path) -> None:
    report, done = doctor("--rounds", "2", "it.py")
    assert done.returncode == 0, done.stderr
    assert report["fix"]["before"].startswith("HEAD (")
    assert min(report["fix"]["before_s"]) > min(report["fix"]["after_s"])
    assert "6 runs without input, about" in done.stderr
    assert "round 2 of 2: " in done.stderr
    assert git(project, "status", "--porcelain") == " M it.py\n?? r.json\n", "nothing is kept"


def changed(here: Path, name: str, text: str, *more: str) -> str:
    """Write a file, and others; return the last one."""
    for one in (name, *more):
        (here / one).parent.mkdir(exist_ok=True)
        (here / one).write_text(text if one == name else FAST)
    return more[-1] if more and more[-1] != "new.py" else name


def unversioned(here: Path, *git_does: str, away: bool = False) -> str:
    """Return a program in a folder beside the repository."""
    folder = here.parent / "beside"
    folder.mkdir()
    (folder / "it.py").write_text(FAST)
    if git_does:
        git(folder, *git_does)
    if not away:
        os.chdir(folder)
    return str(folder / "it.py") if away else "it.py"


def added(here: Path, name: str) -> str:
    (here / name).write_text("print('something else entirely')\n")
    git(here, "add", name)
    return name


def nested(here: Path) -> str:
    (here / "inner").mkdir()
    git(here / "inner", "init", "-q")
    (here / "inner" / "it.py").write_text(FAST)
    return "inner/it.py"


REFUSED: dict[str, tuple[Callable[[Path], str], str]] = {
    "unchanged": (lambda here: changed(here, "it.py", SLOW), "nothing has changed since"),
    "new files alone": (lambda here: changed(here, "it.py", SLOW, "new.py"), "nothing has changed"),
    "not followed": (lambda here: changed(here, "mine.py", FAST), "mine.py is not in "),
    "ignored": (
        lambda here: changed(here, ".gitignore", "mine.py", "mine.py"),
        "mine.py is not in",
    ),
    "no git": (unversioned, "in no commit of git"),
    "no commit": (lambda here: unversioned(here, "init"), "in no commit of git"),
    "outside of it": (lambda here: unversioned(here, away=True), "in no commit of git"),
    "new in a folder": (lambda here: changed(here, "near.py", "", "sub/it.py"), "sub/it.py is not"),
    "added, not committed": (lambda here: added(here, "more.py"), "more.py is not in "),
    "in another repository": (nested, "in no commit of git"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_where_nothing_is_before_the_change_it_is_said_and_nothing_runs(
    case: str, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(project.parent))
    monkeypatch.chdir(project)
    make, said = REFUSED[case]
    report, done = doctor(make(project))
    assert done.returncode == ExitCode.USAGE, done.stderr
    assert (report, done.stdout) == ({}, "")
    assert said in done.stderr
    assert "--before" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_without_git_it_is_said(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(project))
    _, done = doctor("it.py")
    assert done.returncode == ExitCode.USAGE
    assert "git is not installed" in done.stderr


@contextmanager
def bench(command: list[str], what: str | None = None) -> Iterator[BeforeAfterBench]:
    """Give what is measured: a program as it was and as it is."""
    with prepared(command, ThenBench(what, "empty", 1), sys.executable) as found:
        assert found is not None
        yield found


@contextmanager
def head(command: list[str], what: str | None = None) -> Iterator[Any]:
    with bench(command, what) as found:
        yield found.sides["before"]


def ran(side: Any) -> str:
    """Return what a side writes."""
    search = os.pathsep.join(map(str, side.search))
    return subprocess.run(
        [sys.executable, *side.command],
        cwd=side.folder,
        env={**os.environ, "PYTHONPATH": search},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def test_a_dirty_tree_is_left_as_it_is(project: Path) -> None:
    (project / "near.py").unlink()
    git(project, "add", "--all")
    (project / "it.py").write_text("print('now')\n")
    before = git(project, "status", "--porcelain")
    with head(["it.py"]) as side:
        assert ran(side) == "a text []\n", "with the module that is removed today"
    assert git(project, "status", "--porcelain") == before
    assert len(git(project, "worktree", "list").splitlines()) == 1


@pytest.mark.parametrize("revision", [None, "HEAD", "HEAD~0"])
def test_a_program_that_was_renamed_is_found_under_its_name_then(
    project: Path, revision: str | None
) -> None:
    (project / "it.py").write_text(SLOW)
    git(project, "mv", "it.py", "renamed.py")
    with head(["renamed.py", "x"], revision) as side:
        assert side.command[0].endswith("/it.py")
        assert ran(side) == "a text ['x']\n"


def test_a_submodule_is_as_it_was(project: Path) -> None:
    inner = project.parent / "inner"
    inner.mkdir()
    git(inner, "init", "-q")
    (inner / "lib.py").write_text("TEXT = 'then'\n")
    git(inner, "add", ".")
    git(inner, "commit", "-q", "-m", "lib")
    allowed = ("-c", "protocol.file.allow=always")
    git(project, *allowed, "submodule", "--quiet", "add", str(inner), "sub")
    (project / "it.py").write_text(
        "import sys\nsys.path.insert(0, __file__[:-5] + 'sub')\nimport lib\nprint(lib.TEXT)\n"
    )
    git(project, "add", ".")
    git(project, "commit", "-q", "-m", "with a submodule")
    (project / "sub" / "lib.py").write_text("TEXT = 'now'\n")
    with head(["it.py"]) as side:
        assert ran(side) == "then\n"


@pytest.mark.parametrize(
    ("name", "ignored"),
    [("data.txt", True), ("data.txt", False), ("made/data.txt", True), ("_version.py", True)],
)
def test_what_git_does_not_follow_is_there_before_too(
    project: Path, name: str, *, ignored: bool
) -> None:
    (project / name).parent.mkdir(exist_ok=True)
    (project / name).write_text("here")
    if ignored:
        (project / ".gitignore").write_text(name.split("/", maxsplit=1)[0])
    (project / "it.py").write_text(f"print(open(__file__[:-5] + {name!r}).read())\n")
    git(project, "add", "it.py")
    git(project, "commit", "-q", "-m", "reads")
    (project / "it.py").write_text("print(0)\n")
    with head(["it.py"]) as side:
        assert ran(side) == "here\n"


def test_a_module_that_is_new_is_not_there_before(project: Path) -> None:
    (project / "it.py").write_text("try:\n import new\n print('new')\nexcept ImportError:\n 0\n")
    git(project, "commit", "-q", "-am", "tries")
    for name in ("new.py", "package/new.py"):
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).write_text("")
    (project / "it.py").write_text("print(0)\n")
    with head(["it.py"]) as side:
        assert ran(side) == ""
        assert not (Path(side.command[0]).parent / "package").exists()


def test_a_program_in_a_folder_of_the_repository(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "sub").mkdir()
    (project / "sub" / "it.py").write_text("print('then')\n")
    git(project, "add", ".")
    git(project, "commit", "-q", "-m", "sub")
    (project / "sub" / "it.py").write_text("print('now')\n")
    for folder, name in ((project, "sub/it.py"), (project / "sub", "it.py"), (Path("/"), None)):
        monkeypatch.chdir(folder)
        with head([name or str(project / "sub" / "it.py")]) as side:
            assert (ran(side), side.folder) == ("then\n", folder)
    monkeypatch.chdir(project / "sub")
    with head(["-m", "it"]) as side:
        assert ran(side) == "then\n"


def test_an_editable_install_by_a_finder_is_as_it_was(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As setuptools makes one of a package that lies in the root."""
    site = project.parent / "site"
    site.mkdir()
    (project / "pack").mkdir()
    (project / "pack" / "__init__.py").write_text("TEXT = 'then'\n")
    (project / "scripts").mkdir()
    (project / "scripts" / "it.py").write_text("import pack\nprint(pack.TEXT)\n")
    git(project, "add", ".")
    git(project, "commit", "-q", "-m", "pack")
    (project / "pack" / "__init__.py").write_text("TEXT = 'now'\n")
    (site / "sitecustomize.py").write_text(
        "import importlib.util, sys\n"
        f"MAPPING = {{'pack': {str(project / 'pack')!r}}}\n"
        "class Finder:\n"
        "    @classmethod\n"
        "    def find_spec(cls, name, path=None, target=None):\n"
        "        if name in MAPPING:\n"
        "            place = MAPPING[name] + '/__init__.py'\n"
        "            return importlib.util.spec_from_file_location(name, place)\n"
        "sys.meta_path.append(Finder)\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(site))
    with head(["scripts/it.py"]) as side:
        variables = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([*map(str, side.search), str(site)]),
        }
        done = [sys.executable, *side.command]
        said = subprocess.run(done, env=variables, capture_output=True, text=True, check=True)
        assert said.stdout == "then\n"


@pytest.mark.parametrize("caches", ["empty", "filled"])
def test_a_time_budget_that_is_too_small_measures_nothing_and_says_what_would_do(
    project: Path, caches: str
) -> None:
    (project / "it.py").write_text(SLOW.replace("0.6", "1.5"))
    budget = ("--time-budget", "2s", "--caches", caches)
    report, done = doctor(*budget, "it.py")
    assert done.returncode == ExitCode.NOTHING_VALID, done.stderr
    assert report["fix"] is None
    assert "--time-budget ends it after 2" in done.stderr
    assert re.search(
        r"over before both were measured once; give more: --time-budget \d+s", done.stderr
    )


@pytest.mark.slow
def test_when_the_time_is_over_the_rounds_until_then_are_judged(project: Path) -> None:
    asked = ("--time-budget", "25s", "--rounds", "1000", "it.py")
    report, done = doctor(*asked)
    assert done.returncode == 0, done.stderr
    fix = report["fix"]
    assert 1 <= len(fix["before_s"]) < 1000
    assert len(fix["before_s"]) == len(fix["after_s"])
    (cut,) = [one for one in fix["limitations"] if one["code"] == "rounds_out_of_time"]
    assert cut["values"] == {"n_rounds": len(fix["before_s"]), "n_asked": 1000}


@pytest.mark.slow
@pytest.mark.parametrize("rounds_until_then", [0, 1, 3])
def test_ctrl_c_ends_with_the_rounds_until_then(
    project: Path, request: pytest.FixtureRequest, rounds_until_then: int
) -> None:
    children = project / "it.py"
    children.write_text("import os\nopen('pids', 'a').write(f'{os.getpid()}\\n')\n" + FAST)
    begun = [sys.executable, "-m", "coldwarm", "doctor", "--json", "--out", "r.json"]
    # What is started in the background, as these tests may be, ignores interrupts.
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)
    request.addfinalizer(lambda: signal.signal(signal.SIGINT, usual))
    process = subprocess.Popen(
        [*begun, "--then", "bench", "--rounds", "1000", "it.py"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    request.addfinalizer(process.kill)
    assert process.stderr is not None
    waited_for = f"round {rounds_until_then} of" if rounds_until_then else "runs without input"
    said = ""
    for line in process.stderr:
        said += line
        if waited_for in line:
            process.send_signal(signal.SIGINT)
            break
    _, more = process.communicate(timeout=60)
    assert process.returncode == ExitCode.INTERRUPTED, said + more
    assert "Traceback" not in said + more
    fix = json.loads(Path("r.json").read_text())["fix"]
    if rounds_until_then:
        assert len(fix["before_s"]) >= rounds_until_then
        assert "interrupted; what was measured until then is judged" in more
    else:
        assert fix is None
    pids = [int(line) for line in Path("pids").read_text().split()]
    assert not [pid for pid in pids if Path(f"/proc/{pid}").exists()]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_process_that_is_started_while_somebody_interrupts_is_ended(
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
    number: int,
) -> None:
    started, start = [], subprocess.Popen

    def interrupted(*arguments: Any, **more: Any) -> subprocess.Popen[bytes]:
        started.append(start(*arguments, **more))
        signal.raise_signal(number)  # it runs, and nobody has got it yet
        return started[-1]

    # What is started in the background, as these tests may be, ignores some of them.
    for ignored, usual in (
        (signal.SIGHUP, signal.SIG_DFL),
        (signal.SIGINT, signal.default_int_handler),
    ):
        before = signal.signal(ignored, usual)
        request.addfinalizer(partial(signal.signal, ignored, before))
    (project / "old.py").write_text("import time; time.sleep(60)")
    with terminable(), bench(["it.py"], "old.py") as found:
        monkeypatch.setattr(subprocess, "Popen", interrupted)
        with pytest.raises(KeyboardInterrupt):
            found.measured(report(), 1.0)
    assert [one.returncode for one in started] == [-signal.SIGKILL]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_a_signal_while_the_program_is_started_reaches_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    start = subprocess.Popen

    def signalled(*arguments: Any, **more: Any) -> subprocess.Popen[bytes]:
        process = start(*arguments, **more)
        signal.raise_signal(number)
        return process

    monkeypatch.setattr(subprocess, "Popen", signalled)
    before = signal.signal(number, lambda *_: None)  # or it would end the tests if it is missed
    try:
        ended = watch.run(["-c", "import time; time.sleep(20)"], tmp_path / "journal")
    finally:
        signal.signal(number, before)
    assert ended.status == -number


@pytest.mark.parametrize(("again", "status"), [(False, 3), (True, -signal.SIGTERM)])
def test_a_program_that_does_not_hear_ctrl_c_is_ended_by_several(
    tmp_path: Path, *, again: bool, status: int
) -> None:
    deaf = "import os, signal, sys, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"
    (tmp_path / "deaf.py").write_text(
        f"{deaf}print(os.getpid(), flush=True)\ntime.sleep({60 if again else 2})\nsys.exit(3)"
    )
    command = [sys.executable, "-m", "coldwarm", "doctor", "--out", "report.json", "deaf.py"]
    process = subprocess.Popen(
        # It is ignored where the tests run in the background of a shell, and by what they start.
        ["/usr/bin/env", "--default-signal=INT", *command],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    program = int(process.stdout.readline())
    os.killpg(process.pid, signal.SIGINT)
    while again and psutil.pid_exists(program):  # of two that come at once, one is heard
        time.sleep(0.2)
        os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate()
    assert process.returncode == status, said
    assert (tmp_path / "report.json").exists()


@pytest.mark.slow
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
        (("--time-budget", "9s", "it.py"), "--time-budget is for --then bench"),
        *(
            ((*asked, *more), f"{more[0]} is for a program that is run")
            for asked in (("--hook",), ("--read", "r.json"))
            for more in (
                ("--warmup", "fill.py"),
                ("--then", "bench"),
                ("--passes", "keys"),
                ("--python", "python3"),
            )
        ),
    ],
)
def test_what_would_do_nothing_is_refused(arguments: tuple[str, ...], said: str) -> None:
    done = CliRunner().invoke(cli, ["doctor", *arguments])
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
        head(["it.py"], "nonsense"),
    ):
        pass


@pytest.mark.parametrize("form", ["text", "html"])
def test_the_answer_is_in_the_report(form: str, project: Path) -> None:
    (project / "old.py").write_text(FAST)
    asked = ("--then", "bench", "--before", "old.py", "--rounds", "2")
    places = ("--format", form, "--out", "report")
    done = coldwarm("doctor", *asked, *places, "it.py")
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
    with head(["-m", "it"], "HEAD") as side:
        assert (side.folder / "it.py").read_text() == SLOW
        assert side.command == ["-m", "it"]


def test_a_script_runs_in_the_folder_of_today(project: Path) -> None:
    copy = project.parent / "copy"
    copy.mkdir()
    (copy / "it.py").write_text(SLOW)
    with head(["it.py", "a"], str(copy)) as side:
        assert (list(side.command), side.folder) == ([str(copy / "it.py"), "a"], project)
    with (
        pytest.raises(UsageError, match="revision or a folder"),
        head(["-m", "it"], "it.py"),
    ):
        pass


def test_modules_come_from_where_they_were(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy = project.parent / "copy"
    for folder in (project, copy):
        (folder / "src").mkdir(parents=True)
        (folder / "lib").mkdir()
        (folder / "it.py").write_text(SLOW)
    monkeypatch.setenv("PYTHONPATH", str(project / "lib"))
    with head(["it.py"], str(copy)) as side:
        assert list(side.search) == [copy / "src", copy / "lib"]


@pytest.mark.parametrize("cache", [None, "/mine"])
def test_jax_gets_no_cache_that_it_has_not(
    project: Path, monkeypatch: pytest.MonkeyPatch, cache: str | None
) -> None:
    text = "import json, os\nopen('variables', 'w').write(json.dumps(dict(os.environ)))\n"
    for name in ("old.py", "it.py"):
        (project / name).write_text(text)
    monkeypatch.delenv("JAX_COMPILATION_CACHE_DIR", raising=False)
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    if cache is not None:
        monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", cache)
    with bench(["it.py"], "old.py") as found:
        found.measured(report(), 1.0)
        seen = json.loads((project / "variables").read_text())
        assert seen["NUMBA_CACHE_DIR"].startswith(str(found.work))
        moved = seen.get("JAX_COMPILATION_CACHE_DIR", "")
        assert moved.startswith(str(found.work)) if cache else not moved


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
    assert str(next(fix_blocks(found)).text) == (
        "after the change the whole program takes 3.17–3.33 s less (of 12.0 s), and needs 2"
        " compiled programs in place of 200"
    )


def test_what_cannot_be_told_apart_is_said() -> None:
    found = judged([12.0, 14.0, 11.0, 12.0, 15.0], [13.0, 11.0, 14.0, 12.5, 12.0])
    assert found.comparison.verdict == "undecided"
    assert "cannot be told apart" in str(next(fix_blocks(found)).text)
    slower = judged([1.0, 1.01, 1.0, 0.99, 1.0], [2.0, 2.01, 2.0, 2.0, 1.99])
    assert "longer (of 1.00 s)" in str(next(fix_blocks(slower)).text)
    same = judged([1.0, 1.001, 1.0, 0.999, 1.0], [1.0, 1.001, 1.0, 1.0, 0.999])
    assert "the same time" in str(next(fix_blocks(same)).text)


def test_a_cache_that_was_not_empty_is_told() -> None:
    told = " ".join(str(one.text) for one in fix_blocks(judged([2.0] * 5, [1.0] * 5, n_reads=3)))
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
    told = " ".join(str(one.text) for one in fix_blocks(uneven))
    assert "its output was not compared" in told
    assert "unchanged" not in told
    varies = fix("HEAD", "empty", rounds, reports, ([["a", "1"], ["a", "2"]], [["a", "3"]]))
    told = " ".join(str(one.text) for one in fix_blocks(varies))
    assert "Some output lines differ from run to run; all others are unchanged." in told
    none = fix("HEAD", "empty", rounds, reports, ([["0", "1"], ["1", "2"]], [["2", "3"]]))
    told = " ".join(str(one.text) for one in fix_blocks(none))
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
    reports = (report(), report())
    found = fix("HEAD", "empty", [(2.0, 1.0)] * 5, reports, (before, after))
    assert (found.output, found.differing) == expected
