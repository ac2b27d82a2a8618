"""JAX made beforehand, in real runs: what is left to do, and the proof that no more was done."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from coldwarm.contracts import codec
from coldwarm.contracts.result import CaseResult

if TYPE_CHECKING:
    from pathlib import Path

    from coldwarm.contracts.observation import CacheEvidence, Observation

MISSING = [name for name in ("jax", "flatbuffers") if importlib.util.find_spec(name) is None]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(MISSING), reason=f"not installed: {MISSING}"),
]
COLD, FILLED = "cold_process_cold_cache", "cold_process_warm_cache"
FILES = {"jax_aot": "executable.pickle", "jax_export": "program.stablehlo"}


@pytest.fixture(scope="module", params=["matmul_512_f32", "hessian_128_f64"])
def measured(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, CaseResult]:
    """Measure both backends on a workload, in every mode, once."""
    out: Path = tmp_path_factory.mktemp("aot") / "out"
    asked = ("--case", request.param, "--backend", "jax_aot_cpu,jax_export_cpu")
    effort = ("--rounds", "1", "--max-rounds", "1", "--json")
    command = [sys.executable, "-m", "coldwarm", "run", *asked, *effort, "--out", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return {
        name: codec.load_as(CaseResult, out / "cases" / f"{name}_cpu_{request.param}.json")
        for name in FILES
    }


def of(seen: Observation, owner: str) -> CacheEvidence:
    """Return what a process shows of one owner."""
    (found,) = [one for one in seen.evidence if one.owner == owner]
    return found


def starts(case: CaseResult, mode: str) -> list[Observation]:
    """Return the processes that started in a mode; there is at least one."""
    found = [seen for seen in case.observations if seen.cache_mode == mode]
    assert found
    return found


def test_every_process_is_proved_and_right(measured: dict[str, CaseResult]) -> None:
    for case in measured.values():
        assert (case.status, case.reason) == ("ok", None)
        for seen in case.observations:
            assert seen.gate is not None
            assert seen.gate.passed
            assert all(judged.proved for judged in seen.judgements.values())


def test_an_executable_leaves_nothing_to_compile_in_any_mode(
    measured: dict[str, CaseResult],
) -> None:
    for mode in (COLD, FILLED):
        for seen in starts(measured["jax_aot"], mode):
            cache = of(seen, "jax")
            assert (cache.requests, cache.compiles, cache.writes, cache.files_after) == (0,) * 4
            parts = seen.first_call_parts
            assert parts is not None
            assert (parts.trace_s, parts.lower_s, parts.compile_s) == (0.0, 0.0, 0.0)
            assert parts.cache_read_s
            assert not set(cache.raw) & {"/jax/core/compile/backend_compile_duration"}


def test_an_exported_program_is_compiled_where_it_is_loaded_unless_that_is_cached(
    measured: dict[str, CaseResult],
) -> None:
    for seen in starts(measured["jax_export"], COLD):
        cache = of(seen, "jax")
        assert (cache.requests, cache.hits, cache.compiles, cache.files_before) == (1, 0, 1, 0)
        assert seen.first_call_parts is not None
        assert seen.first_call_parts.compile_s
        assert seen.first_call_parts.cache_read_s
    for seen in starts(measured["jax_export"], FILLED):
        cache = of(seen, "jax")
        assert (cache.hits, cache.misses, cache.compiles) == (1, 0, 0)


def test_what_was_loaded_is_what_was_made_and_the_making_compiled_it(
    measured: dict[str, CaseResult],
) -> None:
    compiles = {"jax_aot": 1, "jax_export": 0}
    for name, case in measured.items():
        (made,) = case.made
        (artifact,) = made.artifacts
        assert artifact.name == FILES[name]
        assert artifact.bytes > 1000
        for seen in case.observations:
            loaded: dict[str, Any] = of(seen, "made").raw
            assert loaded == {f"sha256 {artifact.name}": artifact.sha256}
        (cache,) = made.evidence
        assert (cache.files_before, cache.hits, cache.compiles) == (0, 0, compiles[name])
        assert made.parts.trace_s
        assert made.parts.lower_s
        assert bool(made.parts.compile_s) == (name == "jax_aot")
        assert made.input_sha256 == case.dataset_sha256
        assert made.wall_s > (made.phases[-1].start_s + made.phases[-1].duration_s)
        assert (made.peak_rss_bytes or 0) > 10**7
