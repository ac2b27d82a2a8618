"""Processes that someone else has killed: tried again, and nobody's failure."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest
from tests.faults.lab import GOOD, Lab, collect, shown, wait_for
from tests.faults.plans import PLAN, until

from coldwarm.runner import harness

if TYPE_CHECKING:
    from pathlib import Path

COLD = ("--cache-mode", "cold_process_cold_cache")


def test_a_worker_killed_each_time_is_a_failed_case(bench: Lab) -> None:
    """GIVEN others kill it three times THEN it has failed, and a resume tries it once more."""
    process = bench.start("--backend", "numpy,killed", *COLD)
    assert collect(process).code == 3
    case = bench.case(GOOD.replace("numpy", "killed"))
    assert shown(case["reason"]) == "killed"
    assert [seen["status"] for seen in case["observations"]] == ["rejected", "rejected", "failed"]
    assert bench.case(GOOD)["status"] == "ok"
    bench.assert_clean()

    assert bench.run("--backend", "numpy,killed", *COLD, "--resume").code == 3
    again = bench.case(GOOD.replace("numpy", "killed"))["observations"]
    assert len(again) == 6
    assert again[-1]["status"] == "failed"
    bench.assert_clean()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_worker_killed_once_is_tried_again(bench: Lab, number: signal.Signals) -> None:
    """GIVEN someone kills a process in its blocks THEN another takes its place."""
    process = bench.start(*PLAN)
    until(bench, process, 2)
    wait_for(lambda: len(bench.workers()) == 2, bench.alive)
    os.kill(bench.workers()[0], number)
    done = collect(process)
    assert done.code == 0, done.err
    assert bench.suite()["n_ok"] == 2
    cases = [bench.case(GOOD), bench.case(GOOD.replace("numpy", "honest"))]
    seen = [one for case in cases for one in case["observations"]]
    killed = [one for one in seen if one["status"] == "rejected"]
    assert len(killed) == 1
    assert shown(killed[0]["reason"]) in {"killed", f"signal: {number.name}"}
    good = [one for one in seen if one["status"] == "ok"]
    filled = "cold_process_warm_cache"
    assert sum(filled in {one["cache_mode"], *one["also_modes"]} for one in good) == 2
    bench.assert_clean()


def test_a_failed_case_that_was_killed_is_measured_by_a_resume(bench: Lab) -> None:
    """GIVEN a worker that others killed three times THEN a resume measures it."""
    bench.path.joinpath("killed").touch()
    plan = ("--backend", "killed_while_told", *COLD)
    assert bench.run(*plan).code == 3
    bench.path.joinpath("killed").unlink()
    done = bench.run(*plan, "--resume")
    assert done.code == 0, done.err
    assert bench.case(GOOD.replace("numpy", "killed_while_told"))["status"] == "ok"
    bench.assert_clean()


def test_a_probe_that_was_killed_is_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = tmp_path / "told"
    probe = tmp_path / "probe.py"
    probe.write_text(
        f"import os, pathlib\ntold = pathlib.Path({str(told)!r})\n"
        "if told.exists():\n    print('{}')\nelse:\n    told.touch()\n    os.kill(os.getpid(), 9)\n"
    )
    monkeypatch.setattr(harness, "_PROBE", probe)
    assert harness._answer(b"{}") == b"{}\n"
