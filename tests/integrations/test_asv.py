"""Results that asv reads: by commit, with the names of functions."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from tests.stats import results

from coldwarm.contracts.result import OwnCandidate
from coldwarm.errors import ExitCode
from coldwarm.integrations import figures, formats
from coldwarm.runner import recompute

if TYPE_CHECKING:
    from pathlib import Path

    from tests.integrations.conftest import Call

    from coldwarm.integrations.figures import Exported

NAME = results.NAME


def committed(made: Exported, **commits: figures.Commit) -> dict[str, bytes]:
    known = figures.Exported(made.measured, made.figures, [], commits)
    return formats.load("asv").files(known)


COMMITS = [figures.Commit(10 * f"{n}abc", 1_700_000_000_000 + n) for n in (1, 2)]


def written(folder: Path, files: dict[str, bytes]) -> list[Path]:
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return sorted(folder.rglob("*.json"))


def test_asv_loads_its_results(made: Exported, tmp_path: Path) -> None:
    asv_results = pytest.importorskip("asv.results")
    written(tmp_path, committed(made, **{NAME: COMMITS[0]}))
    (loaded,) = asv_results.iter_results(str(tmp_path))
    assert (loaded.commit_hash, loaded.date) == COMMITS[0]
    assert loaded.params["cpu"] == "A CPU"
    assert loaded.params["jax"] == "0.9.0"
    for name, one in ((one.name, one) for one in made.figures):
        key = name.replace("/", ".")
        assert loaded.get_result_value(key, []) == [one.summary.median]
        assert loaded.get_result_samples(key, []) == [one.medians]
        (stats,) = loaded.get_result_stats(key, [])
        assert stats["ci_99_a"] == -math.inf, "five processes bound no median with 99 %"
        assert stats["q_25"] <= one.summary.median <= stats["q_75"]
        assert asv_results.get_err(None, stats) >= 0


def test_asv_lists_its_benchmarks_and_keeps_those_of_others(made: Exported) -> None:
    files = committed(made, **{NAME: COMMITS[0]})
    listed = json.loads(files["benchmarks.json"])
    assert listed["version"] == 2
    assert listed[f"{NAME}.warm_process.call"]["unit"] == "seconds"
    joined = formats.load("asv").joined
    assert joined is not None
    old = b'{"time_other": {"name": "time_other"}, "version": 2}'
    both = json.loads(joined("benchmarks.json", old, files["benchmarks.json"]))
    assert both.keys() == listed.keys() | {"time_other"}


def own(revision: str, **changes: Any) -> OwnCandidate:
    return OwnCandidate(
        target="benchmarks/guard.py:work",
        kind="function",
        python=None,
        placement=None,
        arguments=[],
        outputs=[],
        renewed=False,
        checked="nothing",
        last_checked=False,
        revision=revision,
        **changes,
    )


def git(folder: Path, *arguments: str) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@b")
    line = ["git", *who, *arguments]
    done = subprocess.run(line, cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "--quiet")
    for name in ("one", "two"):
        git(folder, "commit", "--quiet", "--allow-empty", "-m", name)
    return folder


def test_two_commits_of_a_bench_are_one_benchmark_of_asv(
    repository: Path, tmp_path: Path, call: Call
) -> None:
    """AND the control, which is the first one once more, is left out."""
    asv_results = pytest.importorskip("asv.results")
    hashes = [git(repository, "rev-parse", one) for one in ("HEAD^", "HEAD")]
    cases = [
        results.case(
            3, case="before", candidate="before", baseline=True, protocol_own=own(hashes[0])
        ),
        results.case(4, case="after", candidate="after", protocol_own=own(hashes[1])),
        results.case(
            5,
            case="control",
            candidate="control",
            protocol_own=own(hashes[0], control_of="before"),
        ),
    ]
    bench = results.write(tmp_path / "bench", cases)
    done = call("export", bench, "--format", "asv", "--out", tmp_path / "asv", folder=repository)
    assert done.returncode == ExitCode.FINE, done.stderr
    assert "it is another candidate once more" in done.stderr
    loaded = {one.commit_hash: one for one in asv_results.iter_results(str(tmp_path / "asv"))}
    assert set(loaded) == set(hashes)
    name = "guard.work.warm_process.call"
    assert all(name in one.get_all_result_keys() for one in loaded.values())
    when = git(repository, "show", "--no-patch", "--format=%ct", "HEAD")
    assert loaded[hashes[1]].date == 1000 * int(when)


def test_asv_keeps_two_candidates_of_one_function_apart(tmp_path: Path) -> None:
    cases = [
        results.case(
            seed, case=name, candidate=name, baseline=name == "a", protocol_own=own("1" * 40)
        )
        for seed, name in enumerate(("a", "b"))
    ]
    made = figures.exported(recompute.read(results.write(tmp_path / "bench", cases)))
    files = committed(made, a=COMMITS[0], b=COMMITS[0])
    listed = json.loads(files["benchmarks.json"])
    assert {"a.warm_process.call", "b.warm_process.call"} <= listed.keys()
    assert len(listed) == len(made.figures) + len(["version"])


def test_asv_asks_for_the_commit_and_adds_to_its_folder(
    run: Path, repository: Path, tmp_path: Path, call: Call
) -> None:
    line = ["export", run, "--format", "asv", "--out", tmp_path / "asv"]
    done = call(*line, folder=repository)
    assert done.returncode == ExitCode.USAGE
    assert "give --commit" in done.stderr
    for commit in ("HEAD^", "HEAD"):
        assert call(*line, "--commit", commit, folder=repository).returncode == ExitCode.FINE
    assert len(list((tmp_path / "asv").glob("*/*-coldwarm-*.json"))) == 2
    (tmp_path / "asv" / "benchmarks.json").write_text("[", encoding="utf-8")
    done = call(*line, "--commit", "HEAD", folder=repository)
    assert done.returncode == ExitCode.FAILED
    assert "benchmarks.json: cannot be added to" in done.stderr
    assert len(done.stderr.splitlines()) == 2, done.stderr


def test_asv_compares_what_was_exported(
    run: Path, repository: Path, tmp_path: Path, call: Call
) -> None:
    pytest.importorskip("asv")
    place = repository / "results"
    for commit in ("HEAD^", "HEAD"):
        line = ("export", run, "--format", "asv", "--out", place, "--commit", commit)
        assert call(*line, folder=repository).returncode == ExitCode.FINE
    settings = {"version": 1, "project": "p", "repo": ".", "results_dir": "results"}
    branches = {"branches": ["HEAD"], "environment_type": "existing"}
    (repository / "asv.conf.json").write_text(json.dumps(settings | branches), encoding="utf-8")
    (repository / "benchmarks").mkdir()
    asked = [sys.executable, "-m", "asv", "compare", "HEAD^", "HEAD"]
    done = subprocess.run(
        asked, cwd=repository, capture_output=True, text=True, check=False, timeout=60
    )
    assert re.search(rf"\| +1 \| {NAME}\.warm_process\.call", done.stdout), (
        done.stdout + done.stderr
    )
