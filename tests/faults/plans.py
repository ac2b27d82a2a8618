"""Plans of runs that take a while, and what they leave when they are complete."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.faults.lab import GOOD, Lab, wait_for

if TYPE_CHECKING:
    from subprocess import Popen

PLAN = (
    *("--backend", "numpy,honest"),
    *("--deterministic", "--rounds", "1", "--max-rounds", "1"),
)
"""A plan that takes some seconds: two candidates, every mode."""
PROCESSES = 6
SHORT = (
    *("--backend", "numpy", "--cache-mode", "cold_process_cold_cache"),
    *("--deterministic", "--rounds", str(PROCESSES), "--max-rounds", str(PROCESSES)),
)
"""A plan of many processes, each of which is soon over."""
ONE = ("--backend", "numpy", "--cache-mode", "cold_process_cold_cache")
"""A plan of one process."""


def until(bench: Lab, process: Popen[str], observations: int) -> None:
    """Wait until a run has written down so many observations."""
    wait_for(
        lambda: bench.observations() >= observations or process.poll() is not None,
        bench.observations,
    )
    assert process.poll() is None, "it ended too early"


def assert_complete(bench: Lab) -> None:
    """Look whether a resumed run has everything that a run in one piece has."""
    suite = bench.suite()
    assert suite["complete"]
    assert suite["n_ok"] == 2
    taken = []
    for name in (GOOD, GOOD.replace("numpy", "honest")):
        case = bench.case(name)
        assert [cold["n_ok"] for cold in case["cold"]] == [1, 1]
        assert case["warm"]["n_processes"] == 1
        assert not [one for one in case["observations"] if one["status"] != "ok"]
        taken += [one["order"] for one in case["observations"]]
        taken += [block["order"] for one in case["observations"] for block in one["blocks"]]
    assert len(taken) == len(set(taken)), "two things stand at one place of the order"
    assert max(taken) < len(suite["order"])
    bench.assert_clean()


def assert_short(bench: Lab) -> None:
    """Look whether a short run is complete, each process counted once."""
    case = bench.case(GOOD)
    assert case["status"] == "ok"
    assert [one["round"] for one in case["observations"]] == list(range(PROCESSES))
    assert [one["order"] for one in case["observations"]] == sorted(
        {one["order"] for one in case["observations"]}
    )
    bench.assert_clean()


def kept(bench: Lab, before: list[bytes]) -> bool:
    """Say whether the journal still begins with these lines."""
    return bench.journal()[: len(before)] == before
