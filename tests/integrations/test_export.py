"""``coldwarm export``: what each format holds, read back by the tool that it is for."""

from __future__ import annotations

import json
import math
import statistics
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import jsonschema
import msgspec
import pyperf
import pytest
from prometheus_client.openmetrics import parser
from tests.contracts import samples
from tests.integrations import conftest
from tests.stats import results

from coldwarm.contracts.environment import Cpu, Frequency
from coldwarm.contracts.reasons import because
from coldwarm.errors import ExitCode
from coldwarm.integrations import figures, formats
from coldwarm.runner import recompute

if TYPE_CHECKING:
    from pathlib import Path

    from tests.integrations.conftest import Call

    from coldwarm.integrations.figures import Exported, Figure

NAME = results.NAME
CALL = f"{NAME}/warm_process/call"
FIRST = f"{NAME}/cold_process_cold_cache/first_result"
START = f"{NAME}/cold_process_cold_cache/whole_start"
MEMORY = f"{NAME}/cold_process_cold_cache/peak_memory"


def by_name(made: Exported) -> dict[str, Figure]:
    return {one.name: one for one in made.figures}


def text(made: Exported, form: str) -> str:
    data: bytes = formats.load(form).files(made)[""]
    return data.decode()


def test_a_figure_is_what_the_run_says(made: Exported) -> None:
    """THEN the median of the processes is the run's, to the last digit, and none was rejected."""
    assert [one.name for one in made.figures] == [FIRST, START, MEMORY, CALL]
    for one in made.figures:
        assert statistics.median(one.medians) == one.summary.median
        assert len(one.processes) == one.summary.n_processes == 5
        assert all(process.observation.status == "ok" for process in one.processes)


def test_warm_samples_are_told_by_process_apart_from_what_came_before(made: Exported) -> None:
    for process in by_name(made)[CALL].processes:
        raw = [value for block in process.observation.blocks for value in block.samples_s]
        assert process.batch == conftest.BATCH
        assert len(process.warmups) >= 3
        assert process.warmups == tuple(raw[: len(process.warmups)])
        assert set(process.values) <= set(raw[len(process.warmups) :])
        steady = process.observation.blocks[1]
        assert process.cpu_s == pytest.approx(statistics.fmean(steady.samples_s))


def test_a_case_with_a_wrong_answer_is_left_out_and_told(run: Path, call: Call) -> None:
    done = call("export", run, "--format", "pyperf")
    assert done.returncode == ExitCode.FINE
    assert conftest.FAILED not in done.stdout
    assert f"not exported: {conftest.FAILED}: its answer is wrong" in done.stderr


def test_pyperf_loads_runs_with_values_and_warmups(made: Exported, tmp_path: Path) -> None:
    file = tmp_path / "pyperf.json"
    file.write_text(text(made, "pyperf"), encoding="utf-8")
    suite = pyperf.BenchmarkSuite.load(str(file))
    assert suite.get_benchmark_names() == [FIRST, START, MEMORY, CALL]
    found = suite.get_benchmark(CALL)
    of_run = by_name(made)[CALL]
    assert [one.values for one in found.get_runs()] == [one.values for one in of_run.processes]
    for one, process in zip(found.get_runs(), of_run.processes, strict=True):
        assert one.warmups == tuple((conftest.BATCH, value) for value in process.warmups)
        assert one.get_loops() == conftest.BATCH
        assert one.get_metadata()["jax_version"] == "0.9.0"
    first = suite.get_benchmark(FIRST)
    assert first.median() == by_name(made)[FIRST].summary.median
    assert first.get_unit() == "second"
    assert suite.get_benchmark(MEMORY).get_unit() == "byte"
    assert suite.get_metadata()["cpu_model_name"] == "A CPU"
    assert "hostname" not in found.get_metadata()


def test_every_format_has_its_object() -> None:
    assert all(isinstance(formats.load(name), formats.Writer) for name in formats.names())
    assert {"asv", "pyperf"} <= {*formats.names()}


def test_pyperf_prints_statistics(made: Exported, tmp_path: Path) -> None:
    file = tmp_path / "pyperf.json"
    file.write_text(text(made, "pyperf"), encoding="utf-8")
    line = [sys.executable, "-m", "pyperf", "stats", str(file)]
    done = subprocess.run(line, capture_output=True, text=True, check=True, timeout=60)
    assert "Number of benchmarks: 4" in done.stdout
    assert "Number of run with values: 5" in done.stdout


