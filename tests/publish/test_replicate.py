"""A snapshot measured again: what is installed, what is run, and what agrees."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from tests.faults import lab
from tests.publish.conftest import program

from coldwarm.contracts import codec
from coldwarm.contracts.reasons import RefusedError
from coldwarm.contracts.snapshot import ReplicationReport
from coldwarm.publish import replicate
from coldwarm.runner.case_list import Options
from coldwarm.runner.harness import harness_sha256

if TYPE_CHECKING:
    from pathlib import Path

    from tests.publish.conftest import Call

SLEEPING = """\
import time

from faulty_backend import Faulty


class Sleeping(Faulty):
    name = "sleeping"
    call_s = {call_s}

    def wrap(self, function):
        def slept(array):
            time.sleep(self.call_s)
            return function(array)

        return slept
"""
"""A backend whose calls take as long as it says."""


def sleeping_site(folder: Path, call_s: float) -> Path:
    """Install a backend whose calls take so long, under one name."""
    points = {
        "coldwarm.backends": {"sleeping": "sleeping_backend:Sleeping"},
        "coldwarm.workloads": {"small": "faulty_workload"},
    }
    site = lab.install(folder, "coldwarm_sleeping", points)
    (site / "sleeping_backend.py").write_text(SLEEPING.format(call_s=call_s))
    return site


def test_options_become_arguments_that_stand_for_themselves(tmp_path: Path) -> None:
    """GIVEN options of a stranger THEN none of them is taken for another option."""
    options = Options(
        suite="--help", cases=("--out=/etc", "b"), time_budget_s=5.0, deterministic=True
    )
    made = replicate._command_line("python", options, tmp_path / "out", None)
    assert made[:5] == ["python", "-P", "-m", "coldwarm", "run"]
    assert "--suite=--help" in made
    assert "--case=--out=/etc,b" in made
    assert "--time-budget=5.0s" in made
    assert "--deterministic" in made
    assert f"--out={tmp_path / 'out'}" in made


def test_a_replica_needs_an_empty_folder(call: Call, snapshot: Path, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "a").touch()
    err = call.refused("replicate", snapshot, "--out", tmp_path / "there")
    assert "is no new or empty folder" in err


def test_a_run_without_its_options_is_not_repeated(
    call: Call, snapshot: Path, tmp_path: Path
) -> None:
    err = call.refused("replicate", snapshot, "--out", tmp_path / "replica")
    assert "does not say by which options it was measured" in err
    assert not (tmp_path / "replica").exists()


@pytest.mark.slow
def test_a_candidate_that_was_slowed_disagrees_by_name(tmp_path: Path, call: Call) -> None:
    """GIVEN the same backend, then slower by 20 % THEN it disagrees, and only it does."""
    usual = sleeping_site(tmp_path / "usual", 0.005)
    slowed = sleeping_site(tmp_path / "slowed", 0.006)
    (tmp_path / "lab").mkdir()
    bench = lab.Lab(tmp_path / "lab", [usual])
    plan = ("--cache-mode", "warm_process", "--rounds", "6", "--max-rounds", "6")
    done = bench.run("--backend", "numpy,sleeping", "--deterministic", *plan)
    assert done.code == 0, done.err
    call.create(bench.out, tmp_path / "s1", "--no-report")
    again = ("snapshot", "replicate", tmp_path / "s1", "--as-it-is", "--out")
    same = bench.command(*again, tmp_path / "same")
    assert "Disagreeing: sleeping" not in same.out
    assert same.code in {0, 1, 4}, same.err  # a call of a microsecond may differ by itself
    bench.sites = [slowed]
    other = bench.command(*again, tmp_path / "other", "--json")
    assert other.code == 1, other.err
    told = json.loads(other.out)
    cases = {case["case"]: case for case in told["runs"][0]["cases"]}
    assert cases["sleeping_small_8_f32"]["agreement"] == "disagrees"
    [figure] = cases["sleeping_small_8_f32"]["figures"]
    assert 1.15 < figure["ratio"] < 1.25
    report = (tmp_path / "same" / "replication_report.json").read_text()
    [before] = [
        case for case in json.loads(report)["runs"][0]["cases"] if "sleeping" in case["case"]
    ]
    assert before["agreement"] == "agrees"
    bench.assert_no_orphans()


@pytest.mark.slow
def test_a_snapshot_is_repeated_as_it_is(
    signed: Path, site: Path, keys: tuple[Path, Path], tmp_path: Path
) -> None:
    """GIVEN a snapshot of a run here THEN it is run again, and a report names every case."""
    bench = lab.Lab(tmp_path, [site])
    out = tmp_path / "replica"
    done = bench.command(
        *("snapshot", "replicate", signed, "--public-key", keys[1], "--out", out),
        *("--as-it-is", "--json"),
    )
    assert done.code in {0, 1, 4}, done.err
    told = json.loads(done.out)
    assert told == json.loads((out / "replication_report.json").read_text())
    [run] = told["runs"]
    assert run["same_machine"]
    assert run["same_harness"]
    assert {case["case"] for case in run["cases"]} == {"numpy_small_8_f32", "honest_small_8_f32"}
    # Two processes decide nothing, and it is said so.
    assert {case["agreement"] for case in run["cases"]} == {"undecided"}
    published = codec.load_as(ReplicationReport, out / "nextstat" / "replication_report.json")
    assert published.original.snapshot_id == "s1"
    assert published.replica.snapshot_id == "s1-replica"
    assert not published.comparison.ok
    verified = program("verify", out / "snapshot")
    assert verified.returncode == 0, verified.stderr


def test_other_sources_are_not_run_unasked(signed: Path) -> None:
    """GIVEN a wheel that is not of these sources THEN it is code of its maker."""
    with pytest.raises(RefusedError) as refused:
        replicate._harness_of(signed, {"1" * 64}, with_wheel=False)
    assert refused.value.reason.code == "harness_is_code"
    brought = replicate._harness_of(signed, {"1" * 64}, with_wheel=True)
    assert brought.kind == "wheel_of_snapshot"
    ours = replicate._harness_of(signed, {harness_sha256()}, with_wheel=False)
    assert ours.kind == "same_sources"
