"""The order of trials, going on after a stop, and what is thrown away."""

from __future__ import annotations

import os
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from benchmarks import neighbours
from benchmarks.trials import busy, collecting, identity, journal, settings, table
from benchmarks.trials.settings import KINDS, TOOLS, Setting, plan, possible
from benchmarks.trials.tools import Outcome, TrialFailedError

if TYPE_CHECKING:
    from pathlib import Path

WHO: collecting.Who = (
    {"record": "build", "id": "b1", "commit": None, "changed": None, "python": "3", "versions": {}},
    {
        "record": "machine",
        "id": "m1",
        "cpu": "one",
        "cores": 2,
        "virtualization": None,
        "platform": "",
    },
)
BENCH = "coldwarm bench"
SEVERAL = [Setting(tool, "numpy", effect) for tool in (BENCH, "pyperf") for effect in (0.03, 0.05)]


def always(deadline_s: float) -> bool:
    return True


def same(setting: Setting, a: int, b: int) -> Outcome:
    return Outcome({"verdict": "same"}, 1.0)


@pytest.fixture(autouse=True)
def _quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(busy.Used, "others", lambda self, later: 0.0)


def test_the_side_with_more_work_is_drawn_and_equal_ones_are_equal() -> None:
    assert {Setting(BENCH, "numpy", 0.0).sides(index) for index in range(20)} == {(200, 200)}
    drawn = Counter(Setting(BENCH, "jax", 0.03).sides(index) for index in range(100))
    assert drawn[200, 206] + drawn[206, 200] == 100
    assert 30 < drawn[200, 206] < 70
    one_sided = Setting("pytest-benchmark", "numpy", 0.08)
    assert {one_sided.sides(index) for index in range(20)} == {(200, 216)}


def test_the_work_of_warm_effects_is_exactly_that_much_more() -> None:
    for kind in KINDS.values():
        if not kind.cold:
            assert all(
                units / kind.base == pytest.approx(1 + e, abs=1e-12)
                for e, units in kind.more.items()
            )


def test_every_function_that_a_trial_names_is_there() -> None:
    for kind in KINDS.values():
        text = (settings.HERE / kind.file).read_text(encoding="utf-8")
        assert all(f"def units_{n}(" in text for n in (kind.base, *kind.more.values()))


def test_what_can_be_tried_has_every_kind_and_no_effect_on_a_peers_limit() -> None:
    found = possible(None, None, None, ["none"])
    assert {one.kind for one in found if one.tool == BENCH} == set(KINDS)
    assert {one.effect for one in found if one.tool == "pyperf"} == {0.0, 0.03, 0.05, 0.08}
    assert possible(["pyperf"], ["start"], None, ["none"]) == []


def test_a_round_has_one_of_each_and_equal_warm_sides_twice() -> None:
    chosen = possible([BENCH], None, None, ["none"])
    first = Counter(one for one, _ in plan([], chosen, 1))
    assert {n for one, n in first.items() if one.effect or KINDS[one.kind].cold} == {1}
    assert {n for one, n in first.items() if not one.effect and not KINDS[one.kind].cold} == {2}
    both = plan([], chosen, 2)
    assert both[: first.total()] == plan([], chosen, 1)
    assert len(set(both)) == len(both)
    assert plan([], chosen[::-1], 2) == both


def test_a_run_goes_in_rounds_and_picks_up_where_it_ended(tmp_path: Path) -> None:
    file = tmp_path / "trials.jsonl"
    asked: list[Setting] = []

    def run(setting: Setting, a: int, b: int) -> Outcome:
        if len(asked) == 5:
            raise KeyboardInterrupt
        asked.append(setting)
        return Outcome({"verdict": "same"}, 1.0)

    with pytest.raises(KeyboardInterrupt):
        collecting.collect(file, collecting.Asked(SEVERAL, 3), WHO, run, always)
    # What a cut-off write leaves is not taken for a trial.
    with file.open("a", encoding="utf-8") as cut:
        cut.write('{"record": "trial", "tool": "col')
    assert len(plan(journal.read(file), SEVERAL, 3)) == 12 - 5

    def go_on(setting: Setting, a: int, b: int) -> Outcome:
        asked.append(setting)
        return Outcome({"verdict": "same"}, 1.0)

    assert collecting.collect(file, collecting.Asked(SEVERAL, 3), WHO, go_on, always) == 0
    assert [set(asked[start : start + 4]) for start in (0, 4, 8)] == [set(SEVERAL)] * 3
    lines = journal.read(file)
    assert [one["record"] for one in lines[:2]] == ["build", "machine"]
    assert len(lines) == 2 + 12
    assert collecting.collect(file, collecting.Asked(SEVERAL, 3), WHO, go_on, always) == 0
    assert len(asked) == 12


