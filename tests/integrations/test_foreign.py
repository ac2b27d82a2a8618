"""Files of other tools in ``coldwarm compare``: made by the tools, broken, and hostile."""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyperf
import pytest
from tests.stats import results

from coldwarm.contracts.codec import decode_as
from coldwarm.contracts.comparison import RunComparison
from coldwarm.contracts.result import Measured
from coldwarm.errors import ContractError, ExitCode
from coldwarm.integrations import figures, formats

if TYPE_CHECKING:
    from tests.integrations.conftest import Call

    from coldwarm.contracts.result import Benchmarks
    from coldwarm.integrations.figures import Exported

STORED = Path(__file__).parent / "samples" / "hyperfine.json"
CALL = f"{results.NAME}/warm_process/call"


def opened(path: Path) -> Benchmarks:
    found = formats.read(path)
    assert not isinstance(found, Measured)
    return found


def save(folder: Path, name: str, document: object) -> Path:
    file = folder / name
    file.write_text(json.dumps(document), encoding="utf-8")
    return file


def hyperfine(times: list[float], command: str = "a", **changes: Any) -> dict[str, Any]:
    return {"results": [{"command": command, "times": times, **changes}]}


def of_pyperf(runs: list[list[float]], name: str = "sum", **metadata: Any) -> dict[str, Any]:
    told = {"name": name, "cpu_model_name": "A CPU", **metadata}
    made: list[dict[str, Any]] = [{"warmups": [[1, 0.5]]}, *({"values": one} for one in runs)]
    return {"version": "1.0", "benchmarks": [{"runs": made}], "metadata": told}


def of_pytest(data: list[float] | None, name: str = "test_a.py::test_sum") -> dict[str, Any]:
    stats = {"median": 1.0} if data is None else {"median": 1.0, "data": data}
    machine = {"cpu": {"brand_raw": "A CPU"}}
    return {"machine_info": machine, "benchmarks": [{"fullname": name, "stats": stats}]}


STEADY = [0.100, 0.103, 0.101, 0.106, 0.105, 0.107, 0.102, 0.104]
TWICE = [2 * time_s for time_s in STEADY]


def test_what_hyperfine_writes_is_read(tmp_path: Path) -> None:
    program = shutil.which("hyperfine")
    if program is None:
        pytest.skip("hyperfine is not installed")
    file = tmp_path / "hyperfine.json"
    line = [program, "-N", "--runs", "3", "--export-json", str(file), "true"]
    subprocess.run(line, check=True, capture_output=True, timeout=60)
    found = opened(file)
    assert (found.tool, list(found.benchmarks)) == ("hyperfine", ["true"])
    assert [len(one) for one in found.benchmarks["true"].processes] == [1, 1, 1]
    assert found.benchmarks["true"].kind == "cold"


def test_a_stored_file_of_hyperfine_is_read() -> None:
    (name, found), *_ = opened(STORED).benchmarks.items()
    stored = json.loads(STORED.read_text(encoding="utf-8"))["results"][0]
    assert name == stored["command"]
    assert [one[0] for one in found.processes] == stored["times"]


