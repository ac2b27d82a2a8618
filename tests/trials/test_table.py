"""The tables: what counts as right, pooling over kinds, and intervals held against the truth."""

from __future__ import annotations

from typing import Any

import pytest
from benchmarks.trials import journal, table, truth
from benchmarks.trials.settings import KINDS
from benchmarks.trials.table import share_interval
from hypothesis import given
from hypothesis import strategies as st


def trial(
    call: str, kind: str = "numpy", effect: float = 0.0, *, turned: bool = False, **changes: Any
) -> dict[str, Any]:
    base, more = KINDS[kind].base, KINDS[kind].more.get(effect, KINDS[kind].base)
    made = {
        "record": "trial",
        "tool": "coldwarm bench",
        "kind": kind,
        "effect": effect,
        "neighbours": "none",
        "a": more if turned else base,
        "b": base if turned else more,
        "calls": {"verdict": call},
        "ratio": base / more if turned else more / base,
        "low": None,
        "high": None,
        "confidence": 0.97,
        "rounds": 8,
        "seconds": 18.0,
        "failed": None,
        "thrown_away": None,
        "build": "b1",
        "machine": "m1",
    }
    return {**made, **changes}


def cells(text: str, *parts: str) -> list[str]:
    """Return the cells of the one line that begins with these."""
    (line,) = [one for one in text.splitlines() if one.startswith("| " + " | ".join(parts) + " |")]
    return [cell.strip() for cell in line.strip("|").split("|")][len(parts) :]


def test_calls_are_turned_to_the_side_with_more_work() -> None:
    lines = [
        trial("slower", effect=0.03),
        trial("faster", effect=0.03, turned=True),
        trial("slower", effect=0.03, turned=True),
        trial("undecided", effect=0.03),
    ]
    (row,) = table.rows(lines)
    assert row.calls == ["slower", "slower", "faster", "undecided"]
    assert row.judged == 2
    assert row.ratios == pytest.approx([1.03] * 4)


def test_undecided_is_no_false_call_of_equal_sides() -> None:
    (row,) = table.rows([trial("same"), trial("undecided"), trial("faster")])
    assert (row.judged, row.n) == (1, 3)


def test_a_rule_is_judged_on_either_side_of_its_limit_and_left_out_on_it() -> None:
    rules = {"min:5%": "same", "min:2%": "slower"}
    lines = [
        trial("", effect=effect, tool="pytest-benchmark", calls=rules) for effect in (0.03, 0.05)
    ]
    judged = {(row.names[1], row.effect): row.judged for row in table.rows(lines)}
    assert judged == {
        ("min:5%", 0.03): 1,  # too small for this limit, and passed
        ("min:2%", 0.03): 1,
        ("min:2%", 0.05): 1,
    }


def test_a_failed_trial_counts_under_every_rule() -> None:
    rules = {"min:5%": "same", "min:2%": "slower"}
    failed = trial("", tool="pytest-benchmark", calls={}, ratio=None, failed="no answer")
    (alone,) = table.rows([failed])
    assert (alone.failed, alone.n) == (1, 1)
    with_calls = table.rows([failed, trial("", tool="pytest-benchmark", calls=rules)])
    assert [(row.names[1], row.n) for row in with_calls] == [("min:5%", 2), ("min:2%", 2)]


def test_kinds_are_pooled_with_warm_and_cold_apart_and_held_to_the_goals() -> None:
    kinds = ("numpy", "threads", "jax", "torch", "numba")
    lines = [trial("slower", kind, 0.03) for kind in kinds for _ in range(20)]
    lines += [trial("same", kind) for kind in kinds for _ in range(40)]
    lines += [trial("undecided", kind, 0.05) for kind in kinds for _ in range(20)]
    lines += [trial("slower", "start", 0.1, b=45), trial("slower", "start")]
    # Others are not pooled with coldwarm.
    lines += [trial("faster", tool="pyperf", calls={"compare_to": "faster"})]
    found = {(row.names[0], row.effect): row for row in table.pooled(lines)}
    assert {key: row.n for key, row in found.items()} == {
        ("warm calls", 0.0): 200,
        ("warm calls", 0.03): 100,
        ("warm calls", 0.05): 100,
        ("starts", 0.0): 1,
        ("starts", 0.1): 1,
    }
    text = table.markdown(lines)
    assert cells(text, "warm calls", "equal")[-1] == "≤ 1 %: met"
    assert cells(text, "warm calls", "3 %")[-1] == "≥ 90 %: met"
    assert cells(text, "warm calls", "5 %")[-1] == "≥ 99 %: missed"
    assert cells(text, "starts", "equal")[-1] == "at most once: met so far, of 40 trials"
    assert cells(text, "warm calls", "3 %")[6] == "100 right: 96.4 to 100.0 %"
    # The goals can be read from the first table, in this order.
    first = [line.split("|")[1:3] for line in text.split("\n\n", maxsplit=1)[0].splitlines()[2:]]
    assert [(regime.strip(), effect.strip()) for regime, effect in first] == [
        ("warm calls", "equal"),
        ("warm calls", "3 %"),
        ("warm calls", "5 %"),
        ("starts", "equal"),
        ("starts", "10 %"),
    ]


