"""Runs that are resumed after something changed or was damaged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.faults import lab
from tests.faults.lab import GOOD, Lab, collect, read_json
from tests.faults.plans import ONE, PLAN, PROCESSES, SHORT, assert_short, kept, until

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def interrupted(bench: Lab) -> Lab:
    """Return a laboratory with a run that was killed after a few observations."""
    process = bench.start(*SHORT)
    until(bench, process, 3)
    process.kill()
    collect(process)
    bench.assert_no_orphans()
    return bench


def test_a_changed_option_is_refused_by_name(interrupted: Lab) -> None:
    before = interrupted.journal()
    done = interrupted.run(*SHORT, "--seed", "7", "--resume")
    assert done.code == 2
    assert "something has changed: --seed was 0 and is 7;" in done.one_line()
    assert kept(interrupted, [line for line in before if line.endswith(b"\n")])
    assert not (interrupted.out / "suite.json").exists()


def test_a_run_goes_on_as_it_was_begun_without_its_options_said_again(interrupted: Lab) -> None:
    done = interrupted.command("run", "--out", interrupted.out, "--resume")
    assert done.code == 0, done.err
    assert_short(interrupted)


@pytest.mark.slow
def test_a_changed_environment_is_refused_by_name(
    interrupted: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_PROC_BIND", "true")
    done = interrupted.run(*SHORT, "--resume")
    assert done.code == 2
    assert "OMP_PROC_BIND" in done.one_line()


def test_a_changed_source_is_refused_by_name(bench: Lab) -> None:
    site = lab.install(bench.path / "own", "own", {"coldwarm.workloads": {"own": "own_workload"}})
    source = (lab.PLUGIN / "faulty_workload.py").read_text()
    file = site / "own_workload.py"
    file.write_text(source.replace('NAME = "small"', 'NAME = "own"'))
    bench.sites.append(site)
    plan = ("--case", "own_8_f32", *ONE)
    assert bench.run(*plan).code == 0
    with file.open("a") as text:
        text.write("# another line\n")
    done = bench.run(*plan, "--resume")
    assert done.code == 2
    assert "something has changed: the source of workload own;" in done.one_line()
    bench.assert_clean()


@pytest.mark.slow
def test_a_complete_run_that_is_resumed_still_tells_its_inputs(bench: Lab) -> None:
    assert bench.run(*SHORT).code == 0
    before = bench.case(GOOD)["dataset_sha256"]
    assert before is not None
    assert bench.command("run", "--out", bench.out, "--resume").code == 0
    after = bench.case(GOOD)
    assert after["dataset_sha256"] == before
    assert "dataset_sha256" not in after["null_reasons"]


@pytest.mark.slow
def test_a_damaged_line_is_reported_and_costs_only_itself(interrupted: Lab) -> None:
    lines = [line for line in interrupted.journal() if line.endswith(b"\n")]
    damaged = lines[2].replace(b'"status":"ok"', b'"status":"OK"')
    assert damaged != lines[2]
    journal = interrupted.out / "journal.jsonl"
    journal.write_bytes(b"".join([*lines[:2], damaged, *lines[3:]]))

    done = interrupted.run(*SHORT, "--resume")
    assert done.code == 0, done.err
    assert "journal line 3: its checksum does not match" in done.err
    assert interrupted.journal()[:3] == [*lines[:2], damaged]
    assert interrupted.case(GOOD)["cold"][0]["n_ok"] == PROCESSES
    for name in ("suite.json", "cases", "nextstat"):
        assert interrupted.command("validate", interrupted.out / name).code == 0
    told = interrupted.command("validate", journal)
    assert told.code == 3
    assert f"{journal}:3: " in told.out


def test_a_damaged_first_line_is_the_end_of_a_run(interrupted: Lab) -> None:
    journal = interrupted.out / "journal.jsonl"
    journal.write_bytes(journal.read_bytes().replace(b'"seed":0', b'"seed":1', 1))
    done = interrupted.run(*SHORT, "--resume")
    assert done.code == 2
    assert "has a journal without a header; start a new run" in done.err.splitlines()[-1]


@pytest.mark.slow
def test_a_torn_line_is_cut_off(interrupted: Lab) -> None:
    lines = [line for line in interrupted.journal() if line.endswith(b"\n")]
    (interrupted.out / "journal.jsonl").write_bytes(b"".join(lines)[:-40])
    done = interrupted.run(*SHORT, "--resume")
    assert done.code == 0, done.err
    assert kept(interrupted, lines[:-1])
    assert_short(interrupted)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_plan_and_inputs(bench: Lab) -> None:
    seen: list[Any] = []
    for name in ("one", "two"):
        out: Path = bench.path / name
        assert bench.run(*PLAN, "--seed", "5", "--out", out).code == 0
        suite = read_json(out / "suite.json")
        case = read_json(out / "cases" / f"{GOOD}.json")
        seen.append((suite["order"], case["dataset_sha256"], case["dataset_id"]))
    assert seen[0] == seen[1]
