"""The command line: finds the commands, and is the one place that ends the process."""

from __future__ import annotations

import io
import pkgutil
import sys
from importlib import import_module

import rich_click as click

import coldwarm.cli
from coldwarm import __version__
from coldwarm.errors import ColdwarmError, ExitCode


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
            UsageError: there is no such command.
        """
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
    measured, 130 interrupted, 141 a broken pipe.
    """


def main() -> None:
    """Run the command line and exit with its code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # tables have lines that not every terminal has
            stream.reconfigure(errors="replace")
    sys.exit(_run())


def _run() -> int:
    try:
        code = cli(standalone_mode=False)
    except click.ClickException as error:
        vars(error)["message"] = _masked(error.message)  # final to type checkers alone
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("coldwarm: interrupted", err=True)
        return ExitCode.INTERRUPTED
    except ColdwarmError as error:
        click.echo(f"coldwarm: {_masked(_words(error))}", err=True)
        return error.exit_code
    except BrokenPipeError:
        sys.stderr.close()
        return ExitCode.BROKEN_PIPE
    except SystemExit as error:
        # A broken pipe, as with ``| head``: rich and click end with 1 then, which means
        # something else here.
        return ExitCode.BROKEN_PIPE if error.code == 1 else int(error.code or 0)
    return code if isinstance(code, int) else 0


def _masked(text: str) -> str:
    from coldwarm.private.masking import masked

    return masked(text)


def _words(error: ColdwarmError) -> str:
    from coldwarm.contracts.reasons import RefusedError

    if not isinstance(error, RefusedError):
        return str(error)
    from coldwarm.report.reasons import with_advice

    return with_advice(error.reason)
