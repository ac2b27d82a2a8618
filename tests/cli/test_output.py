"""``--format`` and ``--json``: one spelling on every command."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click
import pytest
from click.testing import CliRunner
from tests.contracts import samples
from tests.stats import results

from coldwarm.cli import main

if TYPE_CHECKING:
    from pathlib import Path

COMMANDS = main.cli.list_commands(click.Context(main.cli))


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Return a run's directory."""
    return results.write(tmp_path / "run", [results.case(3)], samples.environment())


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_both_spellings(name: str) -> None:
    command = main.cli.get_command(click.Context(main.cli), name)
    assert command is not None
    options = {option.opts[-1]: option for option in command.params}
    assert options["--json"].is_flag  # type: ignore[attr-defined]  # of an option
    choice = options["--format"].type
    assert isinstance(choice, click.Choice)
    assert list(choice.choices)[:2] == ["table", "json"]


@pytest.mark.parametrize(
    "command",
    [
        ["show", "RUN"],
        ["compare", "RUN", "RUN"],
        ["plan", "RUN", "--calls", "9", "--cache", "cold"],
        ["validate", "RUN"],
        ["schema"],
        ["cases"],
        ["env"],
    ],
    ids=" ".join,
)
def test_the_short_form_prints_the_same_json(run: Path, command: list[str]) -> None:
    named = [str(run) if part == "RUN" else part for part in command]
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


def test_a_fault_is_told_as_json_too(run: Path) -> None:
    broken = run / "environment.json"
    broken.write_text("{}", encoding="utf-8")
    done = CliRunner().invoke(main.cli, ["validate", str(run), "--json"])
    assert done.exit_code == 3
    faults = [row for row in json.loads(done.stdout) if row["fault"]]
    assert {row["path"] for row in faults} & {str(broken)}
