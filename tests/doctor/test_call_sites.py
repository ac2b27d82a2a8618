"""The table by line counts each compilation once, and findings stand in the order they matter."""

from __future__ import annotations

from typing import Any

import pytest
from tests.doctor.reports import finding, worded

from coldwarm.contracts.reasons import because
from coldwarm.doctor.judge import findings, is_small, ranked
from coldwarm.doctor.source_code import SourceFiles
from coldwarm.doctor.time_account import account, call_sites
from coldwarm.doctor.trace import ProcessTrace


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
    found = call_sites(ProcessTrace.of(rows, [2, 1_000_000_000, 2, 0], SourceFiles({})))
    assert [one.n_compiles for one in found] == [1, 1]
    assert [one.total_s for one in found] == pytest.approx([0.5, 0.5])


def test_calls_that_are_counted_and_not_written_are_added_to_one_of_them() -> None:
    rows = compiled(1, "subtract", 0) + compiled(2, "jit(subtract)", 0)
    found = call_sites(ProcessTrace.of(rows, [10, 4_000_000_000, 10, 0], SourceFiles({})))
    assert sum(one.n_compiles for one in found) == 10
    assert sum(one.total_s for one in found) == pytest.approx(4.0)


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


def read_from_cache(number: int, slot: int) -> list[dict[str, Any]]:
    """Return the lines of a call whose program was read: half of its time was reading."""
    call, stage = compiled(number, "step", slot)
    return [
        call,
        {**stage, "begin_s": 2.0, "hit": True, "own_s": {"trace": 0.25, "cache_read": 0.25}},
    ]


def traced(number: int, slot: int) -> list[dict[str, Any]]:
    """Return the lines of a call that was traced and not compiled."""
    call, stage = compiled(number, "step", slot)
    return [call, {**stage, "stage": "trace", "hit": None, "own_s": {"trace": 0.5}}]


def seen_of(rows: list[dict[str, Any]], *counts: int) -> ProcessTrace:
    return ProcessTrace.of(rows, list(counts), SourceFiles({}))


def test_what_was_only_traced_is_no_compilation_however_often() -> None:
    (site,) = call_sites(seen_of(traced(1, 0), 400, 40_000_000_000, 0, 0))
    assert (site.n_compiles, site.n_reads) == (0, 0)
    assert (site.trace_s, site.total_s) == pytest.approx((40.0, 40.0))


def test_reads_that_are_counted_and_not_written_are_reads() -> None:
    rows = compiled(1, "step", 0) + read_from_cache(2, 0)
    seen = seen_of(rows, 10, 5_000_000_000, 1, 9)
    (site,) = call_sites(seen)
    assert (site.n_compiles, site.n_reads) == (1, 9)
    assert site.compile_s == pytest.approx(0.5)
    assert (site.trace_s, site.cache_s) == pytest.approx((2.25, 2.25))
    whole = account(seen, 0.0, 10.0)
    assert (whole.compile_s, whole.cache_s) == pytest.approx((0.5, 2.25))


def test_reads_are_no_compiling_where_only_compilations_were_written() -> None:
    (site,) = call_sites(seen_of(compiled(1, "step", 0), 10, 5_000_000_000, 1, 9))
    assert (site.compile_s, site.cache_s) == pytest.approx((0.5, 4.5))


def test_the_parts_of_a_line_are_all_of_it() -> None:
    rows = compiled(1, "step", 0) + read_from_cache(2, 0) + traced(3, 0)
    (site,) = call_sites(seen_of(rows, 30, 9_000_000_000, 12, 15))
    assert (site.n_compiles, site.n_reads) == (12, 15)
    assert site.trace_s is not None
    parts = site.trace_s + site.lower_s + site.compile_s + site.cache_s
    assert (parts, site.total_s) == pytest.approx((9.0, 9.0))


def test_what_was_not_told_is_no_zero() -> None:
    (site,) = call_sites(ProcessTrace.of(compiled(1, "step", 0), [], SourceFiles({})))
    assert site.trace_s is None
    assert site.null_reasons["trace_s"] == because("trace_untold")
    followed = [{"kind": "process", "at_s": 0.0, "sees_calls": True}, *compiled(1, "step", 0)]
    (site,) = call_sites(ProcessTrace.of(followed, [], SourceFiles({})))
    assert site.trace_s == 0.0
    (site,) = call_sites(ProcessTrace.of(read_from_cache(1, 0), [], SourceFiles({})))
    assert site.trace_s == 0.25


def by_a_thread(number: int, whose: str = "user") -> list[dict[str, Any]]:
    """Return the lines of a call that no line of the user's makes."""
    rows = compiled(number, "energy", 0)
    shapes = {"kind": "shape", "argument": "x", "before": "f32[3]", "now": f"f32[{number}]"}
    function = {"name": "energy", "path": "/a.py", "line": 1, "whose": whose}
    cause = {"kind": "again", "differences": [shapes]} if number > 1 else {"kind": "first"}
    return [{**rows[0], "stack": [], "function": function, "cause": cause}, rows[1]]


def test_what_a_thread_calls_by_itself_stands_at_the_function() -> None:
    text = "@jax.jit\ndef energy(x):\n    return x\n"
    rows = [row for number in range(1, 8) for row in by_a_thread(number)]
    seen = ProcessTrace.of(rows, [], SourceFiles({"/a.py": text}))
    (site,) = call_sites(seen)
    assert (site.path, site.line, site.caller, site.n_compiles) == ("/a.py", 1, "", 7)
    (found,) = findings(seen)
    assert (found.pattern, found.line, found.n) == ("shape-change", 1, 6)
    assert worded(found).text.endswith(
        "no line of the program calls it: a thread does, or a package"
    )


def test_what_the_framework_calls_by_itself_has_no_line() -> None:
    assert call_sites(ProcessTrace.of(by_a_thread(1, "framework"), [], SourceFiles({}))) == []


def test_no_more_calls_are_slow_than_there_are() -> None:
    place = {
        "kind": "place",
        "at_s": 1.0,
        "what": "jitted",
        "name": "step",
        "stack": [["/a.py", 3, "<module>"]],
        "slot": 4,
    }
    process = {"kind": "process", "at_s": 0.0, "sees_calls": True}
    rows = [process, place, *compiled(1, "step", 0)]
    (site,) = call_sites(ProcessTrace.of(rows, [1, 10**9, 1, 0, 12, 0, 156, 0], SourceFiles({})))
    assert (site.n_calls, site.n_slow_calls) == (12, 12)
