"""``coldwarm advise``: what shortens the start of a program."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import rich_click as click

from coldwarm.cli import _command_bench, _options, _output
from coldwarm.cli._commands import Measuring, Running, is_quiet

if TYPE_CHECKING:
    from coldwarm.contracts.commands import CommandAdvice


class _Trying(Running, Measuring):
    """A command that measures a program of the user's."""


@click.command(name="advise", cls=_Trying, example="coldwarm advise -- python train.py --epochs 1")
@_command_bench.ready_options
@click.option(
    "--rounds",
    type=_options.Whole(2, example=5),
    default=5,
    show_default=True,
    metavar="N",
    help="How often to start it as it is, and with each change.",
)
@_options.timeout
@_options.seed
@_options.output("json", "markdown")
@click.argument("program", nargs=-1, type=click.UNPROCESSED, metavar="-- COMMAND [ARGUMENT]...")
def _command(program: tuple[str, ...], form: str, **given: Any) -> int:  # noqa: ANN401 - all options
    """Try what shortens the start of a program, and how much it saves.

    COMMAND is started with empty caches as it is, and with one change at a time, in turns: with
    the filled cache of a framework, with the bytecode of all modules kept, and with a long import
    left until the module is used. What counts is the time until it ends, or is ready. The lines to
    set or to write are printed. Nothing of the program is changed. With three changes and five
    rounds, it is started 22 times.
    """
    from coldwarm.commands import advise, commands_document
    from coldwarm.contracts import codec
    from coldwarm.contracts.commands import AS_IT_IS
    from coldwarm.errors import ExitCode, UsageError
    from coldwarm.report.progress import open_progress
    from coldwarm.report.shown import PlainConsole

    if not program:
        raise UsageError("name a program behind --, such as: -- python train.py --epochs 1")
    request = _command_bench.request_of({**given, "command": (shlex.join(program),)})
    with open_progress(PlainConsole(stderr=True, quiet=is_quiet())) as progress:
        made, ended = advise.advise(request, progress)
    found: CommandAdvice = codec.without_secrets(made)
    _output.emit(form, found, lambda: commands_document.advised(found))
    if ended is not None:
        raise ended
    if not found.complete:
        return ExitCode.INTERRUPTED
    if any(one.status == "failed" for one in found.starts if one.command == AS_IT_IS):
        return ExitCode.FAILED
    return ExitCode.FINE if found.before else ExitCode.NOTHING_VALID
