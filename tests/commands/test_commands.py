"""Programs as they are: how long until they are ready, on which caches, and what they leave."""

from __future__ import annotations

import json
import shlex
import signal
import socket
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.started import coldwarm

HERE = Path(__file__).parent
JITTED = HERE.parent / "cache" / "jitted.py"
BY_NUMBA = HERE.parent / "cache" / "kept_by_numba.py"
PYTHON = shlex.quote(sys.executable)


def measured(folder: Path, *options: object) -> tuple[dict[str, Any], Path]:
    """Measure programs; return the record, and the folder of the result."""
    folder.mkdir(exist_ok=True)
    out = folder / "out"
    done = coldwarm("bench", *options, "--json", "--out", out, cwd=folder)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found, out


def alive() -> list[str]:
    """Return the command lines of all processes."""
    return [" ".join(one.info["cmdline"] or ()) for one in psutil.process_iter(["cmdline"])]


def refused(*options: object) -> str:
    done = coldwarm("bench", *options)
    assert done.returncode in {2, 3}
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    return line


def starts(found: dict[str, Any], mode: str) -> list[dict[str, Any]]:
    return [one for one in found["starts"] if one["cache_mode"] == mode]


EMPTY, FILLED = "cold_process_cold_cache", "cold_process_warm_cache"


def test_a_program_of_jax_reads_from_filled_caches_what_it_compiled_for_empty_ones(
    tmp_path: Path,
) -> None:
    found, out = measured(tmp_path, "--command", f"{PYTHON} {JITTED}", "--rounds", 2)
    assert len(found["starts"]) == 4
    for one in starts(found, EMPTY):
        (jax,) = one["evidence"]
        assert (one["status"], jax["owner"], jax["files_before"], jax["hits"]) == (
            *("ok", "jax"),
            *(0, 0),
        )
        assert jax["compiles"] == jax["requests"] > 0
    for one in starts(found, FILLED):
        (jax,) = one["evidence"]
        assert (one["status"], jax["compiles"], jax["misses"]) == ("ok", 0, 0)
        assert jax["hits"] == starts(found, EMPTY)[0]["evidence"][0]["compiles"]
    for one in found["starts"]:
        parts = one["parts"]
        assert sum(v for v in parts.values() if v) == pytest.approx(one["ready_s"])
        assert min(v for v in parts.values() if v is not None) >= 0
        assert one["wall_s"] == one["ready_s"]
    assert coldwarm("show", out).stdout.startswith("jitted ends after ")
    assert json.loads(coldwarm("show", out, "--json").stdout) == found


def test_a_result_whose_figures_were_changed_is_refused(tmp_path: Path) -> None:
    found, out = measured(tmp_path, "--command", "true", "--rounds", 2)
    found["figures"][0]["summary"]["median"] /= 2
    (out / "commands.json").write_text(json.dumps(found))
    for command in ("show", "validate"):
        done = coldwarm(command, out)
        assert done.returncode == 3, done.stdout
        assert "its figures are not what its starts give" in done.stderr + done.stdout


def test_a_program_without_a_framework_has_totals_and_no_cache(tmp_path: Path) -> None:
    command = f"{PYTHON} -c 'import time; time.sleep(0.4)'"
    begin_s = time.perf_counter()
    found, _ = measured(tmp_path, "--command", command, "--command", "none=true", "--rounds", 2)
    assert {one["status"] for one in found["starts"]} == {"ok"}
    assert all(one["evidence"] == [] for one in found["starts"])
    assert "command_cache_unknown" in [one["code"] for one in found["limitations"]]
    asleep = [one for one in found["starts"] if one["command"] != "none"]
    assert all(one["ready_s"] >= 0.4 for one in asleep)
    assert sum(one["wall_s"] for one in asleep) < time.perf_counter() - begin_s
    (python,) = {one["n_processes"] for one in asleep}
    assert python == 1
    unseen = [one for one in found["starts"] if one["command"] == "none"]
    assert {one["null_reasons"]["parts"]["code"] for one in unseen} == {"no_python"}
    verdicts = {one["comparison"]["verdict"] for one in found["verdicts"]}
    assert verdicts == {"faster"} or "undecided" in verdicts


def test_a_shell_takes_what_only_a_shell_understands(tmp_path: Path) -> None:
    command = f"X=2 {PYTHON} {JITTED} | cat > {tmp_path}/printed && test -f {tmp_path}/printed"
    found, _ = measured(tmp_path, "--command", command, "--rounds", 1)
    (one,) = starts(found, FILLED)
    assert (one["status"], one["evidence"][0]["misses"]) == ("ok", 0)


def test_what_a_command_beside_leaves_running_ends_with_the_run(tmp_path: Path) -> None:
    asks = shlex.quote(f"{sys.executable} -c pass")
    leaves = [f"sleep {time.time_ns()}{number}" for number in range(3)]
    prepare, request, conclude = (f"{one} > /dev/null 2>&1 &" for one in leaves)
    measured(
        tmp_path,
        *("--command", "sleep 60", "--ready-file", tmp_path / "is-there", "--rounds", 1),
        *(
            "--prepare",
            f"rm -f {tmp_path}/is-there; (sleep 1; touch {tmp_path}/is-there) & {prepare}",
        ),
        *("--request", f"sh -c {asks}; {request}", "--conclude", conclude),
    )
    ends_s = time.monotonic() + 20
    while (left := {*leaves} & {*alive()}) and time.monotonic() < ends_s:
        time.sleep(0.1)
    assert not left


