"""``coldwarm snapshot create``: results as files that a stranger can check."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from coldwarm.cli import _options
from coldwarm.cli._options import say
from coldwarm.cli.snapshot import _views

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coldwarm.contracts.environment import Identifying
    from coldwarm.contracts.snapshot import SnapshotMade
    from coldwarm.publish.create import Made, Request
    from coldwarm.publish.runs import Collected

_WORKFLOW = (
    *("GITHUB_WORKFLOW", "GITHUB_REPOSITORY", "GITHUB_REF", "GITHUB_SHA"),
    *("GITHUB_RUN_ID", "GITHUB_RUN_ATTEMPT"),
)
"""Variables of a workflow on GitHub that say which one made a snapshot."""


@click.command(name="create")
@click.argument(
    "results", metavar="RESULT...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
@click.option("--id", "snapshot_id", required=True, metavar="ID", help="Its name, for good.")
@click.option(
    "--out-dir",
    required=True,
    type=click.Path(path_type=Path),
    help="The folder of the snapshot: a new or an empty one.",
)
@click.option(
    "--deterministic",
    is_flag=True,
    help="The same bytes from the same results: dated as they are, no workflow told.",
)
@click.option(
    "--with-wheel", is_flag=True, help="Put the wheel of this coldwarm in, and into the lock."
)
@click.option(
    "--with-code",
    is_flag=True,
    help="Put the functions of a bench in, with what they import from this folder, so that others "
    "can measure them again. Run it in the folder that the bench ran in.",
)
@click.option(
    "--with-data",
    "data",
    multiple=True,
    type=click.Path(path_type=Path),
    help="A file or folder below this one that the functions read; may be repeated.",
)
@click.option(
    "--author",
    "authors",
    multiple=True,
    metavar="NAME",
    help="Who is to be cited; may be repeated. Without, nobody is named.",
)
@click.option("--no-report", is_flag=True, help="Leave out report.html and validation_report.pdf.")
@click.option("--license", "licence", metavar="SPDX", help="Such as CC-BY-4.0; none is assumed.")
@click.option(
    "--index",
    "indexes",
    multiple=True,
    metavar="URL",
    help="Package index that pip asks for the hashes of wheels in place of its main one; may be "
    "repeated.",
)
@click.option(
    "--wheels",
    "folders",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Folder with wheels that no index has; may be repeated.",
)
@click.option("--offline", is_flag=True, help="Ask no index: no pylock.toml, only versions.")
@click.option(
    "--registry",
    type=click.Path(path_type=Path),
    help="Registry whose ids are taken; default the one beside the folder.",
)
@_options.output("json")
def command(
    results: tuple[Path, ...],
    *,
    snapshot_id: str,
    out_dir: Path,
    authors: tuple[str, ...],
    licence: str | None,
    indexes: tuple[str, ...],
    folders: tuple[Path, ...],
    registry: Path | None,
    form: str,
    deterministic: bool,
    with_wheel: bool,
    with_code: bool,
    data: tuple[Path, ...],
    offline: bool,
    no_report: bool,
) -> None:
    """Make a snapshot of finished runs: an immutable folder with the hash of every file.

    RESULT is what `coldwarm run`, `bench`, `patterns run` or `claims run` wrote to. Everything in
    it is computed and judged again, and nothing is made of results that are not valid. Secrets,
    user and host names and home folders are in no file; what else could identify a person or a firm
    is listed.

    Exit status: 0 made, 2 the id or the folder is taken, 3 a result is not valid.
    """
    from coldwarm.publish import code, packages
    from coldwarm.publish.create import Request, create

    for index in indexes:
        if not packages.is_web(index):
            raise _options.wrong("--index", "is no address that begins with https:// or http://")
    if offline and indexes:
        text = "--offline and --index exclude each other; give one of them"
        raise click.UsageError(text)
    if data and not with_code:
        text = "--with-data is of functions, which --with-code puts in; give both"
        raise click.UsageError(text)
    found = _collected(results)
    request = Request(
        snapshot_id=snapshot_id,
        results=found,
        code=code.collect(found.content.runs, Path.cwd(), data) if with_code else None,
        deterministic=deterministic,
        with_wheel=with_wheel,
        sources=None if offline else packages.Sources(indexes, folders),
        authors=authors,
        licence=licence,
        workflow={name: os.environ[name] for name in _WORKFLOW if os.environ.get(name)},
        views={} if no_report else _views.available(),
    )
    made = create(request, out_dir, registry)
    told = _told(made, request, out_dir)
    if form == "json":
        _options.print_record(told)
    else:
        _print(told)


def _collected(paths: Sequence[Path]) -> Collected:
    """Return the runs in folders, and the patterns and claims."""
    from coldwarm.catalogue.stored import kind_of
    from coldwarm.publish import contents

    judged = [path for path in paths if kind_of(path) is not None]
    runs = contents.collect_runs([path for path in paths if path not in judged])
    verdicts, masked = contents.collect_verdicts(judged)
    content = runs.content._replace(verdicts=verdicts)
    return runs._replace(content=content, masked=runs.masked + masked)


def _told(made: Made, request: Request, folder: Path) -> SnapshotMade:
    from coldwarm.contracts.snapshot import SnapshotMade
    from coldwarm.publish import layout

    return SnapshotMade(
        snapshot_id=made.snapshot_id,
        folder=str(folder),
        snapshot_index_sha256=made.index_sha256,
        n_files=len(made.files),
        n_bytes=sum(map(len, made.files.values())),
        lock=None if made.no_lock else layout.LOCK,
        without_wheel=made.not_locked,
        not_repeatable=made.not_repeatable,
        masked=made.masked,
        identifying=list(_identifying(made, request)),
        null_reasons={"lock": made.no_lock} if made.no_lock else {},
    )


def _identifying(made: Made, request: Request) -> Iterator[Identifying]:
    from coldwarm.contracts.environment import Identifying
    from coldwarm.publish import layout, packages
    from coldwarm.report.identifying import left_in

    for run in made.content.runs:
        yield from left_in(run.folder, run.environment, run.cases)
    for one in made.content.verdicts:
        if one.environment is not None:
            cases = [case for run in one.runs for case in run.cases]
            yield from left_in(f"{one.kind}/**", one.environment, cases)
    hosts = packages.hosts(made.files.get(layout.LOCK, b"").decode())
    if hosts and packages.is_set_up(request.sources):
        holds = ", ".join(hosts)
        yield Identifying(field=f"{layout.LOCK}: packages.*.url", holds=holds, left_out="kept")
    if request.authors:
        authors = ", ".join(request.authors)
        yield Identifying(field=f"{layout.CITATION}: authors", holds=authors, left_out="kept")
    if request.workflow and not request.deterministic:
        holds = ", ".join(request.workflow)
        yield Identifying(field=f"{layout.INDEX}: workflow", holds=holds, left_out="kept")


def _print(told: SnapshotMade) -> None:
    from coldwarm.contracts.codec import without_secrets
    from coldwarm.report import snapshot

    for line in snapshot.lines(without_secrets(told)):
        say(line)