def test_an_interval_is_held_against_the_true_ratio_whichever_side_has_more_work() -> None:
    lines = [
        trial("slower", effect=0.03, low=1.02, high=1.04),
        trial("slower", effect=0.03, low=1.031, high=1.05),
        trial("faster", effect=0.03, turned=True, low=1 / 1.04, high=1 / 1.02),
        trial("faster", effect=0.03, turned=True, low=1.02, high=1.04),
        trial("undecided", effect=0.03),
        trial("undecided", effect=0.03, low=1.1, high=1.2, confidence=0.5),
    ]
    (row,) = table.rows(lines)
    assert row.held == [True, False, True, False]
    assert cells(table.markdown(lines), "coldwarm bench", "numpy", "3 %")[8] == "2 of 4"
    assert row.halves[0] == pytest.approx(0.01 / 1.03)


def test_the_true_ratio_of_starts_is_the_one_that_was_measured() -> None:
    start = trial("slower", "start", 0.1, low=1.09, high=1.12, ratio=1.1)
    (row,) = table.rows([start])
    assert row.held == []
    measured = {"record": "truth", "kind": "start", "effect": 0.1, "a": 40, "b": 45, "pairs": 40}
    measured |= {"ratio": 1.1, "low": 1.097, "high": 1.103, "build": "b1", "machine": "m1"}
    turned = trial("faster", "start", 0.1, turned=True, low=1 / 1.09, high=1 / 1.05, ratio=0.93)
    (row,) = table.rows([start, turned, measured])
    assert row.held == [True, False]
    assert truth.known("start", 45, 40, [measured]) == pytest.approx(1 / 1.1)
    assert "| start | – | 1.1000 | 1.0970 … 1.1030 | 40 |" in table.markdown([start, measured])


@pytest.mark.parametrize("what", ["build", "machine"])
def test_trials_of_different_builds_or_machines_are_not_put_into_one_table(what: str) -> None:
    lines = [trial("same"), {**trial("same"), what: "another"}]
    for made in (table.rows, table.pooled, table.markdown):
        with pytest.raises(journal.MixedError, match="do not mix"):
            made(lines)


def test_a_table_says_of_which_build_and_machine_it_is() -> None:
    build = {"record": "build", "id": "b1", "commit": "0123456789abcdef", "changed": True}
    build |= {"python": "3.11.7", "versions": {"numpy": "2.4.6", "hyperfine": None}}
    machine = {"record": "machine", "id": "m1", "cpu": "one", "cores": 2, "virtualization": None}
    machine |= {"platform": "Linux"}
    text = table.markdown([build, machine, trial("same")])
    assert "Build b1: commit 0123456789ab, changed, Python 3.11.7, numpy 2.4.6." in text
    assert "Machine m1: one, 2 cores, Linux." in text
    assert "No trial was thrown away." in text


def test_neighbours_have_rows_of_their_own_and_no_goal() -> None:
    text = table.markdown([trial("same"), trial("same", neighbours="bursty")])
    assert cells(text, "warm calls, bursty neighbours", "equal")[-1] == "–"
    assert cells(text, "coldwarm bench", "numpy, bursty neighbours", "equal")[0] == "1"


@pytest.mark.parametrize(
    ("k", "n", "low", "high"),
    # Where all or none came, the bounds have a closed form; the others are from tables.
    [
        (0, 100, 0.0, 1 - 0.025**0.01),
        (50, 50, 0.025**0.02, 1.0),
        (2, 100, 0.0024, 0.0704),
        (1, 10, 0.0025, 0.4450),
    ],
)
def test_the_bounds_of_a_share_are_exact(k: int, n: int, low: float, high: float) -> None:
    assert share_interval(k, n) == pytest.approx((low, high), abs=5e-5)


@given(st.integers(3, 400))
def test_the_interval_of_a_true_ratio_is_within_what_was_seen(n: int) -> None:
    low, high = truth.median_interval([float(i) for i in range(n)])
    assert 0 <= low <= (n - 1) / 2 <= high <= n - 1
    assert low + high == n - 1
