"""The tree of commands: finds them in this folder, and runs the one that is named."""

from __future__ import annotations

import sys
from errno import EACCES, EISDIR, ELOOP, ENAMETOOLONG, ENOENT, ENOTDIR, EPERM, EROFS
from pathlib import Path

import rich_click as click
from click.exceptions import Exit, NoArgsIsHelpError

from coldwarm import __version__
from coldwarm.cli._commands import Commands
from coldwarm.errors import ColdwarmError, ExitCode, printable, shorten

_OF_NAMES = {EACCES, EISDIR, ELOOP, ENAMETOOLONG, ENOENT, ENOTDIR, EPERM, EROFS}
"""Errors of the system that another name would not have had."""


@click.command(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="coldwarm")
def cli() -> None:
    """Tell what a JIT really costs: cold and warm, with the state of every cache proved.

    Exit codes: 0 fine, 1 regression, 2 usage, 3 a case failed or an artifact is wrong,
    4 nothing valid was measured, 5 a snapshot contradicts itself, 6 a signature fails,
    70 internal error, 130 interrupted, 141 a broken pipe.
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
        words = printable(f"{shorten(name)} cannot be used: {error.strerror}; name another")
        click.echo(f"coldwarm: {_shown(words)}", err=True)
        return ExitCode.USAGE
    return code if isinstance(code, int) else ExitCode.FINE


def _shown(text: str) -> str:
    from coldwarm.report.shown import told

    return told(text)


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
    from coldwarm.report.sentences import with_advice

    return (with_advice(error.reason),)
