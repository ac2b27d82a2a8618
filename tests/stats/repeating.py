"""Runs of a baseline and a candidate, made up and then computed as a run computes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from tests.contracts import samples
from tests.stats import results

from coldwarm.contracts.result import Measured, SuiteCase, SuiteResult
from coldwarm.runner import recompute

if TYPE_CHECKING:
    from collections.abc import Iterable

    from coldwarm.contracts.environment import Environment
    from coldwarm.contracts.result import CaseResult

BASELINE = "numpy_matmul_512_f32"
OTHER = "jax_jit_cpu_matmul_512_f32"
SHA256 = "1" * 64


def run(  # noqa: PLR0913 - each by name
    seed: int,
    *,
    speed: float = 1.0,
    machine: float = 1.0,
    n: int = 12,
    scatter: float = 0.01,
    environment: Environment | None = None,
) -> Measured:
    """Return a run of a baseline and a candidate on a machine, computed as a run computes it."""
    made = [
        results.case(seed, machine, n, scatter, case=BASELINE, candidate="numpy", baseline=True),
        results.case(seed + 100, 0.5 * speed * machine, n, scatter, candidate="jax_jit_cpu"),
    ]
    cases = recompute.compared([recompute.computed(case, case.observations) for case in made])
    place = environment or samples.environment()
    return Measured(
        path=f"run-{seed}",
        suite=index(f"r{seed}", cases),
        cases={case.case: case for case in cases},
        files={case.case: f"run-{seed}/{case.case}.json" for case in cases},
        environment_sha256=SHA256 if environment is None else "2" * 64,
        environment=place,
    )


def another_machine() -> Environment:
    here = samples.environment()
    return msgspec.structs.replace(here, cpu=msgspec.structs.replace(here.cpu, model="another"))


def index(run_id: str, cases: Iterable[CaseResult]) -> SuiteResult:
    """Return the index of a run of these cases."""
    rows = [
        SuiteCase(case=one.case, path=f"cases/{one.case}.json", sha256=SHA256, status=one.status)
        for one in cases
    ]
    return SuiteResult(
        suite="ml",
        run_id=run_id,
        started_at="2026-01-02T03:04:05+00:00",
        finished_at="2026-01-02T03:05:05+00:00",
        complete=True,
        deterministic=True,
        seed=0,
        environment_path="environment.json",
        environment_sha256=SHA256,
        cases=rows,
        n_ok=len(rows),
        n_warn=0,
        n_failed=0,
        order=[],
        wall_s=1.0,
        measured_s=1.0,
    )
