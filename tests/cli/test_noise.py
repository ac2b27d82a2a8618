"""``coldwarm noise`` through its public face; only the slow test measures anything."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pytest
from click.testing import CliRunner
from tests.contracts import samples

from coldwarm.cli.main import cli
from coldwarm.contracts.bench import NoiseReport
from coldwarm.contracts.codec import decode_as, load_as
from coldwarm.contracts.observation import Judgement
from coldwarm.contracts.reasons import because
from coldwarm.contracts.result import CaseResult, SuiteResult
from coldwarm.errors import ExitCode
from coldwarm.runner.functions import bench, targets
from coldwarm.runner.suite import Outcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from click.testing import Result

    from coldwarm.contracts.base import CacheMode
    from coldwarm.runner.functions.targets import Request

WIDTH = 80


class Machine:
    """Stands for ``bench.run``: equal sides, as noisy as told, and what it was asked for."""

    def __init__(self) -> None:
        """Start with a quiet machine."""
        self.spread = 0.01
        self.pairs = 12
        self.complete = True
        self.bias = 1.0
        self.asked: list[Request] = []

    def __call__(self, request: Request, out_dir: Path, *, listener: object) -> Outcome:
        """Leave what a run leaves, and return its outcome."""
        self.asked.append(request)
        samples.write_run(out_dir)
        suite = load_as(SuiteResult, out_dir / "suite.json")
        took = {"complete": self.complete, "measured_s": 0.5 * self.pairs}
        modes = request.options.cache_modes
        cases = [self._case(side, modes) for side in range(2)]
        done = msgspec.structs.replace(suite, **took)
        return Outcome(done, cases, out_dir, interrupted=not self.complete)

    def _case(self, side: int, modes: Sequence[CacheMode]) -> CaseResult:
        rng = np.random.default_rng(side)
        level = self.bias if side else 1.0
        seen = []
        for mode in modes:
            for place in range(self.pairs):
                took = float(level * np.exp(self.spread * rng.standard_normal()))
                proved = {mode: Judgement(proved=True, reason=because("stated", text="made so"))}
                kept = {"round": place, "judgements": proved, "ttfr_s": took}
                calls = [took * (1 + 0.001 * (n % 3)) for n in range(40)]
                warm = mode == "warm_process"
                seen.append(
                    samples.warm_observation(calls, **kept)
                    if warm
                    else samples.observation(mode, **kept)
                )
        cold = [samples.cold(mode, self.pairs) for mode in modes if mode != "warm_process"]
        warm_part = samples.warm([0] * self.pairs) if "warm_process" in modes else None
        name = f"{'AB'[side]}_noise_1_f64"
        return samples.case(seen, modes, case=name, cold=cold, warm=warm_part)


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Machine:
    """Take the place of everything that would start a process."""
    made = Machine()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(bench, "run", made)
    return made


def run(*arguments: str) -> Result:
    columns = {"COLUMNS": str(WIDTH), "TERM": "dumb"}
    return CliRunner(env=columns).invoke(cli, ["noise", *arguments], standalone_mode=False)


def report(*arguments: str) -> dict[str, Any]:
    done = run(*arguments, "--json")
    assert done.return_value == 0, done.output
    read = decode_as(NoiseReport, done.stdout.encode(), "printed")
    assert isinstance(read, NoiseReport)
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found


def test_it_measures_a_program_against_itself_for_all_of_the_time(machine: Machine) -> None:
    found = report("--time-budget", "40s")
    assert [request.options.cache_modes for request in machine.asked] == [
        ("warm_process",),
        ("cold_process_cold_cache", "cold_process_warm_cache"),
    ]
    for request in machine.asked:
        assert request.options.time_budget_s == 20.0
        assert (request.options.decide, request.options.precision) == (None, 0.0)
        first, second = request.targets
        assert first.removeprefix("A=") == second.removeprefix("B=")
        assert first.endswith("/functions/sample.py:work")
    assert found["target"] == "coldwarm.functions.sample:work"
    assert [figure["comparison"]["metric"] for figure in found["figures"]] == [
        "warm.call_s",
        "cold_process_cold_cache.ttfr_s",
        "cold_process_warm_cache.ttfr_s",
    ]
    assert {figure["pairs"] for figure in found["figures"]} == {12}
    assert {figure["pair_s"] for figure in found["figures"]} == {0.5}


def test_the_report_is_kept_with_what_equal_runs_would_have_given(machine: Machine) -> None:
    done = run("--time-budget", "40s")
    (path,) = Path("out").glob("noise-*/noise.json")
    assert f"Kept for `coldwarm compare`: {path}" in done.output
    kept = load_as(NoiseReport, path)
    parts = [figure.parts for figure in kept.figures]
    assert [len(one) for one in parts] == [4, 4, 4]
    assert all(0.95 < part < 1.05 for one in parts for part in one)
    machine.pairs = 7
    assert {len(figure["parts"]) for figure in report("--time-budget", "40s")["figures"]} == {0}


def test_it_says_what_can_be_told_in_10_s_60_s_and_10_min(machine: Machine) -> None:
    (figure,) = report("--warm-only")["figures"]
    horizons = figure["horizons"]
    assert [one["seconds"] for one in horizons] == [10.0, 60.0, 600.0]
    # A pair takes half a second here, and nothing else takes long.
    assert horizons[1]["pairs"] in {119, 120}
    assert horizons[2]["pairs"] == targets.MOST_RUNS
    widths = [one["half_width"] for one in horizons]
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] < 0.01
    assert 0.02 < horizons[-1]["detectable"] < horizons[-1]["reliable"]
    assert horizons[-1]["tells_same"]
    assert horizons[-1]["extrapolated"] == pytest.approx(200 / 12)


def test_a_noisier_machine_tells_less(machine: Machine) -> None:
    quiet = report("--warm-only")["figures"][0]["horizons"]
    machine.spread = 0.2
    loud = report("--warm-only")["figures"][0]["horizons"]
    assert all(a["reliable"] < b["reliable"] for a, b in zip(quiet, loud, strict=True))
    assert not loud[0]["tells_same"]


def test_the_table_tells_it_in_80_columns(machine: Machine) -> None:
    shown = run("--cold-only", "--threshold", "5%").output
    assert max(map(len, shown.splitlines())) <= WIDTH
    assert "First result, empty caches: 12 pairs of processes, 500 ms each" in shown
    assert ["10", "min", "200*"] in [line.split()[:3] for line in shown.splitlines()]
    assert "a difference counts from" in shown
    assert "5.0% on" in shown
    assert "true only if the noise" in shown
    assert "few" not in shown


def test_little_that_was_measured_is_said_to_be_little(machine: Machine) -> None:
    machine.pairs = 6
    assert "6 pairs say little of the noise" in run("--warm-only").output


def test_equal_sides_that_are_told_apart_are_a_warning(machine: Machine) -> None:
    machine.bias = 1.2
    shown = " ".join(run("--warm-only").output.split())
    assert "slower: the ratio is 1.2" in shown
    assert "but they are equal: verdicts cannot be trusted here as it is now" in shown


def test_without_a_pair_nothing_valid_was_measured(machine: Machine) -> None:
    machine.pairs = 1
    done = run("--warm-only")
    assert done.return_value == ExitCode.NOTHING_VALID
    shown = " ".join(done.output.split())
    assert "1 valid pair of processes, and 5 are needed; --time-budget measures for longer" in shown


def test_an_interruption_ends_it_with_what_was_seen(machine: Machine) -> None:
    machine.complete = False
    assert run().return_value == ExitCode.INTERRUPTED
    assert len(machine.asked) == 1


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("--warm-only", "--cold-only"), "leave nothing to measure"),
        (("--input", "x=f32[2]"), "belongs to a TARGET"),
        (("--threshold", "much"), "much"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments: tuple[str, ...], why: str) -> None:
    done = run(*arguments)
    assert getattr(done.exception, "exit_code", None) == 2
    assert why in str(getattr(done.exception, "message", ""))


@pytest.mark.slow
def test_a_program_of_ones_own_is_measured(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("import numpy as np\n\n\ndef double(x):\n    return x + x\n", encoding="utf-8")
    command = [sys.executable, "-m", "coldwarm", "noise", f"{file}:double", "--input", "x=f32[64]"]
    asked = [*command, "--time-budget", "12s", "--warm-only", "--json"]
    done = subprocess.run(asked, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = decode_as(NoiseReport, done.stdout.encode(), "printed")
    assert found.target == f"{file}:double"
    (figure,) = found.figures
    assert figure.pairs >= 2
    assert figure.horizons[-1].reliable is not None
    (kept,) = tmp_path.glob("out/noise-*/noise.json")
    assert decode_as(NoiseReport, kept.read_bytes(), "kept").figures == found.figures
