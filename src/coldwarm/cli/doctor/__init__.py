"""``coldwarm doctor``: where a program's time went, and which line to change."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from coldwarm.cli import _options

if TYPE_CHECKING:
    from coldwarm.contracts.doctor import DoctorReport


@click.command(
    "doctor",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
@click.option("-m", "module", metavar="MODULE", help="Run a module, as `python -m` does.")
@click.option("--out", type=click.Path(path_type=Path), help="Write there, not to standard error.")
@click.option(
    "--python", default=None, help="The interpreter. Default: the one that runs coldwarm."
)
@_options.verbose
@_options.output("json")
@click.argument("program", nargs=-1, type=click.UNPROCESSED, metavar="PROGRAM [ARGUMENT]...")
@click.pass_context
def command(
    context: click.Context,
    program: tuple[str, ...],
    module: str | None,
    out: Path | None,
    python: str | None,
    form: str,
    *,
    verbose: bool,
) -> None:
    """Run a Python program as it is, and say where its time went and what to change.

    The program's own output and its exit status stay as they are.
    """
    import sys
    import tempfile

    from coldwarm.clock import Clock
    from coldwarm.errors import UsageError
    from coldwarm.runner.doctor import reading, starting

    command_line = [*(["-m", module] if module else []), *program]
    if not command_line:
        raise UsageError("name a program: coldwarm doctor train.py, or coldwarm doctor -m package")
    started_at = Clock().date()
    with tempfile.TemporaryDirectory(prefix="coldwarm-doctor-") as folder:
        ended = starting.run(command_line, Path(folder), python or sys.executable)
        report = reading.report(reading.read(Path(folder)), ended, started_at)
    _print(report, form, out, verbose=verbose)
    context.exit(ended.status if ended.status >= 0 else 128 - ended.status)


def _print(report: DoctorReport, form: str, out: Path | None, *, verbose: bool) -> None:
    """Write what the doctor says."""
    from rich.console import Console

    from coldwarm.contracts.files import codec
    from coldwarm.report.doctor.terminal import shown

    if form == "json":
        text = codec.encode(report).decode()
    else:
        console = Console(stderr=True, width=80)
        if out is None:
            console.print(shown(report, everything=verbose))
            return
        with console.capture() as captured:
            console.print(shown(report, everything=verbose))
        text = captured.get()
    if out is None:
        click.echo(text, nl=False, err=True)
    else:
        out.write_text(text, encoding="utf-8")