def test_pyperf_is_given_no_value_that_it_would_refuse(made: Exported) -> None:
    one = by_name(made)[CALL]
    none = one.processes[0]._replace(values=(0.0, 1.0))
    assert formats.load("pyperf").why_not(one) is None
    told = figures.Figure(one.case, one.mode, one.what, one.summary, (none,))
    assert "above 0" in str(formats.load("pyperf").why_not(told))


REPETITION = {
    "type": "object",
    "required": [
        *("name", "run_name", "run_type", "family_index", "per_family_instance_index"),
        *("repetitions", "threads", "iterations", "real_time", "cpu_time", "time_unit"),
    ],
    "properties": {
        "name": {"type": "string"},
        "run_name": {"type": "string"},
        "run_type": {"enum": ["iteration", "aggregate"]},
        "repetitions": {"type": "integer", "minimum": 1},
        "repetition_index": {"type": "integer", "minimum": 0},
        "iterations": {"type": "integer", "minimum": 1},
        "threads": {"type": "integer", "minimum": 1},
        "real_time": {"type": "number", "exclusiveMinimum": 0},
        "cpu_time": {"type": "number"},
        "time_unit": {"enum": ["ns", "us", "ms", "s"]},
        "aggregate_name": {"enum": ["mean", "median", "stddev", "cv"]},
        "aggregate_unit": {"enum": ["time", "percentage"]},
    },
    "if": {"properties": {"run_type": {"const": "aggregate"}}},
    "then": {"required": ["aggregate_name", "aggregate_unit"]},
    "else": {"required": ["repetition_index"]},
}
GOOGLE = {
    "type": "object",
    "required": ["context", "benchmarks"],
    "properties": {
        "context": {
            "type": "object",
            "required": ["date", "num_cpus", "caches", "load_avg", "json_schema_version"],
            "properties": {
                "json_schema_version": {"const": 1},
                "num_cpus": {"type": "integer"},
                "mhz_per_cpu": {"type": "integer"},
                "cpu_scaling_enabled": {"type": "boolean"},
                "caches": {"items": {"required": ["type", "level", "size"]}},
                "load_avg": {"items": {"type": "number"}},
                "host_name": False,
            },
        },
        "benchmarks": {"type": "array", "minItems": 1, "items": REPETITION},
    },
}
"""The fields that Google Benchmark's reporter writes, and those that its compare script needs."""


def google(made: Exported) -> dict[str, Any]:
    kept = figures.without(made, {MEMORY: "no time"})
    document: dict[str, Any] = json.loads(text(kept, "google-benchmark"))
    return document


def test_google_benchmark_has_a_repetition_for_each_process_and_their_median(
    made: Exported,
) -> None:
    document = google(made)
    jsonschema.validate(document, GOOGLE)
    for name in (FIRST, START, CALL):
        rows = [one for one in document["benchmarks"] if one["name"] == name]
        of_run = by_name(made)[name]
        assert [one["repetition_index"] for one in rows] == [0, 1, 2, 3, 4]
        assert [one["real_time"] for one in rows] == [1e9 * value for value in of_run.medians]
        (median,) = (one for one in document["benchmarks"] if one["name"] == f"{name}_median")
        assert median["real_time"] == 1e9 * of_run.summary.median
        assert median["real_time"] == statistics.median(one["real_time"] for one in rows)
        assert {one["run_name"] for one in (*rows, median)} == {name}
    assert document["context"]["mhz_per_cpu"] == 2500
    assert document["context"]["cpu_scaling_enabled"] is False


def test_google_benchmark_has_processor_time_where_it_was_measured(made: Exported) -> None:
    rows = google(made)["benchmarks"]
    known = {one["run_name"]: not math.isnan(one["cpu_time"]) for one in rows}
    assert known == {FIRST: False, START: False, CALL: True}
    calls = [one for one in rows if one["name"] == CALL]
    assert all(one["iterations"] % conftest.BATCH == 0 for one in calls)
    assert all(one["cpu_time"] == pytest.approx(one["real_time"], rel=0.05) for one in calls)


def test_google_benchmark_says_what_it_has_no_place_for(run: Path, call: Call) -> None:
    done = call("export", run, "--format", "google-benchmark")
    assert done.returncode == ExitCode.FINE
    assert f"not exported: {MEMORY}: Google Benchmark's JSON has times alone" in done.stderr


def test_github_action_benchmark_gets_a_list_of_names_units_and_values(made: Exported) -> None:
    entries = json.loads(text(made, "github-action-benchmark"))
    allowed = {"name", "unit", "value", "range", "extra"}
    assert all({"name", "unit", "value"} <= one.keys() <= allowed for one in entries)
    assert all(isinstance(one["value"], float) for one in entries)
    assert all(isinstance(one[key], str) for one in entries for key in allowed - {"value"})
    found = {one["name"]: one for one in entries}
    assert found[CALL]["unit"] == "µs"
    assert found[CALL]["value"] == 1e6 * by_name(made)[CALL].summary.median
    assert found[FIRST]["value"] == by_name(made)[FIRST].summary.median
    assert "median of 5 processes\ncpu: A CPU" in found[FIRST]["extra"]


