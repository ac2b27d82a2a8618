"""One measured process, spoken to as the runner does: what it loads, and its phases."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from coldwarm import registry, wire
from coldwarm.contracts.observation import PHASES

WORKER = Path(wire.__file__).parent / "worker" / "main.py"
BARE = Path(__file__).with_name("bare_backend.py")
LOOP = {"module": "bare_loop", "path": str(Path(__file__).with_name("bare_loop.py"))}
MATMUL = registry.workloads()["matmul"].source


def job(backend: str, *, persistent: bool = False, **changes: object) -> dict[str, Any]:
    """Return the job of a small matrix product."""
    if backend == "bare":
        named = {"module": "bare_backend", "path": str(BARE), "object": "Bare"}
    else:
        named = registry.backends()[backend].named()
    return {
        "role": "measure",
        "backend": named,
        "device": "cpu",
        "threads": None,
        "workload": MATMUL.named(),
        "size": 16,
        "dtype": "f32",
        "numpy_dtype": "float32",
        "seed": 1,
        "tolerance": 1e-5,
        "reference": None,
        "persistent": persistent,
        "analyse": False,
        "list_modules": True,
        **changes,
    }


class Worker:
    """A worker and the two pipes to it."""

    def __init__(self, message: dict[str, Any]) -> None:
        """Start it and send its job."""
        down_read, self.down = os.pipe()
        up_read, up_write = os.pipe()
        self.up = os.fdopen(up_read, "rb")
        self.spawned_ns = time.perf_counter_ns()
        self.process = subprocess.Popen(
            [sys.executable, str(WORKER), str(down_read), str(up_write)],
            pass_fds=(down_read, up_write),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        os.close(down_read)
        os.close(up_write)
        self.send(message)

    def send(self, message: dict[str, Any]) -> None:
        """Send a message."""
        wire.write_all(self.down, wire.encode(message))

    def receive(self) -> dict[str, Any]:
        """Return its next message."""
        return wire.decode(self.up.readline())

    def end(self) -> tuple[int, bytes]:
        """Wait for its end; return its exit code and what it printed."""
        os.close(self.down)
        out, err = self.process.communicate(timeout=60)
        self.up.close()
        return self.process.returncode, out + err


def start(message: dict[str, Any]) -> dict[str, Any]:
    """Return what a process says of its start, once it has ended well."""
    worker = Worker(message)
    said = worker.receive()
    assert said["type"] == "start", said
    said["spawned_ns"], said["received_ns"] = worker.spawned_ns, time.perf_counter_ns()
    assert worker.receive()["type"] == "end"
    assert worker.end() == (0, b"")
    return said


def loaded(statement: str) -> set[str]:
    """Return the modules that a bare interpreter has loaded after a statement."""
    program = f"import sys; {statement}; print(list(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    names: list[str] = json.loads(done.stdout.splitlines()[-1].replace("'", '"'))
    return set(names)


def foreign(said: dict[str, Any], bare: set[str]) -> set[str]:
    """Return the modules that neither the bare interpreter nor the project itself loads."""
    own = {"coldwarm", "__main__", "bare_backend"}
    return {
        name
        for name in said["parts"]["modules"]
        if name not in bare | own and not name.startswith("coldwarm.")
    }


def test_nothing_is_loaded_before_the_framework_but_the_worker_itself() -> None:
    said = start(job("bare"))
    assert foreign(said, loaded("pass")) == set()
    own = {name for name in said["parts"]["modules"] if name.startswith("coldwarm.")}
    assert own == {
        "coldwarm.backends",
        "coldwarm.backends.base",
        "coldwarm.worker.loop",
        "coldwarm.wire",
        "coldwarm.worker",
        "coldwarm.worker.candidate",
        "coldwarm.worker.session",
        "coldwarm.workloads",
        "coldwarm.workloads.matmul",
    }


@pytest.mark.parametrize(
    ("backend", "statement", "module"),
    [
        ("numpy", "import numpy", "numpy"),
        pytest.param("jax_jit", "import jax", "jax", marks=pytest.mark.slow),
        pytest.param("torch_eager", "import torch", "torch", marks=pytest.mark.slow),
        pytest.param("numba", "import numba", "numba", marks=pytest.mark.slow),
    ],
)
def test_the_import_phase_loads_the_framework_and_no_more(
    backend: str, statement: str, module: str
) -> None:
    if find_spec(module) is None:
        pytest.skip(f"{module} is not installed")
    said = start(job(backend))
    # NumPy makes the inputs of every backend; who imports it first is the framework's affair.
    assert foreign(said, loaded(f"{statement}; import numpy")) == set()


@pytest.mark.parametrize("backend", ["bare", "numpy"])
def test_phases_follow_each_other_on_the_axis_of_the_parent(backend: str) -> None:
    said = start(job(backend))
    assert tuple(phase["name"] for phase in said["phases"]) == PHASES[1:]
    stamps = [said["spawned_ns"], said["entered_ns"], said["loaded_ns"]]
    for phase in said["phases"]:
        stamps += [phase["begin_ns"], phase["end_ns"]]
    stamps.append(said["received_ns"])
    assert stamps == sorted(stamps)
    assert stamps[0] < stamps[-1]


def test_a_scenario_goes_through_its_steps_and_then_once_more(tmp_path: Path) -> None:
    wanted = tmp_path / "wanted.npz"
    x = np.random.default_rng(1).standard_normal(16).astype("float32").astype("float64")
    np.savez(wanted, x, 2 * x, 3 * x)
    worker = Worker(job("numpy", persistent=True, workload=LOOP, reference=str(wanted)))
    said = worker.receive()
    names = [phase["name"] for phase in said["phases"]]
    assert names[-3:] == ["first_call", "remaining_calls", "second_call"]
    first, rest = (p["end_ns"] - p["begin_ns"] for p in said["phases"][-3:-1])
    steps = said["loop"]["steps_ns"]
    assert len(steps) == 3
    assert 0 < steps[0] <= first
    assert 0 < sum(steps[1:]) <= rest
    assert said["loop"]["compiles"] == [0, 0, 0]
    worker.send({"op": "block", "batch": 1, "seconds": 10.0, "limit": 4})
    assert len(worker.receive()["samples_ns"]) == 4
    worker.send({"op": "quit"})
    end = worker.receive()
    assert end["first"]["gate"]["passed"], end["first"]
    assert end["gate"]["passed"], "the last loop is checked as a whole too"
    assert end["harness"]["unsynced_call_s"] is None
    assert worker.end() == (0, b"")


def test_every_step_of_a_scenario_is_checked(tmp_path: Path) -> None:
    wanted = tmp_path / "wanted.npz"
    x = np.random.default_rng(1).standard_normal(16).astype("float32").astype("float64")
    np.savez(wanted, x, 2 * x, 4 * x)
    said = start(job("numpy", workload=LOOP, reference=str(wanted)))
    assert not said["gate"]["passed"]


def test_memory_grows_with_the_phases() -> None:
    peaks = [phase["peak_rss_bytes"] for phase in start(job("numpy"))["phases"]]
    assert peaks == sorted(peaks)
    assert peaks[0] > 1_000_000


def test_a_process_that_stays_runs_the_blocks_it_is_asked_for() -> None:
    worker = Worker(job("numpy", persistent=True))
    started = worker.receive()
    order = {"op": "block", "batch": 4, "seconds": 10.0, "limit": 7}
    worker.send(order)
    block = worker.receive()
    assert (block["type"], block["batch"], len(block["samples_ns"])) == ("block", 4, 7)
    assert block["compiles"] == 0
    assert min(block["samples_ns"]) > 0
    assert block["start_ns"] > started["phases"][-1]["end_ns"]
    worker.send({**order, "batch": 1, "seconds": 0.0})
    assert len(worker.receive()["samples_ns"]) == 1
    worker.send({"op": "quit"})
    end = worker.receive()
    assert end["type"] == "end"
    assert 0 < end["harness"]["loop_s"] < 1e-5
    assert 0 < end["harness"]["timer_s"] < 1e-5
    assert end["harness"]["sync_s"] is None
    assert worker.end() == (0, b"")


ALONE = """
import resource, sys
import numpy as np

