"""Every command: its help, its names of options, and where their defaults come from."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from typing import TYPE_CHECKING

import pytest
import rich_click as click
from tests.started import coldwarm

from coldwarm.cli import main
from coldwarm.cli._commands import Commands

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_LINES, _COLUMNS = 60, 80


def walk(context: click.Context, *names: str) -> Iterator[tuple[str, ...]]:
    yield names
    if isinstance(context.command, click.Group):
        for name in context.command.list_commands(context):
            command = context.command.get_command(context, name)
            assert command is not None
            below = command.context_class(command, parent=context, info_name=name)
            CONTEXTS[*names, name] = below
            yield from walk(below, *names, name)


CONTEXTS: dict[tuple[str, ...], click.Context] = {}
ROOT = main.cli.context_class(main.cli, info_name="coldwarm", **main.cli.context_settings)
EVERY = [" ".join(names) for names in walk(ROOT)]
COMMANDS = [
    " ".join(names)
    for names, context in CONTEXTS.items()
    if not isinstance(context.command, click.Group)
]


def context_of(name: str) -> click.Context:
    return CONTEXTS[tuple(name.split())] if name else ROOT


def options_of(name: str) -> dict[str, click.Option]:
    options = context_of(name).command.params
    return {max(one.opts, key=len): one for one in options if isinstance(one, click.Option)}


@pytest.fixture(autouse=True)
def _width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(_COLUMNS))


@pytest.mark.parametrize("name", EVERY)
def test_help_fits_a_screen_and_begins_with_an_example(name: str) -> None:
    context = context_of(name)
    lines = click.unstyle(context.get_help()).splitlines()
    assert len(lines) <= _LINES
    assert max(map(len, lines)) <= _COLUMNS
    (example,) = (line.strip() for line in lines if line.strip().startswith("Example: "))
    assert f"coldwarm {name}" in example
    assert all(one.help for one in options_of(name).values())
    assert context.command.get_short_help_str()


def test_the_overview_has_the_first_line_of_each_command() -> None:
    tree = main.cli
    assert isinstance(tree, Commands)
    own = {name: (context_of(name).command.help or "").split("\n\n")[0] for name in tree.summaries}
    assert own == tree.summaries
    assert own.keys() == set(tree.list_commands(ROOT))


@pytest.mark.parametrize("name", EVERY)
def test_the_example_of_a_command_can_be_parsed(name: str) -> None:
    (line,) = re.findall(r"Example: (.*)", context_of(name).command.help or "")
    words = re.sub(r'^eval "\$\((.*)\)"$', r"\1", line).split()[1:]
    context = ROOT
    while words and isinstance(context.command, click.Group):
        command = context.command.get_command(context, words[0])
        assert command is not None, line
        made = command.make_context(words[0], words[1:], parent=context)
        assert isinstance(made, click.RichContext)
        context = made
        words = words[1:]
    assert not isinstance(context.command, click.Group)


def test_one_name_means_one_thing() -> None:
    """Both ways: an option takes one kind of value, and no synonym of one is left."""
    kinds = defaultdict(set)
    for name in COMMANDS:
        for option, one in options_of(name).items():
            kinds[option].add(one.is_flag)
    assert {option for option, found in kinds.items() if len(found) > 1} == set()
    synonyms = ("--out-dir", "--min-runs", "--max-runs", "--time", "--all", "--cache", "--output")
    assert not kinds.keys() & set(synonyms)
    assert {"--out", "--rounds", "--time-budget", "--format", "--json", "--caches"} <= kinds.keys()


@pytest.mark.parametrize("name", COMMANDS)
def test_what_stands_before_a_command_may_stand_behind_it(name: str) -> None:
    given = options_of(name)
    assert {"--quiet", "--color", "--config", "--no-config"} <= given.keys()


@pytest.mark.parametrize("name", EVERY)
def test_help_can_be_asked_for_by_a_command(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    command = CONTEXTS["help",].command
    with command.make_context("help", name.split(), parent=ROOT) as context:
        command.invoke(context)
    shown = capsys.readouterr().out
    assert " ".join(f"Usage: coldwarm {name}".split()) in shown


@pytest.mark.parametrize("name", COMMANDS)
def test_defaults_come_from_the_command_line_a_variable_or_a_file(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    option = next(
        (
            one
            for one in options_of(name).values()
            if not one.is_flag and not one.hidden and not {"--out", "-m"} & {*one.opts}
        ),
        None,
    )
    if option is None or name in {"snapshot sign", "snapshot verify"}:
        pytest.skip("it has only flags, or options that say whom to trust")
    long = max(option.opts, key=len).removeprefix("--")
    if long in {"id", "public-key"}:
        long = "license" if long == "id" else "keep-environment"
        option = options_of(name)[f"--{long}"]
    in_file, in_variable, given = _values(option)
    table = ".".join(name.split())
    written = f"[{in_file!r}]" if option.multiple else repr(in_file).replace("True", "true")
    (tmp_path / "pyproject.toml").write_text(
        f"[tool.coldwarm.{table}]\n{long} = {written}\n", encoding="utf-8"
    )
    monkeypatch.chdir(tmp_path)
    # A file whose defaults belong to nothing is refused, so it was read and taken.
    assert _source(name, option, []) == "DEFAULT_MAP"
    variable = f"coldwarm_{name}_{long}".upper().replace(" ", "_").replace("-", "_")
    monkeypatch.setenv(variable, str(in_variable))
    assert _source(name, option, []) == "ENVIRONMENT"
    asked = [f"--{long}"] if option.is_flag else [f"--{long}", str(given)]
    assert _source(name, option, asked) == "COMMANDLINE"


def _values(option: click.Option) -> tuple[object, object, object]:
    if option.is_flag:
        return True, 1, True
    if isinstance(option.type, click.Choice):
        return (option.type.choices[-1],) * 3
    if isinstance(option.type, click.IntRange):
        return 3, 4, 5
    if option.type.name == "duration":
        return "9s", "8s", "7s"
    if option.type.name == "share":
        return "9%", "8%", "0.07"
    return "a", "b", "c"


def _source(name: str, option: click.Option, args: list[str]) -> str:
    command, parent = context_of(name).command, context_of(name).parent
    arguments = [
        one.type.choices[0] if isinstance(one.type, click.Choice) else "x"
        for one in command.params
        if isinstance(one, click.Argument)
        for _ in range(max(one.nargs, 1))
    ]
    needed = [
        part
        for long, one in options_of(name).items()
        if one.required and one is not option
        for part in (long, str(_values(one)[2]))
    ]
    info = name.rpartition(" ")[2]
    context = command.make_context(info, [*needed, *args, *arguments], parent=parent)
    source = context.get_parameter_source(str(option.name))
    assert source is not None
    return source.name


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("list", "did you mean cache list or claims list or patterns list?"),
        ("verify", "did you mean snapshot verify?"),
        ("zzz", "no command is called 'zzz'; `coldwarm --help` lists them"),
        ("help zzz", "`coldwarm --help` lists them"),
        ("bench --bogus", "no option is called --bogus; see coldwarm bench --help"),
        ("bench --budget 3s a.py:f", "did you mean --time-budget?"),
        ("bench --round 3 a.py:f", "did you mean --rounds?"),
        ("claims show pmap", "did you mean pmap-recipe-works"),
        ("patterns show zzz", "no pattern is called 'zzz'; `coldwarm patterns list` lists them"),
        ("cases --suite zzz", "known: quick, ml, scenarios, full"),
        ("bench a.py:f --rounds x", "'x': write a whole number from 1 to 10,000, such as 5"),
        ("bench a.py:f --seed -1", "write a whole number of 0 or more, such as 7"),
        ("bench a.py:f --tolerance -1", "write a number of 0 or more, such as 0.001"),
        ("plan a --calls 0", "write a whole number from 1 to 1,000,000,000,000, such as 10000"),
        ("run --precision 200%", "write a share from 0.001 to 1, such as 5% or 0.05"),
        ("bench a.py:f --timeout 0", "write 90, 90s, 2.5m or 1h: a time above 0"),
        ("bench a.py:f --env FOO", "write NAME=VALUE, or LABEL:NAME=VALUE for one candidate"),
        ("bench a.py:f --report md=r.md", "write json=r.md or markdown=r.md or github=r.md"),
        ("bench a.py:f --policy no.toml", "--policy names a TOML file with limits, such as"),
        ("bench a.py:f --before HEAD", "is in no git repository"),
        ("bench a.py:f --out a.py", "--out: a.py is a file; name a folder"),
        ("patterns run --out a.py", "--out: a.py is a file; name a folder"),
        ("patterns run --resume", "--resume needs --out"),
        ("claims run --resume", "--resume needs --out"),
        ("noise foo", "'foo' names no function"),
        ("snapshot sign a", "give --key KEY.PEM, or --keyless"),
        ("show nowhere", "name the folder of a result, or a snapshot"),
        ("report a.py --out r.docx", "no format has files that end in .docx: write .html"),
        ("report a.py --out -", "--out - would not go to standard output"),
        ("doctor nothere.py", "nothere.py is not there; name a Python file"),
        ("doctor notes.txt", "notes.txt is no Python program"),
        ("doctor --fail-on slow:3 a.py", "write recompile, "),
    ],
)
def test_what_is_typed_wrong_is_told_in_one_line(tmp_path: Path, line: str, told: str) -> None:
    (tmp_path / "a.py").write_text("def f(x=1.0):\n    return x\n", encoding="utf-8")
    (tmp_path / "notes.txt").write_text("some words\n", encoding="utf-8")
    done = coldwarm(*line.split(), cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    (said,) = done.stderr.strip().splitlines()
    assert told in said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.py", "notes.txt"]


def test_a_file_can_be_named(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.coldwarm.env]\nno = 1\n", encoding="utf-8")
    file = tmp_path / "other.toml"
    file.write_text("[tool.coldwarm.schema]\nformat = 'json'\n", encoding="utf-8")
    for line in (("--config", file, "schema"), ("schema", "--config", file)):
        assert coldwarm(*map(str, line), cwd=tmp_path).stdout.startswith("[")
    assert coldwarm("schema", "--config", "none.toml", cwd=tmp_path).returncode == 2
    assert "tool.coldwarm.env.no is unknown" in coldwarm("env", cwd=tmp_path).stderr
    for words in ("--no-config env", "env --no-config"):
        assert coldwarm(*words.split(), cwd=tmp_path).returncode == 0


def test_trust_is_no_matter_of_a_file(tmp_path: Path) -> None:
    text = "[tool.coldwarm.snapshot.replicate]\ntrust = true\n"
    (tmp_path / "pyproject.toml").write_text(text, encoding="utf-8")
    done = coldwarm("snapshot", "replicate", ".", "--out", "again", cwd=tmp_path)
    assert done.returncode == 2
    assert "replicate.trust is unknown" in done.stderr


def test_colors_can_be_chosen(tmp_path: Path) -> None:
    for line in (("--color", "always", "backends"), ("backends", "--color", "always")):
        assert "\x1b[" in coldwarm(*line, cwd=tmp_path).stdout
    assert "\x1b[" in coldwarm("--color", "always", "--help", cwd=tmp_path).stdout
    forced = {**os.environ, "FORCE_COLOR": "1"}
    assert "\x1b[" in coldwarm("cases", cwd=tmp_path, env=forced).stdout
    assert "\x1b[" not in coldwarm("cases", "--color", "never", cwd=tmp_path, env=forced).stdout
    assert "\x1b[" not in coldwarm("--color=never", "--help", cwd=tmp_path, env=forced).stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_printed_by_a_command(shell: str, tmp_path: Path) -> None:
    assert "_COLDWARM_COMPLETE" in coldwarm("completion", shell, cwd=tmp_path).stdout


@pytest.mark.parametrize(
    "line",
    [
        ("run", "--out", "file/out"),
        ("bench", "a.py:f", "--out", "file/out"),
        ("bench", "a.py:f", "--report", "json=file/out"),
        ("noise", "--out", "file/out"),
        ("patterns", "run", "--out", "file/out"),
        ("claims", "run", "--out", "file/out"),
        ("doctor", "--out", "file/out", "a.py"),
        ("doctor", "--perfetto", "file/out", "a.py"),
        ("doctor", "--warmup", "file/out", "a.py"),
        ("report", "run", "--out", "file/out"),
        ("export", "run", "--format", "pyperf", "--out", "file/out"),
        ("snapshot", "create", "run", "--id", "a", "--out", "file/out"),
        ("snapshot", "replicate", "run", "--out", "file/out"),
        ("snapshot", "package", "run", "--out", "file/out"),
    ],
)
def test_a_place_that_cannot_be_written_is_refused_first(
    line: tuple[str, ...], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    (tmp_path / "a.py").write_text("print('it runs')\n", encoding="utf-8")
    done = coldwarm(*line, cwd=tmp_path)
    assert done.returncode == 2
    (said,) = done.stderr.strip().splitlines()
    assert said.startswith("coldwarm: ")
    assert "file/out" in said
    assert "it runs" not in done.stdout


def test_what_is_quiet_has_no_progress_and_no_caveats(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def f():\n    return 1.0\n", encoding="utf-8")
    line = ("bench", "a.py:f", "--warm-only", "--rounds", "1", "--max-rounds", "1")
    loud, quiet = (coldwarm(*line, *more, cwd=tmp_path) for more in ((), ("-q",)))
    assert "noisy" in loud.stdout or "not tried" in loud.stdout
    assert loud.stderr
    assert not quiet.stderr
    assert "warm call" in quiet.stdout
    assert not {"noisy", "not tried", "More:"} & set(
        re.findall(r"^[\w ]+?:?(?=  |$)", quiet.stdout)
    )
    assert "coldwarm show" not in quiet.stdout


def test_a_file_with_relative_imports_is_measured_or_told_how(tmp_path: Path) -> None:
    folder = tmp_path / "pkg"
    folder.mkdir()
    (folder / "other.py").write_text("def g():\n    return 1.0\n", encoding="utf-8")
    text = "from .other import g\n\n\ndef f():\n    return g()\n"
    (folder / "m.py").write_text(text, encoding="utf-8")
    once = ("--warm-only", "--rounds", "1", "--max-rounds", "1", "-q")
    done = coldwarm("bench", "pkg/m.py:f", *once, cwd=tmp_path)
    assert done.returncode == 2
    (said,) = done.stderr.strip().splitlines()
    assert "pkg has no __init__.py" in said
    assert "pkg.m:f" in said
    assert coldwarm("bench", "pkg.m:f", *once, cwd=tmp_path).returncode == 0
    (folder / "__init__.py").touch()
    assert coldwarm("bench", "pkg/m.py:f", *once, cwd=tmp_path).returncode == 0
