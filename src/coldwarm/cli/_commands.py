"""Groups and kinds of commands: of a folder, that measure, all with defaults from elsewhere.

A value is taken from the command line, else from a variable such as ``COLDWARM_RUN_SEED``, else
from ``[tool.coldwarm]`` in the nearest ``pyproject.toml`` upward from the working directory, which
has a table for each command, such as ``[tool.coldwarm.run]``. The file is read strictly: a default
that silently applies to nothing would be believed.
"""

from __future__ import annotations

import inspect
import os
import pkgutil
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click
from click import get_current_context
from click.types import BoolParamType, FloatParamType, IntParamType

from coldwarm.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def _with_files(arguments: Sequence[str]) -> list[str]:
    """Return arguments, each ``@FILE`` replaced by those in it, one a line, as in pytest and ruff.

    Raises:
        UsageError: a file cannot be read.
    """
    found: list[str] = []
    for argument in arguments:
        if not argument.startswith("@"):
            found.append(argument)
            continue
        try:
            lines = Path(argument[1:]).read_text(encoding="utf-8").splitlines()
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is no text"
            text = f"{argument}: arguments cannot be read from {argument[1:]}: {why}"
            raise UsageError(text) from None
        found += [line.strip() for line in lines if line.strip()]
    return found


def _refuse_empty(arguments: Sequence[str]) -> None:
    """Refuse arguments that say nothing: what an unset variable gives would choose everything.

    Raises:
        UsageError: there is one.
    """
    for before, argument in zip(["", *arguments], arguments, strict=False):
        option, equals, value = argument.partition("=")
        named = option.startswith("--") and equals
        if not (value if named else argument).strip():
            name = option if named else before
            of = f" after {name}" if name.startswith("-") else ""
            raise UsageError(f"an argument{of} is empty: is a variable not set?")


class CommandGroup(click.RichGroup):
    """Commands of which one that is not known is told with those that are."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command, or say which names are near.

        Raises:
            UsageError: there is no such command, or an argument says nothing.
        """
        _refuse_empty(args[:1])
        name = args[0]
        if name not in self.list_commands(ctx):
            from coldwarm.registry import unknown

            raise unknown("command", name, _paths(self, ctx))
        known, command, rest = super().resolve_command(ctx, args)
        own = getattr(command, "own", None)  # of one that hands the others on
        _refuse_empty(rest if own is None else own(rest))
        if own is None and not isinstance(command, click.Group):
            rest = _with_files(rest)
        return known, command, rest


def _paths(group: click.Group, context: click.Context) -> list[str]:
    """Return the commands of a group, and those of its groups behind their names."""
    found = group.list_commands(context)
    for name in list(found):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            found += [f"{name} {below}" for below in _paths(command, context)]
    return found


class Commands(CommandGroup):
    """The commands of the folder, each in the file that it is named after.

    The overview of them is printed from ``summaries`` and imports none of them.
    """

    def __init__(self, *given: Any, summaries: Mapping[str, str], **named: Any) -> None:  # noqa: ANN401 - click's own
        """Keep the first line of each command's help."""
        super().__init__(*given, **named)
        self.summaries = summaries
        self._prints_overview = False

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Print the overview."""
        self._prints_overview = True
        try:
            super().format_help(ctx, formatter)  # type: ignore[arg-type] # rich-click narrows both
        finally:
            self._prints_overview = False

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands."""
        del ctx
        names = [info.name for info in pkgutil.iter_modules(import_module(_PACKAGE).__path__)]
        return sorted(name for name in names if name != "main" and not name.startswith("_"))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command by name; ``None`` where there is no such file."""
        if cmd_name not in self.list_commands(ctx):
            return None
        if self._prints_overview and cmd_name in self.summaries:
            return click.RichCommand(name=cmd_name, help=self.summaries[cmd_name])
        command: click.Command = vars(import_module(f"{_PACKAGE}.{cmd_name}"))["_command"]
        return command


_PACKAGE = "coldwarm.cli"
_FILE = "pyproject.toml"
_WITHOUT_VARIABLE = {"color", "config", "help", "json", "quiet"}
_NOT_DEFAULTS = {
    *_WITHOUT_VARIABLE,
    # They belong to one call.
    *("hook", "id", "out", "read", "resume"),
    # Whom to trust is no matter of a file, which may lie beside what is to be checked.
    *("as-it-is", "identity", "issuer", "public-key", "trust", "with-its-wheel"),
}
_OF_THE_RECORDER = {f"COLDWARM_DOCTOR_{name}" for name in ("FIRST", "KEEP", "PASS", "VALUES")}
"""Variables of the doctor's recorder, which a program that is watched hands on."""
_MEASURE_NOTHING = {"format", "verbose"}
_TYPES: dict[type, tuple[tuple[type, ...], str]] = {
    BoolParamType: ((bool,), "true or false"),
    FloatParamType: ((int, float), "a number"),
    IntParamType: ((int,), "a whole number"),
    click.ParamType: ((str,), "a string"),
}
"""By the kind of an option, the types that its value may have in TOML, and their name."""