sys.path.insert(0, sys.argv[1])
import mlp_train_step as workload

arguments = workload.inputs(np.random.default_rng(0), int(sys.argv[2]), "float32")
step = workload.for_numpy(lambda function: function)
for _ in range(22):
    step(*arguments)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(50):
    step(*arguments)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.parametrize("size", [128, 256])
def test_warm_calls_take_memory_from_the_kernel_as_their_program_does_alone(size: int) -> None:
    """Whatever the worker has loaded or keeps: a step whose temporary arrays are of 128 KiB."""
    workload = registry.workloads()["mlp_train_step"].source.named()
    folder = Path(workload["path"]).parent
    command = [sys.executable, "-c", ALONE, str(folder), str(size)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    worker = Worker(job("numpy", persistent=True, workload=workload, size=size))
    worker.receive()
    worker.send({"op": "block", "batch": 1, "seconds": 10.0, "limit": 20})
    worker.receive()
    worker.send({"op": "block", "batch": 1, "seconds": 10.0, "limit": 50})
    seen = worker.receive()["page_faults"]
    assert (seen < 50) == (int(said) < 50), (seen, said)
    worker.send({"op": "quit"})
    worker.receive()
    assert worker.end() == (0, b"")


def test_short_calls_are_seen_to_use_one_processor() -> None:
    """What the loop does between the samples is in the processor time, and in the wall clock."""
    worker = Worker(job("numpy", persistent=True, size=2, threads=1))
    worker.receive()
    shares = []
    # Long blocks: a kernel may add a tick of some milliseconds to the processor time, and the
    # process may be stopped between the readings of the two clocks.
    for _ in range(5):
        worker.send({"op": "block", "batch": 1, "seconds": 0.2, "limit": 10**6})
        block = worker.receive()
        assert block["wall_ns"] > sum(block["samples_ns"])
        shares.append(block["cpu_s"] / block["wall_ns"] * 1e9)
    assert statistics.median(shares) <= 1.1, "as one processor"
    worker.send({"op": "quit"})
    worker.receive()
    assert worker.end() == (0, b"")


def test_it_ends_quietly_when_its_runner_is_gone() -> None:
    worker = Worker(job("numpy", persistent=True))
    assert worker.receive()["type"] == "start"
    assert worker.end() == (0, b"")


AT_THE_END = """
import atexit, threading, time
from pathlib import Path

HERE = Path(__file__).parent

def inputs(rng, size, dtype):
    import numpy as np

    return [np.zeros(4, dtype)]


def later():
    time.sleep(0.3)
    (HERE / "thread").touch()


def for_numpy(wrap):
    atexit.register((HERE / "registered").touch)
    threading.Thread(target=later).start()
    return wrap(lambda x: x)
"""


def test_threads_and_what_is_registered_for_the_end_are_waited_for(tmp_path: Path) -> None:
    file = tmp_path / "ending.py"
    file.write_text(HEAP.partition("\n\n\n")[0] + AT_THE_END)
    source = {"module": "ending", "path": str(file)}
    start(job("numpy", workload=source))
    assert {one.name for one in tmp_path.iterdir()} >= {"thread", "registered"}


def test_the_reference_is_in_double_precision_and_the_inputs_are_those_of_the_seed(
    tmp_path: Path,
) -> None:
    path = tmp_path / "ä 😀 answer.npz"
    message = {"role": "reference", **job("numpy"), "reference": str(path)}
    worker = Worker({**message, "role": "reference"})
    said = worker.receive()
    assert worker.end() == (0, b"")
    with np.load(path) as stored:
        assert [stored[name].dtype for name in stored.files] == [np.float64] * 2
        assert set(stored.files) == {"arr_0", "noise_0"}
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]
    measured = start(job("numpy", reference=str(path)))
    assert measured["gate"]["passed"]
    assert measured["input_sha256"] == said["input_sha256"]
    assert start(job("numpy", seed=2))["input_sha256"] != said["input_sha256"]


