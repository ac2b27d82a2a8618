"""``coldwarm claims``: what articles say, put to the test here and now."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from coldwarm.cli import _options
from coldwarm.errors import ExitCode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.contracts.catalogue import ClaimResult

_FOLDER = click.Path(path_type=Path)


@click.group("claims", cls=click.RichGroup)
def command() -> None:
    """List, show and test claims, judge stored results again, and compare two."""


@command.command("list")
@_options.output("json")
def listed(form: str) -> None:
    """List the claims by the article that they are from."""
    from coldwarm.catalogue.claims import claims
    from coldwarm.report.shown import PlainConsole, line

    specs = sorted(claims().values(), key=lambda spec: (spec.article.article, spec.id))
    if form == "json":
        _options.print_rows(
            [
                {
                    "claim": spec.id,
                    "article": spec.article.article,
                    "place": spec.article.place,
                    "figure": spec.article.figure,
                    "statement": spec.title,
                    "rule": spec.rule,
                }
                for spec in specs
            ]
        )
        return
    console = PlainConsole()
    for article in dict.fromkeys(spec.article.article for spec in specs):
        console.print(line(f"article {article}", "bold"))
        for spec in specs:
            if spec.article.article == article:
                console.print(line(f"  {spec.id}", "cyan") + line(f"  {spec.title}"))


@command.command("show")
@click.argument("name", metavar="ID")
@_options.results
def shown(name: str, results: Path | None) -> None:
    """Show one claim: the statement, the protocol, the rule, the code, and what was measured."""
    from coldwarm.catalogue.claims import claim
    from coldwarm.report.catalogue import page_of_claim as page
    from coldwarm.report.shown import PlainConsole
    from coldwarm.runner.catalogue import stored

    spec = claim(name)
    result = stored.of_claim(results, spec.id) if results else None
    PlainConsole().print(page(spec, spec.code(), result))


@command.command("run")
@click.argument("names", nargs=-1, metavar="[ID]...")
@click.option("--out-dir", type=_FOLDER, help="Default: out/claims-TIME.")
@click.option("--resume", is_flag=True, help="Go on in --out-dir with what is missing.")
@_options.output("json", "markdown")
def run(names: Sequence[str], out_dir: Path | None, form: str, *, resume: bool) -> int:
    """Test claims, all or those named, and end in one table.

    Exit status: 0 fine, 2 wrong usage, 3 a claim could not be tested for an error, 130
    interrupted.
    """
    from coldwarm.catalogue.claims import claim, claims
    from coldwarm.cli._verdicts import print_results
    from coldwarm.report.catalogue import Progress, verdict
    from coldwarm.report.catalogue import table_of_claims as table
    from coldwarm.report.shown import PlainConsole, line
    from coldwarm.runner.catalogue.claims import Session
    from coldwarm.runner.functions import bench

    specs = [claim(name) for name in names] if names else list(claims().values())
    folder = out_dir or _options.new_directory("claims")
    with Progress(PlainConsole(stderr=True)) as progress:

        def told(one: ClaimResult) -> None:
            progress.told(line(f"{one.claim}: ") + verdict(one))

        session = Session(folder, told, bench.run, progress.begun)
        results, interrupted = session.measure(specs, resume=resume)
    ended = print_results(results, folder, form, lambda: table(claims(), results.results))
    return ExitCode.INTERRUPTED if interrupted else ended


@command.command("judge")
@click.argument("results", type=_FOLDER)
@_options.output("json")
def judge(results: Path, form: str) -> int:
    """Judge stored results again, from their evidence alone: nothing is run.

    RESULTS is a folder of `coldwarm claims run`, a snapshot, or the archive of one.

    Exit status: 0 where every verdict is the stored one, 3 where one is not.
    """
    from coldwarm.catalogue.claims import claims
    from coldwarm.cli._verdicts import print_judged
    from coldwarm.report.catalogue import table_of_claims as table

    return print_judged(results, "claims", form, lambda found: table(claims(), found))


@command.command("compare")
@click.argument("a", type=_FOLDER)
@click.argument("b", type=_FOLDER)
@_options.output("json")
def compare(a: Path, b: Path, form: str) -> int:
    """Say which verdicts differ between two stored results, A and B.

    Each is a folder of `coldwarm claims run`, a snapshot, or the archive of one.

    Exit status: 0 where none does, 1 where one does.
    """
    from coldwarm.cli._verdicts import print_compared

    return print_compared(a, b, "claims", form)
