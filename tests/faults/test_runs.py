"""A run that is killed, interrupted, repeated or resumed, and what it leaves on disk."""

from __future__ import annotations

import os
import signal
import time

import pytest
from tests.faults.lab import GOOD, Lab, collect, shown, wait_for
from tests.faults.plans import ONE, PLAN, SHORT, assert_complete, assert_short, kept, until


@pytest.mark.slow
def test_a_killed_run_leaves_no_orphan_and_is_resumed(bench: Lab) -> None:
    process = bench.start(*PLAN)
    until(bench, process, 2)
    # Both candidates stay, and one of them is stopped while the other runs its block.
    wait_for(lambda: len(bench.workers()) == 2, bench.alive)
    process.kill()
    collect(process)
    bench.assert_no_orphans()
    before = [line for line in bench.journal() if line.endswith(b"\n")]
    assert len(before) >= 3
    assert not (bench.out / "suite.json").exists()

    done = bench.run(*PLAN, "--resume")
    assert done.code == 0, done.err
    assert kept(bench, before)
    assert_complete(bench)


@pytest.mark.slow
def test_a_run_killed_while_it_compiles_does_not_leave_its_caches_to_the_next(bench: Lab) -> None:
    plan = ("--backend", "honest", "--cache-mode", "cold_process_cold_cache")
    process = bench.start(*plan)
    leftover = bench.out / "work" / "caches" / "honest_small_8_f32-0-cold_process_cold_cache-0"
    wait_for((leftover / "jax" / "entry.bin").exists, bench.alive)
    process.kill()
    collect(process)
    bench.assert_no_orphans()
    done = bench.run(*plan, "--resume")
    assert done.code == 0
    assert "rejected" not in done.err
    bench.assert_clean()


def test_a_run_killed_before_its_first_line_is_resumed(bench: Lab) -> None:
    bench.out.mkdir()
    (bench.out / "journal.jsonl").touch()
    assert bench.run(*ONE, "--resume").code == 0
    assert bench.case(GOOD)["status"] == "ok"
    bench.assert_clean()


@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)]
)
def test_an_interrupted_run_writes_what_it_has_and_is_resumed(
    bench: Lab, number: signal.Signals
) -> None:
    process = bench.start(*PLAN)
    until(bench, process, 3)
    process.send_signal(number)
    done = collect(process)
    assert done.code == 130
    assert "Interrupted. Go on with: coldwarm run --out" in done.out
    bench.assert_no_orphans()
    bench.assert_whole()
    suite = bench.suite()
    assert not suite["complete"]
    assert suite["finished_at"] is None
    assert shown(suite["null_reasons"]["finished_at"]) == "interrupted"
    before = bench.journal()

    done = bench.run(*PLAN, "--resume")
    assert done.code == 0, done.err
    assert kept(bench, before)
    assert bench.suite()["run_id"] == suite["run_id"]
    assert_complete(bench)


def test_ctrl_c_does_not_wait_for_a_candidate_that_hangs(bench: Lab) -> None:
    process = bench.start("--backend", "hang_stubbornly", "--timeout", "1h")
    wait_for(lambda: any("sleep 3600" in line for line in bench.alive()), bench.alive)
    began_s = time.monotonic()
    process.send_signal(signal.SIGINT)
    assert collect(process).code == 130
    assert time.monotonic() - began_s < 5.0
    bench.assert_no_orphans()
    bench.assert_whole()


@pytest.mark.slow
def test_a_run_outlives_its_guard(bench: Lab) -> None:
    process = bench.start(*SHORT)
    until(bench, process, 1)
    guard = next(int(line.split()[0]) for line in bench.alive() if "guard.py" in line)
    os.kill(guard, signal.SIGKILL)
    assert collect(process).code == 0
    assert_short(bench)


def test_two_runs_into_one_directory(bench: Lab) -> None:
    plan = ("--backend", "hang_stubbornly", "--timeout", "1h")
    process = bench.start(*plan)
    wait_for(lambda: any("sleep 3600" in line for line in bench.alive()), bench.alive)
    before = bench.journal()
    for again in ((), ("--resume",)):
        second = bench.run(*plan, *again)
        assert second.code == 2
        assert second.one_line().startswith(f"coldwarm: another run is writing to {bench.out};")
    assert bench.workers(), "the first one goes on"
    assert bench.journal() == before
    process.send_signal(signal.SIGINT)
    assert collect(process).code == 130
    bench.assert_whole()


@pytest.mark.slow
def test_a_finished_run_is_not_overwritten_and_can_be_looked_at_again(bench: Lab) -> None:
    assert bench.run(*ONE).code == 0
    before = {p: p.read_bytes() for p in bench.out.rglob("*") if p.is_file()}
    second = bench.run(*ONE)
    assert second.code == 2
    assert second.one_line().startswith(f"coldwarm: {bench.out} already holds a run;")
    assert {p: p.read_bytes() for p in bench.out.rglob("*") if p.is_file()} == before

    assert bench.run(*ONE, "--resume").code == 0
    assert bench.journal() == before[bench.out / "journal.jsonl"].splitlines(keepends=True)
    bench.assert_clean()


def test_other_files_are_not_touched(bench: Lab) -> None:
    bench.out.mkdir()
    (bench.out / "thesis.tex").write_text("years of work")
    done = bench.run("--backend", "numpy")
    assert done.code == 2
    assert "holds other files (thesis.tex…)" in done.one_line()
    assert {path.name for path in bench.out.iterdir()} == {".lock", "thesis.tex"}


def test_nothing_to_resume(bench: Lab) -> None:
    done = bench.run("--backend", "numpy", "--resume")
    assert done.code == 2
    assert "holds no run to resume; leave --resume out" in done.one_line()
    assert not bench.out.exists()
    nowhere = bench.command("run", "--resume")
    assert nowhere.code == 2
    assert "--resume needs --out" in nowhere.err


@pytest.mark.parametrize(("backend", "code"), [("hits_when_empty", 4), ("no_such_module", 4)])
def test_the_code_tells_that_nothing_valid_was_measured(
    bench: Lab, backend: str, code: int
) -> None:
    mode = ("--cache-mode", "cold_process_cold_cache")
    assert bench.run("--backend", backend, *mode).code == code
    assert bench.suite()["n_warn"] == 1
    bench.assert_clean()


def test_a_run_whose_progress_cannot_be_written_measures_nonetheless(bench: Lab) -> None:
    prefix = ("bash", "-c", 'exec "$@" 2>/dev/full', "bash")
    bench.command("run", *bench.arguments(*ONE), prefix=prefix)
    assert bench.case(GOOD)["status"] == "ok"
    bench.assert_clean()