def _remember_quiet(context: click.Context, _: click.Parameter, value: object) -> None:
    context.meta[_QUIET] = value or context.meta.get(_QUIET)


def _remember_config(context: click.Context, _: click.Parameter, value: Path | None) -> None:
    context.meta[_CONFIG] = value or context.meta.get(_CONFIG)


def _remember_no_config(context: click.Context, _: click.Parameter, value: object) -> None:
    if value:
        context.meta[_CONFIG] = Path(os.devnull)


def _choose_color(context: click.Context, _: click.Parameter, value: str | None) -> None:
    if value not in {"always", "never"}:
        return
    from coldwarm.report import shown

    shown.use_color(always=value == "always")
    if isinstance(context, click.RichContext):  # of the help, which rich-click prints
        context.help_config.force_terminal = value == "always"
        context.help_config.color_system = "auto" if value == "always" else None


_QUIET, _CONFIG = "coldwarm.quiet", "coldwarm.config"


def everywhere(*, hidden: bool) -> list[click.Option]:
    """Return the options that stand before a command or behind it."""
    return [
        click.RichOption(
            ["-q", "--quiet"],
            is_flag=True,
            expose_value=False,
            hidden=hidden,
            callback=_remember_quiet,
            help="Print the answer and errors only.",
        ),
        click.RichOption(
            ["--color"],
            type=click.Choice(["auto", "always", "never"]),
            expose_value=False,
            hidden=hidden,
            is_eager=True,
            callback=_choose_color,
            help="Colors. Default: auto (NO_COLOR).",
        ),
        click.RichOption(
            ["--config"],
            metavar="FILE",
            type=click.Path(path_type=Path, exists=True, dir_okay=False),
            expose_value=False,
            hidden=hidden,
            callback=_remember_config,
            help="File of defaults, not pyproject.toml.",
        ),
        click.RichOption(
            ["--no-config"],
            is_flag=True,
            expose_value=False,
            hidden=hidden,
            callback=_remember_no_config,
            help="Read defaults from no file.",
        ),
    ]


def is_quiet() -> bool:
    """Say whether only the answer is asked for."""
    context = get_current_context(silent=True)
    return context is not None and bool(context.meta.get(_QUIET))


class Command(click.RichCommand):
    """A command with an example in its help, and with defaults from variables and a file."""

    def __init__(self, *given: Any, example: str = "", **named: Any) -> None:  # noqa: ANN401 - click's own
        """Put the example behind what the command does."""
        super().__init__(*given, **{**named, "help": with_example(named.get("help"), example)})
        self.params += everywhere(hidden=True)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Give each option its variable, and the defaults of the file.

        Raises:
            UsageError: the file, or a variable, says something that is no default of this command.
        """
        for name, option in _options(self).items():
            option.allow_from_autoenv = False
            if name not in _WITHOUT_VARIABLE:
                option.envvar = f"{ctx.auto_envvar_prefix}_{name}".upper().replace("-", "_")
        # Help and completion must work also where the file has a fault.
        if not ctx.resilient_parsing:
            given, _, _ = self.make_parser(ctx).parse_args(args=[*args])
            if "help" not in given and ctx.parent is not None:
                _refuse_misspelt(ctx)
                ctx.default_map = _defaults(ctx, given)
        return super().parse_args(ctx, args)


class Running(Command):
    """A command behind whose ``--`` stands a program of the user's, with its arguments."""

    def own(self, args: list[str]) -> list[str]:
        """Return the arguments that are not the program's."""
        return args[: args.index("--")] if "--" in args else args


class RunningGroup(CommandGroup):
    """Commands of which some run a program of the user's."""

    own = Running.own


class Measuring(Command):
    """A command that starts processes to measure them, which only Linux allows as needed."""

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - what the command returns
        """Run the command.

        Raises:
            UsageError: this is not Linux.
        """
        if sys.platform != "linux":
            text = (
                f"{self.name} measures, and measuring needs Linux (here: {sys.platform}); commands "
                "that read results work here: show, plan, compare, validate"
            )
            raise UsageError(text)
        return super().invoke(ctx)


CommandGroup.command_class = Command
CommandGroup.group_class = CommandGroup


def with_example(text: str | None, example: str) -> str:
    """Return a help text with an example behind its first paragraph."""
    first, _, rest = inspect.cleandoc(text or "").partition("\n\n")
    shown = f"\b\nExample: {example}" if example else ""
    return "\n\n".join(part for part in (first, shown, rest) if part)


def _names(context: click.Context) -> list[str]:
    """Return what a command is called behind ``coldwarm``, word by word."""
    names: list[str] = []
    while context.parent is not None:
        names.insert(0, str(context.info_name))
        context = context.parent
    return names


