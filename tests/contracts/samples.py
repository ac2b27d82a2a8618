"""Small valid records, as a run would leave them."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import msgspec

from coldwarm.contracts import nextstat
from coldwarm.contracts.answer import Summary
from coldwarm.contracts.codec import encode
from coldwarm.contracts.environment import Cpu, Environment, Frequency, Harness, Limits, Python
from coldwarm.contracts.environment import System as OperatingSystem
from coldwarm.contracts.observation import (
    Block,
    Device,
    FirstCallParts,
    Gate,
    Observation,
    Phase,
    Telemetry,
)
from coldwarm.contracts.reasons import because
from coldwarm.contracts.result import (
    Artifact,
    CaseResult,
    ColdSummary,
    Effort,
    Making,
    Protocol,
    SteadyState,
    SuiteCase,
    SuiteResult,
    WarmSummary,
)
from coldwarm.contracts.run_journal import encode_line

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from coldwarm.contracts.base import CacheMode

ZEROS = "0" * 64

HEADER = {
    **dict.fromkeys(("run_id", "started_at", "harness_sha256", "fingerprint", "environment"), "x"),
    "options": {},
    "sources": {},
}
"""The first line of a journal."""


def environment(**changes: object) -> Environment:
    made = Environment(
        collected_at="2026-01-02T03:04:05+00:00",
        cpu=Cpu(model="A CPU", architecture="x86_64", frequency=Frequency()),
        limits=Limits(),
        system=OperatingSystem(
            os="Linux", kernel="6.1", libc="glibc 2.36", clock_resolution_s=1e-9
        ),
        python=Python(
            version="3.11.7",
            implementation="CPython",
            build="main",
            compiler="GCC",
            executable_kind="system",
            debug=False,
            free_threaded=False,
        ),
        distributions={"numpy": "2.0.0"},
        variables={},
        harness=Harness(version="0.1.0"),
    )
    return msgspec.structs.replace(made, **changes)


def protocol(modes: Sequence[CacheMode]) -> Protocol:
    return Protocol(
        cache_modes=list(modes),
        process=dict.fromkeys(modes, "fresh"),
        workload="matmul",
        workload_sha256=ZEROS,
        backend="jax_jit",
        backend_sha256=ZEROS,
        candidate="jax_jit_cpu",
        size=512,
        dtype="f32",
        data_layout="row-major",
        windows={},
        sync_policy="on the outputs",
        warmup_policy="kept",
        interleaving="randomised blocks",
        threads=None,
        affinity=[0, 1],
        environment_variables={},
        seed=0,
        deterministic=True,
        effort=Effort(precision=0.05, min_runs=3, max_runs=9, time_budget_s=None, timeout_s=60.0),
        harness_version="0.1.0",
        harness_sha256=ZEROS,
    )


def observation(mode: CacheMode = "cold_process_cold_cache", **changes: object) -> Observation:
    phases = [
        Phase(name="interpreter", start_s=0.0, duration_s=0.25),
        Phase(name="import", start_s=0.25, duration_s=0.5),
        Phase(name="first_call", start_s=1.0, duration_s=1.5),
        Phase(name="second_call", start_s=2.5, duration_s=0.125),
    ]
    made = Observation(
        case="jax_jit_cpu_matmul_512_f32",
        cache_mode=mode,
        round=0,
        attempt=0,
        order=0,
        status="ok",
        started_at="2026-01-02T03:04:05+00:00",
        wall_s=3.0,
        allocator="as_it_is",
        phases=phases,
        gate=Gate(
            passed=True,
            max_abs_error=0.0,
            max_relative_error=0.0,
            tolerance=1e-5,
            checked=["first_call"],
        ),
        device=Device(platform="cpu", kind="cpu", count=1),
        versions={"jax": "0.9.0"},
    )
    return msgspec.structs.replace(made, **changes)


def making(wall_s: float, **changes: object) -> Making:
    """Return a making whose whole process took this long."""
    made = Making(
        case="jax_jit_cpu_matmul_512_f32",
        order=0,
        started_at="2026-01-02T03:04:05+00:00",
        wall_s=wall_s,
        phases=[
            Phase(name="import", start_s=0.02, duration_s=0.5),
            Phase(name="make", start_s=0.75, duration_s=0.25, peak_rss_bytes=200_000_000),
        ],
        parts=FirstCallParts(trace_s=0.0625, lower_s=0.125, compile_s=0.0, rest_s=0.0625),
        artifacts=[Artifact(name="program", bytes=7_100, sha256=ZEROS)],
        evidence=[],
        input_sha256=ZEROS,
        device=Device(platform="cpu", kind="cpu", count=1),
        telemetry=Telemetry(),
    )
    return msgspec.structs.replace(made, **changes)


def warm_observation(samples: list[float], **changes: object) -> Observation:
    block = Block(order=1, start_s=3.0, batch=1, samples_s=samples, compiles=0)
    return observation("warm_process", blocks=[block], **changes)


def summary(n: int, p95: float | None = None) -> Summary:
    return Summary(n_processes=n, n_samples=n, median=2.0, minimum=1.5, maximum=3.0, p95=p95)


def warm(skipped: list[int], call_s: Summary | None = None) -> WarmSummary:
    steady = SteadyState(
        steady=True,
        reason=because("steady_after", n_warmup=1, n_samples=2),
        n_processes=len(skipped),
        n_steady=len(skipped),
        warmup_samples=skipped,
    )
    return WarmSummary(
        n_processes=len(skipped), n_rejected=0, call_s=call_s, steady=steady, batch=1
    )


def steady(case: CaseResult) -> list[list[float]]:
    """Return the samples after each process's warm-up, which are steady in these samples."""
    seen = [one for one in case.observations if one.status == "ok" and one.blocks]
    skipped = case.warm.steady.warmup_samples if case.warm is not None else []
    series = [[s for block in one.blocks for s in block.samples_s] for one in seen]
    return [samples[n:] for samples, n in zip(series, skipped, strict=False)]


