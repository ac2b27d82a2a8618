"""An index names files of its own folder, and nothing else is followed."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner
from tests.stats import results

from coldwarm.cli import main
from coldwarm.contracts.reader import inside
from coldwarm.errors import ContractError

if TYPE_CHECKING:
    from pathlib import Path

CASE = f"cases/{results.NAME}.json"
COMMANDS = (
    ["show", "RUN"],
    ["plan", "RUN", "--calls", "9"],
    ["compare", "RUN", "RUN"],
    ["validate", "RUN"],
)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return results.write(tmp_path / "run", [results.case(1)])


def refusals(run: Path) -> list[str]:
    """Return by what each command refuses a run."""
    said = []
    for command in COMMANDS:
        named = [str(run) if part == "RUN" else part for part in command]
        done = CliRunner().invoke(main.cli, named, standalone_mode=False)
        if command[0] == "validate":
            said.append(next(line for line in done.output.splitlines() if ": OK" not in line))
        else:
            assert isinstance(done.exception, ContractError), done.output
            said.append(str(done.exception))
    return said


def name(run: Path, path: str) -> None:
    index = run / "suite.json"
    suite = json.loads(index.read_bytes())
    suite["cases"][0]["path"] = path
    index.write_text(json.dumps(suite, indent=2))


@pytest.mark.parametrize(
    ("path", "what"),
    [
        ("/etc/passwd", "leads out of the folder"),
        ("//etc/passwd", "leads out of the folder"),
        ("../run/" + CASE, "leads out of the folder"),
        ("cases/../../run/" + CASE, "leads out of the folder"),
        ("cases", "is no regular file"),
        (".", "is no regular file"),
        ("", "is no regular file"),
        ("a" * 5000, "is longer than 1024 characters"),
        ("a/" * 300, "cannot be followed"),
        ("a" * 300, "cannot be followed"),
        ("cases/\0.json", "cannot be followed"),
        ("suite.json", "is named twice"),
        ("cases/./../cases/" + CASE, "leads out of the folder"),
        ("cases//nothing.json", "is not there"),
    ],
)
def test_a_path_that_leads_elsewhere_is_followed_by_no_command(
    run: Path, path: str, what: str
) -> None:
    name(run, path)
    said = refusals(run)
    assert all(what in line for line in said) or "is not there" in said[0], said
    assert len({*said}) == 1


@pytest.mark.parametrize("kind", ["file", "folder", "circle", "device", "pipe"])
def test_a_link_that_leads_out_is_followed_by_no_command(run: Path, kind: str) -> None:
    file, outside = run / CASE, run.parent / "outside"
    targets: dict[str, str | Path] = {"file": outside, "circle": file, "device": "/dev/zero"}
    if kind == "folder":
        file.parent.rename(outside)
        file.parent.symlink_to(outside)
    else:
        file.rename(outside)
        if kind == "pipe":
            os.mkfifo(file)
        else:
            file.symlink_to(targets[kind])
    said = refusals(run)
    words = {
        "circle": "cannot be followed",
        "pipe": "is no regular file",
    }
    assert all(words.get(kind, "through a link") in line for line in said), said


def test_a_link_within_the_folder_is_followed(run: Path) -> None:
    (run / CASE).rename(run / "cases/other.json")
    (run / CASE).symlink_to("other.json")
    assert inside(run, CASE) == run / CASE
    with pytest.raises(ContractError, match="leads out"):
        inside(run / "cases", "../suite.json")


def test_a_file_found_by_looking_must_lie_in_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "x.json").symlink_to("/etc/passwd")
    done = CliRunner().invoke(main.cli, ["validate", str(folder)], standalone_mode=False)
    assert "through a link" in done.output