def _defaults(context: click.Context, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the defaults that a file has for a command, by the parameters.

    ``given``: what the command line says.

    Raises:
        UsageError: the file says something that is no default of this command.
    """
    path = _file(context, given)
    if path is None:
        return {}
    options = _options(context.command)
    private = {"python"} if context.command.name == "replicate" else set()
    known = sorted(options.keys() - _NOT_DEFAULTS - private)
    where = f"{os.path.relpath(path)}: tool.coldwarm.{'.'.join(_names(context))}"
    defaults = {}
    for key, value in _table(path, context).items():
        if key not in known:
            raise UsageError(f"{where}.{key} is unknown; known are {', '.join(known)}")
        defaults[str(options[key].name)] = _checked(options[key], value, f"{where}.{key}", path)
    # What the command line asks for is not forbidden by the file.
    for default, asked in (("cold_only", "warm_only"), ("warm_only", "cold_only")):
        if asked in given:
            defaults.pop(default, None)
    return defaults


def _refuse_misspelt(context: click.Context) -> None:
    """Refuse variables that look like defaults of a command and are none.

    Raises:
        UsageError: there is one.
    """
    known = [str(one.envvar) for one in _options(context.command).values() if one.envvar]
    begin = f"{context.auto_envvar_prefix}_"
    for name in sorted(os.environ):
        if name.startswith(begin) and name not in {*known, *_OF_THE_RECORDER}:
            from coldwarm.registry import unknown

            raise unknown("variable", name, known)


def _file(context: click.Context, given: Mapping[str, Any]) -> Path | None:
    named = given.get("config") or context.meta.get(_CONFIG)
    if given.get("no_config"):
        return None
    if named:
        return Path(named)
    folder = Path.cwd()
    return next((p for at in (folder, *folder.parents) if (p := at / _FILE).is_file()), None)


def origins(context: click.Context) -> dict[str, str]:
    """Return, for each option that was not given, the file or the variable that has its value."""
    found = {}
    for name, option in _options(context.command).items():
        source = context.get_parameter_source(str(option.name))
        if source is None or name in _MEASURE_NOTHING:
            continue
        if source.name == "DEFAULT_MAP":
            found[name.replace("-", "_")] = _FILE
        elif source.name == "ENVIRONMENT":
            found[name.replace("-", "_")] = str(option.envvar)
    return found


def _options(command: click.Command) -> dict[str, click.Option]:
    options = (option for option in command.params if isinstance(option, click.Option))
    named = ((max(option.opts, key=len), option) for option in options)
    return {name[2:]: option for name, option in named if name.startswith("--")}


def _table(path: Path, context: click.Context) -> Mapping[str, Any]:
    """Return the table of a command in a project's file; empty where there is none."""
    import tomllib

    shown = os.path.relpath(path)
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{shown} cannot be read: {error}") from None
    table: dict[str, Any] = document
    names = ["tool", "coldwarm", *_names(context)]
    group = context.find_root()
    for depth, name in enumerate(names):
        table = table.get(name, {})
        at = ".".join(names[: depth + 1])
        if not isinstance(table, dict):
            raise UsageError(f"{shown}: {at} must be a table")
        if 0 < depth < len(names) - 1:
            _refuse_unknown(table, group.command, group, f"{shown}: {at}")
            group = _below(context, names[depth + 1])
    return table


def _below(context: click.Context, name: str) -> click.Context:
    while context.info_name != name and context.parent is not None:
        context = context.parent
    return context


def _refuse_unknown(
    table: Mapping[str, Any], group: click.Command, context: click.Context, where: str
) -> None:
    known = group.list_commands(context) if isinstance(group, click.Group) else []
    unknown = sorted(table.keys() - set(known))
    if unknown:
        raise UsageError(f"{where}.{unknown[0]} is unknown; known are {', '.join(known)}")


def _checked(option: click.Option, value: object, where: str, file: Path) -> object:
    """Return a default as its option takes it; a path is relative to the file's folder."""
    usual = next(known for kind, known in _TYPES.items() if isinstance(option.type, kind))
    types, named = getattr(option.type, "in_toml", usual)
    if option.multiple:
        named = "a list of strings"
    values = value if option.multiple else [value]
    if not isinstance(values, list) or any(type(single) not in types for single in values):
        raise UsageError(f"{where} must be {named}, not {value!r}")
    for single in values:
        if isinstance(single, str) and not single.strip():
            raise UsageError(f"{where} is empty")
        try:
            option.type.convert(single, option, None)
        except click.BadParameter as error:
            raise UsageError(f"{where}: {error.message}") from None
    if isinstance(option.type, click.Path):
        values = [os.path.relpath(file.parent / single) for single in values]
    return values if option.multiple else values[0]
