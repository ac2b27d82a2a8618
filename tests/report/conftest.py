"""Hand-built records of a small suite, as a run would leave them."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import msgspec
import pytest

from coldwarm.contracts.answer import Caution, CautionKind, Comparison, Summary
from coldwarm.contracts.observation import Observation
from coldwarm.contracts.reasons import because
from coldwarm.contracts.result import (
    CaseResult,
    ColdSummary,
    Effort,
    Protocol,
    SteadyState,
    SuiteResult,
    WarmSummary,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.reasons import Reason

HASH = "0" * 64
EMPTY: CacheMode = "cold_process_cold_cache"
FILLED: CacheMode = "cold_process_warm_cache"
WARM: CacheMode = "warm_process"
FIRST: CacheMode = "first_ever"
RISING = because("drifts", change_share=0.12)
NO_CACHE = because("stated", text="it keeps no cache")
OPEN = because("interval_across", because("common_rounds", n_rounds=5), confidence_share=0.97)


class Job(NamedTuple):
    """Which workload a case belongs to."""

    workload: str = "matmul"
    size: int = 512
    dtype: Literal["f32", "f64"] = "f32"
    modes: tuple[CacheMode, ...] = (EMPTY, FILLED, WARM)


def summary(median: float, *, processes: int = 5) -> Summary:
    alone = processes == 1
    return Summary(
        n_processes=processes,
        n_samples=processes,
        median=median,
        minimum=median * 0.97,
        maximum=median * 1.08,
        low=None if alone else median * 0.98,
        high=None if alone else median * 1.03,
        null_reasons={"low": because("few_processes", n_processes=1, n_needed=2)} if alone else {},
    )


def cold(mode: CacheMode, seconds: dict[str, float], *, processes: int = 5) -> ColdSummary:
    return ColdSummary(
        cache_mode=mode,
        n_ok=processes,
        n_rejected=0,
        n_failed=0,
        seconds={key: summary(value, processes=processes) for key, value in seconds.items()},
        peak_rss_bytes=summary(312e6),
        precision_reached=None if processes == 1 else 0.021,
    )


def warm(median: float | None, *, not_steady: Reason | None = None) -> WarmSummary:
    return WarmSummary(
        n_processes=3,
        n_rejected=0,
        call_s=None if median is None else summary(median),
        steady=SteadyState(
            steady=not_steady is None,
            reason=not_steady or because("steady", n_processes=3, n_warmup=5),
            n_processes=3,
            n_steady=0 if not_steady else 3,
            warmup_samples=[4, 5, 4],
        ),
        batch=1,
        precision_reached=None if median is None else 0.12,
        null_reasons={"call_s": because("no_warm_samples")} if median is None else {},
    )


def against(
    metric: str, verdict: Literal["faster", "slower", "same", "undecided"], ratio: float = 1.0
) -> Comparison:
    return Comparison(
        metric=metric,
        baseline="numpy_matmul_512_f32",
        ratio=ratio,
        low=0.96 * ratio,
        high=1.05 * ratio,
        threshold=0.05,
        smallest_detectable=0.08,
        verdict=verdict,
        reason=OPEN,
    )


def caution(kind: CautionKind, reason: Reason, n: int = 2, of: int = 5) -> Caution:
    return Caution(kind=kind, cache_mode=WARM, n_processes=n, of_processes=of, reason=reason)


def noisy(processors: float) -> Caution:
    return caution("noisy", because("foreign_cpu", foreign_processors=processors))


def protocol(candidate: str, job: Job) -> Protocol:
    return Protocol(
        cache_modes=list(job.modes),
        process={},
        workload=job.workload,
        workload_sha256=HASH,
        backend=candidate,
        backend_sha256=HASH,
        candidate=candidate,
        size=job.size,
        dtype=job.dtype,
        data_layout="two C-contiguous (row-major) n×n arrays",
        windows={},
        sync_policy="",
        warmup_policy="",
        interleaving="",
        threads=None,
        affinity=[0, 1],
        environment_variables={},
        seed=0,
        deterministic=True,
        effort=Effort(precision=0.05, min_runs=3, max_runs=10, time_budget_s=None, timeout_s=300.0),
        harness_version="0.1.0",
        harness_sha256=HASH,
    )


def case(candidate: str, job: Job, **changes: Any) -> CaseResult:
    made = CaseResult(
        case=f"{candidate}_{job.workload}_{job.size}_{job.dtype}",
        workload=job.workload,
        candidate=candidate,
        backend=candidate.removesuffix("_cpu"),
        device="cpu",
        size=job.size,
        dtype=job.dtype,
        status="ok",
        baseline=candidate == "numpy",
        dataset_id="matmul",
        protocol=protocol(candidate, job),
        environment_sha256=HASH,
    )
    return msgspec.structs.replace(made, **changes)


def compiled(candidate: str, job: Job, slowness: float) -> CaseResult:
    """Give a case of a compiling backend whose start costs ``slowness`` times JAX's."""

    def parts(compile_key: str, compile_s: float) -> dict[str, float]:
        first = {"trace": 0.031, "lower": 0.012, "rest": 0.0032, compile_key: compile_s}
        own = {f"first_call.{key}": value * slowness for key, value in first.items()}
        call = sum(own.values())
        return {
            "start": 0.15,
            "import": 0.48,
            "wrap": 0.00011,
            **own,
            "first_call": call,
            "ttfr": 0.48 + call,
            "ttfr_process": 0.63 + call,
        }

    wanted = {
        FIRST: parts("compile", 0.61),
        EMPTY: parts("compile", 0.285),
        FILLED: parts("cache_read", 0.0081),
    }
    return case(
        candidate,
        job,
        cold=[cold(mode, wanted[mode]) for mode in job.modes if mode in wanted],
        warm=warm(0.000583),
        comparisons=[
            against(f"{EMPTY}.ttfr_s", "slower", 8.27 * slowness),
            against(f"{FILLED}.ttfr_s", "slower", 6.55),
            against("warm.call_s", "faster", 1 / 2.3),
        ],
    )


