"""Runs on several machines: nothing is lost, nothing is kept twice, and nothing hostile is kept."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import time
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.started import coldwarm

from coldwarm.history import machines, remote, store
from coldwarm.history.remote import MachineAnswer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

PAIR = """
import numpy as np

def one():
    x = np.arange(1000.0)
    return np.sum, (x,)

def other():
    x = np.arange(1000.0)
    return (lambda x: np.add.reduce(x)), (x,)
"""
BENCH = ("bench", "pair.py:one", "pair.py:other", "--rounds", "2", "--max-rounds", "2")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "pair.py").write_text(PAIR, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def kept(folder: Path) -> int:
    return len(store.history(folder).runs)


class _Carried:
    """Machines that answer with what they are given, in their order; ``None``: they are lost."""

    def __init__(self, answers: dict[str, list[MachineAnswer | None]]) -> None:
        self.answers, self.sent = answers, 0

    def machines(self) -> dict[str, str]:
        return {name: name for name, left in self.answers.items() if left}

    def submit(self, machine: str, task: Callable[..., Any], *given: object) -> Future[Any]:
        del task, given
        self.sent += 1
        answer, pending = self.answers[machine].pop(0), Future[Any]()
        if answer is None:
            pending.set_exception(ConnectionError("gone"))
        else:
            pending.set_result(answer)
        return pending

    def close(self) -> None:
        self.answers.clear()


def answer(archive: bytes = b"", noise: float = 0.01) -> MachineAnswer:
    return MachineAnswer("m", noise, archive=archive)


def packed(name: str, data: bytes) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as archive:
        entry = tarfile.TarInfo(name)
        entry.size = len(data)
        archive.addfile(entry, io.BytesIO(data))
    return made.getvalue()


PLAN = machines.MachinePlan(("bench",), {}, 0.1, 2)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    """Two real results, as a machine sends them."""
    found = []
    for _ in range(2):
        told = remote.run(BENCH, {"pair.py": PAIR.encode()}, None)
        assert told.archive, told.failure
        found.append(told.archive)
    return found


def test_a_run_that_is_lost_goes_to_another_machine(tmp_path: Path, results: list[bytes]) -> None:
    first, second = results
    carrier = _Carried({"a": [None], "b": [answer(first), answer(second)]})
    found = machines.measure(carrier, PLAN, tmp_path / "history", lambda _: None)
    assert (found.n_runs, found.n_kept, len(found.lost)) == (2, 2, 1)
    assert "a was lost" in found.lost[0]
    assert kept(tmp_path / "history") == 2


def test_a_noisy_machine_is_told_and_gets_no_other_run(
    tmp_path: Path, results: list[bytes]
) -> None:
    noisy = answer(noise=0.3)
    carrier = _Carried({"a": [noisy, noisy], "b": [answer(one) for one in results]})
    found = machines.measure(carrier, PLAN, tmp_path / "history", lambda _: None)
    assert (found.n_kept, found.noisy, found.lost) == (2, {"a (m)": 0.3}, [])
    assert carrier.sent == 3


def test_what_is_sent_twice_is_kept_once(tmp_path: Path, results: list[bytes]) -> None:
    carrier = _Carried({"a": [answer(results[0])] * 4})
    found = machines.measure(carrier, PLAN, tmp_path / "history", lambda _: None)
    assert found.n_kept == kept(tmp_path / "history") == 1
    assert "there already" in found.lost[0]
    assert "1 of 2 runs were not measured" in found.lost[1]


def test_a_machine_on_which_a_run_fails_takes_no_other(
    tmp_path: Path, results: list[bytes]
) -> None:
    broken = MachineAnswer("m", 0.01, failure="it ended with exit status 3")
    answers: dict[str, list[MachineAnswer | None]] = {
        "a": [broken] * 9,
        "b": [answer(one) for one in results],
    }
    found = machines.measure(_Carried(answers), PLAN, tmp_path / "history", lambda _: None)
    assert (found.n_kept, len(found.lost)) == (2, 1)


def test_machines_of_one_kind_are_told_apart(tmp_path: Path, results: list[bytes]) -> None:
    first, second = (MachineAnswer(f"node-{n}", archive=one) for n, one in enumerate(results))
    carrier = _Carried({"a": [first], "b": [second]})
    machines.measure(carrier, PLAN, tmp_path / "history", lambda _: None)
    assert len(store.history(tmp_path / "history").machines()) == 2


@pytest.mark.parametrize(
    "archive",
    [
        b"no archive",
        packed("../outside.json", b"{}"),
        packed("/outside.json", b"{}"),
        packed("result/suite.json", b"{"),
        packed("result/suite.json", b'{"schema_version": "coldwarm.suite_result.v2"}'),
        packed("result/other.bin", os.urandom(100)),
    ],
    ids=["no archive", "above", "absolute", "broken", "half", "other"],
)
def test_what_is_hostile_is_refused(tmp_path: Path, archive: bytes) -> None:
    carrier = _Carried({"a": [answer(archive)] * 9})
    found = machines.measure(carrier, PLAN, tmp_path / "inside" / "history", lambda _: None)
    assert found.n_kept == 0
    assert "is refused" in found.lost[0]
    assert not [*tmp_path.rglob("outside.json")]
    assert not Path("/outside.json").exists()


def test_a_changed_figure_is_refused(tmp_path: Path, results: list[bytes]) -> None:
    changed = io.BytesIO()
    with (
        tarfile.open(fileobj=io.BytesIO(results[0])) as source,
        tarfile.open(fileobj=changed, mode="w:gz") as target,
    ):
        for entry in source:
            data = source.extractfile(entry)
            content = data.read() if data else b""
            if entry.name.endswith("cases/one.json"):
                content = content.replace(b'"samples_s": [', b'"samples_s": [9.0, ', 1)
                entry.size = len(content)
            target.addfile(entry, io.BytesIO(content))
    carrier = _Carried({"a": [answer(changed.getvalue())] * 9})
    found = machines.measure(carrier, PLAN, tmp_path / "history", lambda _: None)
    assert found.n_kept == 0


def test_this_machine_measures_and_keeps(place: Path) -> None:
    line = ("history", "measure", "--to", "history", "--runs", "2", "--any-noise")
    done = coldwarm(*line, "--json", "--", *BENCH, cwd=place)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["n_runs"], told["n_kept"], told["lost"]) == (2, 2, [])
    assert kept(place / "history") == 2


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--on", "nowhere", "--", *BENCH), "none of dask, local, submitit"),
        (("--on", "dask:tcp://127.0.0.1:1", "--", *BENCH), "no scheduler answers"),
        (("--on", "submitit:nothing", "--", *BENCH), "submitit:slurm,partition=NAME"),
        (("--on", "local:3", "--", *BENCH), "write --on local"),
        (("--", "doctor", "x.py"), "bench a.py:f b.py:f"),
        (("--", *BENCH, "--out", "x"), "results go into the history; remove it"),
        (("--", *BENCH, "--sweep", "n=1:9"), "--sweep is for many sizes"),
        (("--", "bench", "/pair.py:one"), "is not below this folder"),
        (("--send", "nothing", "--", *BENCH), "nothing"),
        (("--on", "submitit:slurm", "--", *BENCH), "add --runs 3"),
        ((), "name what to measure"),
    ],
)
def test_what_cannot_be_meant_is_refused(place: Path, options: tuple[str, ...], said: str) -> None:
    done = coldwarm("history", "measure", "--to", "history", *options, cwd=place)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in " ".join(done.stderr.split())


def free_ports(n: int) -> list[int]:
    held = [socket.socket() for _ in range(n)]
    try:
        for one in held:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in held]
    finally:
        for one in held:
            one.close()


Workers = dict[str, subprocess.Popen[bytes]]


@contextmanager
def started(
    folder: Path, places: Sequence[tuple[str, Sequence[str]]]
) -> Iterator[tuple[str, Workers]]:
    """A scheduler of Dask's and its workers, each at a host, and begun by a program."""
    port, *ports = free_ports(1 + len(places))
    address = f"tcp://127.0.0.1:{port}"
    begin = [sys.executable, "-m", "distributed.cli"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    line = [f"{begin[2]}.dask_scheduler", "--host", "127.0.0.1", "--port", str(port)]
    running = [subprocess.Popen([*begin[:2], *line, "--no-dashboard"], cwd=folder, **quiet)]  # type: ignore[call-overload]
    workers = {}
    for number, (own, (host, by)) in enumerate(zip(ports, places, strict=True)):
        work = folder / f"worker-{number}"
        work.mkdir()
        line = [f"{begin[2]}.dask_worker", address, "--no-nanny", "--nthreads", "1"]
        line += ["--worker-port", str(own), "--host", host, "--no-dashboard"]
        env = {**os.environ, "COLDWARM_WORKER": str(number)}
        one = subprocess.Popen([*by, *begin[:2], *line], cwd=work, env=env, **quiet)  # type: ignore[call-overload]
        running.append(one)
        workers[f"tcp://{host}:{own}"] = one
    try:
        wait_for(address, len(places))
        yield address, workers
    finally:
        for one in running:
            one.kill()
            one.wait()


def wait_for(address: str, n_workers: int) -> None:
    """Wait until all workers are there."""
    from distributed import Client

    ends_s = time.monotonic() + 60
    while time.monotonic() < ends_s:
        try:
            with Client(address, timeout=5, set_as_default=False) as client:
                client.wait_for_workers(n_workers, timeout=30)
            break
        except OSError:
            time.sleep(0.5)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[str, Workers]]:
    """Three workers on one host, in processes and folders of their own."""
    pytest.importorskip("distributed")
    with started(tmp_path, [("127.0.0.1", ())] * 3) as found:
        yield found


