"""What a case becomes in the published contract, and what it does not become."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np
import pytest
from tests.contracts import samples

from coldwarm.contracts import nextstat
from coldwarm.contracts.base import CACHE_MODES as MODES
from coldwarm.contracts.codec import encode
from coldwarm.contracts.observation import Gate
from coldwarm.contracts.reasons import because

if TYPE_CHECKING:
    from coldwarm.contracts.nextstat import NextstatResult
    from coldwarm.contracts.observation import Observation
    from coldwarm.contracts.result import CaseResult

WRONG = Gate(
    passed=False, max_abs_error=1.0, max_relative_error=1.0, tolerance=1e-5, checked=["first_call"]
)


def express(case: CaseResult) -> dict[str, NextstatResult]:
    results = dict(nextstat.express(case, samples.environment(), samples.steady(case)))
    for name, result in results.items():
        assert result.case == name
        encode(result)
    return results


def only(case: CaseResult) -> NextstatResult:
    return express(case)["jax_jit_cpu_matmul_512_f32"]


def test_one_result_for_each_cold_cache_mode() -> None:
    results = express(samples.case(modes=MODES))
    assert {name: result.config.cache_policy for name, result in results.items()} == {
        "jax_jit_cpu_matmul_512_f32": "cold_process_cold_cache",
        "jax_jit_cpu_matmul_512_f32_warm_cache": "cold_process_warm_cache",
        "jax_jit_cpu_matmul_512_f32_first_ever": "first_ever",
    }


def test_the_warm_regime_alone_gives_one_result() -> None:
    seen = [samples.warm_observation([9.0, 1.0])]
    result = only(samples.case(seen, modes=["warm_process"], warm=samples.warm([1])))
    assert result.config.cache_policy == "warm_process"
    assert result.timing.cold.runs == []
    assert result.timing.warm.calls_s == [1.0]


def test_runs_are_the_valid_processes_that_reached_their_second_call() -> None:
    short = samples.observation()
    seen = [
        samples.observation(),
        samples.observation(
            status="rejected", reason=because("foreign_hits", owner="jax", n_hits=1)
        ),
        samples.observation(status="failed", reason=because("timeout", limit_s=5.0)),
        samples.observation(phases=short.phases[:3]),
        samples.observation("cold_process_warm_cache"),
    ]
    result = only(samples.case(seen))
    assert msgspec.to_builtins(result.timing.cold.runs) == [
        {
            "import_s": 0.5,
            "first_call_s": 1.5,
            "second_call_s": 0.125,
            "total_s": 2.625,
            "status": "ok",
            "reason": "",
        }
    ]
    assert result.config.cold_runs == 1
    assert (result.config.backend, result.config.dtype) == ("jax_jit_cpu", "float32")
    assert (result.meta.jax_version, result.meta.numpy_version) == ("0.9.0", "2.0.0")


def test_absent_packages_and_inputs_are_said_to_be_absent() -> None:
    case = samples.case(
        status="warn",
        reason=because("missing_dependency", name="jax"),
        dataset_sha256=None,
        modes=MODES,
    )
    for result in express(case).values():
        assert (result.status, result.reason) == ("warn", "missing_dependency: jax")
        assert result.meta.jax_version == "not installed"
        assert not result.timing.cold.runs
        assert not result.timing.warm.calls_s
        assert result.dataset.sha256.startswith("e3b0c44298fc")
        assert result.device is None


@pytest.mark.parametrize(
    "case",
    [
        samples.case([samples.observation()], status="failed", reason=because("correctness_gate")),
        samples.case(
            [samples.observation(), samples.observation(status="failed", gate=WRONG)],
            status="failed",
            reason=because("correctness_gate"),
        ),
        samples.case([samples.observation(), samples.observation(gate=WRONG)]),
    ],
)
def test_a_wrong_answer_gives_no_timing(case: CaseResult) -> None:
    for result in express(case).values():
        assert result.timing.cold.runs == []
        assert result.status != "ok"


def test_a_mode_without_a_valid_run_is_a_warning() -> None:
    seen = [samples.observation(), samples.observation("cold_process_warm_cache")]
    seen[1] = msgspec.structs.replace(
        seen[1], status="rejected", reason=because("no_hits", owner="jax")
    )
    results = express(samples.case(seen))
    warm = results["jax_jit_cpu_matmul_512_f32"]
    assert (warm.status, warm.reason) == ("warn", "not_asked_for: warm_process")
    warned = results["jax_jit_cpu_matmul_512_f32_warm_cache"]
    assert (warned.status, warned.reason) == ("warn", "no_valid_run: no_hits: jax")


def test_warm_samples_are_those_after_each_process_is_steady() -> None:
    seen = [
        samples.observation(),
        samples.warm_observation([5.0, 2.0, 2.5]),
        samples.warm_observation(
            [7.0], status="rejected", reason=because("compiled_in_window", n_programs=1)
        ),
        samples.warm_observation([6.0, 4.0, 3.0]),
    ]
    warm = only(samples.case(seen, warm=samples.warm([1, 2]))).timing.warm
    assert (warm.calls_s, warm.status, warm.reason) == ([2.0, 2.5, 3.0], "ok", "")
    unknown = only(samples.case(seen, warm=samples.warm([]))).timing.warm
    assert (unknown.calls_s, unknown.status) == ([], "warn")


@pytest.mark.parametrize("n", [1, 2, 3, 19, 20, 45])
def test_summaries_are_of_the_numbers_that_are_listed_however_few(n: int) -> None:
    rng = np.random.default_rng(n)
    seen = [timed(*rng.uniform(0.1, 2.0, size=3).tolist()) for _ in range(n)]
    calls = rng.uniform(1e-3, 2e-3, size=n).tolist()
    every = [*seen, samples.warm_observation(calls)]
    made = samples.case(every, modes=MODES, warm=samples.warm([0]))
    timing = only(made).timing
    runs = timing.cold.runs
    listed = {
        "import_s": [run.import_s for run in runs],
        "first_call_s": [run.first_call_s for run in runs],
        "ttfr_s": [run.import_s + run.first_call_s for run in runs],
        "total_s": [run.total_s for run in runs],
    }
    summaries = {name: getattr(timing.cold, name) for name in listed}
    for name, values in {**listed, "call_s": calls}.items():
        summary = summaries.get(name, timing.warm.call_s)
        assert (timing.cold.n_runs, timing.warm.n_iters, len(values)) == (n, n, n)
        assert msgspec.to_builtins(summary) == pytest.approx(
            {"min": min(values), "median": np.median(values), "p95": np.percentile(values, 95)},
            rel=1e-12,
        )


def timed(import_s: float, first_call_s: float, second_call_s: float) -> Observation:
    phases = samples.observation().phases
    spans = {"import": import_s, "first_call": first_call_s, "second_call": second_call_s}
    return samples.observation(
        phases=[
            msgspec.structs.replace(one, duration_s=spans.get(one.name, one.duration_s))
            for one in phases
        ]
    )


def test_what_the_contract_has_no_word_for_is_not_expressed() -> None:
    assert express(samples.case([samples.observation()], dtype="bf16")) == {}


def published(case: str, status: str, import_s: float | None) -> nextstat.Published:
    phases = samples.observation().phases
    seen = []
    if import_s is not None:
        first = msgspec.structs.replace(phases[1], duration_s=import_s)
        seen = [samples.observation(phases=[phases[0], first, *phases[2:]])]
    made = samples.case(seen, modes=["cold_process_cold_cache"], case=case, status=status)
    [(name, result)] = nextstat.express(made, samples.environment(), samples.steady(made))
    return nextstat.Published(result, f"{name}.json", samples.ZEROS)


@pytest.mark.parametrize(
    ("cases", "worst"),
    [
        ([("a", "ok", 1.0), ("b", "ok", 3.0), ("c", "ok", 2.0)], "b"),
        ([("a", "ok", 9.0), ("b", "failed", None), ("c", "warn", None)], "b"),
        ([("a", "warn", None)], "a"),
        ([], ""),
    ],
)
def test_the_worst_case_is_the_slowest_start_and_a_failed_one_is_worse(
    cases: list[tuple[str, str, float | None]], worst: str
) -> None:
    items = [published(*case) for case in cases]
    index = nextstat.suite(items, samples.environment(), deterministic=True)
    assert index.summary.worst_case == worst
    assert index.summary.n_cases == len(cases)
    for entry, (_, _, import_s) in zip(index.cases, cases, strict=True):
        assert entry.cold_ttfr_median_s == (0.0 if import_s is None else import_s + 1.5)
        assert entry.warm_call_median_s == 0.0
        assert entry.status != "ok"
