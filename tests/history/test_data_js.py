"""``data.js`` of github-action-benchmark: many commits in one file, of many tools, and hostile."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from tests.history.test_history import told
from tests.started import coldwarm

from coldwarm.contracts.result import Benchmarks
from coldwarm.errors import ContractError
from coldwarm.integrations import formats
from coldwarm.integrations.formats import github_action_benchmark

if TYPE_CHECKING:
    from pathlib import Path

PREFIX = "window.BENCHMARK_DATA = "
FIRST_MS = 1_596_951_013_591
DAY_MS = 86_400_000


def bench(name: str, value: object, unit: str, **further: Any) -> dict[str, Any]:
    return {"name": name, "value": value, "unit": unit, **further}


def entry(place: int, tool: str, *benches: dict[str, Any]) -> dict[str, Any]:
    """Return what the action appends for a commit."""
    person = {"email": "someone@example.org", "name": "Some One", "username": "someone"}
    commit = {
        "author": person,
        "committer": person,
        "distinct": True,
        "id": f"{place + 1:040x}",
        "message": "Make it faster (#12)\n\nIt was slow.",
        "timestamp": "2020-08-09T05:28:21+02:00",
        "tree_id": f"{place + 99:040x}",
        "url": f"https://github.com/someone/project/commit/{place:040x}",
    }
    date = FIRST_MS + place * DAY_MS
    return {"commit": commit, "date": date, "tool": tool, "benches": [*benches]}


def document(**entries: list[dict[str, Any]]) -> dict[str, Any]:
    about = {"lastUpdate": FIRST_MS, "repoUrl": "https://github.com/someone/project"}
    return {**about, "entries": entries}


def save(folder: Path, found: object, name: str = "data.js") -> Path:
    """Write a file as the action does."""
    file = folder / name
    file.write_text(PREFIX + json.dumps(found, indent=2), encoding="utf-8")
    return file


def read(path: Path) -> list[Benchmarks]:
    return [one for one in formats.read_all(path) if isinstance(one, Benchmarks)]


SECONDS = [
    ("cargo", bench("fib_20", 37174, "ns/iter", range="± 7527"), 37.174e-6),
    ("go", bench("BenchmarkFib20", 41653, "ns/op", extra="30000 times\n8 procs"), 41.653e-6),
    ("go", bench("BenchmarkOld", 500, "ns/op\t         4.000 auxMetricUnits"), 5e-7),
    ("benchmarkjs", bench("fib(10)", 1431759, "ops/sec", range="±0.74%"), 1 / 1431759),
    ("pytest", bench("a.py::test_fib_20", 400.5, "iter/sec", range="stddev: 0.0002"), 1 / 400.5),
    ("googlecpp", bench("fib_20", 0.5, "ms/iter", extra="iterations: 9"), 5e-4),
    ("catch2", bench("Fibonacci 20", 3.2, "us", range="± 0.1"), 3.2e-6),
    ("julia", bench("fib/20", 4085.5, "ns", extra="gctime=0"), 4.0855e-6),
    ("jmh", bench("org.example.Hello.say", 2_000.0, "ops/ms"), 5e-7),
    ("criterion", bench("Parse", 7.5, "\u00b5s"), 7.5e-6),
    ("customSmallerIsBetter", bench("Whole suite", 12.5, "seconds/test"), 12.5),
    ("customBiggerIsBetter", bench("Rate", 4, "calls/s"), 0.25),
]


@pytest.mark.parametrize(("tool", "one", "time_s"), SECONDS, ids=[tool for tool, *_ in SECONDS])
def test_each_tool_is_read_in_seconds(
    tmp_path: Path, tool: str, one: dict[str, Any], time_s: float
) -> None:
    (found,) = read(save(tmp_path, document(Suite=[entry(0, tool, one)])))
    (samples,) = found.benchmarks.values()
    assert samples.processes[0][0] == pytest.approx(time_s)
    assert (found.tool, found.commit) == (f"{tool}, kept by github-action-benchmark", f"{1:040x}")
    assert found.started_at is not None
    assert found.started_at.startswith("2020-08-09T05:30:13")


LEFT_OUT = [
    ("go", bench("A", 96, "B/op"), "unit_elsewhere"),
    ("go", bench("A", 3, "allocs/op"), "unit_elsewhere"),
    ("go", bench("A", 120.5, "MB/s"), "unit_elsewhere"),
    ("customSmallerIsBetter", bench("A", 3, ""), "unit_elsewhere"),
    ("customBiggerIsBetter", bench("A", 3, "ms"), "unit_elsewhere"),
    ("customSmallerIsBetter", bench("A", 3, "iter/sec"), "unit_elsewhere"),
    ("cargo", bench("A", 0, "ns/iter"), "no_time_elsewhere"),
    ("pytest", bench("A", 0, "iter/sec"), "no_time_elsewhere"),
    ("pytest", bench("A", 1e-320, "iter/sec"), "no_time_elsewhere"),
    ("customSmallerIsBetter", bench("A", -0.5, "s"), "no_time_elsewhere"),
    ("cargo", bench("A", None, "ns/iter"), "no_samples_elsewhere"),
    ("criterion", bench(" ", 3, "us"), "nameless_elsewhere"),
]


@pytest.mark.parametrize(("tool", "one", "code"), LEFT_OUT)
def test_what_is_no_time_is_left_out(
    tmp_path: Path, tool: str, one: dict[str, Any], code: str
) -> None:
    kept = bench("B", 1, "iter/s" if tool == "customBiggerIsBetter" else "s")
    (found,) = read(save(tmp_path, document(S=[entry(0, tool, one, kept)])))
    assert list(found.benchmarks) == ["S: B"]
    assert [why.code for why in found.left_out.values()] == [code]


def test_benchmarks_of_one_name_are_not_mixed(tmp_path: Path) -> None:
    twice = [bench("A", 3, "us"), bench("A", 900, "us")]
    (found,) = read(save(tmp_path, document(S=[entry(0, "go", *twice, bench("B", 1, "s"))])))
    assert list(found.benchmarks) == ["S: B"]
    assert found.left_out["S: A"].code == "same_name_elsewhere"


def many(n: int, n_other: int = 0) -> dict[str, Any]:
    """Return a file whose benchmark is slower from the 30th commit on."""
    times_ns = [round(1e6 * (1 + 0.002 * (k % 5)) * (1.3 if k >= 30 else 1)) for k in range(n)]
    steady = [entry(k, "cargo", bench("fit", one, "ns/iter")) for k, one in enumerate(times_ns)]
    other = [
        entry(k, "pytest", bench("fit", 400.0 + k % 3, "iter/sec"), bench("size", 9, "MB"))
        for k in range(n_other)
    ]
    return document(Rust=steady, Python=other)


def test_all_commits_are_added_once_and_changes_found(tmp_path: Path) -> None:
    folder, file = tmp_path / "history", save(tmp_path, many(38, 12))
    added = told("add", file, "--to", folder)
    assert (len(added["added"]), added["n_there"]) == (50, 0)
    assert [*added["left_out"]] == ["Python: size"]
    assert "its unit is MB" in coldwarm("history", "add", file, "--to", folder).stdout
    (change,) = told("check", folder)["changes"]
    assert (change["case"], change["after"]["commit"]) == ("Rust: fit", f"{31:040x}")
    assert 1.25 < change["low"] < change["high"] < 1.35
    # The file has grown, and only what is new is added.
    again = told("add", save(tmp_path, many(40, 12)), "--to", folder)
    assert (len(again["added"]), again["n_there"]) == (2, 50)
    # Each suite has its own newest runs: those of the other do not push them out.
    line = ("history", "check", folder, "--fail-on", "slower:5%", "--newest", "10")
    assert coldwarm(*line).returncode == 1


def test_a_run_keeps_its_part_and_nothing_of_people(tmp_path: Path) -> None:
    folder = tmp_path / "history"
    told("add", save(tmp_path, many(3)), "--to", folder)
    files = sorted(folder.glob("runs/*/result/*"))
    assert [one.name for one in files] == ["data.json"] * 3
    for one in files:
        assert "example.org" not in one.read_text(encoding="utf-8")
        assert told("add", one, "--to", folder)["n_there"] == 1, "it is the same run"


def test_json_without_the_script_is_read_too(tmp_path: Path) -> None:
    path = tmp_path / "benchmark-data.json"
    path.write_text(json.dumps(many(2)), encoding="utf-8")
    assert len(read(path)) == 2


def test_several_results_are_not_compared_nor_given_one_commit(tmp_path: Path) -> None:
    file = save(tmp_path, many(3))
    done = coldwarm("compare", file, file)
    assert (done.returncode, "history add" in done.stderr) == (3, True)
    done = coldwarm("history", "add", file, "--to", tmp_path / "h", "--commit", "abc")
    assert (done.returncode, "remove --commit" in done.stderr) == (2, True)
    assert not (tmp_path / "h").exists()


def script(found: object) -> str:
    return PREFIX + json.dumps(found)


RUN = "import('os')" + ".system('touch ran')"
GOOD = entry(0, "go", bench("A", 1, "ns/op"))
HOSTILE: dict[str, tuple[str, str]] = {
    "code-behind": (script(document(S=[GOOD])) + f";\n{RUN};", "is not JSON: Extra data"),
    "code-inside": (PREFIX + "{entries: {S: [" + RUN + "]}}", "data.js:1:26: is not JSON"),
    "code-alone": (f"{RUN}; {PREFIX}{{}}", "is not JSON"),
    "cut-off": (script(document(S=[GOOD]))[:-40], "is not JSON"),
    "deep": (PREFIX + '{"entries": ' + "[" * 100_000, "nested too deeply"),
    "twice": (PREFIX + '{"entries": {"S": [], "S": []}}', "stands twice in one object"),
    "surrogate": (script(document(S=[entry(0, "go", bench("\ud800", 1, "s"))])), "surrogate"),
    "infinite": (script(document(S=[GOOD])).replace('"value": 1', '"value": 1e999'), "too large"),
    "digits": (script(document(S=[entry(0, "go", bench("A", 10**400, "s"))])), "out of range"),
    "text": (script(document(S=[entry(0, "go", bench("A", "1", "s"))])), "benches[0].value"),
    "no-unit": (script(document(S=[entry(0, "go", {"name": "A", "value": 1})])), "unit: is requir"),
    "no-commit": (script(document(S=[{"date": 1, "benches": []}])), "commit: is required"),
    "date": (script(document(S=[{**GOOD, "date": 10**18}])), "date 1000000000000000000, which is"),
    "years": (script(document(S=[{**GOOD, "date": -(10**300)}])), "date"),
    "nothing": (script(document()), "holds no benchmark"),
    "no-time": (script(document(S=[entry(0, "go", bench("A", 1, "B/op"))])), "has a time: S: A"),
    "entries": (script({"entries": {"S": {}}}), "is no result that can be compared"),
    "gzip": ("\x1f\x8b", "is not JSON"),
}  # fmt: skip


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_file_is_refused_in_one_line_and_never_run(tmp_path: Path, kind: str) -> None:
    text, said = HOSTILE[kind]
    file = tmp_path / "data.js"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ContractError) as refused:
        formats.read_all(file)
    told_ = str(refused.value)
    assert said in told_
    assert told_.startswith(str(file))
    assert len(told_.splitlines()) == 1
    assert len(told_) < len(str(file)) + 300
    assert [one.name for one in tmp_path.iterdir()] == ["data.js"]


def test_too_many_results_are_refused_before_any_is_added(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(github_action_benchmark, "_MOST_RESULTS", 5)
    with pytest.raises(ContractError, match="holds 6 results, more than 5; leave out the oldest"):
        formats.read_all(save(tmp_path, many(6)))


def test_names_that_command_a_terminal_are_shown_as_text(tmp_path: Path) -> None:
    name = "\x1b[2J\u202efit\n::error::x" + "y" * 5000
    (found,) = read(save(tmp_path, document(**{name: [entry(0, "go", bench(name, 1, "s"))]})))
    (shown,) = found.benchmarks
    assert shown.isprintable()
    assert len(shown) < 300
    assert "::error" not in shown
    done = coldwarm("history", "add", tmp_path / "data.js", "--to", tmp_path / "history")
    assert (done.returncode, "\x1b" in done.stdout) == (0, False)
