"""Groups of commands: finds them in a folder, each in the file that it is named after."""

from __future__ import annotations

import pkgutil
from importlib import import_module
from typing import TYPE_CHECKING

import rich_click as click

from coldwarm.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence


_PACKAGE = "coldwarm.cli"


def refuse_empty(arguments: Sequence[str]) -> None:
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


class Group(click.RichGroup):
    """Commands of which one that is not known is told with those that are."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command, or say which names are near.

        Raises:
            UsageError: there is no such command, or an argument says nothing.
        """
        refuse_empty(args[:1])
        name = args[0]
        if name not in self.list_commands(ctx):
            from coldwarm.registry import unknown

            raise unknown("command", name, self.list_commands(ctx))
        known, command, rest = super().resolve_command(ctx, args)
        own = getattr(command, "own", None)  # of one that hands the others on
        refuse_empty(rest if own is None else own(rest))
        return known, command, rest


class Commands(Group):
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
        command: click.Command = import_module(f"{_PACKAGE}.{cmd_name}").command
        return command
