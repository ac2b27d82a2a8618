"""``action.yml`` and the workflow of a release: their scripts are run as they stand there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from benchmarks import maintainer

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).parents[2]
ACTION, RELEASE = ROOT / "action.yml", ROOT / ".github" / "workflows" / "release.yml"
FASTER = "def work():\n    return sum(i * i for i in range(20_000))\n"
SLOWER = FASTER.replace("return sum", "return [sum").replace("000))", "000)) for _ in '12'][0]")


def read(file: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(file.read_text("utf-8"))
    return found


def steps(file: Path) -> list[dict[str, Any]]:
    read_file = read(file)
    if "runs" in read_file:
        found: list[dict[str, Any]] = read_file["runs"]["steps"]
        return found
    return [step for job in read_file["jobs"].values() for step in job["steps"]]


def run(
    step: Mapping[str, Any], folder: Path, values: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run a step's script in a folder as a runner does; ``values``: of its expressions."""
    variables = {
        name: re.sub(r"\$\{\{ (\S+) \}\}", lambda found: values[found[1]], text)
        for name, text in step.get("env", {}).items()
    }
    for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT"):
        variables[name] = str(folder / name)
    # An environment of its own, first on the path, is what actions/setup-python makes.
    variables["PATH"] = f"{folder / 'venv' / 'bin'}:{os.environ['PATH']}"
    return subprocess.run(
        ["/bin/bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=folder / "checkout",
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def runner(tmp_path: Path) -> Path:
    """A runner with an interpreter, and a checkout in which the last commit is slower."""
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    folder = tmp_path / "checkout"
    folder.mkdir()
    maintainer.git(folder, "init", "--quiet")
    for text in (FASTER, SLOWER):
        (folder / "guard.py").write_text(text, encoding="utf-8")
        maintainer.commit(folder, "a commit")
    return tmp_path


@pytest.mark.parametrize(
    ("schema", "file"), [("vendor.github-actions", ACTION), ("vendor.github-workflows", RELEASE)]
)
def test_they_keep_their_schemas(schema: str, file: Path) -> None:
    pytest.importorskip("check_jsonschema")
    line = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, str(file)]
    done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("file", [ACTION, RELEASE])
def test_a_text_from_outside_never_stands_in_a_script(file: Path) -> None:
    scripts = [step["run"] for step in steps(file) if "run" in step]
    assert scripts
    assert not [one for one in scripts if "${{" in one]


def test_only_the_last_job_may_publish_and_only_of_a_tag() -> None:
    jobs = read(RELEASE)["jobs"]
    assert read(RELEASE)["permissions"] == {"contents": "read"}
    assert [name for name, job in jobs.items() if "permissions" in job] == ["publish"]
    assert jobs["publish"]["if"] == "github.ref_type == 'tag'"
    assert (jobs["publish"]["needs"], jobs["test"]["needs"]) == ("test", "build")
    assert "3.14" in jobs["test"]["strategy"]["matrix"]["python"]


@pytest.mark.slow
def test_the_action_installs_and_fails_where_a_commit_is_slower(runner: Path) -> None:
    given = {"function": "guard.py:work", "install": "packaging", "time-budget": "40s"}
    inputs = {name: one.get("default", "") for name, one in read(ACTION)["inputs"].items()} | given
    inputs["options"] = "--warm-only"
    values = {f"inputs.{name}": value for name, value in inputs.items()}
    values["github.action_path"] = str(ROOT)
    install, measure = (step for step in steps(ACTION) if "run" in step)
    done = run(install, runner, values)
    assert done.returncode == 0, done.stderr
    done = run(measure, runner, values)
    assert done.returncode == 1, done.stderr
    assert "::error file=guard.py,title=" in done.stdout
    assert "**FAIL**" in (runner / "GITHUB_STEP_SUMMARY").read_text("utf-8")
    assert (runner / "GITHUB_OUTPUT").read_text("utf-8") == "status=1\n"
    assert (runner / "checkout" / "out" / "coldwarm.json").is_file()


@pytest.mark.slow
def test_the_action_says_what_to_type_where_a_checkout_is_shallow(runner: Path) -> None:
    inputs = {name: one.get("default", "") for name, one in read(ACTION)["inputs"].items()}
    values = {f"inputs.{name}": value for name, value in inputs.items()}
    (measure,) = (step for step in steps(ACTION) if step.get("id") == "measure")
    done = run(measure, runner, {**values, "inputs.before": "HEAD^^"})
    assert done.returncode == 2
    assert "fetch-depth: 0" in done.stdout


@pytest.mark.slow
def test_a_release_builds_a_wheel_that_measures(runner: Path) -> None:
    scripts = {step["name"]: step for step in steps(RELEASE) if "run" in step}
    folder = runner / "checkout"
    sources = runner / "sources.tar"
    maintainer.git(ROOT, "archive", f"--output={sources}", "HEAD")
    with tarfile.open(sources) as packed:
        packed.extractall(folder, filter="data")
    for name in ("Build", "Compare the tag with the version", "Measure with the wheel"):
        version = "0.0.9" if name.startswith("Compare") else ""
        done = run(scripts[name], runner, {"github.ref_name": f"v{version}"})
        assert done.returncode == (1 if version else 0), done.stderr
        assert not version or "the tag is v0.0.9, but built was:" in done.stdout
    assert (folder / "out" / "report.html").is_file()