HEAP = """
NAME = "heap"
SIZES, DTYPES, LAYOUT, BASELINE, TOLERANCE = (16,), ("f32",), "one array", "numpy", {"f32": 1e-6}


def inputs(rng, size, dtype):
    import numpy as np

    return [np.zeros(2**18, dtype)]


def for_numpy(wrap):
    def heap(x):
        kept = [x + i for i in range(12)]
        return kept[3]

    return wrap(heap)
"""
"""Gives twelve megabytes back in each call; the answer is as large as one of its arrays."""


def faults_of(tmp_path: Path, **changes: object) -> float:
    """Return the page faults of a call in a persistent process."""
    file = tmp_path / "heap.py"
    file.write_text(HEAP)
    wanted = tmp_path / "wanted.npz"
    np.savez(wanted, np.full(2**18, 3.0))
    source = {"module": "heap", "path": str(file)}
    told = job("numpy", persistent=True, workload=source, reference=str(wanted), **changes)
    worker = Worker(told)
    said = worker.receive()
    assert said["gate"] is None, "to check an answer takes memory, so it comes after the blocks"
    blocks = []
    for _ in range(2):
        worker.send({"op": "block", "batch": 1, "seconds": 10.0, "limit": 20})
        blocks.append(worker.receive())
    worker.send({"op": "quit"})
    end = worker.receive()
    assert end["first"]["gate"]["passed"]
    assert end["gate"]["passed"]
    assert worker.end() == (0, b"")
    return float(blocks[-1]["page_faults"]) / 20


def test_warm_calls_find_the_heap_as_their_own_program_leaves_it(tmp_path: Path) -> None:
    program = f"""
import resource
import numpy as np
space = {{}}
exec({HEAP!r}, space)
x, = space["inputs"](None, 16, "float32")
call = space["for_numpy"](lambda f: f)
first = call(x)
call(x)
for _ in range(20):
    call(x)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20):
    call(x)
print((resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before) / 20)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    own = float(done.stdout)
    assert own > 1000
    assert faults_of(tmp_path) == pytest.approx(own, rel=0.1)
    assert faults_of(tmp_path, allocator="as_it_is") == pytest.approx(own, rel=0.1)
    assert faults_of(tmp_path, allocator="keeps_memory") < 10