def test_no_trial_is_begun_that_could_last_beyond_the_limit(tmp_path: Path) -> None:
    file = tmp_path / "trials.jsonl"
    short = collecting.Asked([Setting(BENCH, "numpy", 0.03)], 3, TOOLS[BENCH].seconds[False] - 1)
    assert collecting.collect(file, short, WHO, same, always) == 0
    assert [one["record"] for one in journal.read(file)] == ["build", "machine"]
    enough = collecting.Asked(short.settings, 3, TOOLS[BENCH].seconds[False] + 100)
    assert collecting.collect(file, enough, WHO, same, always) == 0
    assert len(plan(journal.read(file), short.settings, 3)) == 0
    assert collecting.collect(file, collecting.Asked(SEVERAL, 3), WHO, same, lambda _: False) == 0
    assert len(journal.read(file)) == 5


def test_a_trial_on_a_busy_machine_is_thrown_away_written_down_and_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "trials.jsonl"
    used = iter([0.1, 0.9, 0.1, 0.1])
    monkeypatch.setattr(busy.Used, "others", lambda self, later: next(used))
    one = collecting.Asked([Setting(BENCH, "numpy", 0.03)], 3)
    assert collecting.collect(file, one, WHO, same, always) == 0
    trials = [line for line in journal.read(file) if line["record"] == "trial"]
    assert [bool(line["thrown_away"]) for line in trials] == [False, True, False, False]
    assert sorted(line["index"] for line in trials) == [0, 1, 1, 2]
    (row,) = table.rows(journal.read(file))
    assert row.n == 3
    text = table.markdown(journal.read(file))
    assert "Thrown away: 1 of 4 trials." in text
    assert "| coldwarm bench | numpy | 1 | the machine was busy" in text


def test_what_is_thrown_away_afterwards_is_missing_again(tmp_path: Path) -> None:
    file = tmp_path / "trials.jsonl"
    one = collecting.Asked([Setting(BENCH, "numpy", 0.03)], 2)
    assert collecting.collect(file, one, WHO, same, always) == 0
    removal = {"record": "removal", "since": "2000-01-01", "until": "2999-01-01", "reason": "a fan"}
    journal.append(file, removal)
    lines = journal.read(file)
    assert len(plan(lines, one.settings, 2)) == 2
    assert table.rows(lines) == []
    assert "| coldwarm bench | numpy | 2 | a fan |" in table.markdown(lines)


def test_failures_are_counted_and_three_in_a_row_end_the_run(tmp_path: Path) -> None:
    file = tmp_path / "trials.jsonl"

    def fail(setting: Setting, a: int, b: int) -> Outcome:
        raise TrialFailedError("it broke")

    many = collecting.Asked([Setting(BENCH, "numpy", 0.03)], 9)
    assert collecting.collect(file, many, WHO, fail, always) == 1
    lines = journal.read(file)
    assert [line["failed"] for line in lines[2:]] == ["it broke"] * 3
    (row,) = table.rows(lines)
    assert (row.failed, row.n, row.judged) == (3, 3, 0)


@pytest.mark.parametrize("changed", [0, 1])
def test_trials_of_another_build_or_machine_are_not_added(tmp_path: Path, changed: int) -> None:
    file = tmp_path / "trials.jsonl"
    one = collecting.Asked([Setting(BENCH, "numpy", 0.03)], 1)
    assert collecting.collect(file, one, WHO, same, always) == 0
    other: Any = [dict(record) for record in WHO]
    other[changed]["id"] = "another"
    with pytest.raises(journal.MixedError, match="move the file away"):
        collecting.collect(file, one, tuple(other), same, always)


def test_the_build_is_that_of_what_is_measured_not_of_the_text_about_it(tmp_path: Path) -> None:
    build, machine = identity.identify()
    assert (build["record"], machine["record"]) == ("build", "machine")
    assert build["versions"]["numpy"]
    assert build["sources"] == identity.sources()
    # A compiled file that Python leaves changes nothing.
    assert len(build["id"]) == len(machine["id"]) == 12


def test_others_are_what_the_machine_used_beside_this_process_and_its_children(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.undo()
    before = busy.Used(at_s=0.0, all_s=100.0, own_s=10.0, stolen_s=1.0)
    after = busy.Used(at_s=10.0, all_s=118.0, own_s=25.0, stolen_s=2.0)
    assert before.others(after) == pytest.approx(0.3)
    assert before.stolen(after) == pytest.approx(0.1)
    now = busy.Used.now()
    assert now.all_s > now.own_s > 0


@pytest.mark.slow
def test_a_neighbour_sits_on_each_core_and_leaves() -> None:
    with neighbours.bursty(0):
        mine = children()
        assert {next(iter(os.sched_getaffinity(pid))) for pid in mine} == os.sched_getaffinity(0)
        assert all(len(os.sched_getaffinity(pid)) == 1 for pid in mine)
        time.sleep(0.5)
    assert not children()


def children() -> list[int]:
    import psutil

    found = psutil.Process().children()
    return [one.pid for one in found if any("neighbours" in part for part in one.cmdline())]
