"""Jobs of Slurm: what is asked for them, how their end is seen, and runs with a real Slurm."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest
from tests.history.test_machines import BENCH, PAIR, kept

from coldwarm.errors import UsageError
from coldwarm.history import machines, remote
from coldwarm.history.executors import submitit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

PROGRAMS = {
    "sbatch": 'cp "$1" script-$$.sh; echo Submitted batch job $$',
    "squeue": "cat queue 2>/dev/null || exit 1",
    "scancel": "echo $1 >> cancelled",
    "srun": "exit 1",
}
"""What stands for Slurm's programs: jobs are taken, and never run."""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "pair.py").write_text(PAIR, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def played(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Programs that stand for Slurm's, first on the path."""
    pytest.importorskip("submitit")
    for name, text in PROGRAMS.items():
        program = place / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{place / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setattr(submitit, "_ASKS_S", 0.0)
    monkeypatch.setattr(submitit, "_LATE_S", 0.0)
    return place


def asked(place: Path, given: str) -> str:
    """Return the script of a job with these options."""
    jobs = submitit.opened(given, 1)
    jobs.submit("job-1", remote.run, (), {}, None)
    jobs.close()
    (script,) = place.glob("script-*.sh")
    return script.read_text(encoding="utf-8")


def test_a_job_asks_for_all_of_one_node(played: Path) -> None:
    lines = asked(played, "slurm,partition=cpu").splitlines()
    options = {one.removeprefix("#SBATCH ") for one in lines if one.startswith("#SBATCH")}
    assert {"--exclusive", "--mem=0", "--nodes=1", "--partition=cpu", "--time=240"} <= options
    assert "--signal=USR2@0" in options, "no signal before the end"
    (command,) = (one for one in lines if one.startswith("srun"))
    assert " --cpu-bind=none " in command
    assert " -P " in command, "modules in this folder are not taken for Python's own"


@pytest.mark.parametrize("option", ["mem_gb=3", "mem_per_cpu=2G", "exclusive=user"])
def test_options_that_are_given_are_taken(played: Path, option: str) -> None:
    script = asked(played, f"slurm,{option}")
    assert ("--mem=0" in script) == (option == "exclusive=user")
    assert ("--exclusive=user" in script) == (option == "exclusive=user")


def test_a_wrong_option_is_told_in_one_line(played: Path) -> None:
    with pytest.raises(UsageError, match=r"Unknown argument 'partitions'; write submitit:slurm"):
        submitit.opened("slurm,partitions=cpu", 1)
    assert not [*played.glob(".coldwarm-jobs-*")]


ENDS = {
    "it is gone": ("", "gone"),
    "it failed": ("{job}|NODE_FAIL|None\n", "NODE_FAIL"),
    "it is held": ("{job}|PENDING|launch failed requeued held\n", "it waits for ever: launch fai"),
    "it asks for what is not there": ("{job}|PENDING|BadConstraints\n", "BadConstraints"),
}


@pytest.mark.parametrize("why", ENDS)
def test_a_job_that_leaves_no_result_is_lost(played: Path, why: str) -> None:
    """AND nothing waits for it, where Slurm keeps no accounts."""
    queue, said = ENDS[why]
    jobs = submitit.opened("slurm", 1)
    job = jobs.submit("job-1", remote.run, (), {}, None)
    number = job._job.job_id
    (played / "queue").write_text(f"{number}|RUNNING|None\n1|PENDING|None\n", encoding="utf-8")
    assert not job.done()
    (played / "queue").unlink()
    assert not job.done(), "Slurm does not answer just now"
    (played / "queue").write_text(queue.format(job=number), encoding="utf-8")
    assert job.done()
    with pytest.raises(ConnectionError, match=said):
        job.result()
    jobs.close()
    assert (played / "cancelled").read_text(encoding="utf-8").split() == [number]


def test_jobs_on_their_way_are_cancelled(played: Path) -> None:
    jobs = submitit.opened("slurm", 2)
    sent = [jobs.submit(f"job-{n}", remote.run, (), {}, None) for n in (1, 2)]
    numbers = [one._job.job_id for one in sent]
    rows = "".join(f"{one}|PENDING|Resources\n" for one in numbers)
    (played / "queue").write_text(rows, encoding="utf-8")
    jobs.close()
    assert (played / "cancelled").read_text(encoding="utf-8").split() == numbers
    assert not [*played.glob(".coldwarm-jobs-*")]


def test_a_job_that_is_not_taken_leaves_the_places_of_others(played: Path) -> None:
    jobs = submitit.opened("slurm", 3)
    sent = jobs.submit("job-2", remote.run, (), {}, None)
    (played / "queue").write_text(f"{sent._job.job_id}|RUNNING|None\n", encoding="utf-8")
    (played / "bin" / "sbatch").write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    with pytest.raises(OSError, match="not taken"):
        jobs.submit("job-1", remote.run, (), {}, None)
    assert [*jobs.machines()] == ["job-2"]
    jobs.close()


def test_a_job_that_is_not_taken_ends_no_other(played: Path) -> None:
    text = "#!/bin/sh\necho sbatch: error: Invalid partition name specified >&2; exit 1\n"
    (played / "bin" / "sbatch").write_text(text, encoding="utf-8")
    carrier = submitit.opened("slurm,partition=none", 3)
    plan = machines.MachinePlan(BENCH, {}, None, 3)
    found = machines.measure(carrier, plan, played / "history", lambda _: None)
    assert found.n_kept == 0
    first, last = found.lost
    assert "job-1 takes no run: the job is not taken" in first
    assert "3 of 3 runs were not measured" in last


def test_a_noisy_node_is_asked_for_no_more(played: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = submitit.opened("slurm,exclude=old", 1)
    first = jobs.submit("job-1", remote.run, (), {}, None)
    noisy = remote.MachineAnswer("host", 0.4)
    monkeypatch.setattr(type(first._job), "result", lambda _: ("node7", noisy))
    assert first.result() is noisy
    assert len(jobs.machines()) == 2, "its run has a place on another"
    before = {*played.glob("script-*.sh")}
    jobs.submit("job-2", remote.run, (), {}, None)
    (script,) = {*played.glob("script-*.sh")} - before
    assert "--exclude=old,node7" in script.read_text(encoding="utf-8")
    jobs.close()


def said_by(*command: str) -> str:
    """Return what a program of Slurm prints; nothing where it is not there, or has no cluster."""
    if shutil.which(command[0]) is None:
        return ""
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    return done.stdout if done.returncode == 0 else ""


@pytest.fixture
def partition(place: Path) -> Iterator[str]:
    """A partition of a real Slurm with a node that is free; afterwards no job of ours is left."""
    pytest.importorskip("submitit")
    rows = said_by("sinfo", "--noheader", "--states=idle", "--format=%R").split()
    if not rows:
        pytest.skip("no Slurm with an idle node: `sinfo --states=idle` shows none")
    before = {*said_by("squeue", "--noheader", "--me", "--format=%A").split()}
    yield rows[0]
    left = {*said_by("squeue", "--noheader", "--me", "--format=%A").split()} - before
    for job in left:
        said_by("scancel", job)
    assert not [*place.glob(".coldwarm-jobs-*")]


def measuring(partition: str, *options: str) -> subprocess.Popen[str]:
    """Measure on Slurm, in a process group of its own."""
    where = f"submitit:slurm,partition={partition},timeout_min=10"
    line = [sys.executable, "-P", "-m", "coldwarm", "history", "measure", "--to", "history"]
    return subprocess.Popen(
        [*line, "--on", where, "--json", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def jobs_of(place: Path) -> list[str]:
    """Return the jobs of ours that were sent from a folder."""
    rows = said_by("squeue", "--noheader", "--me", "--format=%A %Z").splitlines()
    return sorted(one.split()[0] for one in rows if one.split()[1] == str(place))


def until(is_so: Callable[[], Any], within_s: float = 60.0) -> None:
    ends_s = time.monotonic() + within_s
    while not is_so():
        assert time.monotonic() < ends_s
        time.sleep(0.2)


@pytest.mark.slow
def test_slurm_measures_and_gives_all_of_a_node(place: Path, partition: str) -> None:
    """AND a module in this folder that has the name of one of Python's is not imported."""
    (place / "random.py").write_text("raise SystemExit(9)\n", encoding="utf-8")
    process = measuring(partition, "--runs", "2", "--any-noise", "--", *BENCH)
    stdout, stderr = process.communicate(timeout=400)
    assert process.returncode == 0, stderr
    assert json.loads(stdout)["n_kept"] == kept(place / "history") == 2
    assert "sacct" not in stderr
    ours = [*place.glob("history/runs/*/result/environment.json")]
    nodes = said_by("sinfo", "--noheader", "--Node", f"--partition={partition}", "--format=%c")
    for one in ours:
        cores = json.loads(one.read_text(encoding="utf-8"))["cpu"]["usable_cores"]
        assert str(cores) in nodes.split()


