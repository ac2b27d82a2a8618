"""A program runs under the doctor as it does by itself, and leaves its report however it ends."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from tests.started import coldwarm

if TYPE_CHECKING:
    from pathlib import Path

PYTHON = sys.executable


def doctor(program: str, folder: Path, *more: str) -> tuple[Any, subprocess.CompletedProcess[str]]:
    file = folder / "program.py"
    file.write_text(program, encoding="utf-8")
    out = folder / "out.json"
    command = ("doctor", "--json", "--out", out, *more)
    done = coldwarm(*command, file, "an", "--argument", cwd=folder)
    return json.loads(out.read_text("utf-8")) if out.exists() else None, done


def plain(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [PYTHON, str(folder / "program.py"), "an", "--argument"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=folder,
    )


@pytest.mark.parametrize(
    "program",
    [
        "import sys; print(sys.argv, __name__, sys.path[0], __file__); sys.exit(7)",
        "import no_such_module_at_all",
        "raise ValueError('a message')",
        "import os; print('before', flush=True); os._exit(9)",
        (
            "import multiprocessing as m\nif __name__ == '__main__':\n"
            "    print(m.get_context('spawn').Pool(1).map(abs, [-1]))"
        ),
        "import threading; t = threading.Thread(target=print, args=('x',)); t.start(); t.join()",
    ],
)
def test_a_program_does_not_notice(program: str, tmp_path: Path) -> None:
    report, done = doctor(program, tmp_path)
    by_itself = plain(tmp_path)
    assert (done.returncode, done.stdout) == (by_itself.returncode, by_itself.stdout)
    assert by_itself.stderr in done.stderr or by_itself.stderr == done.stderr
    assert report["exit_status"] == by_itself.returncode
    assert report["findings"] == []


def test_a_killed_program_leaves_its_report(tmp_path: Path) -> None:
    program = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    report, done = doctor(program, tmp_path)
    assert done.returncode == -9
    assert report["exit_status"] == -9
    assert report["account"]["doctor_s"] is None
    assert report["account"]["null_reasons"]["doctor_s"]["code"] == "killed_before_its_end"


def test_where_the_doctor_itself_fails_it_says_so(tmp_path: Path) -> None:
    pytest.importorskip("jax")
    program = (
        "from coldwarm.doctor.record import compiled_functions as c\nc.Functions.cause = None\n"
        "import jax\nprint(jax.jit(lambda x: x + 1)(1.0))"
    )
    report, done = doctor(program, tmp_path)
    assert (done.returncode, done.stdout) == (0, "2.0\n")
    (why,) = (one for one in report["unseen"] if one["code"] == "doctor_failed")
    assert why["values"]["error"] == "TypeError"
    assert why["values"]["at"].startswith("jax_compiles.py:")


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return coldwarm("doctor", *arguments, "program.py", cwd=folder)


@pytest.mark.parametrize(
    "arguments",
    [
        ("--json", "--out", "missing/out.json"),
        ("--out", "folder"),
        ("--perfetto", "missing/trace.json"),
        ("--perfetto", "folder"),
    ],
)
def test_a_place_that_cannot_be_written_is_refused_before(
    arguments: tuple[str, ...], tmp_path: Path
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "program.py").write_text("print('it ran')", encoding="utf-8")
    done = run(tmp_path, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert arguments[-1] in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("form", ["text", "json", "html"])
@pytest.mark.parametrize("status", [0, 7])
def test_what_cannot_be_written_is_printed(form: str, status: int, tmp_path: Path) -> None:
    program = f"import os; os.rmdir('to'); raise SystemExit({status})"
    (tmp_path / "to").mkdir()
    (tmp_path / "program.py").write_text(program, encoding="utf-8")
    done = run(tmp_path, "--format", form, "--out", "to/report")
    assert done.returncode == (status or 3)
    seen = "." if sys.version_info >= (3, 12) else " in what could be seen."
    nothing = f"Nothing to change was found{seen}"
    known = nothing if form != "json" else '"schema_version"'
    assert known in done.stderr
    assert "cannot be written" in done.stderr.splitlines()[-1]


def test_the_place_of_a_page_is_told(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("pass", encoding="utf-8")
    done = run(tmp_path, "--format", "html")
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[-1] == "coldwarm: the report is in doctor.html"


def test_a_pass_that_ends_otherwise_is_told(tmp_path: Path) -> None:
    program = "import os, sys; sys.exit(3 if 'JAX_DISABLE_JIT' in os.environ else 0)"
    report, done = doctor(program, tmp_path, "--passes", "all")
    assert done.returncode == 0, done.stderr
    told = [one["values"] for one in report["unseen"] if one["code"] == "pass_ended"]
    assert told == [{"what": "keys", "status": "3", "usual": "0"}]


def test_a_pass_without_a_journal_is_told(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("print('hi')", encoding="utf-8")
    done = run(tmp_path, "--passes", "all", "-S")
    assert (done.returncode, done.stdout) == (0, "hi\n")
    assert "it has left no journal" in done.stderr


JAX = """
import functools, jax, jax.numpy as jnp

