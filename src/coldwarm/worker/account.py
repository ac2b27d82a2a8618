"""Account of a process once its result is there: measured, made ahead of time, or of the reference.

The float64 answers of a workload are computed once for all candidates. Beside them lies how far
each number moves where the reference is computed in float32 instead.
"""

import os
import sys

from coldwarm.frameworks import settings
from coldwarm.wire import TYPE_CHECKING, because
from coldwarm.worker import candidate, gate
from coldwarm.worker.candidate import Phases, now_ns
from coldwarm.worker.loop import is_glibc, make_loop

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    import numpy as np

    from coldwarm.worker.candidate import Prepared


_COST_CALLS = 20_000


def start(prepared: "Prepared", phases: Phases) -> "dict[str, Any]":
    """Describe the start: phases, counters, device, versions. Allocates nothing large."""
    backend = prepared.backend
    counters = backend.counters()
    return {
        "phases": phases.account(),
        "counters": counters,
        "moved": backend.moved(),
        "bytecode": _bytecode(),
        "read_bytes": _read_bytes(),
        "glibc": is_glibc(),
        "device": backend.device_info(),
        "settings": settings.told(),
        "versions": {"python": sys.version.split()[0], **backend.versions()},
    }


def checked(prepared: "Prepared", first: "Any") -> "dict[str, Any]":
    """Hold the first output against the reference, and hash the inputs."""
    gated = None if prepared.reference_path is None else prepared.backend.kept(first)
    held = _gate(prepared, gated)
    if gated and held and not held["passed"]:
        changing = _changing(prepared, gated)
        held["reason"] = {**changing, "parts": [held["reason"]]} if changing else held["reason"]
    return {"gate": held, "input_sha256": _input_digest(prepared)}


def end(prepared: "Prepared") -> "dict[str, Any]":
    """Describe the end: a last call through the gate, totals, the harness's own cost."""
    counted = _counts(prepared)
    last = prepared.answer(prepared.fresh()) if prepared.job["persistent"] else None
    if prepared.job["persistent"]:
        prepared.backend.refuse_unfinished(last)
    # A function that keeps a state gives another answer each time; the first was checked.
    checkable = last is not None and prepared.job.get("repeats", True)
    gated = prepared.fetched(last) if checkable and prepared.reference_path is not None else None
    checked = _gate(prepared, gated)
    return {
        "type": "end",
        "gate": checked,
        **_usage(),
        "counters": prepared.backend.counters(),
        "counts": counted,
        "device": prepared.backend.device_info(),
        "harness": _harness(prepared) if prepared.job["persistent"] else None,
        "analysis": prepared.backend.analysis() if prepared.job["analyse"] else {},
        "more": _has_other_calls(prepared),
    }


def _counts(prepared: "Prepared") -> "dict[str, Any]":
    """Return what was compiled in the first calls, counted; nothing is timed any more."""
    found = prepared.backend.counts()
    numbers = {name: number for name, number in found.items() if isinstance(number, int)}
    reasons = {name: why for name, why in found.items() if name not in numbers}
    return {"numbers": numbers, "null_reasons": reasons}


def _has_other_calls(prepared: "Prepared") -> bool:
    return bool(prepared.job.get("other_calls")) and prepared.job.get("function") is not None


def call_otherwise(prepared: "Prepared") -> "dict[str, Any] | None":
    """Call a user's own function as the timed loop does not; ``None``: it is no such.

    After the process's last word of what it has measured, which is safe whatever happens here.
    """
    if not _has_other_calls(prepared):
        return None
    from coldwarm.functions import other_calls

    others, compiles = prepared.workload.others, prepared.backend.compiles_so_far
    figures = other_calls.measure(
        prepared.call,
        prepared.fresh,
        others,
        compiles,
        frozen=prepared.frozen,
        own=prepared.job["function"]["kind"] == "own",
    )
    held = other_calls.check_answers(
        prepared.reference_path, prepared.call, prepared.fresh, others, prepared.job
    )
    return {"type": "other_calls", **figures, **held, "folded": prepared.workload.folded()}