@pytest.mark.parametrize("ready", ["tcp", "http", "log", "file"])
def test_a_server_is_ready_answers_and_is_gone(tmp_path: Path, port: int, ready: str) -> None:
    leaves = tmp_path / "is-there"
    by = {
        "tcp": f"127.0.0.1:{port}",
        "http": f"http://127.0.0.1:{port}/",
        "log": "ready to serve",
        "file": leaves,
    }
    options = ("--prepare", f"rm -f {leaves}", "--rounds", 1)
    found, _ = measured(
        tmp_path,
        *("--command", f"{PYTHON} {HERE / 'serving.py'} {port} {leaves}"),
        *(f"--ready-{ready}", by[ready], "--request", by["http"], *options),
    )
    assert {one["status"] for one in found["starts"]} == {"ok"}
    for one in found["starts"]:
        assert one["exit_status"] == -signal.SIGTERM
        assert one["ready_s"] + sum(one["requests_s"]) <= one["wall_s"]
        answered_s = one["ready_s"] + one["requests_s"][0]
        assert sum(v for v in one["parts"].values() if v) == pytest.approx(answered_s)
        assert one["parts"]["compile_s" if one["cache_mode"] == EMPTY else "cache_read_s"] > 0
        assert len(one["requests_s"]) > 1
    (empty,), (filled,) = starts(found, EMPTY), starts(found, FILLED)
    assert empty["evidence"][0]["compiles"] == filled["evidence"][0]["hits"] > 0
    metrics = {one["metric"] for one in found["figures"]}
    assert metrics == {"ready_s", "first_answer_s", "request_s"}


def test_what_is_done_beside_is_no_part_of_the_program(tmp_path: Path, port: int) -> None:
    url = f"http://127.0.0.1:{port}/"
    asks = f"{PYTHON} -c 'import urllib.request; urllib.request.urlopen(\"{url}\")'"
    found, _ = measured(
        tmp_path,
        *(
            "--command",
            f"{PYTHON} {HERE / 'serving.py'} {port}",
            "--ready-tcp",
            f"127.0.0.1:{port}",
        ),
        *("--request", asks, "--prepare", f"{PYTHON} {JITTED}", "--conclude", f"{PYTHON} -c pass"),
        *("--rounds", 1),
    )
    assert {one["n_processes"] for one in found["starts"]} == {1}
    assert {one["status"] for one in found["starts"]} == {"ok"}


def test_a_port_that_is_open_before_is_no_sign(port: int) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        place = f"127.0.0.1:{other.getsockname()[1]}"
        line = refused("--command", "sleep 60", "--ready-tcp", place)
    assert place in line
    assert "another port" in line
    assert port


def test_what_fails_is_told_in_one_line(tmp_path: Path) -> None:
    printing = f"{PYTHON} -c 'print(\"no data\"); raise SystemExit(7)'"
    assert refused("--command", printing).endswith(
        "exit status 7 before a result; it printed last: no data"
    )
    assert "before it was ready" in refused("--command", "true", "--ready-log", "hello")
    assert "within 0.5 s" in refused(
        *("--command", "sleep 60", "--ready-file", tmp_path / "x", "--timeout", "0.5s")
    )
    assert "cannot be started" in refused("--command", "no-such-program x")
    assert "write: python train.py" in refused("--command", "train.py --epochs 1")
    assert "coldwarm bench train.py:step" in refused("--command", "train.py:step")
    there = tmp_path / "there"
    there.touch()
    assert "is there before" in refused("--command", "sleep 60", "--ready-file", there)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "name a function"),
        (("a.py:f", "--command", "true"), "not measured together"),
        (("--command", "true", "--sweep", "n=1:2"), "--sweep does not go with --command"),
        (("a.py:f", "--ready-log", "x"), "--ready-log goes with a program"),
        (("--command", "true", "--ready-tcp", "there"), "127.0.0.1:8000"),
        (("--command", "true", "--stop", "NOTHING"), "is no signal"),
        (("--command", "sh -c 'x"), "a quote is open"),
        (("--command", ""), "is empty"),
        (("--command", "a=true", "--command", "a=true"), "a label of its own"),
        (("--command", "true", "--request", "curl x"), "ready before it ends"),
    ],
)
def test_what_cannot_be_meant_is_refused(options: tuple[str, ...], said: str) -> None:
    assert said in refused(*options)


TALKING = """
import http.server

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        print("x" * 300_000, flush=True)
        self.send_response(200)
        self.end_headers()

print("x" * 300_000, flush=True)
http.server.HTTPServer(("127.0.0.1", {port}), Handler).serve_forever()
"""


