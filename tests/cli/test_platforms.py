"""What works where nothing can be measured: reading results on macOS and Windows."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING

import pytest
from tests import started
from tests.contracts import samples
from tests.stats import results

from coldwarm.errors import ContractError
from coldwarm.publish import storage

if TYPE_CHECKING:
    from pathlib import Path

AS_ON = """
import os, shutil, signal, sys, sysconfig

sysconfig.get_config_vars()  # of the interpreter, which is Linux's
system, *sys.argv = sys.argv[1:]
sys.argv.insert(0, "coldwarm")
# Other people's modules stay loaded, which know their systems themselves.
for name in [name for name in sys.modules if name.partition(".")[0] == "coldwarm"]:
    del sys.modules[name]
which = shutil.which
def which_here(*given, **named):
    sys.platform = "linux"  # the standard library is Linux's too
    try:
        return which(*given, **named)
    finally:
        sys.platform = system
shutil.which = which_here
sys.platform = system
for name in ("fcntl", "resource", "termios", "pwd", "grp"):
    if system == "win32" or name == "fcntl":
        sys.modules[name] = None
for name in ("sched_getaffinity", "sched_setaffinity", "posix_fadvise", "killpg"):
    delattr(os, name)
real = os.sysconf  # psutil is still Linux's, and asks for it
def sysconf(name):
    if sys._getframe(1).f_globals["__name__"].startswith("coldwarm"):
        raise AttributeError("sysconf")
    return real(name)
os.sysconf = sysconf
for name in ("SIGKILL", "SIGSTOP", "SIGCONT"):
    delattr(signal, name)
if system == "win32":
    for name in ("O_DIRECTORY", "O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "getuid", "geteuid"):
        delattr(os, name)
    os.supports_dir_fd = set()
    shutil._use_fd_functions = False  # as it is there
from coldwarm.cli import main
main.main()
"""
"""The real command in a process that looks like another system's."""


def call_as_on(system: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    # What runs elsewhere at the same time does not see that it is alive, and would tidy up for it.
    with tempfile.TemporaryDirectory() as own:
        line = [sys.executable, "-c", AS_ON, system, *arguments]
        done = started.python(line, env={**os.environ, "TMPDIR": own}, loaded=True)
    return subprocess.CompletedProcess(
        line, done.returncode, done.stdout.decode(), done.stderr.decode()
    )


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the directory of a run that was measured elsewhere."""
    path = tmp_path_factory.mktemp("elsewhere") / "run"
    return results.write(path, [results.case(3)], samples.environment())


@pytest.fixture(scope="module")
def snapshot(run: Path) -> Path:
    """Return a snapshot of that run, and lay its archive beside it."""
    folder = run.parent / "s1"
    for line in (
        ["create", run, "--id", "s1", "--out", folder, "--offline", "--no-report"],
        ["package", folder],
        ["registry", "add", folder],
    ):
        started.coldwarm("snapshot", *line).check_returncode()
    return folder


@functools.cache
def call_here(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Call the command as it is, once for all systems that it is compared with."""
    return started.coldwarm(*arguments)


@pytest.mark.parametrize("system", ["win32", "darwin"])
@pytest.mark.parametrize(
    "command",
    [
        ["verify", "SNAPSHOT"],
        ["verify", "SNAPSHOT.tar.gz"],
        ["verify", "SNAPSHOT", "--json"],
        ["compare", "SNAPSHOT", "SNAPSHOT.tar.gz"],
        ["package", "SNAPSHOT"],
        ["registry", "list", "--registry", "SNAPSHOT/../snapshot_registry.json"],
    ],
    ids=" ".join,
)
def test_snapshots_are_read_on_every_system(
    snapshot: Path, system: str, command: list[str]
) -> None:
    named = ["snapshot", *(part.replace("SNAPSHOT", str(snapshot)) for part in command)]
    done = call_as_on(system, *named)
    real = call_here(*named)
    assert "Traceback" not in done.stderr
    assert (done.returncode, done.stdout) == (real.returncode, real.stdout), done.stderr


def test_a_link_is_not_followed_where_folders_cannot_be_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "supports_dir_fd", set())
    (tmp_path / "secret").write_text("private")
    folder = tmp_path / "s1"
    (folder / "results").mkdir(parents=True)
    (folder / "results" / "a").write_text("plain")
    (folder / "results" / "link").symlink_to(tmp_path / "secret")
    (folder / "linked").symlink_to(folder / "results")
    os.mkfifo(folder / "pipe")
    assert storage.read_limited(folder, "results/a") == b"plain"
    for path in ("results/link", "linked/a", "pipe", "../secret", "results/../results/a", "/a"):
        with pytest.raises(ContractError):
            storage.read_limited(folder, path)


@pytest.mark.parametrize("system", ["win32", "darwin"])
@pytest.mark.parametrize(
    "command",
    [
        ["show", "RUN"],
        ["compare", "RUN", "RUN"],
        ["plan", "RUN", "--calls", "9", "--caches", "empty", "--json"],
        ["validate", "RUN"],
        ["schema"],
        ["cases"],
        ["backends"],
        ["env"],
        ["run", "--help"],
        ["--help"],
    ],
    ids=" ".join,
)
def test_what_reads_results_works_on_every_system(
    run: Path, system: str, command: list[str]
) -> None:
    named = results.on(run, command)
    done = call_as_on(system, *named)
    assert "Traceback" not in done.stderr
    assert done.returncode == call_here(*named).returncode, done.stderr
    assert done.stdout


@pytest.mark.parametrize("command", [["run"], ["bench", "a.py:f"], ["noise"]], ids=" ".join)
def test_what_measures_says_in_one_line_that_it_needs_linux(command: list[str]) -> None:
    done = call_as_on("darwin", *command)
    assert done.returncode == 2
    line = done.stderr.strip().splitlines()[-1]
    assert line.startswith(f"coldwarm: {command[0]} measures, and measuring needs Linux")
