"""The example plug-in, installed as a user would: found, run for real, and measured rightly.

Its costs are known, and a step that spins until its time has passed can never be shorter. So
the lower bounds here are exact, and hold for every process. The upper ones are for the processes
that a busy machine disturbed least, and leave it some room. How close the medians come on a quiet
one is what ``python -m benchmarks accuracy`` tells.
"""

from __future__ import annotations

import json
import math
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from coldwarm.contracts import codec
from coldwarm.contracts.observation import published
from coldwarm.contracts.reasons import because
from coldwarm.contracts.result import CaseResult

if TYPE_CHECKING:
    from coldwarm.contracts.observation import Observation

PROJECT = Path(__file__).resolve().parent.parent / "examples" / "known-costs"
CASE = "known_costs_known_costs_2000_f32"
SHORT_CASE = "known_costs_known_costs_50_f32"
PROCESSES = 5
KNOWN_MS = {
    "import": 40,
    "device_init": 10,
    "wrap": 20,
    "first_call": 150,
    "second_call": 8,
    "first_call.trace": 30,
    "first_call.lower": 40,
    "first_call.compile": 60,
    "first_call.rest": 20,
}
STEADY_S = 2e-3
SHORT_MEAN_S = 50e-6 * 17 / 16
SLOWER = 1.5
"""Two calls of sixteen take so much longer."""
A_TIME_SLICE_MS = 3


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build and install the plug-in into a folder of its own, without the network."""
    target = tmp_path_factory.mktemp("plugin") / "site"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    offline = ["--no-deps", "--no-build-isolation", "--target", str(target), str(PROJECT)]
    subprocess.run([*pip, *offline], check=True)
    return target


def coldwarm(site: Path | None, *arguments: str) -> str:
    """Run a command with the plug-in in place, and return what it printed."""
    variables = dict(os.environ)
    variables.pop("PYTHONPATH", None)
    if site is not None:
        variables["PYTHONPATH"] = str(site)
    command = [sys.executable, "-m", "coldwarm", *arguments]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def measured(site: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, CaseResult]:
    """Measure both sizes for real."""
    out = tmp_path_factory.mktemp("plugin") / "out"
    modes = ("--cache-mode", "cold_process_cold_cache", "--cache-mode", "warm_process")
    common = ("--deterministic", "--json", *modes)
    coldwarm(
        site,
        *("run", "--case", CASE, "--out", str(out / "long"), *common),
        *("--rounds", str(PROCESSES), "--max-rounds", str(PROCESSES)),
    )
    coldwarm(
        site,
        *("run", "--case", SHORT_CASE, "--out", str(out / "short"), *common),
        *("--rounds", "1", "--max-rounds", "1"),
    )
    return {
        CASE: codec.load_as(CaseResult, out / "long" / "cases" / f"{CASE}.json"),
        SHORT_CASE: codec.load_as(CaseResult, out / "short" / "cases" / f"{SHORT_CASE}.json"),
    }


def starts(case: CaseResult) -> list[Observation]:
    """Return the processes that started with empty caches."""
    return [seen for seen in case.observations if seen.cache_mode == "cold_process_cold_cache"]


def seconds_of(seen: Observation) -> dict[str, float]:
    """Return the phases and the first call's parts of one process."""
    parts: Any = seen.first_call_parts
    names = ("trace", "lower", "compile", "rest")
    found = {f"first_call.{name}": getattr(parts, f"{name}_s") for name in names}
    return found | {phase.name: phase.duration_s for phase in seen.phases}


def test_its_cases_are_listed_only_where_it_is_installed(site: Path) -> None:
    with_it = {row["case"] for row in json.loads(coldwarm(site, "cases", "--json"))}
    without = {row["case"] for row in json.loads(coldwarm(None, "cases", "--json"))}
    assert {CASE, SHORT_CASE} <= with_it - without
    assert without < with_it


def test_its_cases_pass_and_every_process_counts(measured: dict[str, CaseResult]) -> None:
    for case in measured.values():
        assert (case.status, case.reason) == ("ok", None)
        assert {seen.status for seen in case.observations} == {"ok"}
        assert all(seen.gate is not None and seen.gate.passed for seen in case.observations)
        assert case.candidate == case.backend == case.workload == "known_costs"
    assert len(starts(measured[CASE])) == PROCESSES


@pytest.mark.parametrize(("name", "known_ms"), KNOWN_MS.items())
def test_a_phase_is_reported_as_long_as_it_is(
    measured: dict[str, CaseResult], name: str, known_ms: int
) -> None:
    seen = [seconds_of(one)[name] for one in starts(measured[CASE])]
    assert known_ms <= min(seen) * 1e3 <= known_ms * 1.1 + A_TIME_SLICE_MS
    assert measured[CASE].cold[0].seconds[name].median == pytest.approx(statistics.median(seen))


def test_the_parts_of_a_first_call_sum_to_it(measured: dict[str, CaseResult]) -> None:
    for seen in measured[CASE].observations:
        seconds = seconds_of(seen)
        parts = [value for name, value in seconds.items() if name.startswith("first_call.")]
        assert math.isclose(sum(parts), seconds["first_call"], rel_tol=1e-12)
        assert seen.first_call_parts is not None
        assert seen.first_call_parts.cache_read_s is None
        assert seen.first_call_parts.null_reasons == {
            "cache_read_s": because("stated", text="it has no cache")
        }


def test_ttfr_is_the_import_and_the_first_call(measured: dict[str, CaseResult]) -> None:
    for seen in starts(measured[CASE]):
        seconds = seconds_of(seen)
        assert seen.ttfr_s == pytest.approx(seconds["import"] + seconds["first_call"])
        assert seen.ttfr_process_s is not None
        assert (
            seen.ttfr_process_s > sum(KNOWN_MS[n] for n in ("import", "wrap", "first_call")) / 1e3
        )


def test_steady_calls_and_their_noise_are_reported(measured: dict[str, CaseResult]) -> None:
    warm = measured[CASE].warm
    assert warm is not None
    assert warm.call_s is not None
    assert warm.call_s.p95 is not None
    assert STEADY_S <= warm.call_s.minimum <= warm.call_s.median
    assert warm.call_s.p95 >= STEADY_S * SLOWER
    samples = [s for one in measured[CASE].observations for b in one.blocks for s in b.samples_s]
    assert statistics.quantiles(samples, n=4)[0] <= STEADY_S * 1.1


def test_short_calls_are_batched_in_whole_cycles_of_their_noise(
    measured: dict[str, CaseResult],
) -> None:
    blocks = [block for seen in measured[SHORT_CASE].observations for block in seen.blocks]
    batched = [block for block in blocks if block.batch > 1]
    assert batched
    for block in batched:
        # A busy machine makes the first calls look longer, so that fewer go into a batch.
        if block.batch % 16 == 0:
            assert SHORT_MEAN_S <= min(block.samples_s) <= SHORT_MEAN_S * 1.1


def test_warm_blocks_are_proved_by_its_count_of_compiles(measured: dict[str, CaseResult]) -> None:
    stayed = [seen for seen in published(measured[CASE].observations) if seen.blocks]
    assert len(stayed) == PROCESSES
    for seen in stayed:
        assert {block.compiles for block in seen.blocks} == {0}
        assert seen.judgements["warm_process"].proved
