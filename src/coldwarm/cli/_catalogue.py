"""The commands of patterns and of claims: one group under two names."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import rich_click as click

from coldwarm.cli import _options
from coldwarm.cli._commands import CommandGroup, is_quiet, with_example
from coldwarm.cli._options import say
from coldwarm.cli._results import is_archive, refuse_absent
from coldwarm.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import ExitStack

    from coldwarm.catalogue.measure import Measure
    from coldwarm.catalogue.spec import ClaimSpec, PatternSpec
    from coldwarm.catalogue.stored import Again, Stored
    from coldwarm.contracts.catalogue import Kind, Results
    from coldwarm.report.document import Block, Paragraph
    from coldwarm.report.verdict_table import VerdictTable

_FOLDER = click.Path(path_type=Path)


class Help(NamedTuple):
    """Help of a group, and of those commands whose help differs."""

    group: str
    listed: str
    shown: str
    run: str
    example: str
    """Id of one."""


_JUDGE = """Judge a stored result again by today's rules, and run nothing.

RESULT is a folder of `coldwarm {kind} run`, or a snapshot, packed or not. The exit status is 3
where a verdict is not the stored one.
"""
_COMPARE = """Show which verdicts differ between two results.

Each is a folder of `coldwarm {kind} run`, or a snapshot, packed or not. The exit status is 1 where
a verdict differs.
"""


_POOL = """Show in how many results each verdict holds, and in which it does not.

