"""Jobs of a cluster by submitit: ``submitit:slurm,partition=cpu``, or ``local`` and ``debug``.

Each run is a job of its own. On Slurm it has a node for itself, with all of its processors
(``--exclusive``, ``srun --cpu-bind=none``) and its memory (``--mem=0``). A node that is too noisy,
or on which a run fails, is asked for no more (``--exclude``).
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coldwarm.errors import UsageError, shorten
from coldwarm.history import remote
from coldwarm.installing import require

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_CLUSTERS = ("slurm", "local", "debug")
_LONGEST_MIN = 240
_ONE_NODE = {"nodes", "tasks_per_node"}
"""Options with which a run would be measured several times."""
_WRITE = "submitit:slurm,partition=NAME,timeout_min=60"
_MEMORY = {"mem_gb", "slurm_mem", "slurm_mem_per_cpu", "slurm_mem_per_gpu"}
"""Options for memory, of which Slurm takes one."""
_QUEUE = ("squeue", "--noheader", "--me", "--states=all", "--format=%A|%T|%r")
_ASKS_S = 10.0
_LATE_S = 20.0
"""Seconds after a job's end in which its result may still come, over a network's files."""
_ENDED = {
    *("BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY"),
    *("PREEMPTED", "REVOKED", "SPECIAL_EXIT", "TIMEOUT"),
}
_NEVER = (
    *("badconstraints", "jobheld", "launchfailedrequeuedheld", "dependencyneversatisfied"),
    *("partitiontimelimit", "partitionnodelimit"),
)
"""How reasons begin for which a job waits until a person does something."""
_RULER = "-" * 22
"""Between the parts of what submitit says of a failure."""


class _Queue:
    """What Slurm says of our jobs. Nothing is asked of its accounting, which many do not have."""

    def __init__(self) -> None:
        self._asked_s, self._states = -_ASKS_S, dict[str, tuple[str, str]]()
        self._ended_s: dict[str, float] = {}

    def end(self, job: str) -> str | None:
        """Return how a job without a result has ended; ``None``: it has not, or just now."""
        now_s = time.monotonic()
        if now_s - self._asked_s >= _ASKS_S:
            self._asked_s = now_s
            self._ask()
        state, why = self._states.get(job, ("gone", ""))
        if state == "PENDING" and why.replace(" ", "").replace("_", "").lower().startswith(_NEVER):
            state = f"it waits for ever: {why}"
        elif state not in {*_ENDED, "gone"}:
            self._ended_s.pop(job, None)
            return None
        late = now_s - self._ended_s.setdefault(job, now_s) >= _LATE_S
        return state if late else None

    def submitted(self, job: str) -> None:
        """Take a job for one that waits, until Slurm is asked."""
        self._states[job] = "PENDING", ""

    def _ask(self) -> None:
        done = subprocess.run(_QUEUE, capture_output=True, text=True, check=False)  # noqa: S603 - Slurm's own
        if done.returncode == 0:  # else its controller is busy, or starts anew
            lines = (line for line in done.stdout.splitlines() if line.count("|") > 1)
            rows = [line.split("|", 2) for line in lines]
            self._states = {job: (state, why) for job, state, why in rows}


class _Job:
    """A job, which has ended when its result is there, or when Slurm says so."""

    def __init__(self, job: Any, jobs: _SubmititJobs) -> None:  # noqa: ANN401 - submitit's own
        self._job, self._jobs = job, jobs
        self._end: str | None = None

    def done(self) -> bool:
        """Say whether it has ended."""
        if self._jobs.queue is None:
            return bool(self._job.done())
        folder = self._job.paths.folder
        with suppress(OSError):  # so that a file that another node has made is seen
            folder.chmod(folder.stat().st_mode)
        if not self._job.paths.result_pickle.exists():
            self._end = self._jobs.queue.end(self._job.job_id)
            return self._end is not None
        return True

    def result(self) -> remote.MachineAnswer:
        """Return what it returned.

        Raises:
            ConnectionError: it has ended without a result.
            RuntimeError: it has failed.
        """
        if self._end is not None:
            said = (self._job.stderr() or "").strip().rpartition("\n")[2]
            raise ConnectionError(f"job {self._job.job_id} left no result: {self._end}; {said}")
        try:
            node, answer = self._job.result()
        except Exception as error:  # noqa: BLE001 - with a trace of many lines
            trace = str(error).split(_RULER)
            said = trace[1] if len(trace) > 1 else trace[0]
            raise RuntimeError(said.strip().rpartition("\n")[2]) from None
        if isinstance(answer, remote.MachineAnswer):
            if node and not answer.archive:
                self._jobs.leave_out(node, is_noisy=not answer.failure)
            return answer
        raise TypeError("it has sent no answer")

    def cancel(self) -> None:
        """End it, if it has not ended; one that waits for ever has not."""
        with suppress(OSError):
            if self._jobs.is_debug:  # asking would run it
                return
            if self._jobs.queue is not None:
                has_ended = self._job.paths.result_pickle.exists()
            else:
                has_ended = self._job.done()
            if not has_ended:
                self._job.cancel(check=False)


def _on_node(task: Callable[..., Any], *given: object) -> tuple[str, Any]:
    """Do a task, and return the name that Slurm has for the node, and what the task returned."""
    return os.environ.get("SLURMD_NODENAME", ""), task(*given)


class _SubmititJobs:
    """Places for jobs: on Slurm as many as there are runs, else one."""

    def __init__(self, executor: Any, folder: Path, n_places: int, without: str) -> None:  # noqa: ANN401 - submitit's own
        self._executor, self._folder = executor, folder
        self._jobs: dict[str, _Job] = {}
        """By place, the last one."""
        self._places = [f"job-{number}" for number in range(1, n_places + 1)]
        self._spare = [f"job-{number}" for number in range(n_places + 1, 2 * n_places + 1)]
        """Places instead of those where a node was too noisy."""
        self._left_out = without.split(",") if without else []
        self.queue = _Queue() if executor.cluster == "slurm" else None
        self.is_debug = executor.cluster == "debug"

    def machines(self) -> dict[str, str]:
        """Return the places, of which nobody knows before on which node they will be."""
        return {name: f"node of {name}" for name in self._places}

    def submit(self, machine: str, task: Callable[..., Any], *given: object) -> _Job:
        """Send a task as a job.

        Raises:
            OSError: it is not taken.
        """
        try:
            job = self._executor.submit(_on_node, task, *given)
        except Exception as error:  # noqa: BLE001 - of any scheduler
            # It would not take another one now: what has a job is free when that has ended.
            self._places = [one for one, job in self._jobs.items() if not job.done()]
            said = str(error).strip().rpartition("\n")[2].rpartition("error: ")[2]
            raise OSError(f"the job is not taken: {said}") from None
        if self.queue is not None:
            self.queue.submitted(job.job_id)
        self._jobs[machine] = _Job(job, self)
        return self._jobs[machine]

    def leave_out(self, node: str, *, is_noisy: bool) -> None:
        """Ask for this node no more; where it is noisy, there is a place on another instead."""
        if is_noisy and self._spare:
            self._places.append(self._spare.pop(0))
        self._left_out.append(node)
        self._executor.update_parameters(slurm_exclude=",".join(dict.fromkeys(self._left_out)))

    def close(self) -> None:
        """Cancel the jobs that have not ended, and remove what they were given."""
        for one in self._jobs.values():
            one.cancel()
        shutil.rmtree(self._folder, ignore_errors=True)


def opened(given: str, n_runs: int | None) -> _SubmititJobs:
    """Return places for jobs.

    Raises:
        UsageError: there is no such kind of cluster, or an option is none.
    """
    cluster, *options = given.split(",")
    if cluster not in _CLUSTERS:
        raise UsageError(f"--on submitit:{given:.40}: write submitit:slurm,partition=NAME")
    if cluster == "slurm" and n_runs is None:
        raise UsageError("--on submitit:slurm: nobody knows how many nodes are free; add --runs 3")
    named: dict[str, Any] = {"timeout_min": _LONGEST_MIN}
    for one in options:
        name, equals, value = one.partition("=")
        if not equals or name in _ONE_NODE:
            raise UsageError(f"--on submitit:{given:.40}: {one!r} is no option; write {_WRITE}")
        known = name in {"timeout_min", "cpus_per_task", "mem_gb", "gpus_per_node"}
        named[name if known else f"slurm_{name}"] = int(value) if value.isdigit() else value
    # Where other nodes find it, too, which a folder for temporary files is not.
    submitit = require("submitit", "machines")
    folder = Path(tempfile.mkdtemp(prefix=".coldwarm-jobs-", dir=Path.cwd()))
    try:
        # Modules in this folder, such as a random.py, are not taken for Python's own.
        python = {"slurm_python": f"{shlex.quote(sys.executable)} -P"}
        executor = submitit.AutoExecutor(folder, cluster=cluster, **python)
        executor.update_parameters(**(_whole_node(named) if cluster == "slurm" else named))
    except (NameError, TypeError, ValueError, RuntimeError, AssertionError) as error:
        shutil.rmtree(folder, ignore_errors=True)
        said = shorten(str(error).partition(" for executor")[0])
        raise UsageError(f"--on submitit:{given:.40}: {said}; write {_WRITE}") from None
    n_places = n_runs if cluster == "slurm" and n_runs else 1
    return _SubmititJobs(executor, folder, n_places, str(named.get("slurm_exclude", "")))


def _whole_node(named: Mapping[str, Any]) -> dict[str, Any]:
    """Return options with what a job needs for all of a node, where they do not say otherwise."""
    defaults: dict[str, Any] = {
        "slurm_exclusive": True,
        "slurm_srun_args": ["--cpu-bind=none"],  # else it may be one processor of them
        # Else submitit's signal ends a run up to two and a half minutes early.
        "slurm_signal_delay_s": 0,
    }
    if not named.keys() & _MEMORY:
        defaults["slurm_mem"] = 0  # all: --exclusive alone gives what jobs have by default
    return {**defaults, **named}
