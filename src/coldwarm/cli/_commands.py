"""Groups and kinds of commands: of a folder, that measure, with defaults in a file.

The defaults stand under ``[tool.coldwarm]`` in the nearest ``pyproject.toml`` upward from the
working directory, in a table for each command, such as ``[tool.coldwarm.run]``. They are read
strictly: a default that silently applies to nothing would be believed.
"""

from __future__ import annotations

import os
import pkgutil
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click
from click.types import BoolParamType, FloatParamType, IntParamType

from coldwarm.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


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

            raise unknown("command", name, self.list_commands(ctx))
        known, command, rest = super().resolve_command(ctx, args)
        own = getattr(command, "own", None)  # of one that hands the others on
        _refuse_empty(rest if own is None else own(rest))
        return known, command, rest


class Commands(CommandGroup):
    """The commands of the folder, each in the file that it is named after."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands."""
        del ctx
        names = [info.name for info in pkgutil.iter_modules(import_module(_PACKAGE).__path__)]
        return sorted(name for name in names if name != "main" and not name.startswith("_"))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command by name; ``None`` where there is no such file."""
        if cmd_name not in self.list_commands(ctx):
            return None
        command: click.Command = vars(import_module(f"{_PACKAGE}.{cmd_name}"))["_command"]
        return command


_PACKAGE = "coldwarm.cli"
_FILE = "pyproject.toml"
_CONFIGURED = ("bench", "compare", "run")
_NOT_DEFAULTS = {"help", "json", "out", "resume"}
"""Options that belong to one call of a command."""
_TYPES: dict[type, tuple[tuple[type, ...], str]] = {
    BoolParamType: ((bool,), "true or false"),
    FloatParamType: ((int, float), "a number"),
    IntParamType: ((int,), "a whole number"),
    click.ParamType: ((str,), "a string"),
}
"""By the kind of an option, the types that its value may have in TOML, and their name."""


class Measuring(click.RichCommand):
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


class Configured(click.RichCommand):
    """A command whose options may have defaults in ``pyproject.toml``."""

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,  # noqa: ANN401 - click's own
    ) -> click.Context:
        """Return the context of a call, with the file's defaults.

        Raises:
            UsageError: the file says something that is no default of this command.
        """
        # Help and completion must work also where the file has a fault.
        if not extra.get("resilient_parsing") and not {"-h", "--help"} & set(args):
            defaults = self._defaults()
            # What the command line asks for is not forbidden by the file.
            for default, option in (("cold_only", "--warm-only"), ("warm_only", "--cold-only")):
                if option in args:
                    defaults.pop(default, None)
            extra["default_map"] = defaults
        return super().make_context(info_name, args, parent, **extra)

    def _defaults(self) -> dict[str, Any]:
        folder = Path.cwd()
        path = next((p for at in (folder, *folder.parents) if (p := at / _FILE).is_file()), None)
        if path is None:
            return {}
        table = _table(path, str(self.name))
        options = _options(self)
        known = sorted(options.keys() - _NOT_DEFAULTS)
        where = f"{os.path.relpath(path)}: tool.coldwarm.{self.name}"
        defaults = {}
        for key, value in table.items():
            if key not in known:
                raise UsageError(f"{where}.{key} is unknown; known are {', '.join(known)}")
            defaults[str(options[key].name)] = _checked(options[key], value, f"{where}.{key}", path)
        return defaults


class ConfiguredMeasuring(Configured, Measuring):
    """A command that measures, and whose options may have defaults in ``pyproject.toml``."""


def origins(context: click.Context) -> dict[str, str]:
    """Return the file's name for each option of a call whose value came from it."""
    return {
        name.replace("-", "_"): _FILE
        for name, option in _options(context.command).items()
        if (source := context.get_parameter_source(str(option.name)))
        if source.name == "DEFAULT_MAP"
        and name not in {"format", "verbose"}  # which measure nothing
    }


def _options(command: click.Command) -> dict[str, click.Option]:
    options = (option for option in command.params if isinstance(option, click.Option))
    return {max(option.opts, key=len).removeprefix("--"): option for option in options}


def _table(path: Path, command: str) -> Mapping[str, Any]:
    """Return the table of a command in a project's file; empty where there is none."""
    import tomllib

    shown = os.path.relpath(path)
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{shown} cannot be read: {error}") from None
    table: dict[str, Any] = document
    names = ("tool", "coldwarm", command)
    for depth, name in enumerate(names):
        table = table.get(name, {})
        if not isinstance(table, dict):
            raise UsageError(f"{shown}: {'.'.join(names[: depth + 1])} must be a table")
        if name == "coldwarm" and (unknown := sorted(table.keys() - set(_CONFIGURED))):
            known = ", ".join(_CONFIGURED)
            raise UsageError(f"{shown}: tool.coldwarm.{unknown[0]} is unknown; known are {known}")
    return table


def _checked(option: click.Option, value: object, where: str, file: Path) -> object:
    """Return a default as its option takes it; a path is relative to the file's folder."""
    types, named = next(known for kind, known in _TYPES.items() if isinstance(option.type, kind))
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
