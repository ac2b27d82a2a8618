"""What is made beforehand: its cost is published, each process gets a copy, faults are told."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest
from tests.faults import lab
from tests.faults.lab import Lab, collect, shown
from tests.faults.plans import until

if TYPE_CHECKING:
    from typing import Any

CASE = "prepared_small_8_f32"
COLD = "cold_process_cold_cache"
BACKENDS = {
    "prepared": "Prepared",
    "made_beside": "Beside",
    "made_wrong": "Wrong",
    "make_fails": "MakeFails",
    "makes_nothing": "MakesNothing",
    "make_ends": "MakeEnds",
    "make_hangs": "MakeHangs",
    "load_fails": "LoadFails",
    "leaves_files": "LeavesFiles",
    "made_without_device": "NoDevice",
}
PROCESSES = 5
ONE = ("--cache-mode", COLD, "--deterministic")
MANY = ("--backend", "prepared", *ONE, "--rounds", str(PROCESSES), "--max-rounds", str(PROCESSES))


@pytest.fixture
def bench(bench: Lab) -> Lab:
    """Return a laboratory that has one more plug-in, whose backends prepare."""
    points = {name: f"prepared_backend:{kind}" for name, kind in BACKENDS.items()}
    site = lab.install(bench.path / "prepared", "prepared", {"coldwarm.backends": points})
    bench.sites.append(site)
    return bench


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def evidence(observation: dict[str, Any]) -> dict[str, Any]:
    """Return what a process shows of what was made beforehand."""
    found = [one for one in observation["evidence"] if one["owner"] == "made"]
    assert len(found) == 1
    only: dict[str, Any] = found[0]
    return only


def test_it_is_made_once_and_every_process_loads_a_copy_of_its_own(bench: Lab) -> None:
    done = bench.run("--backend", "prepared,numpy", "--deterministic")
    assert done.code == 0, done.err
    case = bench.case(CASE)
    assert case["status"] == "ok"
    (made,) = case["made"]
    assert made["artifacts"] == [{"name": "factor", "bytes": 1, "sha256": sha256("2")}]
    assert [phase["name"] for phase in made["phases"]][-2:] == ["wrap", "make"]
    assert made["wall_s"] > sum(phase["duration_s"] for phase in made["phases"])
    assert made["parts"]["rest_s"] == made["phases"][-1]["duration_s"]
    assert made["phases"][-1]["peak_rss_bytes"] > 1e6
    orders = [one["order"] for one in case["observations"]]
    assert made["order"] < min(orders)
    assert bench.suite()["order"][made["order"]] == f"{CASE} make"
    for observation in case["observations"]:
        shown = evidence(observation)
        assert (shown["files_before"], shown["bytes_before"], shown["hits"]) == (1, 1, 1)
        assert observation["judgements"][observation["cache_mode"]]["proved"]
        # The candidate overwrites what it was given, and still nobody else gets that.
        assert observation["gate"]["passed"]
    assert bench.case("numpy_small_8_f32")["made"] == []
    assert "made beforehand" in case["protocol"]["windows"]["first_call"]
    assert "Compiled ahead of time" in done.out
    bench.assert_clean()


def test_a_candidate_that_is_not_replaced_is_built_and_called_after_the_loading(bench: Lab) -> None:
    done = bench.run("--backend", "made_beside,prepared", *ONE)
    assert done.code == 0, done.err
    beside, replaced = bench.case("made_beside_small_8_f32"), bench.case(CASE)
    for case in (beside, replaced):
        assert case["status"] == "ok"
        for observation in case["observations"]:
            assert evidence(observation)["hits"] == 1
            assert observation["gate"]["passed"]
    wraps = [case["protocol"]["windows"]["wrap"] for case in (beside, replaced)]
    assert [text.split()[0] for text in wraps] == ["building", "nothing:"]
    for case in (beside, replaced):
        assert "made beforehand" in case["protocol"]["windows"]["first_call"]


WRONG = {
    "make_fails": "making_failed: exception: NotImplementedError, nothing to serialise",
    "makes_nothing": "making_failed: no_artifact",
    "make_ends": "making_failed: exited: 3",
    "load_fails": "exception: ValueError, made by another version: made",
    "made_wrong": "correctness_gate",
}


def test_what_goes_wrong_fails_the_case_and_no_other(bench: Lab) -> None:
    done = bench.run("--backend", ",".join([*WRONG, "numpy"]), *ONE)
    assert done.code == 3
    for backend, reason in WRONG.items():
        case = bench.case(f"{backend}_small_8_f32")
        assert (case["status"], shown(case["reason"])) == ("failed", reason)
        assert not [seen for seen in case["observations"] if seen["phases"]]
    assert bench.case("numpy_small_8_f32")["status"] == "ok"
    bench.assert_clean()


@pytest.mark.slow
def test_a_making_that_hangs_is_ended(bench: Lab) -> None:
    done = bench.run("--backend", "make_hangs,numpy", *ONE, "--timeout", "2s")
    assert done.code == 3
    reason = shown(bench.case("make_hangs_small_8_f32")["reason"])
    assert reason == "making_failed: timeout: 2"
    bench.assert_clean()


def test_a_process_that_adds_to_what_was_made_is_no_proof(bench: Lab) -> None:
    bench.run("--backend", "leaves_files", *ONE)
    case = bench.case("leaves_files_small_8_f32")
    assert case["status"] == "warn"
    assert shown(case["reason"]).endswith(
        "contradicted: cold_process_cold_cache, new_files: made, 1"
    )


def test_a_device_that_is_not_there_is_no_failure(bench: Lab) -> None:
    assert bench.run("--backend", "made_without_device,numpy", *ONE).code == 0
    case = bench.case("made_without_device_small_8_f32")
    assert (case["status"], shown(case["reason"])) == ("warn", "gpu_unavailable")
    assert case["made"] == []


@pytest.mark.slow
def test_a_run_that_goes_on_makes_it_again_and_tells_of_both(bench: Lab) -> None:
    process = bench.start(*MANY)
    until(bench, process, 3)
    process.kill()
    collect(process)
    bench.assert_no_orphans()
    done = bench.run(*MANY, "--resume")
    assert done.code == 0, done.err
    case = bench.case(CASE)
    assert case["status"] == "ok"
    assert [one["round"] for one in case["observations"]] == list(range(PROCESSES))
    first, second = case["made"]
    assert first["artifacts"] == second["artifacts"]
    taken = [one["order"] for one in (*case["made"], *case["observations"])]
    assert len(taken) == len(set(taken))
    assert "(median of 2)" in done.out
    bench.assert_clean()

    assert bench.run(*MANY, "--resume").code == 0
    assert len(bench.case(CASE)["made"]) == 2, "nothing is left to measure, so nothing is made"


@pytest.mark.slow
def test_a_damaged_line_about_a_making_costs_only_itself(bench: Lab) -> None:
    plan = ("--backend", "prepared", *ONE)
    assert bench.run(*plan).code == 0
    lines = bench.journal()
    at = next(place for place, line in enumerate(lines) if b'"kind":"making"' in line)
    lines[at] = lines[at].replace(b'"wall_s":', b'"wall_x":')
    (bench.out / "journal.jsonl").write_bytes(b"".join(lines))
    done = bench.run(*plan, "--resume")
    assert done.code == 0
    assert f"journal line {at + 1}: its checksum does not match" in done.err
    assert bench.case(CASE)["made"] == []