@functools.partial(jax.jit, static_argnames="rate")
def step(x, rate):
    return x * rate

for turn in range(6):
    x = step(jnp.ones(3), rate=0.5 / (turn + 1))
"""


def test_the_fault_is_named_with_its_cause_and_both_values(tmp_path: Path) -> None:
    pytest.importorskip("jax")
    report, done = doctor(JAX, tmp_path, "--fail-on", "recompile:3")
    (found,) = report["findings"]
    line = JAX.splitlines().index("    x = step(jnp.ones(3), rate=0.5 / (turn + 1))") + 1
    assert (found["pattern"], found["line"]) == ("varying-static-arg", line)
    assert found["path"] == str(tmp_path / "program.py")
    cause = found["cause"]
    assert (cause["kind"], cause["argument"], cause["n_values"]) == ("static", "rate", 6)
    assert cause["before"] != cause["now"]
    assert found["change"]
    assert 0 < found["saving_s"] <= report["account"]["total_s"]
    account = report["account"]
    parts = [seconds for name, seconds in account.items() if name.endswith("_s")]
    known = sum(one for one in parts if one) - account["total_s"] - (account["doctor_s"] or 0)
    assert known == pytest.approx(account["total_s"], rel=0.01)
    assert done.returncode == 1


def test_perfetto_gets_every_stage(tmp_path: Path) -> None:
    pytest.importorskip("jax")
    file = tmp_path / "trace.json"
    report, _ = doctor(JAX, tmp_path, "--perfetto", str(file))
    events = [one for one in json.loads(file.read_text("utf-8"))["traceEvents"] if one["ph"] == "X"]
    compiled_s = sum(one["dur"] for one in events if one["cat"] == "compile") / 1e6
    assert compiled_s == pytest.approx(report["account"]["compile_s"], rel=0.05)
    assert all(0 <= one["ts"] <= report["account"]["total_s"] * 1e6 for one in events)


CLEARED = """
import jax, jax.numpy as jnp
step = jax.jit(lambda x: x + 1)
step(jnp.ones(1))
jax.monitoring.clear_event_listeners()
for n in range(2, 7):
    step(jnp.ones(n))
"""


def test_listeners_that_the_program_clears_come_back(tmp_path: Path) -> None:
    pytest.importorskip("jax")
    report, _ = doctor(CLEARED, tmp_path)
    (found,) = report["findings"]
    assert (found["pattern"], found["n"]) == ("shape-change", 5)


def test_listeners_that_the_program_takes_are_missed(tmp_path: Path) -> None:
    pytest.importorskip("jax")
    taken = "jax._src.monitoring._event_duration_secs_listeners.clear()"
    report, _ = doctor(CLEARED.replace("jax.monitoring.clear_event_listeners()", taken), tmp_path)
    assert "listeners_removed" in {one["code"] for one in report["unseen"]}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--out", "program.py"), "--out: program.py is the program itself"),
        (("--perfetto", "./program.py"), "--perfetto: program.py is the program itself"),
        (("--warmup", "program.py"), "--warmup: program.py is the program itself"),
        (("--warmup", "mine.py"), "--warmup has not written it"),
        (("--out", "a", "--perfetto", "a"), "--perfetto and --out both name a; name two files"),
    ],
)
def test_nothing_is_written_over_the_program(
    arguments: tuple[str, ...], words: str, tmp_path: Path
) -> None:
    for name in ("program.py", "mine.py"):
        (tmp_path / name).write_text("print('kept')\n")
    done = run(tmp_path, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in " ".join(done.stderr.split())
    assert {one.name: one.read_text() for one in tmp_path.iterdir()} == dict.fromkeys(
        ("program.py", "mine.py"), "print('kept')\n"
    )
