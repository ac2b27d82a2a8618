"""Results that figures are drawn from: small, and like those of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pytest
from tests.contracts import samples
from tests.stats import results

from coldwarm.contracts.observation import Block, FirstCallParts, Judgement, Observation, Phase
from coldwarm.contracts.reasons import because
from coldwarm.runner import recompute

if TYPE_CHECKING:
    from pathlib import Path

    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.result import CaseResult, Measured

EMPTY: CacheMode = "cold_process_cold_cache"
FILLED: CacheMode = "cold_process_warm_cache"
WARM: CacheMode = "warm_process"
MODES: tuple[CacheMode, ...] = (EMPTY, FILLED, WARM)
PROVED = Judgement(proved=True, reason=because("stated", text="made so"))
NAMES = ("numpy", "jax_jit_cpu", "numba")
"""Candidates: the first one starts soon and calls slowly."""
STARTS = {"numpy": 0.1, "jax_jit_cpu": 0.6, "numba": 2.0}
CALLS = {"numpy": 2e-3, "jax_jit_cpu": 0.5e-3, "numba": 0.45e-3}


def observed(name: str, place: int, mode: CacheMode) -> Observation:
    """Return one valid process; a warm one had its caches filled."""
    rng = np.random.default_rng([place, *name.encode(), len(mode)])
    slow = float(np.exp(0.02 * rng.standard_normal()))
    saved = 1.0 if mode == EMPTY else 0.4
    first = STARTS[name] * saved * slow
    lengths = {
        "interpreter": 0.02,
        "import": 0.05,
        "device_init": 0.0,
        "setup": 0.01,
        "wrap": 0.001,
        "first_call": first,
        "second_call": 2 * CALLS[name],
    }
    if mode == EMPTY:
        lengths |= {"new_shape_1": first / 2, "new_shape_2": first / 2}
    phases, at = [], 0.0
    for number, (phase, length) in enumerate(lengths.items(), 1):
        peak = 20_000_000 * number
        phases.append(Phase(name=phase, start_s=at, duration_s=length, peak_rss_bytes=peak))
        at += length
    warm = mode == WARM
    calls = CALLS[name] * slow * (1 + 0.01 * rng.exponential(size=(2, 20)))
    return samples.observation(
        mode,
        case=f"{name}_matmul_512_f32",
        round=place,
        order=3 * place,
        phases=phases,
        ttfr_s=0.05 + first,
        ttfr_process_s=0.081 + first,
        first_call_parts=FirstCallParts(
            trace_s=0.1 * first, lower_s=0.2 * first, compile_s=0.5 * first, rest_s=0.2 * first
        ),
        judgements={mode: PROVED},
        blocks=[
            Block(order=i, start_s=3.0 + i, batch=1, samples_s=part.tolist(), compiles=0)
            for i, part in enumerate(calls)
        ]
        if warm
        else [],
    )


def case(name: str, n: int = 6, **changes: Any) -> CaseResult:
    seen = [observed(name, place, mode) for place in range(n) for mode in MODES]
    made = samples.case(
        seen,
        MODES,
        case=f"{name}_matmul_512_f32",
        candidate=name,
        backend=name,
        baseline=name == "numpy",
    )
    return msgspec.structs.replace(made, **changes)


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the directory of a run with three candidates of one workload."""
    folder = tmp_path_factory.mktemp("charts") / "run"
    return results.write(folder, [case(name) for name in NAMES])


@pytest.fixture(scope="session")
def measured(run: Path) -> Measured:
    """Return it as every command reads it."""
    return recompute.read(run)