def _usage() -> "dict[str, Any]":
    """Return what this process and its children have used of the processors so far."""
    import resource

    process = resource.getrusage(resource.RUSAGE_SELF)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "involuntary_switches": process.ru_nivcsw,
        "cpu_user_s": process.ru_utime,
        "cpu_system_s": process.ru_stime,
        "child_cpu_s": children.ru_utime + children.ru_stime,
    }


def _gate(prepared: "Prepared", outputs: "list[Any] | None") -> "dict[str, Any] | None":
    if outputs is None or prepared.reference_path is None:
        return None
    tolerance, finite = prepared.job["tolerance"], prepared.job.get("function") is None
    return gate.check(outputs, prepared.reference_path, tolerance, finite=finite)


def _changing(prepared: "Prepared", outputs: "list[Any]") -> "dict[str, Any] | None":
    """Say whose answer depends on the process, as random numbers without a seed do.

    A candidate's own does where its earlier process gave another one, the reference's where its
    second call did. Nobody can call such an answer wrong, nor one that is held against it.
    """
    own, changing = prepared.job.get("own_answer"), prepared.job.get("changing_reference")
    tolerance = prepared.job["tolerance"]
    if own is not None and not gate.check(outputs, own, tolerance, finite=False)["passed"]:
        return because("not_reproducible")
    return because("reference_not_reproducible", candidate=changing) if changing else None


def _input_digest(prepared: "Prepared") -> str:
    """Make the inputs again and hash them: proof that all candidates had the same."""
    job = prepared.job
    workload = prepared.workload
    if job.get("function") is not None:
        digest: str = workload.digest(prepared.fresh())
        return digest
    return _input_hash(candidate.make_inputs(workload, job))


def _bytecode() -> "dict[str, int]":
    """Count the loaded modules that have bytecode on disk, and those that have none."""
    cached = [getattr(module, "__cached__", None) for module in list(sys.modules.values())]
    present = [path for path in cached if isinstance(path, str)]
    existing = sum(map(os.path.exists, present))
    return {"with_bytecode": existing, "without_bytecode": len(present) - existing}


def _read_bytes() -> "int | None":
    """Return the bytes that this process has caused to be read from storage."""
    try:
        with open("/proc/self/io", encoding="ascii") as file:
            lines = dict(line.split(": ") for line in file.read().splitlines())
    except OSError:
        return None
    return int(lines["read_bytes"])


def _harness(prepared: "Prepared") -> "dict[str, float | None]":
    """Measure the harness's own cost with its own loop on a null workload."""
    from itertools import repeat

    begin = now_ns()
    for _ in repeat(None, _COST_CALLS):
        now_ns()
    timer_ns = (now_ns() - begin) / _COST_CALLS
    count = len(prepared.arguments)
    loop = make_loop(count, prepared.keywords, synchronous=True)
    arguments = prepared.arguments
    null_ns = min(loop(now_ns, repeat, _null, None, arguments, _COST_CALLS, 5, 10**9))
    cost: dict[str, float | None] = {
        "timer_s": timer_ns / 1e9,
        "loop_s": null_ns / _COST_CALLS / 1e9,
        "sync_s": None,
        "unsynced_call_s": None,
    }
    if not prepared.backend.synchronous and prepared.loop is None:
        cost.update(_synchronising(prepared))
    return cost


def _synchronising(prepared: "Prepared") -> "dict[str, float]":
    """Time a sync on an output that is there, and calls without their sync."""
    from statistics import median

    sync, out = prepared.backend.sync, prepared.call(prepared.fresh())
    begin = now_ns()
    for _ in range(200):
        sync(out)
    sync_ns = (now_ns() - begin) / 200
    dispatched_ns = []
    for _ in range(5):
        arguments = prepared.fresh()
        begin = now_ns()
        out = prepared.dispatched(arguments)
        dispatched_ns.append(now_ns() - begin)
        sync(out)
    return {"sync_s": sync_ns / 1e9, "unsynced_call_s": median(dispatched_ns) / 1e9}


