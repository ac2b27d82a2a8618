"""The workflow of ``examples/github``: its commands are run on a pull request as they stand there.

The repository is made up: a pull request makes a fit slower, its import longer, and two programs of
what was one.
"""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from benchmarks import maintainer

from coldwarm.contracts import codec
from coldwarm.contracts.bench import BenchReport
from coldwarm.runner.recompute import validated

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Guard = Callable[[str], "Said"]

EXAMPLE = maintainer.WORKFLOW.parent
PACKAGE = """
import numpy as np

def fit(x, y):
    w = np.zeros(x.shape[1])
    for _ in range(10):
        w = w - 1e-4 * (x * ((x * w).sum(1) - y)[:, None]).sum(0)
    return w

def update(w):
    from fits import compiled
    return compiled.update(w)
"""
COMPILED = """
import jax
import jax.numpy as jnp

@jax.jit
def update(w):
    return w - 0.1 * jnp.tanh(w)
"""
SLOWER = PACKAGE.replace(
    "        w = w",
    "        [(x * ((x * w).sum(1) - y)[:, None]).sum(0) for _ in '12']\n        w = w",
).replace("import numpy as np", "import numpy as np\nimport time\ntime.sleep(0.4)")
TWO_PROGRAMS = COMPILED.replace("0.1 * jnp.tanh(w)", "by(w)").replace(
    "@jax.jit", "by = jax.jit(lambda w: 0.1 * jnp.tanh(w))\n", 1
)


class Said:
    """What a guard said of a pull request."""

    def __init__(self, root: Path, name: str, done: subprocess.CompletedProcess[str]) -> None:
        """Read what it left."""
        self.code, self.annotations = done.returncode, done.stdout
        assert "Traceback" not in done.stderr, done.stderr
        self.summary = (root / "summary.md").read_text(encoding="utf-8")
        found = codec.decode((root / f"{name}.json").read_bytes(), "the report")
        assert isinstance(found, BenchReport)
        self.report = found
        assert all(one.fault is None for one in validated(root / "out" / name))


def job(name: str) -> dict[str, Any]:
    told = yaml.safe_load(maintainer.WORKFLOW.read_text(encoding="utf-8"))
    found: dict[str, Any] = told["jobs"][name]
    return found


def steps() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = job("guard")["steps"]
    return found


@pytest.fixture
def guard(tmp_path: Path) -> Guard:
    """Return what runs a guard of the workflow as a runner would, in few rounds."""
    package = tmp_path / "src" / "fits"
    package.mkdir(parents=True)
    (tmp_path / "benchmarks").mkdir()
    text = (EXAMPLE / "benchmarks" / "guard.py").read_text(encoding="utf-8")
    (tmp_path / "benchmarks" / "guard.py").write_text(text, encoding="utf-8")
    maintainer.git(tmp_path, "init", "--quiet", "--initial-branch=main")
    for branch, ours, compiled in (("main", PACKAGE, COMPILED), ("pr", SLOWER, TWO_PROGRAMS)):
        if branch != "main":
            maintainer.git(tmp_path, "switch", "--quiet", "--create", branch)
        (package / "__init__.py").write_text(ours, encoding="utf-8")
        (package / "compiled.py").write_text(compiled, encoding="utf-8")
        maintainer.commit(tmp_path, branch)
    # What actions/checkout checks out: the pull request's merge into its base.
    maintainer.git(tmp_path, "switch", "--quiet", "--detach", "main")
    maintainer.git(tmp_path, "merge", "--quiet", "--no-ff", "-m", "merge", "pr")

    def run(name: str) -> Said:
        rounds = "--rounds 5 --max-rounds 5"  # however long they take
        script = re.sub(r"--time-budget \S+", rounds, maintainer.guards()[name])
        return Said(tmp_path, name, maintainer.as_a_runner(tmp_path, script))

    return run


def test_actions_are_pinned_and_the_whole_history_is_there() -> None:
    used = {step["uses"].partition("@")[0]: step for step in steps() if "uses" in step}
    assert set(used) == {"actions/checkout", "actions/setup-python", "actions/upload-artifact"}
    assert all(re.search(r"@v\d+(\.\d+)*$", step["uses"]) for step in used.values())
    assert used["actions/checkout"]["with"]["fetch-depth"] == 0
    assert used["actions/setup-python"]["with"]["cache"] == "pip"
    later = [step for step in steps() if step.get("id") in {"cold", "counts"}]
    assert all("!cancelled()" in step["if"] for step in later), "one guard hides no other"


def test_each_guard_annotates_and_writes_the_summary() -> None:
    guards = [step["run"] for step in steps() if step.get("run", "").startswith("coldwarm bench")]
    assert len(guards) == 3
    assert all('--before "$BEFORE" --after "$AFTER"' in one for one in guards)
    assert all("--format github" in one for one in guards)
    assert all('--report markdown="$GITHUB_STEP_SUMMARY"' in one for one in guards)


def test_what_tests_compile_is_kept_for_the_processor_that_it_was_compiled_for() -> None:
    """AND every folder that a framework keeps it in is below the one that is kept."""
    tests = job("tests")
    (kept,) = (
        step["with"] for step in tests["steps"] if step.get("uses", "").startswith("actions/cache@")
    )
    names = [name for name in tests["env"] if name.endswith("_CACHE_DIR")]
    folder = f"${{{{ github.workspace }}}}/{kept['path']}/"
    assert names
    assert all(tests["env"][name].startswith(folder) for name in names)
    before = kept["restore-keys"].strip()
    assert "env.COMPILED" in before
    assert kept["key"].startswith(before)
    keyed = [
        step for step in tests["steps"] if "COMPILED=$(coldwarm cache key)" in step.get("run", "")
    ]
    assert len(keyed) == 1
    assert tests["steps"].index(keyed[0]) < next(
        at for at, step in enumerate(tests["steps"]) if step.get("with") == kept
    )
    assert not {"JAX_COMPILATION_CACHE_DIR"} & job("guard").get("env", {}).keys()


def test_the_workflow_keeps_the_schema_of_workflows() -> None:
    pytest.importorskip("check_jsonschema")
    asked = ["--builtin-schema", "vendor.github-workflows", str(maintainer.WORKFLOW)]
    line = [sys.executable, "-m", "check_jsonschema", *asked]
    done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
def test_the_guard_of_warm_calls_sees_a_fit_that_is_slower(guard: Guard) -> None:
    said = guard("warm")
    assert said.code == 1
    assert [one.comparison.metric for one in said.report.verdicts] == ["warm.call_s"]
    assert said.report.control is not None
    error = "::error file=benchmarks/guard.py,title=after%3A warm call slower::"
    assert said.annotations.startswith(error)
    assert said.summary.startswith("**FAIL**: after, warm call: ")


@pytest.mark.slow
def test_the_guard_of_first_results_sees_a_longer_import(guard: Guard) -> None:
    said = guard("cold")
    assert said.code == 1
    assert {one.comparison.verdict for one in said.report.verdicts} == {"slower"}
    assert "title=after%3A first%2C empty caches slower" in said.annotations
    assert "first, empty caches" in said.summary


@pytest.mark.slow
def test_the_guard_of_counts_sees_another_program(guard: Guard) -> None:
    pytest.importorskip("jax")
    said = guard("counts")
    assert said.code == 1
    failing = {one.name: one for one in said.report.counts if one.fails_beyond is not None}
    assert "programs" in failing
    assert "title=after%3A more programs" in said.annotations
    assert said.report.control is None