def cold(mode: CacheMode, n: int, p95: float | None = None) -> ColdSummary:
    return ColdSummary(
        cache_mode=mode, n_ok=n, n_rejected=0, n_failed=0, seconds={"ttfr": summary(n, p95)}
    )


def case(
    observations: Sequence[Observation] = (),
    modes: Sequence[CacheMode] = ("cold_process_cold_cache", "cold_process_warm_cache"),
    **changes: object,
) -> CaseResult:
    made = CaseResult(
        case="jax_jit_cpu_matmul_512_f32",
        workload="matmul",
        candidate="jax_jit_cpu",
        backend="jax_jit",
        device="cpu",
        size=512,
        dtype="f32",
        status="ok",
        dataset_id="matmul_512_f32_seed0",
        dataset_sha256=ZEROS,
        protocol=protocol(modes),
        environment_sha256=ZEROS,
        observations=list(observations),
    )
    return msgspec.structs.replace(made, **changes)


def write_run(folder: Path) -> None:
    """Leave in ``folder`` what a run of one case leaves."""
    surroundings = environment()
    environment_sha256 = _write(folder / "environment.json", encode(surroundings))
    seen = [observation(), observation("cold_process_warm_cache"), warm_observation([2.0, 1.0])]
    measured = case(seen, warm=warm([1]), environment_sha256=environment_sha256)
    path = f"cases/{measured.case}.json"
    sha256 = _write(folder / path, encode(measured))
    published = []
    for name, result in nextstat.express(measured, surroundings, steady(measured)):
        digest = _write(folder / "nextstat" / f"{name}.json", encode(result))
        published.append(nextstat.Published(result, f"{name}.json", digest))
    index = nextstat.suite(published, surroundings, deterministic=True)
    _write(folder / "nextstat/ml_suite.json", encode(index))
    lines = [encode_line("header", HEADER), *(encode_line("observation", o) for o in seen)]
    _write(folder / "journal.jsonl", b"".join(lines))
    _write(folder / "suite.json", encode(_suite(measured, path, sha256, environment_sha256)))


def index() -> SuiteResult:
    """Return the index of a run of one case."""
    return _suite(case(), "cases/a.json", ZEROS, ZEROS)


def _suite(measured: CaseResult, path: str, sha256: str, environment_sha256: str) -> SuiteResult:
    entry = SuiteCase(case=measured.case, path=path, sha256=sha256, status="ok")
    return SuiteResult(
        suite="quick",
        run_id="r",
        started_at="2026-01-02T03:04:05+00:00",
        finished_at=None,
        complete=False,
        deterministic=True,
        seed=0,
        environment_path="environment.json",
        environment_sha256=environment_sha256,
        cases=[entry],
        n_ok=1,
        n_warn=0,
        n_failed=0,
        order=[],
        wall_s=1.0,
        measured_s=1.0,
    )


def _write(path: Path, data: bytes) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return hashlib.sha256(data).hexdigest()