@pytest.mark.slow
def test_a_cancelled_job_is_told_and_its_run_given_to_another(place: Path, partition: str) -> None:
    process = measuring(partition, "--runs", "2", "--any-noise", "--", *BENCH)
    until(lambda: len(jobs_of(place)) == 2)
    said_by("scancel", jobs_of(place)[-1])
    stdout, stderr = process.communicate(timeout=400)
    told = json.loads(stdout)
    assert (process.returncode, told["n_kept"], len(told["lost"])) == (0, 2, 1), stderr


@pytest.mark.slow
def test_ctrl_c_leaves_no_job(place: Path, partition: str) -> None:
    process = measuring(partition, "--runs", "2", "--any-noise", "--", *BENCH, "--rounds", "50")
    until(lambda: len(jobs_of(place)) == 2)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=60)
    assert (process.returncode, json.loads(stdout)["interrupted"]) == (130, True), stderr
    until(lambda: not jobs_of(place))


@pytest.mark.slow
def test_a_run_that_fails_on_a_node_says_why(place: Path, partition: str) -> None:
    process = measuring(partition, "--runs", "1", "--any-noise", "--", "bench", "pair.py:none")
    stdout, _ = process.communicate(timeout=400)
    told = json.loads(stdout)
    assert (process.returncode, told["n_kept"]) == (3, 0)
    assert "pair has no 'none'" in told["lost"][0]