Give one RESULT for each machine: a folder of `coldwarm {kind} run`, or a snapshot, packed or not.
Each is judged again by today's rules first; what was not tested, or cannot be judged, is left out.
"""


def group(kind: Kind, texts: Help, run_bench: Measure) -> click.Group:
    """Return the commands of patterns or of claims; ``run_bench`` measures functions for them."""
    singular = kind.removesuffix("s")

    @click.group(
        kind,
        cls=CommandGroup,
        help=with_example(texts.group, f"coldwarm {kind} run {texts.example}"),
    )
    def command() -> None:
        pass

    @command.command("list", help=texts.listed, example=f"coldwarm {kind} list")
    @_options.output("json")
    def listed(form: str) -> None:
        rows = _of_patterns() if kind == "patterns" else _of_claims()
        if form == "json":
            _options.print_rows([row.fields for row in rows])
        else:
            _print_list(rows, singular)

    @command.command("show", help=texts.shown, example=f"coldwarm {kind} show {texts.example}")
    @click.argument("name", metavar="ID")
    @_options.results
    def shown(name: str, results: Path | None) -> None:
        from coldwarm.catalogue import catalogue_document, stored
        from coldwarm.catalogue.spec import spec
        from coldwarm.report.shown import PlainConsole

        one = spec(kind, name)
        result = stored.result_of(results, kind, one.id) if results else None
        PlainConsole().print(catalogue_document.page(one, result))

    @command.command("run", help=texts.run, example=f"coldwarm {kind} run {texts.example}")
    @click.argument("names", nargs=-1, metavar="[ID]...")
    @_options.out(f"out/{kind}-TIME")
    @click.option("--resume", is_flag=True, help="Continue in --out with what is not measured yet.")
    @_options.output("json", "markdown")
    def run(names: Sequence[str], out: Path | None, form: str, *, resume: bool) -> int:
        from coldwarm.catalogue.catalogue_document import Progress
        from coldwarm.catalogue.measure import Session
        from coldwarm.catalogue.spec import spec, specs
        from coldwarm.report.shown import PlainConsole

        _options.require_out(out, resume=resume)
        chosen = [spec(kind, name) for name in names] if names else list(specs(kind).values())
        folder = out or _options.new_directory(kind)
        with Progress(PlainConsole(stderr=True, quiet=is_quiet())) as progress:
            session = Session(folder, kind, run_bench, progress.ended, progress.begun)
            results, interrupted = session.measure(chosen, resume=resume)
        ended = _print_results(results, kind, folder, form)
        return ExitCode.INTERRUPTED if interrupted else ended

    @command.command(
        "judge", help=_JUDGE.format(kind=kind), example=f"coldwarm {kind} judge out/mine"
    )
    @click.argument("results", metavar="RESULT", type=_FOLDER)
    @_options.output("json")
    def judge(results: Path, form: str) -> int:
        return _print_judged(results, kind, form)

    @command.command(
        "compare", help=_COMPARE.format(kind=kind), example=f"coldwarm {kind} compare out/a out/b"
    )
    @click.argument("a", metavar="RESULT_A", type=_FOLDER)
    @click.argument("b", metavar="RESULT_B", type=_FOLDER)
    @_options.output("json")
    def compare(a: Path, b: Path, form: str) -> int:
        return _print_compared(a, b, kind, form)

    @command.command(
        "pool",
        help=_POOL.format(kind=kind),
        example=f"coldwarm {kind} pool here.tar.gz there.tar.gz",
    )
    @click.argument("results", nargs=-1, required=True, metavar="RESULT...", type=_FOLDER)
    @_options.output("json")
    def pool(results: tuple[Path, ...], form: str) -> int:
        return _print_pooled(results, kind, form)

    return command


class _Listed(NamedTuple):
    """A pattern or a claim in the list of all."""

    heading: str
    title: str
    fields: dict[str, str | None]


def _print_list(rows: Sequence[_Listed], singular: str) -> None:
    """Print the list of all, its long lines continued below their beginning."""
    from coldwarm.report.shown import PlainConsole, line

    console = PlainConsole()
    first, further = "  ", 6 * " "
    heading = None
    for row in rows:
        if row.heading != heading:
            console.print(line(row.heading, "bold"))
            heading = row.heading
        text = line(row.fields[singular], "cyan") + line(f"  {row.title}")
        for place, one in enumerate(text.wrap(console, max(1, console.width - len(further)))):
            one.rstrip()
            console.print(line(further if place else first) + one)


def _of_patterns() -> list[_Listed]:
    """Return the patterns, topic by topic."""
    from coldwarm.catalogue.spec import patterns
    from coldwarm.doctor.rules import findings_of

    def fields(spec: PatternSpec) -> dict[str, str | None]:
        named = ("topic", "framework", "title", "measures")
        fields = {name: getattr(spec, name) for name in named}
        return {"pattern": spec.id, **fields, "findings": ", ".join(findings_of(spec.id)) or None}

    every = list(patterns().values())
    topics = list(dict.fromkeys(spec.topic for spec in every))
    every.sort(key=lambda spec: topics.index(spec.topic))
    return [_Listed(one.topic.replace("_", " "), one.title, fields(one)) for one in every]


def _of_claims() -> list[_Listed]:
    """Return the claims, article by article."""
    from coldwarm.catalogue.spec import ARTICLES, claims

    def fields(spec: ClaimSpec) -> dict[str, str | None]:
        article = spec.article
        return {
            "claim": spec.id,
            "article": article.article,
            "place": article.place,
            "figure": article.figure,
            "statement": spec.title,
            "rule": spec.rule,
        }

    every = sorted(claims().values(), key=lambda spec: (spec.article.article, spec.id))
    headings = {key: f"article {key}: {title}" for key, title in ARTICLES.items()}
    return [_Listed(headings[one.article.article], one.title, fields(one)) for one in every]


@contextmanager
def _opened(path: Path, kind: Kind) -> Iterator[Stored]:
    """Give the results of a folder, of its index, of a snapshot, or of the archive of one.

    Raises:
        UsageError: there are none.
        ArchiveError: the archive is none, or holds what no snapshot has.
        ContractError: the results do not keep their contract.
    """
    from coldwarm.catalogue import stored
    from coldwarm.contracts.catalogue import INDEXES
    from coldwarm.publish.archive import unpacked

    if path.is_file() and path.name != INDEXES[kind]:
        with unpacked(path) as folder:
            yield stored.read(folder / kind, kind)
    elif (path / kind / INDEXES[kind]).is_file():
        yield stored.read(path / kind, kind)
    else:
        yield stored.read(path, kind)


def _proved(path: Path, found: Stored) -> Again:
    """Return stored results judged again; what is stored otherwise is told.

    Raises:
        UsageError: a run is not there.
        ContractError: a file does not keep its contract, or says what its observations do not say.
    """
    from coldwarm.cli._output import tell

    for error in found.held.faults:
        raise error
    tell(path, found.held.otherwise)
    return found.again


def judged(path: Path, kind: Kind) -> tuple[Results, VerdictTable]:
    """Return verdicts that follow from their evidence, and what is told of them."""
    from coldwarm.catalogue import stored
    from coldwarm.catalogue.catalogue_document import verdict_table
    from coldwarm.contracts.codec import load_as
    from coldwarm.contracts.environment import ENVIRONMENT, Environment

    found = stored.read(path, kind)
    again = _proved(path, found)
    file = found.folder / ENVIRONMENT
    environments = [run.environment for run in found.runs.values() if run.environment is not None]
    environment = load_as(Environment, file) if file.is_file() else next(iter(environments), None)
    n_otherwise = len(found.held.otherwise)
    return again.index, verdict_table(again.index, environment, again.reasons, n_otherwise)


def results_in(path: Path, stack: ExitStack) -> list[tuple[Path, Kind | None]]:
    """Return the results that a path names, those of patterns and claims with their kind.

    ``stack`` keeps what is unpacked of an archive as long as it is needed.

    Raises:
        UsageError: nothing is there, or a file that holds no results.
        ArchiveError: the archive is damaged, or holds what no snapshot has.
    """
    from coldwarm.catalogue import stored
    from coldwarm.contracts.catalogue import INDEXES
    from coldwarm.publish import layout
    from coldwarm.publish.archive import unpacked

    refuse_absent(path)
    if path.is_file() and path.suffix != ".json":
        if not is_archive(path):
            text = f"{path} is no result; name the folder of one, or a snapshot's .tar.gz"
            raise UsageError(text)
        path = stack.enter_context(unpacked(path))
    if not (path / layout.INDEX).is_file():
        return [(path, stored.kind_of(path) if path.exists() else None)]
    runs = sorted((path / layout.RESULTS).glob("*/"))
    kinds = [kind for kind in INDEXES if stored.kind_of(path / kind) is not None]
    return [*((run, None) for run in runs), *((path / kind, kind) for kind in kinds)]


def _print_results(results: Results, kind: Kind, folder: Path, form: str) -> ExitCode:
    """Print what was measured into a folder; return what the command ends with."""
    from coldwarm.catalogue import catalogue_document
    from coldwarm.contracts import codec
    from coldwarm.contracts.environment import ENVIRONMENT, Environment
    from coldwarm.report import markdown
    from coldwarm.report.shown import PlainConsole

    if form == "json":
        _options.print_record(results)
    elif form == "markdown":
        environment = codec.load_as(Environment, folder / ENVIRONMENT)
        made = catalogue_document.verdict_table(codec.without_secrets(results), environment)
        click.echo(markdown.text(made.document), nl=False)
    else:
        PlainConsole().print(catalogue_document.table(kind, results.results))
        if not is_quiet():
            say(f"Artifacts: {folder}", before="\n")
    failed = any(one.verdict == "failed" for one in results.results)
    return ExitCode.FAILED if failed else ExitCode.FINE


def _print_judged(path: Path, kind: Kind, form: str) -> ExitCode:
    """Judge stored results again, and print which verdicts are not the stored ones."""
    from coldwarm.catalogue import catalogue_document
    from coldwarm.catalogue.verdict import changed
    from coldwarm.report.shown import PlainConsole
    from coldwarm.report.verdict_table import changes

    singular = kind.removesuffix("s")
    with _opened(path, kind) as found:
        again = found.again
    before = found.index.verdicts
    differing = changed(before, again.index.verdicts)
    if form == "json":
        rows = [{singular: one.name, "stored": one.a, "judged": one.b} for one in differing]
        rows += [
            {singular: one.name, "stored": before[one.name], "judged": None}
            for one in again.not_judged
        ]
        _options.print_rows(rows)
    else:
        PlainConsole().print(catalogue_document.table(kind, again.index.results))
        _show(catalogue_document.not_judged(again.not_judged), changes(differing, singular))
    nothing = bool(before) and len(again.not_judged) == len(again.index.results)
    return ExitCode.FAILED if differing or nothing else ExitCode.FINE


def _print_pooled(paths: Sequence[Path], kind: Kind, form: str) -> ExitCode:
    """Print the verdicts of several results side by side, each judged again."""
    from coldwarm.catalogue import catalogue_document
    from coldwarm.catalogue.verdict import pooled
    from coldwarm.report.shown import PlainConsole

    known: dict[str, dict[str, str]] = {}
    for path in paths:
        with _opened(path, kind) as found:
            again = _proved(path, found)
            left = {one.name for one in again.not_judged}
            known[str(path)] = {
                name: verdict
                for name, verdict in again.index.verdicts.items()
                if verdict != "not_tested" and name not in left
            }
    rows = pooled(known)
    if form == "json":
        _options.print_rows(
            [{kind.removesuffix("s"): one.name, "verdicts": dict(one.verdicts)} for one in rows]
        )
    else:
        PlainConsole().print(catalogue_document.pooled(kind, rows, list(known)))
    return ExitCode.FINE


def _print_compared(a: Path, b: Path, kind: Kind, form: str) -> ExitCode:
    """Print which verdicts differ between two stored results, each judged again."""
    from coldwarm.catalogue import catalogue_document
    from coldwarm.catalogue.verdict import changed
    from coldwarm.report.verdict_table import changes

    singular = kind.removesuffix("s")
    with _opened(a, kind) as first, _opened(b, kind) as second:
        sides = {"a": _proved(a, first), "b": _proved(b, second)}
    differing = changed(*(one.index.verdicts for one in sides.values()))
    if form == "json":
        rows: list[dict[str, Any]] = [
            {
                singular: one.name,
                "a": one.a,
                "b": one.b,
                "not_proved": [side for side, of in sides.items() if one.name in of.reasons],
            }
            for one in differing
        ]
        _options.print_rows(rows)
    else:
        left = [
            text
            for side, again in sides.items()
            for text in catalogue_document.not_judged(again.not_judged, side.upper())
        ]
        unproved = [one.reasons for one in sides.values()]
        _show(left, changes(differing, singular, *unproved))
    return ExitCode.REGRESSION if differing else ExitCode.FINE


def _show(left: Sequence[Paragraph], changed: Sequence[Block]) -> None:
    """Print what was not judged again, and the verdicts that changed."""
    from coldwarm.report import terminal
    from coldwarm.report.document import Document
    from coldwarm.report.shown import PlainConsole, without_secrets

    terminal.show(without_secrets(Document("coldwarm", (*left, *changed))), PlainConsole())
