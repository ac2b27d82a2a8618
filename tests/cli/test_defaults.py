"""``[tool.coldwarm]`` in a project's ``pyproject.toml``: the real command, and what it records."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from tests.contracts import samples
from tests.started import coldwarm
from tests.stats import results

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

RUN = ("run", "--case", "numpy_matmul_512_f32", "--out", "out")
QUICK = """
[tool.coldwarm.run]
cache-mode = ["cold_process_cold_cache"]
rounds = 1
max-rounds = 2
time-budget = "1m"
seed = 7
format = "json"
"""


def call(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return coldwarm(*arguments, cwd=folder)


def refused(folder: Path, *arguments: str) -> str:
    done = call(folder, *arguments)
    assert done.returncode == 2, done.stderr
    (line,) = done.stderr.strip().splitlines()
    return line.removeprefix("coldwarm: ")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return the folder of a project."""
    (tmp_path / "pyproject.toml").write_text(QUICK, encoding="utf-8")
    return tmp_path


def test_the_command_line_comes_before_the_file_and_the_protocol_tells_which(project: Path) -> None:
    below = project / "src" / "deep"
    below.mkdir(parents=True)
    done = call(below, *RUN, "--seed", "8", "--max-rounds", "1")
    assert done.returncode == 0, done.stderr
    index = json.loads(done.stdout)
    case = json.loads((below / "out" / index["cases"][0]["path"]).read_bytes())
    protocol = case["protocol"]
    assert protocol["seed"] == 8
    assert protocol["effort"]["time_budget_s"] == 60.0
    assert (protocol["effort"]["min_runs"], protocol["effort"]["max_runs"]) == (1, 1)
    named = ("cache_mode", "rounds", "time_budget")
    assert protocol["option_origins"] == dict.fromkeys(named, "pyproject.toml")
    assert str(project) not in json.dumps(protocol["option_origins"])


def test_a_run_goes_on_as_it_was_begun_whatever_the_file_says_now(project: Path) -> None:
    assert call(project, *RUN).returncode == 0
    (project / "pyproject.toml").write_text("[tool.coldwarm.run]\nseed = 9\n", encoding="utf-8")
    done = call(project, "run", "--out", "out", "--resume", "--json")
    assert done.returncode == 0, done.stderr
    index = json.loads(done.stdout)
    case = json.loads((project / "out" / index["cases"][0]["path"]).read_bytes())
    assert case["protocol"]["seed"] == 7


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[tool.coldwarm.run]\nsed = 1", "tool.coldwarm.run.sed is unknown; known are backend, "),
        ("[tool.coldwarm.run]\nseed = '1'", "tool.coldwarm.run.seed must be a whole number, not"),
        ("[tool.coldwarm.run]\nseed = true", "tool.coldwarm.run.seed must be a whole number, not"),
        (
            "[tool.coldwarm.run]\nseed = -1",
            "tool.coldwarm.run.seed: -1: write a whole number of 0 or more",
        ),
        ("[tool.coldwarm.run]\ndeterministic = 1", "deterministic must be true or false, not 1"),
        ("[tool.coldwarm.run]\ncase = 'a'", "run.case must be a list of strings, not 'a'"),
        ("[tool.coldwarm.run]\ncase = [1]", "run.case must be a list of strings, not [1]"),
        ("[tool.coldwarm.run]\ntime-budget = '5d'", "run.time-budget: '5d' is no duration"),
        ("[tool.coldwarm.run]\ntime-budget = 5", "run.time-budget must be a string, not 5"),
        ("[tool.coldwarm.run]\nformat = 'xml'", "run.format: 'xml' is not one of"),
        ("[tool.coldwarm.run]\nprecision = 'x'", "run.precision: 'x' is no relative difference"),
        ("[tool.coldwarm.run]\nresume = true", "tool.coldwarm.run.resume is unknown"),
        ("[tool.coldwarm.shwo]\n", "tool.coldwarm.shwo is unknown; known are advise, backends, "),
        ("[tool]\ncoldwarm = 3\n", "tool.coldwarm must be a table"),
        ("[tool.coldwarm\n", "cannot be read: "),
    ],
)
def test_what_is_no_default_is_told_in_one_line(tmp_path: Path, text: str, line: str) -> None:
    (tmp_path / "pyproject.toml").write_text(text, encoding="utf-8")
    told = refused(tmp_path, *RUN)
    assert told.startswith("pyproject.toml")
    assert line in told


@pytest.mark.parametrize(
    ("variable", "value", "line"),
    [
        ("COLDWARM_RUN_ROUNDS", "five", "value for COLDWARM_RUN_ROUNDS: 'five': write a whole"),
        (
            "COLDWARM_RUN_ROUND",
            "5",
            "called 'COLDWARM_RUN_ROUND'; did you mean COLDWARM_RUN_ROUNDS",
        ),
    ],
)
def test_a_variable_that_is_no_default_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, line: str
) -> None:
    monkeypatch.setenv(variable, value)
    assert line in refused(tmp_path, *RUN)
    assert call(tmp_path, "run", "--help").returncode == 0


def test_variables_that_are_no_options_are_let_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLDWARM_DOCTOR_FIRST", "1 journal")
    monkeypatch.setenv("COLDWARM_NO_HOOKS", "1")
    done = call(tmp_path, "doctor", "nothere.py")
    assert "nothere.py is not there" in done.stderr


def test_help_is_there_whatever_the_file_says(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.coldwarm.run]\nno = 1\n", encoding="utf-8")
    assert call(tmp_path, "run", "--help").returncode == 0


def test_compare_takes_its_limits_and_a_policy_beside_the_file(tmp_path: Path) -> None:
    a = results.write(tmp_path / "a", [results.case(1)], samples.environment())
    b = results.write(tmp_path / "b", [results.case(3, 1.5)], samples.environment())
    file = tmp_path / "pyproject.toml"
    below = tmp_path / "below"
    below.mkdir()
    file.write_text("[tool.coldwarm.compare]\nfail-on = ['slower:5%']\n", encoding="utf-8")
    assert call(below, "compare", str(a), str(b)).returncode == 1
    assert call(below, "compare", str(a), str(b), "--fail-on", "slower:90%").returncode == 0
    (tmp_path / "limits.toml").write_text("[fail_on]\nslower = '5%'\n", encoding="utf-8")
    file.write_text("[tool.coldwarm.compare]\npolicy = 'limits.toml'\n", encoding="utf-8")
    assert call(below, "compare", str(a), str(b)).returncode == 1


def test_bench_measures_what_the_command_line_asks_for(tmp_path: Path) -> None:
    """A file that says cold only does not forbid warm calls."""
    (tmp_path / "mine.py").write_text("def one():\n    return 1.0\n", encoding="utf-8")
    text = "[tool.coldwarm.bench]\ncold-only = true\nrounds = 1\nmax-rounds = 1\nformat = 'json'\n"
    (tmp_path / "pyproject.toml").write_text(text, encoding="utf-8")
    done = call(tmp_path, "bench", "mine.py:one", "--warm-only", "--out", "out")
    assert done.returncode == 0, done.stderr
    (file,) = (tmp_path / "out" / "cases").glob("*.json")
    protocol = json.loads(file.read_bytes())["protocol"]
    assert protocol["cache_modes"] == ["warm_process"]
    assert protocol["option_origins"] == dict.fromkeys(("rounds", "max_rounds"), "pyproject.toml")
