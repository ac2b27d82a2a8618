"""What goes wrong inside, or in the system, ends with 70, in one line: 1 is a verdict's."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.contracts import samples
from tests.started import coldwarm

from coldwarm.errors import ExitCode

SITE = """
import os, sys
from importlib.abc import MetaPathFinder

class Finder(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == os.environ.get("BROKEN"):
            raise eval(os.environ["WITH"])

sys.meta_path.insert(0, Finder())
if os.environ.get("NO_FORK"):
    import _posixsubprocess, subprocess
    def refused(*given):
        raise BlockingIOError(11, "Resource temporarily unavailable")
    subprocess._fork_exec = _posixsubprocess.fork_exec = refused
"""
"""What breaks a command from inside, before its first line."""
FIT = """
import numpy
def fit():
    return numpy.arange(9.0).sum()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    site = tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(SITE)
    (tmp_path / "fit.py").write_text(FIT)
    (tmp_path / "t").mkdir()
    return tmp_path


def call(
    folder: Path, *arguments: str, script: str = 'exec "$@"', **variables: str
) -> subprocess.CompletedProcess[str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith("COLDWARM")}
    own = {"PYTHONPATH": str(folder / "site"), "TMPDIR": str(folder / "t"), **variables}
    return subprocess.run(
        ["sh", "-c", script, "sh", sys.executable, "-m", "coldwarm", *arguments],  # noqa: S607 - the system's
        capture_output=True,
        cwd=folder,
        env={**kept, **own},
        text=True,
        check=False,
        timeout=120,
    )


ERRORS = ("ImportError('x')", "MemoryError()", "RecursionError('x')", "EOFError()", "SystemExit(1)")
BROKEN = ("rich_click", "coldwarm.errors", "coldwarm.registry", "msgspec")


@pytest.mark.parametrize(
    ("module", "error"),
    [
        # Each module and each error at least once; the other combinations are slow.
        pytest.param(module, error, marks=() if (m - e) % 4 == 0 else pytest.mark.slow)
        for m, module in enumerate(BROKEN)
        for e, error in enumerate(ERRORS)
    ],
)
def test_an_error_inside_is_one_line_and_a_file(folder: Path, module: str, error: str) -> None:
    done = call(folder, "cases", BROKEN=module, WITH=error)
    assert done.returncode == ExitCode.INTERNAL
    [line] = done.stderr.splitlines()
    name = error.partition("(")[0]
    assert line.startswith(f"coldwarm: internal error: {name}")
    file = re.search(r"its traceback is in (\S+)$", line)
    assert file is not None
    written = Path(file[1])
    assert written.stat().st_mode & 0o77 == 0
    assert "Traceback" in written.read_text()


def test_an_interruption_is_one(folder: Path) -> None:
    done = call(folder, "cases", BROKEN="coldwarm.registry", WITH="KeyboardInterrupt()")
    assert done.returncode == ExitCode.INTERRUPTED
    assert done.stderr == "coldwarm: interrupted\n"


def test_where_no_file_can_be_written_there_is_still_the_line(folder: Path) -> None:
    limited = 'ulimit -f 0; exec "$@"'
    done = call(folder, "cases", script=limited, BROKEN="coldwarm.registry", WITH="OSError()")
    assert done.returncode == ExitCode.INTERNAL
    [line] = done.stderr.splitlines()
    assert line.startswith("coldwarm: internal error: OSError; its traceback cannot")


@pytest.mark.parametrize("command", [["cases"], ["--help"], ["--version"], ["schema"], ["env"]])
def test_output_that_cannot_be_written(folder: Path, command: list[str]) -> None:
    done = call(folder, *command, script='exec "$@" >/dev/full')
    assert done.returncode == ExitCode.INTERNAL
    [line] = done.stderr.splitlines()
    assert "No space left on device" in line
    assert call(folder, *command, script='exec "$@" >/dev/full 2>/dev/full').returncode == 70


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("form", ["text", "json"])
def test_findings_that_cannot_be_written(folder: Path, form: str, unbuffered: str) -> None:
    samples.write_run(folder / "run")
    command = ["validate", *(["--format", "json"] if form == "json" else []), "run"]
    done = call(folder, *command, script='exec "$@" >/dev/full', PYTHONUNBUFFERED=unbuffered)
    assert done.returncode == ExitCode.INTERNAL
    [line] = done.stderr.splitlines()
    assert line.startswith("coldwarm: cannot write to standard output: No space left on device")


def test_a_system_that_starts_no_process(folder: Path) -> None:
    for command in (("run", "--backend", "numpy"), ("bench", "fit.py:fit")):
        done = call(folder, *command, "--time-budget", "9s", "--out", command[0], NO_FORK="1")
        assert done.returncode == ExitCode.INTERNAL
        assert "Resource temporarily unavailable" in done.stderr.splitlines()[-1]
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "command",
    [
        ("bench", "fit.py:fit", "--tolerance", "nan"),
        ("bench", "fit.py:fit", "--tolerance", "inf"),
        ("bench", "fit.py:fit", "--max-rounds", "9" * 20),
        ("bench", "fit.py:fit", "--time-budget", "1e300s"),
        ("bench", "a" * 300 + "=fit.py:fit"),
        ("bench", "a" * 5000 + ".py:fit"),
        ("bench", "fit.py:fit", "--out", "a" * 5000),
        ("bench", "fit.py:fit", "--python", "a" * 5000),
        ("run", "--out", "a" * 5000, "--resume"),
        ("show", "a" * 5000),
        ("validate", "a/" * 5000),
        ("plan", "a" * 5000, "--calls", "1"),
        ("compare", "a" * 5000, "a" * 5000),
        ("compare", ".", ".", "--policy", "deep.toml"),
        ("compare", ".", ".", "--policy", "/dev/zero"),
        ("run", "--case", ""),
        ("run", "--case="),
        ("run", "--backend", ""),
        ("run", "--backend", ","),
        ("run", "--cache-mode", " "),
        ("run", "--suite", ""),
        ("run", "--out", ""),
        ("bench", ""),
        ("bench", "fit.py:fit", "--reference", ""),
        ("bench", "fit.py:fit", "--python="),
        ("validate", ""),
        ("show", ""),
        ("plan", ".", "--calls", "1", "--group", ""),
        ("compare", "", "."),
    ],
)
def test_what_cannot_be_used_is_wrong_usage(folder: Path, command: tuple[str, ...]) -> None:
    (folder / "deep.toml").write_text("a=" + "[" * 100_000)
    done = coldwarm(*command, cwd=folder)
    assert done.returncode == ExitCode.USAGE, done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()[-1]) < 6000
    assert not list(folder.glob("out*"))


