"""A made-up result of any size; its clock readings are whole nanoseconds, as real ones are."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from coldwarm.contracts.answer import Answers
from coldwarm.contracts.base import CACHE_MODES, FILLED, WARM
from coldwarm.contracts.codec import encode
from coldwarm.contracts.environment import (
    Cpu,
    Environment,
    Frequency,
    Harness,
    Limits,
    Python,
    System,
)
from coldwarm.contracts.observation import (
    Block,
    CacheEvidence,
    FirstCallParts,
    Gate,
    Observation,
    Phase,
)
from coldwarm.contracts.result import CaseResult, Effort, Protocol, SuiteCase, SuiteResult
from coldwarm.runner import recompute
from coldwarm.runner.harness import harness_sha256
from coldwarm.stats.answers import answers

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from coldwarm.contracts.base import CacheMode

CANDIDATES = ("numpy", "jax_jit_cpu", "torch_compile_cpu", "numba", "jax_eager_cpu")
ROUNDS = 10
ZEROS = "0" * 64
_BLOCKS = 4
_BYTECODE = [
    CacheEvidence(
        owner="bytecode", files_before=0, files_after=40, new_files={"__pycache__/*.pyc": 40}
    )
]
_PARTS = {"interpreter": 0.02, "import": 0.4, "device_init": 0.01, "setup": 0.01, "wrap": 0.001}


def write(
    folder: Path,
    workloads: int,
    samples: int,
    candidates: int = len(CANDIDATES),
    seed: int = 0,
) -> Path:
    """Leave a run in a folder; ``samples``: of warm calls, in each case."""
    rng = np.random.default_rng(seed)
    cases = [
        case(rng, f"work{place:02d}", name, samples)
        for place in range(workloads)
        for name in CANDIDATES[:candidates]
    ]
    return stored(folder, cases, _environment(), "made_up")


def stored(
    folder: Path,
    cases: Sequence[CaseResult],
    environment: Environment,
    suite: str,
    *,
    complete: bool = True,
) -> Path:
    """Leave in ``folder`` the index, the environment, the answers and the cases of a run.

    As the program would: with what it computes of the processes.
    """
    machine = _put(folder / "environment.json", encode(environment))
    rows, order = [], list[str]()
    whole = recompute.compared([_computed(made, machine, order) for made in cases])
    for one in whole:
        path = f"cases/{one.case}.json"
        sha256 = _put(folder / path, encode(one))
        rows.append(
            SuiteCase(case=one.case, path=path, sha256=sha256, status=one.status, reason=one.reason)
        )
    statuses = [row.status for row in rows]
    said = Answers(run_id=folder.name, suite=suite, complete=complete, answers=answers(whole))
    index = SuiteResult(
        suite=suite,
        run_id=folder.name,
        started_at="2026-01-02T03:04:05+00:00",
        finished_at="2026-01-02T03:05:05+00:00",
        complete=complete,
        deterministic=True,
        seed=0,
        environment_path="environment.json",
        environment_sha256=machine,
        cases=rows,
        n_ok=statuses.count("ok"),
        n_warn=statuses.count("warn"),
        n_failed=statuses.count("failed"),
        order=order,
        wall_s=1.0,
        measured_s=1.0,
        answers_path="answers.json",
        answers_sha256=_put(folder / "answers.json", encode(said)),
    )
    _put(folder / "suite.json", encode(index))
    return folder


def _computed(made: CaseResult, surroundings: str, order: list[str]) -> CaseResult:
    """Return a case as the program computes it, its processes next in the order of the run."""
    seen = []
    for one in made.observations:
        place, blocks = len(order), []
        order.append(f"{made.case} {one.cache_mode} round {one.round}")
        for block in one.blocks:
            blocks.append(msgspec.structs.replace(block, order=len(order)))
            order.append(f"{made.case} block")
        seen.append(msgspec.structs.replace(one, case=made.case, order=place, blocks=blocks))
    held = msgspec.structs.replace(made, environment_sha256=surroundings, observations=seen)
    return recompute.computed(held, recompute.judged(held))


def case(rng: np.random.Generator, workload: str, candidate: str, samples: int) -> CaseResult:
    """Return a made-up case whose compiled candidates start later and run faster."""
    compiles = candidate != "numpy"
    start_s, call_s = (1.5, 4e-4) if compiles else (0.05, 1e-3)
    call_s *= float(rng.uniform(0.7, 1.5))
    name = f"{candidate}_{workload}_512_f32"
    observations = [
        _process(rng, name, mode, place, (start_s / (2 if mode == FILLED else 1), call_s, samples))
        for place in range(ROUNDS)
        for mode in CACHE_MODES
        if mode != WARM
    ]
    return CaseResult(
        case=name,
        workload=workload,
        candidate=candidate,
        backend=candidate,
        device="cpu",
        size=512,
        dtype="f32",
        status="ok",
        baseline=not compiles,
        dataset_id=f"{workload}_512_f32_seed0",
        protocol=_protocol(workload, candidate),
        environment_sha256=ZEROS,
        observations=observations,
    )


def _ns(seconds: float) -> float:
    return round(seconds * 1e9) / 1e9


def _process(
    rng: np.random.Generator,
    name: str,
    mode: CacheMode,
    place: int,
    made_of: tuple[float, float, int],
) -> Observation:
    first_s, call_s, samples = made_of
    slow = float(np.exp(0.04 * rng.standard_normal()))
    phases, at_s = [], 0.0
    lengths = {**_PARTS, "first_call": first_s, "second_call": 2 * call_s}
    for phase, seconds in lengths.items():
        duration_s = _ns(seconds * slow * float(np.exp(0.02 * rng.standard_normal())))
        phases.append(
            Phase(
                name=phase,
                start_s=_ns(at_s),
                duration_s=duration_s,
                peak_rss_bytes=int(2e8 + 1e6 * rng.standard_normal()),
            )
        )
        at_s += duration_s
    by_name = {phase.name: phase for phase in phases}
    first = by_name["first_call"]
    warm = mode == FILLED
    ends_s = first.start_s + first.duration_s
    return Observation(
        case=name,
        cache_mode=mode,
        also_modes=[WARM] if warm else [],
        round=place,
        attempt=0,
        order=place,
        allocator="as_it_is",
        status="ok",
        started_at="2026-01-02T03:04:05+00:00",
        wall_s=_ns(at_s + 1.0),
        phases=phases,
        ttfr_s=by_name["import"].duration_s + first.duration_s,
        ttfr_process_s=ends_s,
        first_call_parts=_parts(first.duration_s),
        blocks=_blocks(rng, call_s * slow, at_s, samples) if warm else [],
        evidence=_BYTECODE if mode == "first_ever" else [],
        gate=Gate(
            passed=True,
            max_abs_error=1e-6,
            max_relative_error=1e-7,
            tolerance=1e-5,
            checked=["first_call", "last_call"],
        ),
        versions={"python": "3.11.7", "numpy": "2.4.6"},
    )


def _parts(whole_s: float) -> FirstCallParts:
    trace_s, lower_s, compile_s = (_ns(share * whole_s) for share in (0.1, 0.2, 0.5))
    rest_s = whole_s - trace_s - lower_s - compile_s
    return FirstCallParts(trace_s=trace_s, lower_s=lower_s, compile_s=compile_s, rest_s=rest_s)


def _blocks(rng: np.random.Generator, call_s: float, start_s: float, samples: int) -> list[Block]:
    shape = (_BLOCKS, samples // ROUNDS // _BLOCKS)
    batch = 3
    scatter = np.exp(0.03 * rng.standard_normal(shape)) + (rng.random(shape) < 0.01)
    ns = np.rint(1e9 * batch * call_s * scatter)
    return [
        Block(
            order=place,
            start_s=_ns(start_s + place),
            batch=batch,
            samples_s=[int(n) / batch / 1e9 for n in row],
            compiles=0,
        )
        for place, row in enumerate(ns.tolist())
    ]


def _protocol(workload: str, candidate: str) -> Protocol:
    return Protocol(
        cache_modes=list(CACHE_MODES),
        process={mode: "persistent" if mode == WARM else "fresh" for mode in CACHE_MODES},
        workload=workload,
        workload_sha256=ZEROS,
        backend=candidate,
        backend_sha256=ZEROS,
        candidate=candidate,
        size=512,
        dtype="f32",
        data_layout="two C-contiguous (row-major) n×n arrays",
        windows={"first_call": "the first call and the synchronisation on its own output"},
        sync_policy="on every array of the output",
        warmup_policy="every call is kept",
        allocator="as_it_is",
        interleaving="rounds, in each one process of every candidate",
        threads=None,
        affinity=[0, 1],
        environment_variables={},
        seed=0,
        deterministic=True,
        effort=Effort(
            precision=0.05, min_runs=3, max_runs=ROUNDS, time_budget_s=None, timeout_s=60.0
        ),
        harness_version="0.1.0",
        harness_sha256=harness_sha256(),
    )


def _environment() -> Environment:
    return Environment(
        collected_at="2026-01-02T03:04:05+00:00",
        cpu=Cpu(model="made up", architecture="x86_64", usable_cores=2, frequency=Frequency()),
        limits=Limits(),
        system=System(os="Linux", kernel="6.1", clock_resolution_s=1e-9),
        python=Python(
            version="3.11.7",
            implementation="CPython",
            build="main",
            compiler="GCC",
            executable_kind="system",
            debug=False,
            free_threaded=False,
        ),
        distributions={"numpy": "2.4.6"},
        variables={},
        harness=Harness(version="0.1.0"),
    )


def _put(path: Path, data: bytes) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return hashlib.sha256(data).hexdigest()