def group(job: Job) -> list[CaseResult]:
    """Give the cases of one workload: measured, noisy, failed, and not available."""
    start = {
        "start": 0.0228,
        "import": 0.0961,
        "wrap": 0.0000004,
        "first_call": 0.00214,
        "first_call.rest": 0.00214,
        "ttfr": 0.0982,
        "ttfr_process": 0.121,
    }
    numpy = case(
        "numpy",
        job,
        cold=[cold(EMPTY, start)],
        warm=warm(0.00134),
        null_reasons={FILLED: NO_CACHE},
    )
    torch = compiled("torch_compile_cpu", job, 41.0)
    eager = case(
        "torch_eager_cpu",
        job,
        cold=[cold(EMPTY, {**start, "import": 1.01, "ttfr": 1.02, "ttfr_process": 1.17})],
        warm=warm(0.00131, not_steady=RISING),
        warnings=[noisy(0.9), caution("unsteady", RISING)],
        null_reasons={FILLED: NO_CACHE},
        comparisons=[
            against(f"{EMPTY}.ttfr_s", "slower", 10.4),
            against("warm.call_s", "undecided"),
        ],
    )
    return [
        numpy,
        compiled("jax_jit_cpu", job, 1.0),
        eager,
        msgspec.structs.replace(torch, warnings=[noisy(1.4), caution("unsteady", RISING)]),
        case("numba", job, status="failed", reason=because("correctness_gate")),
        case("jax_jit_gpu", job, status="warn", reason=because("gpu_unavailable")),
        case("torch_compile_gpu", job, status="warn", reason=because("gpu_unavailable")),
    ]


@pytest.fixture
def cases() -> list[CaseResult]:
    """Cases of two workloads, one of them with the mode ``first_ever``."""
    return [*group(Job()), *group(Job("mlp_train_step", 128, "f64", (FIRST, EMPTY, FILLED, WARM)))]


@pytest.fixture
def suite() -> SuiteResult:
    """The index of the suite that the cases belong to."""
    return SuiteResult(
        suite="quick",
        run_id="r",
        started_at="2026-01-02T03:04:05+00:00",
        finished_at="2026-01-02T03:07:05+00:00",
        complete=True,
        deterministic=True,
        seed=0,
        environment_path="environment.json",
        environment_sha256=HASH,
        cases=[],
        n_ok=8,
        n_warn=4,
        n_failed=2,
        order=[],
        wall_s=221.0,
        measured_s=216.4,
    )


@pytest.fixture
def observation() -> Observation:
    """One process of a compiled case."""
    return Observation(
        case="torch_compile_cpu_matmul_512_f32",
        cache_mode=EMPTY,
        round=0,
        attempt=0,
        order=3,
        status="ok",
        started_at="2026-01-02T03:04:05+00:00",
        wall_s=17.3,
        allocator="as_it_is",
    )


CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or ""
PATIENCE_MS = 180_000
"""A busy machine is no fault of the page."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A real browser."""
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture
def visit(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Open pages, and see to it that they asked for nothing and complained of nothing."""
    heard: list[str] = []
    contexts = []

    def open_page(path: Path, width: int = 1280, **options: Any) -> Page:
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.on("console", lambda one: heard.append(f"{one.type}: {one.text}"))
        page.on("pageerror", lambda error: heard.append(f"error: {error}"))
        page.on("request", lambda one: heard.append(one.url) if one.url != path.as_uri() else None)
        page.on("dialog", lambda one: heard.append(f"dialog: {one.message}"))
        page.goto(path.as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    allowed = ("blob:", "data:")
    said = [one for one in heard if not one.startswith(allowed)]
    assert [one for one in said if "Conflicting legend" not in one] == []