def families(said: str) -> dict[str, Any]:
    parse: Any = parser.text_string_to_metric_families
    return {one.name: one for one in parse(said)}


def test_openmetrics_is_parsed_and_has_units(made: Exported) -> None:
    said = text(made, "openmetrics")
    found = families(said)
    call = found["coldwarm_call_seconds"]
    assert (call.type, call.unit) == ("gauge", "seconds")
    (sample,) = call.samples
    summary = by_name(made)[CALL].summary
    assert sample.value == summary.median
    assert sample.labels["case"] == NAME
    assert sample.labels["steady"] == "true"
    (low,) = found["coldwarm_call_low_seconds"].samples
    assert low.value == summary.low
    (first,) = found["coldwarm_first_result_seconds"].samples
    assert first.labels["cache_mode"] == "cold_process_cold_cache"
    assert found["coldwarm_peak_memory_bytes"].unit == "bytes"
    assert {one.value for one in found["coldwarm_processes"].samples} == {5.0}
    (about,) = found["coldwarm_run"].samples
    assert about.labels["cpu"] == "A CPU"
    assert said.endswith("\n# EOF\n")


def test_openmetrics_escapes_labels(made: Exported) -> None:
    odd = 'a "name" with \\ and \n'
    case = msgspec.structs.replace(made.figures[0].case, workload=odd)
    one = made.figures[0]
    told = figures.Figure(case, one.mode, one.what, one.summary, one.processes)
    said = text(figures.Exported(made.measured, [told], []), "openmetrics")
    found = families(said)
    (sample,) = found["coldwarm_first_result_seconds"].samples
    assert sample.labels["workload"].startswith('a "name" with \\ and')


@pytest.mark.parametrize("form", [name for name in formats.names() if name != "asv"])
def test_one_file_goes_to_standard_output_or_where_it_is_named(
    form: str, run: Path, tmp_path: Path, call: Call
) -> None:
    printed = call("export", run, "--format", form)
    assert printed.returncode == ExitCode.FINE
    file = tmp_path / "deep" / "file"
    done = call("export", run, "--format", form, "--out", file)
    assert (done.returncode, done.stdout) == (ExitCode.FINE, "")
    assert file.read_text(encoding="utf-8") == printed.stdout
    assert printed.stdout.endswith("\n")
    assert not formats.load(form).is_json or json.loads(printed.stdout)
    assert form != "openmetrics" or printed.stdout.startswith("#")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--format", "asv"], "asv has a folder of files; name it with --out"),
        (["--format", "pyperf", "--commit", "HEAD"], "pyperf does not keep results by commit"),
        (["--format", "yaml"], "yaml"),
        ([], "--format"),
    ],
)
def test_options_that_make_no_sense(options: list[str], told: str, run: Path, call: Call) -> None:
    done = call("export", run, *options)
    assert (done.returncode, done.stdout) == (ExitCode.USAGE, "")
    assert told in " ".join(done.stderr.split())


def test_nothing_is_written_where_nothing_is_valid(tmp_path: Path, call: Call) -> None:
    wrong = results.case(2, status="failed", reason=because("correctness_gate"))
    run = results.write(tmp_path / "run", [wrong])
    out = tmp_path / "out.json"
    done = call("export", run, "--format", "pyperf", "--out", out)
    assert done.returncode == ExitCode.FAILED
    assert "has no valid figure that pyperf could hold" in done.stderr
    assert not out.exists()


@pytest.mark.parametrize("form", formats.names())
def test_nothing_private_is_told(form: str, tmp_path: Path) -> None:
    """GIVEN a token in a text of the environment THEN no format has it."""
    token = "ghp_" + "Ab1" * 12
    cpu = Cpu(model=f"A CPU {token}", architecture="x86_64", frequency=Frequency())
    measured = recompute.read(results.write(tmp_path / "run", [results.case(1)]))
    placed = replace(measured, environment=samples.environment(cpu=cpu))
    made = replace(
        figures.exported(placed), commits={NAME: figures.Commit("abcd" * 10, 1_700_000_000_000)}
    )
    kept = figures.without(made, {MEMORY: ""} if form == "google-benchmark" else {})
    said = b"".join(formats.load(form).files(kept).values())
    assert token.encode() not in said
    assert b"A CPU" in said