def test_what_pytest_benchmark_writes_is_read(tmp_path: Path) -> None:
    test = tmp_path / "test_it.py"
    test.write_text(
        "def test_sum(benchmark):\n"
        "    benchmark.pedantic(sum, args=(range(100),), rounds=6, iterations=10)\n",
        encoding="utf-8",
    )
    file = tmp_path / "made.json"
    line = [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-p", "pytest_benchmark.plugin"]
    kept = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_XDIST")}
    variables = {**kept, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    subprocess.run(
        [*line, str(test), f"--benchmark-json={file}"],
        check=True,
        capture_output=True,
        timeout=60,
        cwd=tmp_path,
        env=variables,
    )
    found = opened(file)
    assert (found.tool, list(found.benchmarks)) == ("pytest-benchmark", ["test_it.py::test_sum"])
    (process,) = found.benchmarks["test_it.py::test_sum"].processes
    assert len(process) == 6
    assert found.benchmarks["test_it.py::test_sum"].kind == "warm"


def test_what_pyperf_writes_is_read(tmp_path: Path) -> None:
    """AND a run that served to find the number of loops is no process."""
    metadata: dict[str, Any] = {"name": "sum", "cpu_model_name": "A CPU", "loops": 4}
    alone = pyperf.Run([], warmups=[(4, 0.5)], metadata=metadata, collect_metadata=False)
    runs = [
        pyperf.Run([0.1, 0.2 + n], warmups=[(4, 0.5)], metadata=metadata, collect_metadata=False)
        for n in range(2)
    ]
    suite = pyperf.BenchmarkSuite([pyperf.Benchmark([alone, *runs])])
    suite.dump(str(tmp_path / "pyperf.json"))
    found = opened(tmp_path / "pyperf.json")
    assert (found.tool, found.cpu) == ("pyperf", "A CPU")
    assert found.benchmarks["sum"].processes == ((0.1, 0.2), (0.1, 1.2))


def test_an_export_is_the_run_that_it_is_of(run: Path, tmp_path: Path, call: Call) -> None:
    file = tmp_path / "pyperf.json"
    assert call("export", run, "--format", "pyperf", "--out", file).returncode == ExitCode.FINE
    ours = formats.read(run)
    assert isinstance(ours, Measured)
    one, other = formats.benchmarks_of(ours), opened(file)
    assert other.is_export
    assert one.benchmarks.keys() == other.benchmarks.keys()
    for name, benchmark in one.benchmarks.items():
        assert other.benchmarks[name].processes == benchmark.processes
        assert other.benchmarks[name].kind == benchmark.kind


def test_what_coldwarm_measured_is_not_told_to_be_anothers(
    run: Path, tmp_path: Path, call: Call
) -> None:
    files = [tmp_path / f"{n}.json" for n in range(2)]
    for file in files:
        call("export", run, "--format", "pyperf", "--out", file)
    again = json.loads(files[1].read_text(encoding="utf-8"))
    again["benchmarks"][0]["runs"][0]["values"][0] *= 1.5
    files[1].write_text(json.dumps(again), encoding="utf-8")
    codes = [one.code for one in compared(call, *files).warnings]
    assert codes == ["exported_elsewhere", "sides_apart"]


def compared(call: Call, *arguments: object) -> RunComparison:
    done = call("compare", *arguments, "--format", "json")
    assert done.returncode == ExitCode.FINE, done.stderr
    return decode_as(RunComparison, done.stdout.encode())


def test_benchmarks_of_one_name_are_judged_by_their_processes(tmp_path: Path, call: Call) -> None:
    a, b = (save(tmp_path, f"{n}.json", hyperfine(t)) for n, t in enumerate((STEADY, TWICE)))
    found = compared(call, a, b)
    (metric,) = found.metrics
    assert (metric.case, metric.verdict, metric.kind) == ("a", "slower", "cold")
    assert metric.ratio == pytest.approx(2)
    assert metric.reason.parts[0].code == "separate_processes", "they share no rounds"
    assert found.a.tool == found.b.tool == "hyperfine"
    assert [one.code for one in found.warnings] == ["measured_elsewhere", "sides_apart"]
    done = call("compare", a, b, "--fail-on", "slower:50%")
    assert done.returncode == ExitCode.REGRESSION
    assert "No cache mode is proved" in done.stdout
    assert "share no rounds" in done.stdout


def test_a_run_is_compared_with_a_file_by_the_short_name_of_its_calls(
    run: Path, tmp_path: Path, call: Call
) -> None:
    file = save(tmp_path, "b.json", of_pyperf([[0.001, 0.001]] * 6, results.NAME))
    found = compared(call, run, file)
    (metric,) = found.metrics
    assert (metric.case, metric.kind, metric.n_a, metric.n_b) == (results.NAME, "warm", 5, 6)
    assert metric.verdict == "same"
    assert (found.a.tool, found.b.tool) == (None, "pyperf")
    assert {one.reason.code for one in found.left_out} == {"only_in"}
    assert [one.values.get("side") for one in found.warnings][:1] == ["B"]


def test_benchmarks_of_other_names_are_paired_by_hand(tmp_path: Path, call: Call) -> None:
    """AND a name may hold an equals sign."""
    a = save(tmp_path, "a.json", hyperfine(STEADY, "X=1 program"))
    b = save(tmp_path, "b.json", hyperfine(TWICE, "X=2 program"))
    done = call("compare", a, b)
    assert done.returncode == ExitCode.NOTHING_VALID
    assert "A has X=1 program, B has X=2 program; name two that belong together" in done.stderr
    (metric,) = compared(call, a, b, "--pair", "X=1 program=X=2 program").metrics
    assert metric.case == "X=2 program against X=1 program"
    done = call("compare", a, b, "--pair", "X=1 program=none")
    assert done.returncode == ExitCode.USAGE
    assert "names no two benchmarks" in done.stderr


def test_one_process_a_side_decides_nothing_and_five_files_do(tmp_path: Path, call: Call) -> None:
    files = [
        [
            save(tmp_path, f"{side}{n}.json", of_pytest([factor * one * (1 + n / 1000)] * 9))
            for n, one in enumerate(STEADY[:3])
        ]
        for side, factor in (("a", 1), ("b", 2))
    ]
    found = compared(call, files[0][0], files[1][0])
    (metric,) = found.metrics
    assert (metric.verdict, metric.ratio, metric.b) == ("undecided", None, 0.2)
    assert "one_process_elsewhere" in {one.code for one in found.warnings}
    found = compared(call, *(",".join(map(str, side)) for side in files))
    (metric,) = found.metrics
    assert (found.unit, metric.verdict) == ("run", "slower")
    assert metric.reason.parts[0].code == "separate_runs"


def test_other_processors_are_refused_where_both_are_told(
    run: Path, tmp_path: Path, call: Call
) -> None:
    file = save(
        tmp_path, "b.json", of_pyperf([[0.001]] * 6, results.NAME, cpu_model_name="Another CPU")
    )
    done = call("compare", run, file)
    assert done.returncode == ExitCode.USAGE
    assert "machine: cpu.model: A CPU became Another CPU" in done.stderr
    found = compared(call, run, file, "--allow", "machine")
    assert [one.field for one in found.allowed] == ["machine"]


def test_commands_that_failed_have_no_time(tmp_path: Path, call: Call) -> None:
    a = save(tmp_path, "a.json", hyperfine(STEADY, exit_codes=[0] * 7 + [1]))
    b = save(tmp_path, "b.json", hyperfine(TWICE, exit_codes=[0] * 8))
    done = call("compare", a, b)
    assert done.returncode == ExitCode.USAGE
    assert "failed: in A: 1 run failed under hyperfine" in done.stderr


def test_a_start_is_not_compared_with_a_call(tmp_path: Path, call: Call) -> None:
    a = save(tmp_path, "a.json", hyperfine(STEADY))
    b = save(tmp_path, "b.json", of_pyperf([STEADY] * 5, "a"))
    done = call("compare", a, b)
    assert done.returncode == ExitCode.USAGE
    assert "whole starts and calls within a process" in done.stderr


def test_starts_that_end_elsewhere_are_told(run: Path, tmp_path: Path, call: Call) -> None:
    file = save(tmp_path, "b.json", hyperfine(STEADY))
    start = f"{results.NAME}/cold_process_cold_cache/whole_start"
    found = compared(call, run, file, "--pair", f"{start}=a")
    assert "ends_differ" in {one.code for one in found.warnings}
    commands = of_pyperf([[one] for one in TWICE], "a", command="program")
    found = compared(call, file, save(tmp_path, "c.json", commands))
    assert "ends_differ" not in {one.code for one in found.warnings}


def test_a_unit_that_is_no_time_is_told(tmp_path: Path, call: Call) -> None:
    a, b = (
        save(tmp_path, f"{n}.json", {**of_pyperf([[1.0 + n]] * 5), "benchmarks": []})
        for n in (0, 1)
    )
    for n, file in enumerate((a, b)):
        both = [
            {"metadata": {"name": "count", "unit": "integer"}, "runs": [{"values": [3.0]}]},
            {"metadata": {"name": "sum"}, "runs": [{"values": [1.0 + n]}] * 5},
        ]
        save(tmp_path, file.name, {"version": "1.0", "benchmarks": both})
    found = compared(call, a, b)
    assert [one.case for one in found.metrics] == ["sum"]
    assert {one.reason.code for one in found.left_out} == {"unit_elsewhere"}


def test_the_same_samples_twice_are_no_comparison(tmp_path: Path, call: Call) -> None:
    a, b = (save(tmp_path, f"{n}.json", hyperfine(STEADY)) for n in (1, 2))
    done = call("compare", a, b)
    assert done.returncode == ExitCode.NOTHING_VALID
    assert "hold the same samples" in done.stderr


@pytest.mark.parametrize("form", ["markdown", "github", "text"])
def test_every_form_says_what_is_not_known(form: str, tmp_path: Path, call: Call) -> None:
    a, b = (save(tmp_path, f"{n}.json", hyperfine(t)) for n, t in enumerate((STEADY, TWICE)))
    said = " ".join(call("compare", a, b, "--format", form).stdout.split())
    assert "no answer was checked" in said
    assert "slower" in said


NAN = '{"results": [{"command": "a", "times": [NaN]}]}'
BROKEN: dict[str, tuple[object, str]] = {
    "not-json": ("{", "is not JSON"),
    "nan": (NAN, "NaN is no number"),
    "infinite": (NAN.replace("NaN", "1e999"), "is too large"),
    "digits": (NAN.replace("NaN", "9" * 400), "Number out of range"),
    "negative": (hyperfine([-1.0]), "results[0].times[0]: expected float > 0.0, got -1.0"),
    "zero": (hyperfine([0.0]), "expected float > 0.0"),
    "years": (hyperfine([1e12]), "expected float <= 1000000000.0"),
    "text": (hyperfine(["1.0"]), "results[0].times[0]"),  # type: ignore[list-item] # what is tried
    "no-times": ({"results": [{"command": "a"}]}, "results[0].times: is required"),
    "no-command": ({"results": [{"times": [1.0]}]}, "results[0].command: is required"),
    "nothing": ({"results": []}, "holds no benchmark"),
    "two": ({"results": [hyperfine([1.0])["results"][0]] * 2}, "two benchmarks of the name 'a'"),
    "no-name": (hyperfine([1.0], "  "), "a benchmark without a name"),
    "statistics": (of_pytest(None), "only statistics: save them with --benchmark-json"),
    "no-stats": ({"machine_info": {}, "benchmarks": [{"fullname": "a"}]}, "stats: is required"),
    "old": ({**of_pyperf([[1.0]]), "version": 6}, "version"),
    "pyperf-years": (of_pyperf([[1e12]]), "a time of more than 1e+09 s"),
    "pyperf-nameless": ({"version": "1.0", "benchmarks": [{"runs": []}]}, "without a name"),
    "of-none": ({"hello": 1}, "is no result that can be compared"),
    "list": ([1], "is no result that can be compared"),
    "deep": ("[" * 100_000, "nested too deeply"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_file_is_refused_in_one_line(kind: str, tmp_path: Path) -> None:
    document, told = BROKEN[kind]
    text = document if isinstance(document, str) else json.dumps(document)
    file = tmp_path / "broken.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ContractError) as refused:
        formats.read(file)
    said = str(refused.value)
    assert told in said
    assert said.startswith(str(file))
    assert len(said.splitlines()) == 1
    assert len(said) < len(str(file)) + 400


def test_what_cannot_be_opened_is_refused(tmp_path: Path, call: Call) -> None:
    packed = tmp_path / "a.json.gz"
    packed.write_bytes(b"\x1f\x8b\x08")
    good = save(tmp_path, "b.json", hyperfine(STEADY))
    for file, told in ((packed, "gunzip"), (tmp_path / "none.json", "no such file")):
        done = call("compare", file, good)
        assert done.returncode in {ExitCode.USAGE, ExitCode.FAILED}
        assert told in done.stderr
        assert len(done.stderr.splitlines()) == 1


def test_a_huge_file_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "huge.json"
    with file.open("wb") as stream:
        stream.truncate(2**28)
    with pytest.raises(ContractError, match="is larger than"):
        formats.read(file)


def test_a_hostile_name_controls_no_terminal_and_no_workflow(tmp_path: Path, call: Call) -> None:
    name = "\x1b[31m::error title=x::y\n" + "a" * 1000
    a, b = (save(tmp_path, f"{n}.json", hyperfine(t, name)) for n, t in enumerate((STEADY, TWICE)))
    for form in ("text", "github", "markdown", "json"):
        done = call("compare", a, b, "--format", form)
        assert done.returncode == ExitCode.FINE
        assert "\x1b[31m" not in done.stdout
        assert not any(line.startswith("::error title=x") for line in done.stdout.splitlines())


def test_options_of_one_kind_of_comparison_are_refused_in_the_other(
    run: Path, tmp_path: Path, call: Call
) -> None:
    other = results.write(tmp_path / "other", [results.case(5)])
    done = call("compare", run, other, "--pair", "a=b")
    assert done.returncode == ExitCode.USAGE
    assert "belongs to files of other tools" in " ".join(done.stderr.split())
    a, b = (save(tmp_path, f"{n}.json", hyperfine(t)) for n, t in enumerate((STEADY, TWICE)))
    done = call("compare", a, b, "--noise", "noise.json")
    assert done.returncode == ExitCode.USAGE
    assert "--noise" in done.stderr


def of_asv(results: dict[str, Any], **changes: Any) -> dict[str, Any]:
    columns = ["result", "params", "version", "samples"]
    rows = {
        name: [value, params, "v", samples] for name, (value, params, samples) in results.items()
    }
    named = {"commit_hash": "0123abcd" * 5, "date": 1_700_000_000_000, "params": {"cpu": "A CPU"}}
    return {**named, "result_columns": columns, "results": rows, "version": 2, **changes}


def test_a_file_of_asv_is_read(tmp_path: Path) -> None:
    held = {
        "suite.Fits.time_fit": ([0.1, 0.2], [["'a'", "'b'"]], [[0.1, 0.11], None]),
        "suite.peakmem_fit": ([2.0e8], [], None),
        "suite.timeraw_start": ([1.5], [], None),
        "suite.track_score": ([12.0], [], None),
        "suite.time_broken": ([None], [], None),
        "suite.time_skipped": (None, [], None),
    }
    found = opened(save(tmp_path, "asv.json", of_asv(held)))
    assert (found.tool, found.commit, found.cpu) == ("asv", "0123abcd" * 5, "A CPU")
    assert found.started_at == "2023-11-14T22:13:20+00:00"
    kinds = {name: (one.kind, one.processes) for name, one in found.benchmarks.items()}
    assert kinds == {
        "suite.Fits.time_fit('a')": ("warm", ((0.1,), (0.11,))),
        "suite.Fits.time_fit('b')": ("warm", ((0.2,),)),
        "suite.peakmem_fit": ("memory", ((2.0e8,),)),
        "suite.timeraw_start": ("cold", ((1.5,),)),
    }
    assert set(found.left_out) == {"suite.track_score", "suite.time_broken"}


def test_what_asv_writes_without_a_number_is_none(tmp_path: Path) -> None:
    text = json.dumps(of_asv({"a.time_x": ([0.1], [], None), "a.time_y": ([math.nan], [], None)}))
    file = tmp_path / "asv.json"
    file.write_text(text, encoding="utf-8")
    found = opened(file)
    assert (list(found.benchmarks), list(found.left_out)) == (["a.time_x"], ["a.time_y"])


@pytest.mark.parametrize(
    "results",
    [
        {"a.time_x": ([-1.0], [], None)},
        {"a.time_x": (["fast"], [], None)},
        {"a.time_x": ([0.1], [], [["x"]])},
        {},
    ],
)
def test_a_broken_file_of_asv_is_refused(tmp_path: Path, results: dict[str, Any]) -> None:
    with pytest.raises(ContractError):
        opened(save(tmp_path, "asv.json", of_asv(results)))


def test_an_export_for_asv_is_read_again(made: Exported, tmp_path: Path) -> None:
    commit = figures.Commit(10 * "1abc", 1_700_000_000_000)
    known = figures.Exported(made.measured, made.figures, [], {results.NAME: commit})
    files = formats.load("asv").files(known)
    (name,) = (one for one in files if one.endswith(".json") and commit.sha[:8] in one)
    file = tmp_path / "exported.json"
    file.write_bytes(files[name])
    found = opened(file)
    assert found.is_export
    by_name = {one.name.replace("/", "."): one for one in made.figures}
    assert found.benchmarks.keys() == by_name.keys()
    for key, one in found.benchmarks.items():
        assert [value for (value,) in one.processes] == by_name[key].medians
        assert (one.kind == "memory") == (by_name[key].unit == "bytes")


def test_a_file_of_bencher_is_read(tmp_path: Path) -> None:
    document = {
        "fit": {"latency": {"value": 1.5e6, "lower_value": 1.4e6}},
        "score": {"accuracy": {"value": 0.9}},
    }
    found = opened(save(tmp_path, "bmf.json", document))
    assert (found.tool, found.benchmarks["fit"].processes) == ("Bencher", ((0.0015,),))
    assert list(found.left_out) == ["score"]
    for broken in ({"fit": {"latency": {"value": -1}}}, {"fit": {"latency": {"value": "x"}}}):
        with pytest.raises(ContractError):
            opened(save(tmp_path, "broken.json", broken))
