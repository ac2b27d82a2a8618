"""Candidates that only time can tell from those that work."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.faults.lab import GOOD, Lab, install, shown

if TYPE_CHECKING:
    from tests.faults.lab import Done

pytestmark = pytest.mark.slow


def run_beside_numpy(bench: Lab, fault: str, kind: str) -> Done:
    points = {"coldwarm.backends": {fault: f"faulty_backend:{kind}"}}
    bench.sites.append(install(bench.path / "more", "more_faults", points))
    mode = ("--cache-mode", "cold_process_cold_cache")
    done = bench.run("--backend", f"numpy,{fault}", *mode, "--timeout", "2s")
    assert bench.case(GOOD)["status"] == "ok"
    bench.assert_clean()
    return done


@pytest.mark.parametrize(
    ("fault", "kind", "reason"),
    [
        ("hang", "Hang", "timeout: 2"),
        ("close_pipes", "ClosePipes", "pipe_closed"),
    ],
)
def test_a_candidate_that_never_answers_is_ended(
    bench: Lab, fault: str, kind: str, reason: str
) -> None:
    assert run_beside_numpy(bench, fault, kind).code == 3
    case = bench.case(GOOD.replace("numpy", fault))
    assert (case["status"], shown(case["reason"])) == ("failed", reason)
    assert 2.0 <= case["observations"][0]["wall_s"] < 5.0


def test_a_process_that_does_not_end_by_itself_is_ended_and_its_result_kept(bench: Lab) -> None:
    assert run_beside_numpy(bench, "leave_thread", "LeaveThread").code == 0
    seen = bench.case(GOOD.replace("numpy", "leave_thread"))["observations"][0]
    assert seen["status"] == "ok"
    assert seen["wall_s"] >= 2.0
    assert seen["ttfr_process_s"] < 1.0