def _null(*_arguments: "Any", **_named: "Any") -> None:
    """Do nothing: the null workload."""


_FLOAT32 = 2.0**-23
"""From a number of float32 to the next one, as a share of it."""


def _input_hash(arrays: "Sequence[np.ndarray[Any, Any]]") -> str:
    """Return the SHA-256 of the inputs: dtype, shape and bytes of each array in order."""
    import hashlib

    digest = hashlib.sha256()
    for array in arrays:
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def _compute_reference(job: "Mapping[str, Any]") -> "dict[str, Any]":
    """Write the reference outputs to ``job["reference"]`` and describe the inputs."""
    import numpy as np

    workload = candidate.load_module(job["workload"])
    arrays = candidate.make_inputs(workload, job)
    outputs = workload.reference(*(_widened(array) for array in arrays))
    for index, output in enumerate(outputs):
        if not np.all(np.isfinite(output)):
            text = f"reference output {index} is not finite, so it could not tell right from wrong"
            raise ValueError(text)
    noises = _noises(workload, arrays, outputs, job["seed"])
    named: dict[str, Any] = {f"{gate.NOISE}{place}": noise for place, noise in enumerate(noises)}
    path = job["reference"]
    with open(path + ".part", "wb") as file:
        np.savez(file, *outputs, **named)
    os.replace(path + ".part", path)
    return {"type": "reference", "input_sha256": _input_hash(arrays)}


def _noises(
    workload: "Any",
    arrays: "Sequence[np.ndarray[Any, Any]]",
    outputs: "Sequence[np.ndarray[Any, Any]]",
    seed: int,
) -> "list[np.ndarray[Any, Any]]":
    """Return how far the numbers move where inputs and arithmetic are those of float32."""
    from numpy.random import default_rng

    rng = default_rng(seed)

    def narrow() -> "list[np.ndarray[Any, Any]]":
        given = (gate.moved(_widened(array), _FLOAT32, rng) for array in arrays)
        found: list[np.ndarray[Any, Any]] = workload.reference(
            *(array.astype("float32") if array.dtype.kind == "f" else array for array in given)
        )
        return found

    return gate.noises(narrow, outputs, _FLOAT32)


def _widened(array: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
    """Return floats as float64; leave indices and flags as they are."""
    return array.astype("float64") if array.dtype.kind == "f" else array


def _make_artifacts(job: "Mapping[str, Any]") -> "dict[str, Any]":
    """Go through the phases up to ``wrap``, make and write; return what that took."""
    backend = candidate.load_backend(job)
    workload = candidate.load_module(job["workload"])
    phases = Phases()
    arrays, arguments, _ = candidate.set_up(backend, workload, job, phases)
    with phases("wrap"):
        function = candidate.load_builder(workload, backend)(backend.wrap)
    backend.begin_call()
    with phases("make"):
        backend.make(function, arguments, job["made"])
    return {
        "type": "made",
        "entered_ns": job["entered_ns"],
        "phases": phases.account(),
        "parts": dict(backend.parts()),
        "counters": backend.counters(),
        "input_sha256": _input_hash(arrays),
        "device": backend.device_info(),
        "versions": {"python": sys.version.split()[0], **backend.versions()},
        **_usage(),
    }


def answer(job: "Mapping[str, Any]") -> "dict[str, Any]":
    """Compute a reference, or make what measured processes load; return what that gave."""
    return _make_artifacts(job) if job["role"] == "make" else _compute_reference(job)


def loaded(directory: "str | None") -> "dict[str, dict[str, Any]]":
    """Return the counts of the files made ahead of time, by hash; empty where none were.

    Runs after the first result: ``load`` has returned, so they were read.
    """
    if directory is None:
        return {}
    import hashlib

    raw = {}
    for name in sorted(os.listdir(directory)):
        with open(os.path.join(directory, name), "rb") as file:
            raw[f"sha256 {name}"] = hashlib.sha256(file.read()).hexdigest()
    return {"made": {"requests": 1, "hits": 1, "misses": 0, "raw": raw}}
