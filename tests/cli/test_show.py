"""``coldwarm show`` on what is no folder of a run."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from tests.contracts import samples
from tests.started import coldwarm
from tests.stats import results

RESULTS = Path(__file__).parents[2] / "docs" / "results"


def test_an_archive_of_a_snapshot_is_shown() -> None:
    (archive,) = RESULTS.glob("*.tar.gz")
    done = coldwarm("show", archive)
    assert done.returncode == 0, done.stderr
    assert "The answer" in done.stdout
    assert {"ml", "scenarios"} <= set(done.stdout.splitlines())
    several = coldwarm("show", archive, "--json")
    assert several.returncode == 2
    assert "holds ml, scenarios; json is of one" in several.stderr


def test_what_is_no_result_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file.txt").write_text("no result", encoding="utf-8")
    (tmp_path / "packed.tar.gz").write_bytes(b"\x1f\x8bno archive")
    for name, text in (
        ("file.txt", "name the folder of one, or a snapshot's .tar.gz"),
        ("packed.tar.gz", "packed.tar.gz"),
        (".", "name the directory of a finished run"),
        ("none", "no such file or directory"),
    ):
        done = coldwarm("show", name, cwd=tmp_path)
        assert done.returncode in {2, 3}
        (said,) = done.stderr.strip().splitlines()
        assert text in said


@pytest.mark.parametrize("command", ["plan --calls 9", "export --format pyperf", "compare ."])
def test_of_a_snapshot_with_several_runs_one_is_to_be_named(command: str) -> None:
    archive = RESULTS / "ml-scenarios-2026-11-22-b.tar.gz"
    done = coldwarm(*command.replace("compare .", f"compare {archive}").split(), archive)
    assert done.returncode == 2
    (said,) = done.stderr.strip().splitlines()
    assert "holds results/ml, results/scenarios, and this command takes one run" in said
    assert "unpack the archive with tar -xf, and name the folder of one" in said


def test_a_snapshot_of_one_run_is_read_as_the_run(tmp_path: Path) -> None:
    run = results.write(tmp_path / "run", [results.case(3)], samples.environment())
    for line in (
        f"create {run} --id one --out one --offline --no-report",
        "package one --out one.tar.gz",
    ):
        coldwarm("snapshot", *line.split(), cwd=tmp_path).check_returncode()
    read = [coldwarm("export", one, "--format", "pyperf", cwd=tmp_path) for one in (run, "one")]
    packed = coldwarm("export", "one.tar.gz", "--format", "pyperf", cwd=tmp_path)
    assert read[0].returncode == packed.returncode == 0, packed.stderr
    assert read[0].stdout == read[1].stdout == packed.stdout
    checked = coldwarm("validate", "one.tar.gz", cwd=tmp_path)
    assert checked.returncode == 0, checked.stdout
    assert "one.tar.gz/snapshot_index.json: OK " in checked.stdout


@pytest.mark.parametrize(
    ("command", "file"),
    [
        (["show", "-"], RESULTS / "ml-scenarios-2026-11-22-b.tar.gz"),
        (["validate", "-"], RESULTS / "ml-scenarios-2026-11-22-b.tar.gz.sha256"),
        (["show", "-"], Path(os.devnull)),
    ],
)
def test_standard_input_is_read_as_a_file_is(command: list[str], file: Path) -> None:
    with file.open("rb") as stream:
        words = [sys.executable, "-m", "coldwarm", *command]
        done = subprocess.run(words, stdin=stream, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
    assert tempfile.gettempdir() not in done.stdout + done.stderr
    if file.suffix == ".gz":
        assert done.returncode == 0
        assert "The answer" in done.stdout
        assert not [line for line in done.stdout.splitlines() if line.endswith(" ")]
    else:
        assert done.returncode in {2, 3}


def test_arguments_are_read_from_a_file(tmp_path: Path) -> None:
    (archive,) = RESULTS.glob("*.tar.gz")
    (tmp_path / "arguments").write_text(f"{archive}\n\n--format\nmarkdown\n", encoding="utf-8")
    done = coldwarm("show", "@arguments", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "## The answer" in done.stdout
    done = coldwarm("show", "@none", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == (
        "coldwarm: @none: arguments cannot be read from none: No such file or directory\n"
    )
