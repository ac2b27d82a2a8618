"""The tree of commands: finds them in this folder, and runs the one that is named."""

from __future__ import annotations

import sys
from errno import EACCES, EISDIR, ELOOP, ENAMETOOLONG, ENOENT, ENOTDIR, EPERM, EROFS
from pathlib import Path

import rich_click as click
from click.exceptions import Exit, NoArgsIsHelpError

from coldwarm import __version__
from coldwarm.cli import _options
from coldwarm.cli._commands import Commands, everywhere
from coldwarm.errors import ColdwarmError, ExitCode, printable, shorten

_OF_NAMES = {EACCES, EISDIR, ELOOP, ENAMETOOLONG, ENOENT, ENOTDIR, EPERM, EROFS}
"""Errors of the system that another name would not have had."""


_HELP = """Measure how long JAX, PyTorch, Numba and NumPy code takes: the first result in a new
process, with empty or filled compilation caches, and each later call.

\b
Example: coldwarm bench a.py:f b.py:f --input x=f32[512,512]

\b
Exit status of every command:
0  done                                 5   a snapshot contradicts itself
1  a limit (--fail-on) is exceeded,     6   a signature is wrong or missing
   or a repetition has another result   70  internal error
2  the command is wrong, or something   130 interrupted, as by Ctrl-C
   that it names is not there           141 what read the output has ended
3  a measurement failed, or a file is damaged or cannot be written
4  nothing valid was measured, or there is nothing to compare

The options below may also follow a command. Defaults: docs/how-to/install.md
"""
_PANELS = {
    "Measure": {
        "bench": "Compare functions of your own: first results and later calls.",
        "run": "Measure the cases of a suite: first results and later calls.",
        "doctor": "Run a Python program, and say where its time goes.",
        "cache": "See what lies in a compilation cache, and who finds it.",
        "advise": "Try what shortens the start of a program, and how much it saves.",
        "noise": "Measure how small a difference this machine can show.",
    },
    "Read results": {
        "show": "Show a finished result: its answer, its table, its caveats.",
        "compare": "Compare result B with result A: faster, slower, same or undecided.",
        "history": "Keep the results of many commits, and see where figures changed.",
        "plan": "Compute what a job will cost with each candidate.",
        "report": "Write results as a page, a document or pictures.",
        "export": "Export a result to another tool's format.",
    },
    "Check advice and claims": {
        "patterns": "Check advice for fast code: measure code with and without it.",
        "claims": "Check on this machine what articles say about compilers.",
    },
    "Publish": {
        "snapshot": "Make and check results that others can verify and measure again.",
        "validate": "Check files of coldwarm: their format, hashes and figures.",
    },
    "Tools": {
        "env": "Show the machine and the libraries that results name.",
        "backends": "List the backends: version, and what is missing.",
        "cases": "List the cases that `coldwarm run` can measure.",
        "schema": "Print the JSON Schema of a file that coldwarm writes.",
        "completion": "Print a script that lets a shell complete commands and options.",
        "help": "Print the help of a command, as its --help does.",
    },
}
"""By panel, each command with the first line of its help, which the overview shows."""
_LOOK = {
    "options_table_column_types": ["opt_short", "opt_long_metavar", "help"],
    "append_metavars_help_string": "{}",
}


@click.command(
    cls=Commands,
    help=_HELP,
    params=everywhere(hidden=False),
    summaries={name: text for one in _PANELS.values() for name, text in one.items()},
    panels=[click.RichCommandPanel(name, commands=[*one]) for name, one in _PANELS.items()],
    context_settings={
        "help_option_names": ["-h", "--help"],
        "max_content_width": 100,
        "auto_envvar_prefix": "COLDWARM",
        "rich_help_config": _LOOK,
    },
)
@click.version_option(__version__, "-V", "--version", prog_name="coldwarm")
def cli() -> None:
    """Run one of the commands."""


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
        click.echo(f"coldwarm: {_shown(_usage(error))}", err=True)
        return ExitCode.USAGE  # its own codes have 1 for something else
    except ColdwarmError as error:
        first, *others = _options.words(error)
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


def _usage(error: click.ClickException) -> str:
    """Return what was wrong with the arguments, and where the right ones are told."""
    context = getattr(error, "ctx", None)
    more = f"; see {context.command_path} --help" if context is not None else ""
    if isinstance(error, click.NoSuchOption):
        from coldwarm.registry import near

        options = context.command.params if context is not None else ()
        by_name = {name.strip("-"): name for one in options for name in one.opts}
        found = near(error.option_name.strip("-"), by_name)
        hint = f"; did you mean {by_name[found[0]]}?" if found else more
        return f"no option is called {error.option_name}{hint}"
    if isinstance(error, click.BadParameter) and context is not None and error.param is not None:
        source = context.get_parameter_source(str(error.param.name))
        if source is not None and source.name == "ENVIRONMENT":
            error.param_hint = str(error.param.envvar)
    text = " ".join(error.format_message().split()).rstrip(".")
    return f"{text[:1].lower()}{text[1:]}{more}"


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
