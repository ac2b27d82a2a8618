"""Two snapshots held against each other, by what they say."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from tests.publish.conftest import OTHER, environment
from tests.stats import results

if TYPE_CHECKING:
    from pathlib import Path

    from tests.publish.conftest import Call


@pytest.fixture
def two(tmp_path: Path, call: Call) -> tuple[Path, Path]:
    """Snapshots of a run, and of one in which a case is slower, with other inputs in another."""
    one = [results.case(1), results.case(2, case=OTHER)]
    other = [
        results.case(3, speed=1.5),
        results.case(4, case=OTHER, dataset_sha256="a" * 64),
    ]
    made = []
    for name, cases, numpy in (("s1", one, "2.4.6"), ("s2", other, "2.4.7")):
        place = environment(distributions={"numpy": numpy})
        run = results.write(tmp_path / f"run-{name}", cases, place)
        made.append(call.create(run, tmp_path / name, "--no-report", name=name))
    return made[0], made[1]


def compared(call: Call, *paths: Path) -> dict[str, Any]:
    code, out, err = call("compare", *paths, "--json")
    assert code == 0, err
    found: dict[str, Any] = json.loads(out)
    return found


def test_inputs_environment_and_timings_are_compared(call: Call, two: tuple[Path, Path]) -> None:
    found = compared(call, *two)
    assert (found["a"]["snapshot_id"], found["b"]["snapshot_id"]) == ("s1", "s2")
    [run] = found["runs"]
    assert [one["name"] for one in run["datasets"]] == [OTHER]
    assert run["gates"] == []
    assert [one["name"] for one in run["environment"]] == ["numpy"]
    warm = {
        one["case"]: one["verdict"]
        for one in run["timings"]["metrics"]
        if one["metric"] == "warm.call_s"
    }
    assert warm[results.NAME] == "slower"
    assert not found["files"]["ok"]


def test_it_is_told_in_a_few_lines(call: Call, two: tuple[Path, Path]) -> None:
    code, out, _ = call("compare", *two)
    assert code == 0
    assert f"inputs differ: {OTHER}: A has" in out
    assert "numpy" in out
    assert "slower" in out


def test_a_snapshot_and_itself_are_the_same(call: Call, two: tuple[Path, Path]) -> None:
    found = compared(call, two[0], two[0])
    assert found["files"]["ok"]
    [run] = found["runs"]
    assert run["timings"] is None
    assert run["null_reasons"]["timings"]["code"] == "same_run"
    code, out, _ = call("compare", two[0], two[0])
    assert (code, "both have the same run" in out) == (0, True)


def test_a_snapshot_that_does_not_hold_is_not_compared(call: Call, two: tuple[Path, Path]) -> None:
    (two[1] / "validation_report.json").write_text("{}")
    err = call.refused("compare", *two, code=3)
    assert "s2/validation_report.json: has 2 bytes" in err