@pytest.mark.slow
def test_a_worker_of_dask_is_killed_and_nothing_is_lost(
    place: Path, cluster: tuple[str, Workers]
) -> None:
    address, workers = cluster
    line = [sys.executable, "-m", "coldwarm", "history", "measure", "--to", "history"]
    line += ["--on", f"dask:{address}", "--runs", "3", "--any-noise", "--json"]
    with subprocess.Popen(
        [*line, "--", *BENCH], cwd=place, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        begun = next(one for one in process.stderr if "begins on" in one)
        machine = begun.split()[-1]
        time.sleep(2)
        workers[machine].send_signal(signal.SIGKILL)
        stdout, stderr = process.communicate(timeout=300)
    assert process.returncode == 0, stderr
    told = json.loads(stdout)
    assert (told["n_runs"], told["n_kept"]) == (3, 3)
    assert machine in told["lost"][0]
    assert len(told["lost"]) == 1
    assert kept(place / "history") == 3


BURDEN = """
import os, random, sys, time

at_s, parent = time.time(), os.getpid()
for _ in range(6):
    if os.fork() == 0:
        os.setsid()  # else the kernel gives all of them together the time of one
        chance = random.Random(1)  # the same for all: they are busy at the same times
        while os.getppid() == parent:
            at_s += chance.expovariate(1 / 0.15)
            while time.time() < at_s:
                pass
            at_s += chance.expovariate(1 / 0.15)
            time.sleep(max(0.0, at_s - time.time()))
        sys.exit()
time.sleep(3600)
"""
"""Processes that are busy in bursts, to the end of the one that has begun them."""


@pytest.fixture
def burdened(tmp_path: Path) -> Iterator[tuple[str, str]]:
    """A worker on a processor that others use in bursts, and one on another processor.

    They are at two hosts' addresses: of one host, both would be left out.
    """
    pytest.importorskip("distributed")
    if shutil.which("taskset") is None or len(os.sched_getaffinity(0)) < 2:
        pytest.skip("needs taskset, and two processors")
    pins = [("taskset", "--cpu-list", f"{one}") for one in sorted(os.sched_getaffinity(0))[:2]]
    line = [*pins[0], sys.executable, "-c", BURDEN]
    with (
        started(tmp_path, [("127.0.0.1", pins[0]), ("127.0.0.2", pins[1])]) as (address, workers),
        subprocess.Popen(line) as burden,
    ):
        yield address, next(iter(workers))
        burden.kill()


@pytest.mark.slow
def test_a_worker_with_busy_neighbours_is_told_and_gets_no_run(
    place: Path, burdened: tuple[str, str]
) -> None:
    address, machine = burdened
    line = ("history", "measure", "--to", "history", "--on", f"dask:{address}", "--runs", "2")
    done = coldwarm(*line, "--most-noise", "12%", "--json", "--", *BENCH, cwd=place, timeout_s=500)
    told = json.loads(done.stdout)
    assert (done.returncode, told["n_kept"], told["lost"]) == (0, 2, []), done.stderr
    assert kept(place / "history") == 2
    ((name, noise),) = told["noisy"].items()
    assert name.startswith(machine)
    assert noise > 0.12
    assert f"{machine} is too noisy, and gets no run" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("cluster_kind", ["local", "debug"])
def test_jobs_of_submitit_run(place: Path, cluster_kind: str) -> None:
    pytest.importorskip("submitit")
    line = ("history", "measure", "--to", "history", "--on", f"submitit:{cluster_kind}")
    done = coldwarm(*line, "--any-noise", "--json", "--", *BENCH, cwd=place)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["n_kept"] == kept(place / "history") == 1
