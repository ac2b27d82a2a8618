"""How commands print what was measured."""

from __future__ import annotations

import re
import shlex
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from coldwarm.cli import _options
from coldwarm.cli._options import say
from coldwarm.errors import storage_error

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.console import Console

    from coldwarm.contracts.answer import Plan
    from coldwarm.contracts.bench import BenchReport
    from coldwarm.contracts.result import CaseResult, SuiteResult

_PICTURE_COLUMNS = 80
BENCH_FORMS = ("json", "markdown", "github")


def print_run(
    suite: SuiteResult, cases: Sequence[CaseResult], form: str, *, verbose: bool = False
) -> None:
    """Print a run as tables, as its index and answers (``json``), as Markdown, or as a picture."""
    from msgspec.structs import replace

    from coldwarm.report import markdown, terminal
    from coldwarm.stats.answers import answers

    said = answers(cases)
    if form == "json":
        _options.print_record(replace(suite, answers=said))
    elif form == "markdown":
        click.echo(markdown.render(suite, cases, answers=said, verbose=verbose))
    else:
        with _console(form, f"coldwarm run --suite {suite.suite}") as console:
            terminal.render(suite, cases, console, answers=said, verbose=verbose)


def print_bench(
    report: BenchReport,
    suite: SuiteResult,
    cases: Sequence[CaseResult],
    plan: Plan | None,
    form: str,
    *,
    verbose: bool = False,
) -> None:
    """Print a bench in one of ``BENCH_FORMS``, as tables, or as a picture of them (``svg``)."""
    from coldwarm.report import bench

    if form in BENCH_FORMS:
        click.echo(bench_text(report, suite, cases, form, verbose=verbose), nl=False)
        return
    with _console(form, "coldwarm bench") as console:
        bench.render(report, suite, cases, plan, console, verbose=verbose)


def bench_text(
    report: BenchReport,
    suite: SuiteResult,
    cases: Sequence[CaseResult],
    form: str,
    *,
    verbose: bool = False,
) -> str:
    """Return a bench as its report (``json``), Markdown, or annotations (``github``)."""
    from coldwarm.report import bench

    if form == "json":
        return _options.record_text(report)
    if form == "markdown":
        return bench.as_markdown(report, suite, cases, verbose=verbose)
    return bench.github(report, suite, cases)


def files_by_form(values: Iterable[str]) -> dict[str, Path]:
    """Return the files that a result is written to, by its form.

    Raises:
        BadParameter: there is no such form, one is given twice, or no file can be there.
    """
    files: dict[str, Path] = {}
    for value in values:
        form, _, name = value.partition("=")
        if form not in BENCH_FORMS or not name or form in files:
            told = f"{value!r:.60}: write one of {', '.join(BENCH_FORMS)}, once, as in json=FILE"
            raise _options.wrong("--report", told)
        files[form] = Path(name)
        if files[form].is_dir() or not files[form].absolute().parent.is_dir():
            raise _options.wrong(
                "--report", f"{name!r:.200}: no file can be made there; make its folder"
            )
    return files


def write_text(path: Path, text: str) -> None:
    """Write a text to a file of the user's, in place of what it held.

    Raises:
        StorageError: the disk is full, or the write failed otherwise.
    """
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise storage_error(path, error) from error


@contextmanager
def _console(form: str, title: str) -> Iterator[Console]:
    """Give a console that prints, or one whose picture is printed at the end (``svg``)."""
    from coldwarm.report.shown import PlainConsole

    if form != "svg":
        yield PlainConsole()
        return
    console = PlainConsole(
        record=True, width=_PICTURE_COLUMNS, file=StringIO(), force_terminal=True
    )
    yield console
    picture = console.export_svg(title=title)
    # A picture must be whole without a network: the viewer's own font serves.
    click.echo(re.sub(r"@font-face \{.*?\}", "", picture, flags=re.DOTALL))


def print_place(path: Path, *, verbose: bool) -> None:
    """Say where the artifacts lie, and what shows more of them."""
    say(f"Artifacts: {path}", before="\n")
    if not verbose:
        say(f"More: coldwarm show {shlex.quote(str(path))} --verbose")
