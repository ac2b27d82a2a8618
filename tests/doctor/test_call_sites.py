"""The table by line counts each compilation once, and findings stand in the order they matter."""

from __future__ import annotations

from typing import Any

import pytest

from coldwarm.contracts.doctor import Finding
from coldwarm.contracts.reasons import because
from coldwarm.stats.doctor.findings import is_small, ranked
from coldwarm.stats.doctor.seen import Seen
from coldwarm.stats.doctor.sites import call_sites
from coldwarm.stats.doctor.sources import Sources


def compiled(number: int, name: str, slot: int, seconds: float = 0.5) -> list[dict[str, Any]]:
    """Return the lines of a journal of one call that was compiled at ``a.py:3``."""
    call = {
        "kind": "call",
        "at_s": 1.0,
        "call": number,
        "framework": "jax",
        "stack": [["/a.py", 3, "<module>"]],
        "function": {"name": name},
        "cause": {"kind": "first"},
        "thread": 1,
        "slot": slot,
    }
    stage = {
        "kind": "stage",
        "at_s": 2.0,
        "call": number,
        "stage": "compile",
        "begin_s": 1.0,
        "seconds": seconds,
        "own_s": {"compile": seconds},
        "hit": False,
        "program": None,
    }
    return [call, stage]


def test_calls_of_one_place_with_several_names_are_counted_once() -> None:
    rows = compiled(1, "subtract", 0) + compiled(2, "jit(subtract)", 0)
    found = call_sites(Seen(rows, [2, 1_000_000_000, 2, 0], Sources({})))
    assert [one.n_compiles for one in found] == [1, 1]
    assert [one.total_s for one in found] == pytest.approx([0.5, 0.5])


def test_calls_that_are_counted_and_not_written_are_added_to_one_of_them() -> None:
    rows = compiled(1, "subtract", 0) + compiled(2, "jit(subtract)", 0)
    found = call_sites(Seen(rows, [10, 4_000_000_000, 10, 0], Sources({})))
    assert sum(one.n_compiles for one in found) == 10
    assert sum(one.total_s for one in found) == pytest.approx(4.0)


def finding(pattern: str, cost_s: float | None) -> Finding:
    return Finding(
        pattern=pattern,
        framework="jax",
        path="/a.py",
        line=3,
        function="<module>",
        source="",
        n=1,
        cost_s=cost_s,
        saving_s=None,
        says=because("doctor_operations", n_operations=1),
    )


def test_a_wrong_figure_comes_after_what_costs_much_and_before_what_costs_little() -> None:
    found = [
        finding("host-sync-in-loop", 0.0),
        finding("missing-sync-timing", None),
        finding("no-jit-hot-loop", 0.05),
        finding("shape-change", 2.0),
    ]
    names = [one.pattern for one in ranked(found, 10.0)]
    assert names == [
        "shape-change",
        "missing-sync-timing",
        "no-jit-hot-loop",
        "host-sync-in-loop",
    ]
    assert [is_small(one, 10.0) for one in found] == [True, False, True, False]