def test_a_program_that_prints_much_is_not_held_up(tmp_path: Path, port: int) -> None:
    (tmp_path / "talking.py").write_text(TALKING.format(port=port), encoding="utf-8")
    url = f"http://127.0.0.1:{port}/"
    options = ("--ready-http", url, "--request", url, "--rounds", 1, "--timeout", "30s")
    found, _ = measured(tmp_path, "--command", f"{PYTHON} talking.py", *options)
    assert {one["status"] for one in found["starts"]} == {"ok"}
    quiet = f"{PYTHON} -c 'import os, time; os.close(1); os.close(2); time.sleep(0.3)'"
    found, _ = measured(tmp_path / "quiet", "--command", quiet, "--rounds", 1)
    assert all(one["ready_s"] >= 0.3 for one in found["starts"]), "its output was closed before"


def test_processes_that_stay_are_ended_and_told(tmp_path: Path) -> None:
    mark = "4321.25"
    found, _ = measured(tmp_path, "--command", f"sh -c 'sleep {mark} & true'", "--rounds", 1)
    assert {note["code"] for one in found["starts"] for note in one["notes"]} == {"processes_left"}
    assert f"sleep {mark}" not in alive()


def test_a_program_that_ignores_its_signal_is_killed_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from coldwarm.commands import process
    from coldwarm.runner.spawn import Guard

    monkeypatch.setattr(process, "_STOPS_S", 0.2)
    told = tmp_path / "told"
    with Guard() as guard:
        command = f"trap '' TERM; touch {told}; while :; do sleep 0.01; done"
        running = process.CommandProcess(command, {"PATH": "/usr/bin:/bin"}, guard)
        running.until(process.Ready("file", str(told)), 30.0)
        ended = running.stop(signal.SIGTERM)
    assert ended.status == -signal.SIGKILL
    assert [one.code for one in ended.notes] == ["does_not_stop"]


def test_a_cache_that_the_program_moves_elsewhere_proves_nothing(tmp_path: Path) -> None:
    program = tmp_path / "moved.py"
    text = JITTED.read_text(encoding="utf-8")
    setting = f"jax.config.update('jax_compilation_cache_dir', {str(tmp_path / 'own')!r})\n"
    program.write_text(text.replace("import jax\n", f"import jax\n{setting}", 1))
    done = coldwarm(
        *("bench", "--command", f"{PYTHON} {program}", "--rounds", 1, "--out", tmp_path / "out")
    )
    assert done.returncode == 4
    assert "no start proved the state of its caches" in done.stdout
    assert "left out" in done.stdout


@pytest.mark.slow
def test_numba_in_processes_of_their_own_is_seen(tmp_path: Path) -> None:
    found, _ = measured(tmp_path, "--command", f"{PYTHON} {BY_NUMBA}", "--rounds", 1)
    (empty,), (filled,) = starts(found, EMPTY), starts(found, FILLED)
    assert empty["evidence"][0]["owner"] == "numba"
    assert empty["evidence"][0]["compiles"] == filled["evidence"][0]["hits"] > 0


def test_a_process_that_nobody_watches_leaves_a_start_unproved(tmp_path: Path) -> None:
    program = tmp_path / "without.py"
    text = (
        "import os, subprocess, sys\n"
        "kept = {k: v for k, v in os.environ.items() if not k.startswith(('COLDWARM', 'PYTHON'))}\n"
        f"subprocess.run([sys.executable, {str(JITTED)!r}], env=kept, check=True)\n"
    )
    program.write_text(text)
    done = coldwarm(
        *("bench", "--command", f"{PYTHON} {program}", "--rounds", 1, "--out", tmp_path / "out"),
        "--json",
    )
    assert done.returncode == 4, done.stderr
    found = json.loads(done.stdout)
    assert {one["reason"]["code"] for one in found["starts"]} == {"command_unseen"}
    assert {one["status"] for one in found["starts"]} == {"rejected"}


def test_a_late_fault_loses_nothing_that_was_measured(tmp_path: Path) -> None:
    counted = tmp_path / "count"
    once = f"echo >> {counted}; test $(wc -l < {counted}) -le 3"
    done = coldwarm(
        *("bench", "--command", "true", "--prepare", once, "--rounds", 2, "--json"),
        *("--out", tmp_path / "out"),
    )
    assert done.returncode == 3
    assert "--prepare" in done.stderr
    found = json.loads(done.stdout)
    assert [one["status"] for one in found["starts"]] == ["ok", "ok"]
    assert not found["complete"]


def test_a_server_that_breaks_down_after_its_answer_is_no_figure(tmp_path: Path) -> None:
    program = "print('ready', flush=True); raise SystemExit(7)"
    said = refused(
        *("--command", f"{PYTHON} -c {shlex.quote(program)}", "--ready-log", "ready"),
        *("--request", "sleep 1", "--out", tmp_path / "out"),
    )
    assert "exit status 7" in said


def test_a_secret_in_quotes_is_shown_nowhere(tmp_path: Path) -> None:
    command = f"{PYTHON} -c 'import sys; print(sys.argv)' --token 'red horse battery'"
    _, out = measured(tmp_path, "--command", command, "--rounds", 1)
    assert "horse" not in (out / "commands.json").read_text(encoding="utf-8")
