"""``coldwarm plan`` through its public face: runs written down, tables and JSON read."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from benchmarks import loop_truth, plan_truth
from click.testing import CliRunner
from tests.contracts import samples
from tests.stats import results

from coldwarm.cli.main import cli
from coldwarm.contracts import codec
from coldwarm.contracts.observation import FirstCallParts, Judgement, Observation, Phase
from coldwarm.contracts.reasons import because
from coldwarm.contracts.sweep import FILE, SweepRequest
from coldwarm.errors import UsageError
from coldwarm.report.sentences import words

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result

    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.result import CaseResult

EMPTY: CacheMode = "cold_process_cold_cache"
FILLED: CacheMode = "cold_process_warm_cache"
WARM: CacheMode = "warm_process"
WIDTH = 80
FIGURES = {
    "numpy": {EMPTY: (0.10, 0.002), FILLED: (0.10, 0.002), WARM: 0.002},
    "jax_jit_cpu": {EMPTY: (0.60, 0.15), FILLED: (0.50, 0.05), WARM: 0.0005},
    "torch_compile_cpu": {EMPTY: (9.0, 5.0), FILLED: (4.0, 1.0), WARM: 0.0021},
}


def observation(candidate: str, mode: CacheMode, place: int) -> Observation:
    """Return a process of a round; every third is slower by a little."""
    slowness = 1 + 0.01 * (place % 3)
    start, call = (slowness * one for one in FIGURES[candidate][mode])  # type: ignore[attr-defined]
    warm = FIGURES[candidate][WARM]
    assert isinstance(warm, float)
    phases = [
        Phase(name="wrap", start_s=0.01, duration_s=0.001),
        Phase(name="first_call", start_s=0.02, duration_s=call),
        Phase(name="second_call", start_s=start, duration_s=warm * 3),
    ]
    also: list[CacheMode] = [WARM] if mode == FILLED else []
    block = samples.warm_observation([warm * slowness] * 40).blocks
    compiled = FirstCallParts(compile_s=None if candidate == "numpy" else call / 2, rest_s=call / 2)
    return samples.observation(
        mode,
        round=place,
        also_modes=also,
        phases=phases,
        ttfr_process_s=start,
        first_call_parts=compiled,
        blocks=block if also else [],
        judgements={
            one: Judgement(proved=True, reason=because("stated", text="made so"))
            for one in (mode, *also)
        },
    )


def case(candidate: str, modes: list[CacheMode], **changes: Any) -> CaseResult:
    seen = [observation(candidate, m, n) for m in modes if m != WARM for n in range(3)]
    if changes.get("status") == "failed":
        why = {"status": "failed", "reason": changes["reason"]}
        seen = [msgspec.structs.replace(one, **why) for one in seen]
    made = samples.case(
        seen,
        modes,
        case=f"{candidate}_matmul_512_f32",
        candidate=candidate,
        baseline=candidate == "numpy",
    )
    return msgspec.structs.replace(made, **changes)


@pytest.fixture
def result(tmp_path: Path) -> Path:
    modes: list[CacheMode] = [EMPTY, FILLED, WARM]
    gone = msgspec.structs.replace(
        case("jax_jit_cpu", modes),
        case="jax_jit_gpu_matmul_512_f32",
        candidate="jax_jit_gpu",
        observations=[],
        status="warn",
        reason=because("gpu_unavailable"),
    )
    return results.write(tmp_path / "run", [*(case(name, modes) for name in FIGURES), gone])


def run(*arguments: object) -> Result:
    columns = {"COLUMNS": str(WIDTH), "TERM": "dumb"}
    given = ["plan", *(str(one) for one in arguments)]
    return CliRunner(env=columns).invoke(cli, given, standalone_mode=False)


def code(done: Result) -> int:
    """Return what the process would exit with."""
    value: int = getattr(done.exception, "exit_code", done.return_value)
    return value


def document(*arguments: object) -> dict[str, Any]:
    done = run(*arguments, "--json")
    assert code(done) == 0, done.output
    (found,) = json.loads(done.stdout)["plans"]
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize(
    ("arguments", "cheapest"),
    [
        (("--calls", "200"), "numpy"),
        (("--calls", "2000"), "jax_jit_cpu"),
        (("--calls", "300", "--processes", "10"), "jax_jit_cpu"),
        (("--calls", "300", "--processes", "10", "--caches", "empty"), "numpy"),
    ],
)
def test_the_cheapest_depends_on_the_plan(
    result: Path, arguments: tuple[str, ...], cheapest: str
) -> None:
    assert document(result, *arguments)["cheapest"] == cheapest


def test_what_was_made_beforehand_is_told_and_not_added(tmp_path: Path) -> None:
    modes: list[CacheMode] = [EMPTY, FILLED, WARM]
    made = [samples.making(seconds) for seconds in (1.0, 3.0, 2.0)]
    jitted = case("jax_jit_cpu", modes, made=made)
    result = results.write(tmp_path / "run", [case("numpy", modes), jitted])
    plan_of = (result, "--calls", 2000, "--shapes", 2)
    found = document(*plan_of)
    assert (found["cheapest"], found["cheapest_with_making"]) == ("jax_jit_cpu", "numpy")
    totals = {one["candidate"]: one for one in found["totals"]}
    assert totals["jax_jit_cpu"]["made_s"] == 2 * 2.0, "the median, once for each shape"
    assert totals["jax_jit_cpu"]["total_s"] < 2.0
    assert totals["numpy"]["null_reasons"]["made_s"]["code"] == "nothing_made"
    told = " ".join(run(*plan_of).stdout.split())
    assert "ahead of time jax_jit_cpu 4.00 s, once for each shape, not in the totals" in told
    assert "paid for as well, numpy is the cheapest" in told
    assert document(result, "--calls", 20000)["cheapest_with_making"] == "jax_jit_cpu"


def test_totals_are_sums(result: Path) -> None:
    found = document(result, "--calls", 100, "--processes", 3, "--caches", "kept")
    totals = {one["candidate"]: one["total_s"] for one in found["totals"]}
    warm = 0.0005
    starts = (0.60 + 2 * 0.50) * 1.01 + 3 * 3 * warm
    assert totals["jax_jit_cpu"] == pytest.approx(starts + 3 * 98 * warm * 1.01)
    assert found["not_measured"] == {"jax_jit_gpu": {"code": "gpu_unavailable"}}


def test_the_range_of_one_process_stands_beside_the_expected_total(result: Path) -> None:
    found = document(result, "--calls", 100, "--processes", 10, "--caches", "filled")
    for total in found["totals"]:
        assert total["low_s"] < total["total_s"] < total["high_s"]
        one_s = total["total_s"] / 10
        assert total["process_low_s"] < one_s < total["process_high_s"]
        wide = total["process_high_s"] - total["process_low_s"]
        assert wide > (total["total_s"] - total["low_s"]) / 10
        assert total["rests_on"]["code"] == "whole_rounds"
        assert total["process_rests_on"]["code"] == "by_student"
        assert total["n_rounds"] == 3
    told = " ".join(run(result, "--calls", 100).stdout.split())
    assert " (3) " in told, "below five rounds their number stands with the interval"
    assert re.search(r"few rounds (numpy|jax_jit_cpu) \(3\)", told)
    assert "From fewer than 8 rounds, 1 in 7 may lie beyond" in told
    assert "one process" in told


def test_rounds_without_warm_calls_are_named(tmp_path: Path) -> None:
    made = [case(name, [EMPTY, FILLED, WARM]) for name in ("numpy", "jax_jit_cpu")]
    kept = [one for one in made[1].observations if one.cache_mode != FILLED or one.round]
    made[1] = msgspec.structs.replace(made[1], observations=kept)
    folder = results.write(tmp_path / "run", made)
    told = " ".join(run(folder, "--calls", 100).stdout.split())
    assert "jax_jit_cpu (2)" in told
    assert told.count("(2)") > 1, "beside the break-even, too"


def test_a_difference_that_is_not_that_of_the_totals_is_explained(tmp_path: Path) -> None:
    """GIVEN a candidate with a slow round more than the other THEN the two differences differ."""
    made = [case(name, [EMPTY, FILLED, WARM]) for name in ("numpy", "jax_jit_cpu")]
    ours, theirs = ([one for one in each.observations if one.round] for each in made)
    first = [one for one in made[1].observations if not one.round]
    slow = [msgspec.structs.replace(one, ttfr_process_s=6.0) for one in first]
    pair = [
        msgspec.structs.replace(one, observations=kept)
        for one, kept in zip(made, (ours, slow + theirs), strict=True)
    ]
    told = " ".join(run(results.write(tmp_path / "run", pair), "--calls", 100).stdout.split())
    assert "different rounds jax_jit_cpu: the difference to numpy is from the rounds that" in told
    alike = run(results.write(tmp_path / "all", made), "--calls", 100).output
    assert "different rounds" not in alike
    shapes = run(tmp_path / "all", "--calls", 100, "--shapes", 50).output
    assert "different rounds" not in shapes, "half of what those may cost is in no total"


def test_the_table_fits_and_says_what_it_means(result: Path) -> None:
    done = run(result, "--calls", 300, "--shapes", 3, "--processes", 10, "--sweep", "calls")
    assert code(done) == 0
    assert max(map(len, done.stdout.splitlines())) <= WIDTH
    for expected in (
        "10 processes: 300 calls each, of 3 shapes",
        "cheapest",
        "shapes,",
        "Totals by calls",
        "best guess: ",
        "no more than numpy",
        f"{words(because('gpu_unavailable'))}: jax_jit_gpu",
        "what one costs was not measured",
    ):
        assert expected in done.stdout


def test_the_break_even_table_has_the_three_readings(result: Path) -> None:
    found = document(result, "--calls", 300)["break_even"]
    against = {
        (one["candidate"], one["reading"]): one for one in found if one["baseline"] == "numpy"
    }
    assert len(against) == 6
    paying = against["jax_jit_cpu", "process"]
    assert paying["verdict"] == "from"
    assert paying["low"] <= paying["calls"] <= paying["high"]
    assert against["jax_jit_cpu", "imported"]["calls"] < paying["calls"]
    assert against["jax_jit_cpu", "cached"]["calls"] < paying["calls"]
    assert against["torch_compile_cpu", "process"]["verdict"] in {"never", "undecided"}
    assert {one["baseline"] for one in found} == {"numpy", "jax_jit_cpu"}


@pytest.mark.parametrize("over", ["calls", "shapes", "processes"])
def test_every_sweep_prints(result: Path, over: str) -> None:
    done = run(result, "--calls", 50, "--sweep", over)
    assert code(done) == 0, done.output
    assert f"Totals by {over}" in done.stdout


def test_a_sweep_has_the_totals_at_each_size(tmp_path: Path) -> None:
    asked = SweepRequest(name="n", low=10, high=100, goal=0.2, asked={}, identity="0" * 64)
    sweep = tmp_path / "sweep"
    for size in (100, 10):
        results.write(sweep / f"n={size}", [case(name, [EMPTY, FILLED, WARM]) for name in FIGURES])
    (sweep / FILE).write_bytes(codec.encode(asked))
    done = run(sweep, "--calls", 2000)
    assert code(done) == 0, done.output
    rows = [line.split() for line in done.stdout.splitlines() if line.startswith("n=")]
    assert [(row[0], row[-1].rstrip("*")) for row in rows] == [
        ("n=10", "jax_jit_cpu"),
        ("n=100", "jax_jit_cpu"),
    ]
    assert max(map(len, done.stdout.splitlines())) <= WIDTH
    told = json.loads(run(sweep, "--calls", 2000, "--json").stdout)
    assert [one["group"] for one in told["plans"]] == ["n=10", "n=100"]
    assert (told["run_id"], told["null_reasons"]["run_id"]["code"]) == (None, "run_of_each_size")
    assert "From how many calls" in run(sweep, "--calls", 2000, "--group", "n=10").stdout
    assert run(sweep, "--calls", 2000, "--sweep", "calls").stdout.count("Totals by calls") == 2
    refused = run(sweep, "--calls", 2000, "--group", "n=1")
    assert "n=10" in str(refused.exception)


def test_unsteady_warm_calls_are_told(tmp_path: Path) -> None:
    made = case("numpy", [EMPTY, FILLED, WARM])
    drifting = [0.002 * (1 + 0.02 * place) for place in range(40)]
    moving = [
        msgspec.structs.replace(
            one, blocks=[msgspec.structs.replace(b, samples_s=drifting) for b in one.blocks]
        )
        for one in made.observations
    ]
    folder = results.write(tmp_path, [msgspec.structs.replace(made, observations=moving)])
    assert "the warm calls of numpy did not become" in run(folder, "--calls", 5).output


def test_a_mode_that_was_not_measured_is_named_with_the_way_on(tmp_path: Path) -> None:
    folder = results.write(tmp_path, [case("numpy", [EMPTY])])
    assert code(run(folder, "--calls", 2)) == 0
    done = run(folder, "--calls", 2, "--processes", 2)
    assert isinstance(done.exception, UsageError)
    assert "needs cold_process_warm_cache, which was not measured" in str(done.exception)
    assert "\n" not in str(done.exception)
    done = run(folder, "--calls", 3)
    assert "needs warm_process" in str(done.exception)


def test_nothing_valid_is_an_exit_code_of_its_own(tmp_path: Path) -> None:
    broken = case("numpy", [EMPTY], status="failed", reason=because("correctness_gate"))
    folder = results.write(tmp_path, [broken])
    done = run(folder, "--calls", 2)
    assert code(done) == 4
    assert "its answer is wrong: numpy" in done.stdout


def test_an_unknown_group_gets_the_nearest(result: Path) -> None:
    done = run(result, "--calls", 2, "--group", "matmul_512_f64")
    assert isinstance(done.exception, UsageError)
    assert "did you mean matmul_512_f32?" in str(done.exception)
    assert code(run(result, "--calls", 2, "--group", "matmul_512_f32")) == 0


def test_a_directory_without_a_run_is_told(tmp_path: Path) -> None:
    done = run(tmp_path, "--calls", 2)
    assert isinstance(done.exception, UsageError)
    assert "holds no suite.json" in str(done.exception)


@pytest.mark.parametrize(("given", "calls"), [("1,226", 1226), ("2e6", 2 * 10**6), ("7", 7)])
def test_numbers_are_read_as_tables_have_them(result: Path, given: str, calls: int) -> None:
    assert document(result, "--calls", given)["calls"] == calls


@pytest.mark.parametrize(
    "arguments",
    [(), ("--calls", "0"), ("--calls", "5", "--shapes", "6"), ("--calls", "5", "--caches", "hot")],
)
def test_numbers_that_make_no_plan_are_refused(result: Path, arguments: tuple[str, ...]) -> None:
    assert code(run(result, *arguments)) == 2


@pytest.mark.slow
def test_predicted_totals_come_true() -> None:
    """The predicted interval and that of the measured median meet, with nothing added."""
    found = plan_truth.measure(calls=(3, 300), repeats=3)
    assert len(found) == 4
    assert [pair for pair in found if pair.outcome == plan_truth.MISSED] == []


@pytest.mark.slow
def test_totals_of_whole_loops_come_true() -> None:
    """Three scenarios, one of them predicted from another one's costs."""
    found = loop_truth.measure(min_runs=4, repeats=3)
    assert len({pair.loop.workload for pair in found}) == 3
    assert [pair for pair in found if pair.outcome == plan_truth.MISSED] == []
