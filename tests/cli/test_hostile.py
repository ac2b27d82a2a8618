"""Artifacts whose figures or paths no run can have written: one line each, and the right code."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import msgspec
import pytest
from tests.contracts import samples
from tests.started import coldwarm
from tests.stats import results

from coldwarm.errors import ExitCode

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

COMMANDS = (
    ["plan", "RUN", "--calls", "9"],
    ["show", "RUN"],
    ["compare", "RUN", "RUN"],
    ["export", "RUN", "--format", "pyperf"],
)


def call(run: Path, command: list[str]) -> subprocess.CompletedProcess[str]:
    named = results.on(run, command)
    return coldwarm(*named)


@pytest.mark.parametrize("command", COMMANDS)
def test_durations_beyond_any(tmp_path: Path, command: list[str]) -> None:
    """GIVEN samples of 1e308 s THEN the field is named, and no sum overflows."""
    case = results.case(3)
    changed = [
        msgspec.structs.replace(
            seen,
            blocks=[msgspec.structs.replace(one, samples_s=[1e308] * 10) for one in seen.blocks],
        )
        for seen in case.observations
    ]
    run = results.write(tmp_path / "run", [case], samples.environment())
    file = run / "cases" / f"{case.case}.json"
    document = msgspec.to_builtins(msgspec.structs.replace(case, observations=changed))
    file.write_text(json.dumps(document))
    done = call(file, command) if command[0] == "show" else call(run, command)
    assert done.returncode == ExitCode.FAILED
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) == 1
    alone = call(file, ["validate", "RUN"])
    assert alone.returncode == ExitCode.FAILED
    assert "samples_s[0]: expected float <= 1000000000.0" in alone.stdout


@pytest.mark.parametrize("command", [*COMMANDS, ["validate", "RUN"]])
@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("a" * 5000, "is longer than 1024 characters; no path here is"),
        ("a/" * 2500 + "b", "is longer than 1024 characters; no path here is"),
        ("a" * 300, "cannot be followed: File name too long"),
    ],
)
def test_a_path_that_no_file_can_have(
    tmp_path: Path, command: list[str], path: str, why: str
) -> None:
    run = results.write(tmp_path / "run", [results.case(3)], samples.environment())
    index = json.loads((run / "suite.json").read_text())
    index["cases"][0]["path"] = path
    (run / "suite.json").write_text(json.dumps(index))
    done = call(run, command)
    assert done.returncode == ExitCode.FAILED
    said = done.stdout if command[0] == "validate" else done.stderr
    assert f"{why}; measure again, or restore the file" in said
    assert "Traceback" not in done.stderr
    assert max(map(len, said.splitlines())) < 400
