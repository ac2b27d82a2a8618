"""``coldwarm patterns``: every DO measured against its DON'T, here and now."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from coldwarm.cli import _options
from coldwarm.errors import ExitCode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.catalogue.patterns import PatternSpec
    from coldwarm.contracts.catalogue import PatternResult, PatternResults


_FOLDER = click.Path(path_type=Path)


@click.group("patterns", cls=click.RichGroup)
def command() -> None:
    """List, show and measure patterns: what to do and what not; judge them again, compare two."""


@command.command("list")
@_options.output("json")
def listed(form: str) -> None:
    """List the patterns, topic by topic."""
    from coldwarm.catalogue.patterns import patterns
    from coldwarm.report.shown import PlainConsole, line

    specs = list(patterns().values())
    if form == "json":
        _options.print_rows(
            [
                {
                    "pattern": spec.id,
                    "topic": spec.topic,
                    "framework": spec.framework,
                    "title": spec.title,
                    "measures": spec.measures,
                    "lint": spec.lint,
                }
                for spec in specs
            ]
        )
        return
    console = PlainConsole()
    for topic in dict.fromkeys(spec.topic for spec in specs):
        console.print(line(topic.replace("_", " "), "bold"))
        for spec in specs:
            if spec.topic == topic:
                console.print(line(f"  {spec.id}", "cyan") + line(f"  {spec.title}"))


@command.command("show")
@click.argument("name", metavar="ID")
@_options.results
def shown(name: str, results: Path | None) -> None:
    """Show one pattern: its code, why it matters, when it does not, and what was measured."""
    from coldwarm.catalogue.patterns import pattern
    from coldwarm.report.catalogue import page_of_pattern as page
    from coldwarm.report.shown import PlainConsole
    from coldwarm.runner.catalogue import stored

    spec = pattern(name)
    result = stored.of_pattern(results, spec.id) if results else None
    PlainConsole().print(page(spec, result))


@command.command("run")
@click.argument("names", nargs=-1, metavar="[ID]...")
@click.option("--out-dir", type=click.Path(path_type=Path), help="Default: out/patterns-TIME.")
@click.option("--resume", is_flag=True, help="Go on in --out-dir with what is missing.")
@_options.output("json", "markdown")
def run(names: Sequence[str], out_dir: Path | None, form: str, *, resume: bool) -> int:
    """Measure patterns, all or those named, and end in one table.

    Exit status: 0 fine, 2 wrong usage, 3 a pattern could not be measured, 130 interrupted.
    """
    from coldwarm.catalogue.patterns import pattern, patterns
    from coldwarm.cli._verdicts import print_results
    from coldwarm.report.catalogue import table_of_patterns as table

    specs = [pattern(name) for name in names] if names else list(patterns().values())
    folder = out_dir or _options.new_directory("patterns")
    results, interrupted = _measured(specs, folder, resume=resume)
    ended = print_results(results, folder, form, lambda: table(patterns(), results.results))
    return ExitCode.INTERRUPTED if interrupted else ended


@command.command("judge")
@click.argument("results", type=_FOLDER)
@_options.output("json")
def judge(results: Path, form: str) -> int:
    """Judge stored results again, from their evidence alone: nothing is run.

    RESULTS is a folder of `coldwarm patterns run`, a snapshot, or the archive of one.

    Exit status: 0 where every verdict is the stored one, 3 where one is not.
    """
    from coldwarm.catalogue.patterns import patterns
    from coldwarm.cli._verdicts import print_judged
    from coldwarm.report.catalogue import table_of_patterns as table

    return print_judged(results, "patterns", form, lambda found: table(patterns(), found))


@command.command("compare")
@click.argument("a", type=_FOLDER)
@click.argument("b", type=_FOLDER)
@_options.output("json")
def compare(a: Path, b: Path, form: str) -> int:
    """Say which verdicts differ between two stored results, A and B.

    Each is a folder of `coldwarm patterns run`, a snapshot, or the archive of one.

    Exit status: 0 where none does, 1 where one does.
    """
    from coldwarm.cli._verdicts import print_compared

    return print_compared(a, b, "patterns", form)


def _measured(
    specs: Sequence[PatternSpec], folder: Path, *, resume: bool
) -> tuple[PatternResults, bool]:
    from coldwarm.report.catalogue import VERDICTS, Progress, measured
    from coldwarm.report.shown import PlainConsole, line
    from coldwarm.runner.catalogue.patterns import Session
    from coldwarm.runner.functions import bench

    with Progress(PlainConsole(stderr=True)) as progress:

        def told(one: PatternResult) -> None:
            text = f"{one.pattern}: {VERDICTS[one.verdict][0]}, {measured(one)}"
            progress.told(line(text))

        return Session(folder, told, bench.run, progress.begun).measure(specs, resume=resume)
