"""The tree of commands: finds them in this folder, and runs the one that is named."""

from __future__ import annotations

import pkgutil
import sys
from errno import EACCES, EISDIR, ELOOP, ENAMETOOLONG, ENOENT, ENOTDIR, EPERM, EROFS
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click
from click.exceptions import Exit, NoArgsIsHelpError

import coldwarm.cli
from coldwarm import __version__
from coldwarm.errors import ColdwarmError, ExitCode, UsageError, one_line, printable, shorten

if TYPE_CHECKING:
    from collections.abc import Sequence


_OF_NAMES = {EACCES, EISDIR, ELOOP, ENAMETOOLONG, ENOENT, ENOTDIR, EPERM, EROFS}
"""Errors of the system that another name would not have had."""


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


class Commands(click.RichGroup):
    """The commands of this folder, each in the file that it is named after."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands."""
        del ctx
        names = [info.name for info in pkgutil.iter_modules(coldwarm.cli.__path__)]
        return sorted(name for name in names if name != "main" and not name.startswith("_"))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command by name; ``None`` where there is no such file."""
        if cmd_name not in self.list_commands(ctx):
            return None
        command: click.Command = import_module(f"coldwarm.cli.{cmd_name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command, or say which names are near.

        Raises:
            UsageError: there is no such command, or an argument says nothing.
        """
        refuse_empty(args)
        name = args[0]
        if name not in self.list_commands(ctx):
            from coldwarm.registry import unknown

            raise unknown("command", name, self.list_commands(ctx))
        return super().resolve_command(ctx, args)


@click.command(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="coldwarm")
def cli() -> None:
    """Tell what a JIT really costs: cold and warm, with the state of every cache proved.

    Exit codes: 0 fine, 1 regression, 2 usage, 3 a case failed, 4 nothing valid was
    measured, 70 something went wrong inside, 130 interrupted, 141 a broken pipe.
    """


def run() -> int:
    """Run the command that the arguments name; return its code.

    Raises:
        BaseException: whatever no command expects.
    """
    try:
        code = _called()
    except NoArgsIsHelpError as error:
        click.echo(error.message)
        return ExitCode.USAGE
    except click.ClickException as error:
        vars(error)["message"] = _shown(error.message)
        error.show()
        return ExitCode.USAGE  # its own codes have 1 for something else
    except ColdwarmError as error:
        first, *others = _words(error)
        for text in (f"coldwarm: {first}", *others):
            click.echo(_shown(text), err=True)
        return error.exit_code
    except OSError as error:
        name = str(error.filename or "")
        if error.errno not in _OF_NAMES or not (error.errno == ENAMETOOLONG or _is_named(name)):
            raise
        words = one_line(f"{shorten(name)} cannot be used: {error.strerror}; name another")
        click.echo(f"coldwarm: {_shown(words)}", err=True)
        return ExitCode.USAGE
    return code if isinstance(code, int) else ExitCode.FINE


def _shown(text: str) -> str:
    from coldwarm.private.masking import masked

    return printable(masked(text))


def _is_named(name: str) -> bool:
    """Say whether a file is one that the arguments name, or below one."""
    named = [
        Path(part).absolute()
        for one in sys.argv[1:]
        for part in (one, one.partition("=")[2])
        if part
    ]
    return any(Path(name).absolute().is_relative_to(path) for path in named)


def _called() -> object:
    """Call the command as ``click`` does, which takes the end of a file for an interruption."""
    cli._main_shell_completion({}, "coldwarm")  # noqa: SLF001 - a part of ``main``, which is not used
    try:
        with cli.make_context("coldwarm", sys.argv[1:]) as context:
            return cli.invoke(context)
    except Exit as ended:
        return ended.exit_code


def _words(error: ColdwarmError) -> tuple[str, ...]:
    from coldwarm.contracts.reasons import RefusedError

    if not isinstance(error, RefusedError):
        return error.lines
    from coldwarm.report.reasons import with_advice

    return (with_advice(error.reason),)