@pytest.mark.slow
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_are_nobodys_failure(folder: Path, closed: str) -> None:
    plan = ("--cold-only", "--rounds", "1", "--max-rounds", "1", "--out", "out")
    assert call(folder, "bench", "fit.py:fit", *plan, script=f'exec "$@" {closed}').returncode == 0
    told = call(folder, "show", "out", "--verbose")
    assert "1 ok" in told.stdout


@pytest.mark.slow
def test_a_crash_in_the_look_is_a_failed_candidate(folder: Path) -> None:
    """GIVEN one that ends its process THEN the other is measured, and the command ends with 3."""
    (folder / "fit.py").write_text(f"{FIT}\nimport os\ndef left(): os._exit(3)\n")
    plan = ("--cold-only", "--time-budget", "9s", "--out", "out", "--verbose")
    done = call(folder, "bench", "fit.py:left", "fit.py:fit", *plan)
    assert done.returncode == ExitCode.FAILED, done.stderr
    assert "left (fit.py:left) failed before it was measured" in " ".join(done.stdout.split())
    assert "1 ok" in done.stdout
    assert "1 failed" in " ".join(done.stdout.split())
    alone = call(folder, "bench", "fit.py:left", "--out", "alone")
    assert alone.returncode == ExitCode.FAILED
    assert "failed before it was measured" in alone.stderr.splitlines()[-1]


@pytest.mark.slow
def test_two_benches_in_one_second_have_a_folder_each(folder: Path) -> None:
    plan = ("bench", "fit.py:fit", "--cold-only", "--rounds", "1", "--max-rounds", "1")
    both = " & ".join(['"$@"'] * 2)
    done = call(folder, *plan, script=f"{both}; wait")
    assert "already holds" not in done.stderr
    assert len(list((folder / "out").iterdir())) == 2
