"""A history of real runs: added once, found again, whole after whatever happens to its index."""

from __future__ import annotations

import csv
import io
import json
import math
import shutil
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from msgspec.structs import replace
from tests.started import coldwarm

from coldwarm.contracts import codec
from coldwarm.contracts.history import HistoryFigure, HistoryRun
from coldwarm.history import store
from coldwarm.runner import recompute

if TYPE_CHECKING:
    from pathlib import Path

FUNCTIONS = """
import numpy as np

def first(x):
    return np.sort(x)

def second(x):
    return np.sort(x)
"""


def told(*line: Any) -> dict[str, Any]:
    done = coldwarm("history", *line, "--format", "json")
    assert done.stdout, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("measured")
    (folder / "a.py").write_text(FUNCTIONS, encoding="utf-8")
    line = ("bench", "a.py:first", "a.py:second", "--input", "x=f64[5000]", "--rounds", "2")
    done = coldwarm(*line, "--max-rounds", "2", "--warm-only", "--out", folder / "out", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / "out"


def test_a_run_is_added_once_with_its_figures(result: Path, tmp_path: Path) -> None:
    folder = tmp_path / "history"
    done = coldwarm("history", "add", result, "--to", folder, "--commit", "0123456789abcdef")
    assert (done.returncode, "1 run added" in done.stdout) == (0, True), done.stderr
    again = coldwarm("history", "add", result, "--to", folder)
    assert "1 there already" in " ".join(again.stdout.split())
    found = told("query", folder, "--metric", "warm call")
    assert {one["commit"] for one in found["rows"]} == {"0123456789abcdef"}
    figures = {one["figure"]["case"]: one["figure"] for one in found["rows"]}
    assert {one["baseline"] for one in figures.values()} == {"first"}
    assert figures["first"]["ratio"] is None
    assert figures["second"]["ratio"] > 0
    assert len(found["machines"]) == 1
    assert coldwarm("validate", *folder.glob("runs/*/result")).returncode == 0
    shown = coldwarm("history", "query", folder)
    assert "01234567" in shown.stdout


def test_what_is_no_whole_run_is_refused(result: Path, tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none"):
        done = coldwarm("history", "add", path, "--to", tmp_path / "history")
        assert done.returncode in {2, 3}, done.stderr
        assert str(path) in done.stderr
        assert not (tmp_path / "history").exists()
    done = coldwarm("history", "add", result, "--to", result / "history")
    assert (done.returncode, "lies in" in done.stderr) == (2, True)
    done = coldwarm("history", "check", tmp_path)
    assert (done.returncode, "is no history" in done.stderr) == (2, True)


def made(
    folder: Path, values: list[float], *, machine: str = "a" * 12, since: int = 0, **figure: Any
) -> Path:
    """Write the figures of runs, as ``add`` writes them beside their results."""
    named: dict[str, Any] = {
        "case": "jax_fit",
        "metric": "warm.call_s",
        "kind": "warm",
        "baseline": "numpy",
    }
    named |= figure
    setup = named.pop("setup", lambda _: "")
    for place, value in enumerate(values, since):
        bounds = {"low": math.exp(value - 0.02), "high": math.exp(value + 0.02)}
        held: dict[str, Any] = {"ratio": math.exp(value), "confidence": 0.97, **bounds}
        told = held if named["baseline"] else {}
        one = HistoryFigure(value=math.exp(value), setup=setup(place), **named, **told)
        day = f"2026-{1 + place // 28:02}-{1 + place % 28:02}"
        run = HistoryRun(
            run_id=f"{machine}{place:04}",
            started_at=f"{day}T12:00:00+00:00",
            commit=f"{place:040x}",
            machine=machine,
            machine_name="a processor",
            software={"jax": "0.10" if place < 30 else "0.12"},
            figures=[one],
        )
        name = f"{day.replace('-', '')}T120000-{machine[:2]}{place:04}{named['case']}"
        path = folder / "runs" / name
        path.mkdir(parents=True)
        (path / "figures.json").write_bytes(codec.encode(run))
    return folder


def series(n: int, step: float = 0.0, at: int = 0) -> list[float]:
    rng = np.random.default_rng(7)
    return [float(rng.normal(0, 0.0075)) + step * (place >= at) for place in range(n)]


def test_a_change_is_told_with_its_runs_and_what_changed_beside_it(tmp_path: Path) -> None:
    folder = made(tmp_path / "history", series(40, 0.1, 30))
    found = told("check", folder)
    (change,) = found["changes"]
    assert change["earliest"]["run_id"][-4:] <= "0030" <= change["latest"]["run_id"][-4:]
    assert change["low"] < math.exp(0.1) < change["high"]
    if change["after"]["run_id"].endswith("0030"):
        assert [one["name"] for one in change["software"]] == ["jax"]
    shown = coldwarm("history", "check", folder)
    assert "1 change in 40 runs" in shown.stdout
    assert shown.returncode == 0


def test_another_input_is_another_figure(tmp_path: Path) -> None:
    values = series(40, 0.4, 30)
    folder = made(tmp_path / "history", values, setup=lambda place: "b" if place >= 30 else "a")
    found = told("check", folder)
    assert (found["changes"], found["n_series"]) == ([], 2)


def test_a_figure_that_has_ended_stops_to_fail(tmp_path: Path) -> None:
    folder = made(tmp_path / "history", series(30, 0.3, 27))
    line = ("history", "check", folder, "--fail-on", "slower:5%", "--newest", "5")
    assert coldwarm(*line).returncode == 1
    made(folder, series(10), case="renamed", since=30)
    assert coldwarm(*line).returncode == 0


def test_memory_has_limits_of_its_own(tmp_path: Path) -> None:
    folder = made(tmp_path / "history", series(40, 0.3, 36), baseline=None, kind="memory")
    for limit, status in (("slower:5%", 0), ("more:5%", 1)):
        done = coldwarm("history", "check", folder, "--fail-on", limit)
        assert done.returncode == status
    done = coldwarm("history", "check", folder, "--fail-on", "programs")
    assert (done.returncode, "nor a count" in done.stderr) == (2, False)


def test_a_workflow_shows_what_failed(tmp_path: Path) -> None:
    folder = made(tmp_path / "history", series(40, 0.3, 36))
    line = ("history", "check", folder, "--fail-on", "slower:5%", "--format", "github")
    done = coldwarm(*line)
    assert (done.returncode, "::error" in done.stdout) == (1, True), done.stdout
    assert "jax_fit" in done.stdout


@pytest.mark.parametrize(("at", "status"), [(37, 1), (20, 0)], ids=["new", "old"])
def test_only_a_new_change_fails(tmp_path: Path, at: int, status: int) -> None:
    folder = made(tmp_path / "history", series(40, 0.15, at))
    done = coldwarm("history", "check", folder, "--fail-on", "slower:5%", "--newest", "4")
    assert done.returncode == status, done.stdout
    done = coldwarm("history", "check", folder, "--fail-on", "slower:50%", "--newest", "4")
    assert done.returncode == 0, "less than the limit"


def test_each_machine_has_its_own_level(tmp_path: Path) -> None:
    folder = made(tmp_path / "history", series(20))
    made(folder, series(20, 0.5), machine="b" * 12)
    found = told("check", folder)
    assert (found["changes"], found["n_series"], found["n_runs"]) == ([], 2, 40)


def test_the_baseline_itself_never_fails(tmp_path: Path) -> None:
    folder = made(tmp_path / "history", series(40, 0.2, 38), baseline=None)
    done = coldwarm("history", "check", folder, "--fail-on", "slower")
    assert done.returncode == 1, "nothing is held against it"
    for path in folder.glob("runs/*/figures.json"):
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace('"baseline": null', '"baseline": "jax_fit"'))
    (folder / "index.sqlite").unlink()
    done = coldwarm("history", "check", folder, "--fail-on", "slower")
    assert (done.returncode, "baseline" in done.stdout) == (0, True), done.stdout


def test_without_a_baseline_seconds_are_judged(tmp_path: Path) -> None:
    folder = made(tmp_path / "history", series(40, 0.2, 30), baseline=None)
    assert [one["baseline"] for one in told("check", folder)["changes"]] == [None]


@pytest.mark.parametrize("damage", ["missing", "garbage", "other version", "a folder", "a page"])
def test_the_index_is_made_anew(tmp_path: Path, damage: str) -> None:
    folder = made(tmp_path / "history", series(12))
    before = told("query", folder)
    index = folder / "index.sqlite"
    if damage == "a page":
        data = index.read_bytes()
        index.write_bytes(data[:4096] + b"\xff" * (len(data) - 4096))
        assert told("query", folder) == before
    index.unlink()
    if damage == "garbage":
        index.write_bytes(b"no database" * 999)
    elif damage == "a folder":
        index.mkdir()
    elif damage == "other version":
        index.write_bytes(b"")
    assert told("query", folder) == before


def test_runs_that_are_gone_or_new_are_known(tmp_path: Path) -> None:
    folder = made(tmp_path / "history", series(12))
    assert len(told("query", folder)["rows"]) == 12
    shutil.rmtree(next((folder / "runs").iterdir()))
    made(folder, series(3), machine="c" * 12)
    assert len(told("query", folder)["rows"]) == 14


def test_figures_that_were_written_anew_are_known(tmp_path: Path) -> None:
    folder = made(tmp_path / "history", series(3))
    told("query", folder)
    path = next((folder / "runs").iterdir()) / "figures.json"
    path.write_text(path.read_text("utf-8").replace("jax_fit", "other_fit"), encoding="utf-8")
    cases = [one["figure"]["case"] for one in told("query", folder)["rows"]]
    assert sorted(cases) == ["jax_fit", "jax_fit", "other_fit"]


def test_other_processors_are_no_other_figure(result: Path) -> None:
    (case, *_) = recompute.read(result).cases.values()
    setups = {
        figure.setup
        for affinity in ([0], [5])
        for figure in store.figures(
            [replace(case, protocol=replace(case.protocol, affinity=affinity))]
        )
    }
    assert len(setups) == 1


def test_an_error_is_of_the_confidence_of_its_bounds() -> None:
    confidence = np.array([0.95, 0.99, 0.5, math.nan, 1.0])
    away = np.array([1.959964, 2.575829, 1.0, 1.0, 1.0]) * 0.1
    found = store.errors_of(np.exp(-away), np.exp(away), confidence)
    np.testing.assert_allclose(found, [0.1, 0.1, 0.0, 0.0, 0.0], rtol=1e-6)
    assert store.errors_of(*np.empty((3, 0))).shape == (0,)


def test_a_wrong_date_is_told_where_it_stands(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    document: dict[str, Any] = {"results": [{"command": "start", "times": [0.17, 0.18]}]}
    path.write_text(json.dumps(document), encoding="utf-8")
    line = ("history", "add", path, "--to", tmp_path / "history")
    for date in ("tomorrow", "0001-01-01T00:00+14:00"):
        done = coldwarm(*line, "--date", date)
        assert (done.returncode, "'--date'" in done.stderr) == (2, True), done.stderr
        assert str(path) not in done.stderr
    stats = {"fullname": "test_a", "stats": {"data": [0.1, 0.2]}}
    document = {"machine_info": {}, "benchmarks": [stats], "datetime": "tomorrow"}
    path.write_text(json.dumps(document), encoding="utf-8")
    done = coldwarm(*line)
    assert (done.returncode, str(path) in done.stderr) == (2, True), done.stderr
    assert "'tomorrow', which is no date" in done.stderr


def test_damaged_figures_are_told(tmp_path: Path) -> None:
    folder = made(tmp_path / "history", series(3))
    path = next((folder / "runs").iterdir()) / "figures.json"
    path.write_text("{}", encoding="utf-8")
    done = coldwarm("history", "check", folder)
    assert (done.returncode, "figures.json" in done.stderr) == (3, True)


def test_raw_results_can_be_removed_and_figures_stay(result: Path, tmp_path: Path) -> None:
    folder = made(tmp_path / "history", series(3))
    done = coldwarm("history", "add", result, "--to", folder, "--keep-results", "0")
    assert "the raw results of 1 run removed" in " ".join(done.stdout.split()), done.stderr
    assert not list(folder.glob("runs/*/result"))
    assert {one["machine"] for one in told("query", folder)["rows"]} != {"a" * 12}


def test_what_was_not_finished_is_no_run(result: Path, tmp_path: Path) -> None:
    folder = made(tmp_path / "history", series(3))
    (folder / "runs" / ".half").mkdir()
    assert len(told("query", folder)["rows"]) == 3


def test_files_of_other_tools_are_added(tmp_path: Path) -> None:
    folder = tmp_path / "history"
    for place in range(12):
        slow = 1.3 if place >= 9 else 1.0
        data = [slow * (0.001 + 1e-6 * (k % 5) + 1e-6 * (place % 3)) for k in range(20)]
        document = {
            "machine_info": {"cpu": {"brand_raw": "a processor"}},
            "commit_info": {"id": f"{place:040x}"},
            "benchmarks": [{"fullname": "test_a.py::test_fit", "stats": {"data": data}}],
            "datetime": f"2026-01-{place + 1:02}T12:00:00+00:00",
        }
        path = tmp_path / f"{place}.json"
        path.write_text(json.dumps(document), encoding="utf-8")
        done = coldwarm("history", "add", path, "--to", folder)
        assert done.returncode == 0, done.stderr
    (change,) = told("check", folder)["changes"]
    assert (change["case"], change["baseline"]) == ("test_a.py::test_fit", None)
    assert change["after"]["commit"] == f"{9:040x}"
    undated = {"results": [{"command": "start", "times": [0.17, 0.18]}]}
    (tmp_path / "hyperfine.json").write_text(json.dumps(undated), encoding="utf-8")
    line = ("history", "add", tmp_path / "hyperfine.json", "--to", folder)
    done = coldwarm(*line)
    assert (done.returncode, "does not tell when" in done.stderr) == (2, True)
    assert coldwarm(*line, "--date", "2026-02-01T12:00").returncode == 0
    (start,) = told("query", folder, "--case", "start")["rows"]
    assert (start["started_at"][:10], start["figure"]["kind"]) == ("2026-02-01", "cold")


def test_figures_are_chosen_by_commit_and_age_and_given_as_csv(tmp_path: Path) -> None:
    folder = made(tmp_path / "history", series(30))
    made(folder, series(30), case="numba_fit")
    newest = told("query", folder, "--newest", "3")
    assert (len(newest["rows"]), newest["n_older"]) == (3, 57)
    (one,) = told("query", folder, "--commit", f"{7:040x}", "--case", "jax")["rows"]
    assert one["commit"] == f"{7:040x}"
    done = coldwarm("history", "query", folder, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert len(rows) == 60
    whole = {
        (one["figure"]["case"], one["started_at"]): one for one in told("query", folder)["rows"]
    }
    for row in rows:
        figure = whole[row["case"], row["started_at"]]["figure"]
        assert float(row["ratio"]) == figure["ratio"]
        assert float(row["value"]) == figure["value"]
    shown = coldwarm("history", "query", folder)
    assert "older figures" in shown.stdout


def test_runs_that_came_late_stand_at_their_date(tmp_path: Path) -> None:
    late = made(tmp_path / "late", series(300, 0.1, 150))
    folder = tmp_path / "history"
    names = sorted(one.name for one in (late / "runs").iterdir())
    for part in (names[::2], names[1::2]):  # the second comes between the first
        for name in part:
            shutil.copytree(late / "runs" / name, folder / "runs" / name)
        told("query", folder, "--newest", "1")
    found, before = told("check", folder), told("check", late)
    assert found["changes"] == before["changes"]
    assert len(found["changes"]) == 1


def test_a_figure_over_machines_has_an_interval_and_names_those_that_differ(tmp_path: Path) -> None:
    folder = tmp_path / "history"
    for place, machine in enumerate("abcdef"):
        level = 0.3 if machine != "f" else -0.2
        made(folder, [level + one for one in series(6 + place)], machine=machine * 12)
    found = told("pool", folder)
    (one,) = found["figures"]
    assert len(one["machines"]) == 6
    assert one["low"] < math.exp(0.25) < one["high"]
    assert one["predicted_low"] < math.exp(-0.2)
    assert one["otherwise"] == ["a processor"]
    shown = coldwarm("history", "pool", folder)
    assert "otherwise on a processor" in " ".join(shown.stdout.split())
    few = made(tmp_path / "few", series(9))
    assert told("pool", few) | {"folder": ""} == {
        "schema_version": "coldwarm.history_pool.v1",
        "harness_version": found["harness_version"],
        "folder": "",
        "figures": [],
        "n_few": 1,
    }
