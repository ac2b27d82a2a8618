"""``--format`` and ``--json``: one spelling on every command."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from tests.contracts import samples
from tests.stats import results

from coldwarm.cli import main

CONTEXT = click.Context(main.cli)
NO_RECORD = {
    "export": "writes the formats of other tools",
    "report": "writes files, whose formats are its own",
    "snapshot registry add": "writes the registry",
    "snapshot sign": "writes a signature",
    "patterns show": "prints a page to be read",
    "claims show": "prints a page to be read",
    "completion": "prints a script",
    "help": "prints the help of a command",
}
"""Commands that print no record, and what they do instead."""


def _leaves(group: click.Group, before: str = "") -> dict[str, click.Command]:
    """Return the commands of a group and of the groups in it, by all their names."""
    found: dict[str, click.Command] = {}
    for name in group.list_commands(CONTEXT):
        command = group.get_command(CONTEXT, name)
        assert command is not None
        if isinstance(command, click.Group):
            found |= _leaves(command, f"{before}{name} ")
        else:
            found[f"{before}{name}"] = command
    return found


EVERY = _leaves(main.cli)
COMMANDS = [name for name in EVERY if name not in NO_RECORD]


def test_what_prints_no_record_is_there() -> None:
    assert set(EVERY) >= set(NO_RECORD)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Return a run's directory."""
    return results.write(tmp_path / "run", [results.case(3)], samples.environment())


def forms(name: str) -> list[str]:
    """Return what a command can print its result as."""
    options = {option.opts[-1]: option for option in EVERY[name].params}
    assert options["--json"].is_flag  # type: ignore[attr-defined]  # of an option
    choice = options["--format"].type
    assert isinstance(choice, click.Choice)
    return [*choice.choices]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_both_spellings(name: str) -> None:
    assert forms(name)[0] == "text"
    assert forms(name)[1] == "json"


def test_the_guide_names_the_forms_of_every_command() -> None:
    guide = Path(__file__).parents[2] / "docs" / "how-to" / "install.md"
    rows = re.findall(r"^\| (`.*`) \| (`.*`) \|$", guide.read_text("utf-8"), re.MULTILINE)
    told = {name: said for names, said in rows for name in re.findall(r"`(\w+)`", names)}
    assert told == {
        name: ", ".join(f"`{form}`" for form in forms(name)) for name in COMMANDS if " " not in name
    }


@pytest.mark.parametrize(
    "command",
    [
        ["show", "RUN"],
        ["compare", "RUN", "RUN"],
        ["plan", "RUN", "--calls", "9", "--caches", "empty"],
        ["validate", "RUN"],
        ["schema"],
        ["cases"],
        ["env"],
    ],
    ids=" ".join,
)
def test_the_short_form_prints_the_same_json(run: Path, command: list[str]) -> None:
    named = results.on(run, command)
    short, long = (
        CliRunner().invoke(main.cli, [*named, *form], standalone_mode=False)
        for form in (["--json"], ["--format", "json"])
    )
    first, second = json.loads(short.stdout), json.loads(long.stdout)
    assert type(first) is type(second)
    if command != ["env"]:  # which has clocks in it
        assert first == second


def test_two_forms_at_once_are_refused(run: Path) -> None:
    done = CliRunner().invoke(main.cli, ["show", str(run), "--json", "--format", "svg"])
    assert done.exit_code == 2
    assert "--json and --format svg exclude each other; give one of them" in done.output


def test_the_shell_completes_commands_and_the_forms_of_output() -> None:
    words = {
        "show": "coldwarm sh",
        "svg": "coldwarm show --format sv",
        "--seed": "coldwarm run --se",
    }
    for answer, typed in words.items():
        asked = {
            "_COLDWARM_COMPLETE": "bash_complete",
            "COMP_WORDS": typed,
            "COMP_CWORD": str(len(typed.split()) - 1),
        }
        done = subprocess.run(
            [Path(sys.executable).with_name("coldwarm")],
            env={**os.environ, **asked},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stdout.splitlines() == [f"plain,{answer}"], done.stderr


def test_a_fault_is_told_as_json_too(run: Path) -> None:
    broken = run / "environment.json"
    broken.write_text("{}", encoding="utf-8")
    done = CliRunner().invoke(main.cli, ["validate", str(run), "--json"])
    assert done.exit_code == 3
    faults = [row for row in json.loads(done.stdout) if row["fault"]]
    assert {row["path"] for row in faults} & {str(broken)}
