"""``coldwarm snapshot``: results that a stranger can verify, rerun and compare."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from coldwarm.cli import _options, _output
from coldwarm.cli._commands import CommandGroup, Measuring, with_example
from coldwarm.cli._options import say

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from coldwarm.contracts.environment import Identifying
    from coldwarm.contracts.snapshot import Replication, SnapshotMade
    from coldwarm.publish.content import Content, Snapshot, View
    from coldwarm.publish.create import Made, SnapshotRequest

_WORKFLOW = (
    *("GITHUB_WORKFLOW", "GITHUB_REPOSITORY", "GITHUB_REF", "GITHUB_SHA"),
    *("GITHUB_RUN_ID", "GITHUB_RUN_ATTEMPT"),
)
"""Variables of a workflow on GitHub that say which one made a snapshot."""
_FORMATS = {"report.html": "html", "validation_report.pdf": "pdf"}
"""The files of a snapshot that the reports render, as ``coldwarm.publish.layout`` names them."""
_LONGEST = 80
"""Characters of an id that another is made of."""
_PATH = click.Path(path_type=Path)
_KEY = click.option(
    "--public-key",
    "key",
    metavar="PUB.PEM",
    type=_PATH,
    help="The maker's public key, which you got from the maker and not in the snapshot.",
)
_IDENTITY = click.option(
    "--identity",
    metavar="NAME",
    help="Who must have signed it with sigstore: a mail address or a workflow.",
)
_ISSUER = click.option(
    "--issuer", metavar="URL", help="With --identity: the service that confirms it."
)


@click.group(
    name="snapshot",
    cls=CommandGroup,
    help=with_example(
        "Make and check results that others can verify and measure again.",
        "coldwarm snapshot verify mine-1",
    ),
)
def _command() -> None:
    """Have the commands of snapshots."""


def views(*, skip_missing: bool) -> Mapping[str, View]:
    """Return what renders each file of a snapshot that the reports do, by its path.

    Args:
        skip_missing: Whether a file is left out, and that is told, where an extra is missing; else
            that raises ``MissingError``.
    """

    def view(path: str) -> View:
        def rendered(content: Content) -> bytes | None:
            from coldwarm.installing import MissingError

            try:
                return _render(path, content)
            except MissingError as error:
                if not skip_missing:
                    raise
                say(f"coldwarm: {path} is left out: {error}", err=True)
                return None

        return rendered

    return {path: view(path) for path in _FORMATS}


def _render(path: str, content: Content) -> bytes | None:
    """Return a file; ``None``: there is nothing to show."""
    from coldwarm.catalogue.catalogue_document import verdict_table
    from coldwarm.report import formats

    results = [run.measured for run in content.runs]
    made = formats.load(_FORMATS[path])
    if made.with_verdicts is not None:
        verdicts = [
            verdict_table(one.index, one.environment, one.not_judged, one.n_otherwise)
            for one in content.verdicts
        ]
        return made.with_verdicts(results, verdicts, path)[path]
    return made.files(results, path)[path] if results else None


@_command.command(
    name="create", example="coldwarm snapshot create out/mine --id mine-1 --out mine-1"
)
@click.argument("results", metavar="RESULT...", nargs=-1, required=True, type=_PATH)
@click.option(
    "--id",
    "snapshot_id",
    required=True,
    metavar="ID",
    help="Name of the snapshot, which no other one may have.",
)
@click.option(
    "-o",
    "--out",
    required=True,
    type=_options.Output(),
    metavar="FOLDER",
    help="Folder of the snapshot, a new or an empty one.",
)
@click.option(
    "--reproducible",
    "deterministic",
    is_flag=True,
    help="Make the same bytes from the same results.",
)
@click.option("--with-wheel", is_flag=True, help="Put this coldwarm in, as a wheel.")
@click.option(
    "--with-code",
    is_flag=True,
    help="Put the functions of a bench in, and what they import from this folder.",
)
@click.option(
    "--with-data",
    "data",
    multiple=True,
    type=_PATH,
    metavar="PATH",
    help="File or folder that the functions read. Repeatable.",
)
@click.option(
    "--author",
    "authors",
    multiple=True,
    metavar="NAME",
    help="Who is to be cited as author. Repeatable.",
)
@click.option("--no-report", is_flag=True, help="Leave out the page and the PDF.")
@click.option(
    "--license", "licence", metavar="SPDX-ID", help="License of the results, such as CC-BY-4.0."
)
@click.option(
    "--index",
    "indexes",
    multiple=True,
    metavar="URL",
    help="Package index to ask, not the usual one. Repeatable.",
)
@click.option(
    "--wheels",
    "folders",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    metavar="FOLDER",
    help="Folder with wheels (.whl files) of packages that are on no index. Repeatable.",
)
@click.option(
    "--offline", is_flag=True, help="Ask no package index; then the list of packages has no hashes."
)
@click.option(
    "--registry",
    type=_PATH,
    metavar="FILE",
    help="Registry whose ids are taken. Default: snapshot_registry.json beside --out.",
)
@_options.output("json")
def _create(
    results: tuple[Path, ...],
    *,
    snapshot_id: str,
    out: Path,
    indexes: tuple[str, ...],
    folders: tuple[Path, ...],
    registry: Path | None,
    form: str,
    with_code: bool,
    data: tuple[Path, ...],
    offline: bool,
    no_report: bool,
    **given: Any,  # noqa: ANN401 - options that are handed on by name
) -> None:
    """Make a snapshot: an unchangeable folder of results with the hash of each file.

    RESULT is a folder of `coldwarm run`, `bench`, `patterns run` or `claims run`. Everything in it
    is computed and judged again; a result that is not valid is refused. Known secrets, user and
    host names and home folders are masked in every file; what else could identify a person or a
    firm is listed.
    """
    from coldwarm.contracts.codec import without_secrets
    from coldwarm.publish import code, lock
    from coldwarm.publish.collect import collect
    from coldwarm.publish.create import SnapshotRequest, create
    from coldwarm.report import snapshot

    for index in indexes:
        if not lock.is_web(index):
            raise _options.wrong("--index", "is no address that begins with https:// or http://")
    if offline and indexes:
        text = "--offline and --index exclude each other; give one of them"
        raise click.UsageError(text)
    if data and not with_code:
        text = "--with-data is of functions, which --with-code puts in; give both"
        raise click.UsageError(text)
    content = collect(results)
    request = SnapshotRequest(
        snapshot_id,
        content,
        code=code.collect(content.runs, Path.cwd(), data) if with_code else None,
        sources=None if offline else lock.Sources(indexes, folders),
        workflow={name: os.environ[name] for name in _WORKFLOW if os.environ.get(name)},
        views={} if no_report else views(skip_missing=True),
        **given,
    )
    record = _record_of(create(request, out, registry), request, out)
    if form == "json":
        _options.print_record(record)
        return
    for line in snapshot.made_lines(without_secrets(record)):
        say(line)


def _record_of(made: Made, request: SnapshotRequest, folder: Path) -> SnapshotMade:
    from coldwarm.contracts.snapshot import SnapshotMade
    from coldwarm.publish import code, layout

    return SnapshotMade(
        snapshot_id=request.snapshot_id,
        folder=str(folder),
        snapshot_index_sha256=made.index_sha256,
        n_files=len(made.files),
        n_bytes=sum(map(len, made.files.values())),
        lock=None if made.no_lock else layout.LOCK,
        without_wheel=made.not_locked,
        not_repeatable=code.not_repeatable(request.content.runs, request.code),
        masked=request.content.masked,
        identifying=list(_identifying(made, request)),
        null_reasons={"lock": made.no_lock} if made.no_lock else {},
    )


def _identifying(made: Made, request: SnapshotRequest) -> Iterator[Identifying]:
    from coldwarm.contracts.environment import Identifying
    from coldwarm.publish import layout, lock
    from coldwarm.report.privacy import left_in

    for run in request.content.runs:
        yield from left_in(run.folder, run.environment, run.cases)
    for one in request.content.verdicts:
        if one.environment is not None:
            cases = [case for run in one.runs for case in run.cases]
            yield from left_in(f"{one.kind}/**", one.environment, cases)
    hosts = lock.hosts_in(made.files.get(layout.LOCK, b"").decode())
    workflow = () if request.deterministic else request.workflow
    for field, held in (
        (f"{layout.LOCK}: packages.*.url", hosts if lock.is_set_up(request.sources) else ()),
        (f"{layout.CITATION}: authors", request.authors),
        (f"{layout.INDEX}: workflow", workflow),
    ):
        if held:
            yield Identifying(field=field, holds=", ".join(held), left_out="kept")


@_command.command("verify", example="coldwarm snapshot verify mine-1")
@click.argument("folder", metavar="SNAPSHOT", type=_PATH)
@_KEY
@_IDENTITY
@_ISSUER
@click.option("--strict", is_flag=True, help="Exit 3 if anything is only hashed, and not proved.")
@_options.output("json")
def _verify(
    folder: Path,
    *,
    key: Path | None,
    identity: str | None,
    issuer: str | None,
    strict: bool,
    form: str,
) -> int:
    """Check that a snapshot is whole and says what was measured.

    SNAPSHOT is its folder or its archive. Each file must have the hash that the index says. Proved
    is what is made again from the raw samples here, and is the same: figures, verdicts, the page.
    Only hashed is what nothing but its hash confirms, and whoever changes a file can change its
    hash: raw samples, machine, authors, code. --public-key or --identity then say who made it.
    Nothing in it is executed. The exit status is 3, 5 or 6 where something is wrong.
    """
    from coldwarm.contracts.reasons import because
    from coldwarm.errors import ExitCode
    from coldwarm.publish import signing
    from coldwarm.publish.archive import is_packed_here, unpacked
    from coldwarm.publish.verify import exit_code, verify
    from coldwarm.report import snapshot

    signer = signing.signer(identity, issuer)
    with unpacked(folder) as place:
        verified = verify(place, key, signer, views=views(skip_missing=False))
        if not verified.faults and not folder.is_dir() and not is_packed_here(folder, place):
            verified.not_made[folder.name] = because("packed_otherwise")
        found = verified.told(folder)
    if form == "json":
        _options.print_record(found)
    else:
        for line in snapshot.verified_lines(found):
            say(line, err=not found.holds)
    return ExitCode.FAILED if strict and found.holds and not found.proved else exit_code(found)


@_command.command("sign", example="coldwarm snapshot sign mine-1 --key key.pem")
@click.argument("folder", metavar="SNAPSHOT", type=_PATH)
@click.option(
    "--key",
    metavar="KEY.PEM",
    type=_PATH,
    help="Private key; openssl genpkey -algorithm ed25519 -out key.pem makes one.",
)
@click.option(
    "--keyless",
    is_flag=True,
    help="Sign with sigstore by the identity of this CI workflow.",
)
def _sign(folder: Path, key: Path | None, *, keyless: bool) -> None:
    """Sign a snapshot with your key or your identity.

    SNAPSHOT is its folder. The signature, `snapshot_index.json.sig`, and the public key are written
    into it. The index has the hash of every file, so the signature holds for all of them. A
    snapshot that does not verify is not signed.
    """
    from coldwarm.publish import layout, signing
    from coldwarm.publish.verify import require

    if (key is None) != keyless:
        text = "give --key KEY.PEM, or --keyless to sign by an identity"
        raise click.UsageError(text)
    require(folder, folder, unsigned=True)
    if key is None:
        said, names = f"as {signing.sign_keyless(folder)}", [layout.BUNDLE]
    else:
        said = f"with the key SHA-256 {signing.sign(folder, key)}"
        names = [layout.SIGNATURE, layout.PUBLIC_KEY]
    for text in (f"Signed {said}", *(f"  {folder / name}" for name in names)):
        say(text)


@_command.command("compare", example="coldwarm snapshot compare mine-1 mine-2")
@click.argument("a", metavar="SNAPSHOT_A", type=_PATH)
@click.argument("b", metavar="SNAPSHOT_B", type=_PATH)
@_options.output(*_output.EVERY_FORM)
def _compare(a: Path, b: Path, form: str) -> None:
    """Compare snapshot B with snapshot A: inputs, environment, checks and timings.

    Both are folders or archives, and are verified first. For patterns and claims, the verdicts that
    changed are listed. Timings get verdicts as in `coldwarm compare`, whatever else differs; that
    is listed before them.
    """
    from contextlib import ExitStack

    from coldwarm.cli import _output
    from coldwarm.publish.archive import unpacked
    from coldwarm.publish.snapshot_comparison import compare_snapshots
    from coldwarm.publish.verify import require
    from coldwarm.report import snapshot

    with ExitStack() as stack:
        sides = [require(stack.enter_context(unpacked(path)), path) for path in (a, b)]
        for path, side in zip((a, b), sides, strict=True):
            for name, run in side.runs.items():
                _output.tell(f"{path}: {name}", run.otherwise)
        found = compare_snapshots(*sides)
    _output.emit(form, found, lambda: snapshot.comparison(found))


@_command.command(
    "replicate",
    cls=Measuring,
    example="coldwarm snapshot replicate mine-1 --out again --public-key pub.pem",
)
@click.argument("folder", metavar="SNAPSHOT", type=_PATH)
@click.option(
    "-o",
    "--out",
    required=True,
    type=_options.Output(),
    metavar="FOLDER",
    help="Folder of the replica, a new or an empty one.",
)
@_KEY
@_IDENTITY
@_ISSUER
@click.option(
    "--trust",
    is_flag=True,
    help="Run the code of the snapshot though nothing proves who made it.",
)
@click.option(
    "--python",
    metavar="PATH",
    help="Python of the new environment. Default: one of the version that measured.",
)
@click.option(
    "--as-it-is",
    is_flag=True,
    help="Measure with the packages that are installed here; install nothing.",
)
@click.option(
    "--with-its-wheel",
    "with_wheel",
    is_flag=True,
    help="Run the coldwarm that is in the snapshot, which its maker may have changed.",
)
@click.option(
    "--noise",
    "noises",
    multiple=True,
    type=_PATH,
    metavar="FILE",
    help="Report of `coldwarm noise`. Default: those in out/ that are of this machine.",
)
@click.option("--keep-environment", is_flag=True, help="Keep the new environment afterwards.")
@click.option(
    "--time-budget",
    "budget_s",
    type=_options.Duration(),
    metavar="TIME",
    help="Time for each run, such as 90s or 4m. Default: that of the original.",
)
@_options.output(*_output.EVERY_FORM)
def _replicate(
    folder: Path,
    *,
    out: Path,
    key: Path | None,
    identity: str | None,
    issuer: str | None,
    noises: tuple[Path, ...],
    form: str,
    **given: Any,  # noqa: ANN401 - options that are handed on by name
) -> int:
    """Measure a snapshot again, and say case by case whether the figures agree.

    Replicating runs code that the maker of the snapshot has chosen. Nothing of the maker is
    installed or run without --public-key, --identity or --trust.

    SNAPSHOT is its folder or its archive; it is verified first. A new virtual environment gets the
    packages that were measured (only wheels, checked by their hashes) and coldwarm. With --as-it-is
    nothing is installed, and the Python that runs this command measures. Then each run is repeated
    with its own options. On the machine of the original, times must agree within their intervals;
    on another one, ratios to the baseline. Patterns and claims are left out: `coldwarm patterns
    run` and `coldwarm claims run` measure those again. The exit status is 1 where a case disagrees.
    """
    from coldwarm.errors import ExitCode
    from coldwarm.publish import replicate, signing
    from coldwarm.publish.archive import unpacked
    from coldwarm.publish.verify import require
    from coldwarm.report import snapshot
    from coldwarm.runner import recompute

    if given["as_it_is"] and (given["python"] or given["with_wheel"]):
        text = "--as-it-is makes no environment; leave out --python and --with-its-wheel"
        raise click.UsageError(text)
    signer = signing.signer(identity, issuer)
    with unpacked(folder) as place:
        verified = require(place, folder, key, signer)
        if verified.verdicts:
            _leave_out_verdicts(folder, has_runs=bool(verified.runs))
        reports = recompute.read_noise(noises or None, ())
        request = replicate.ReplicationRequest(verified, out, noise=reports, **given)
        report = replicate.repeat(request, _tell)
        _publish(out, verified, report)
    _output.emit(form, report, lambda: snapshot.replication(report))
    if form == "text":
        say(f"Report: {out / replicate.REPORT}", before="\n")
    if report.n_disagree or report.n_lost:
        return ExitCode.REGRESSION
    return ExitCode.FINE if report.n_agree else ExitCode.NOTHING_VALID


def _tell(text: str) -> None:
    say(f"coldwarm: {text}", err=True)


def _leave_out_verdicts(folder: Path, *, has_runs: bool) -> None:
    """Say that patterns and claims are not repeated, which other commands measure.

    Raises:
        UsageError: there is nothing else.
    """
    others = "coldwarm patterns run and coldwarm claims run measure those again"
    if not has_runs:
        text = f"{folder} holds patterns or claims and no run of a suite, so nothing is repeated"
        raise click.UsageError(f"{text}; {others}")
    _tell(f"its patterns and claims are left out: {others}")


def _publish(out_dir: Path, original: Snapshot, report: Replication) -> None:
    """Make a snapshot of the replica, and the published report that names both."""
    from coldwarm.contracts import codec
    from coldwarm.contracts.snapshot import SnapshotIndex
    from coldwarm.publish import layout, replicate
    from coldwarm.publish.collect import collect
    from coldwarm.publish.create import SnapshotRequest, create
    from coldwarm.publish.snapshot_comparison import published_report
    from coldwarm.publish.storage import replace_file

    content = collect([out_dir / replicate.RUNS / run.name for run in report.runs])
    name = f"{report.original.snapshot_id[:_LONGEST]}-replica"
    made = create(SnapshotRequest(name, content, sources=None), out_dir / "snapshot")
    replica = codec.decode_as(SnapshotIndex, made.files[layout.INDEX])
    published = published_report(original, replica, made.index_sha256, report)
    replace_file(out_dir / layout.PUBLISHED / replicate.REPORT, codec.encode(published))


@_command.command(name="package", example="coldwarm snapshot package mine-1")
@click.argument("directory", metavar="SNAPSHOT", type=_PATH)
@click.option(
    "-o",
    "--out",
    type=_options.Output(),
    metavar="FILE",
    help="Archive to write. Default: ID.tar.gz beside SNAPSHOT.",
)
@_options.output("json")
def _package(directory: Path, out: Path | None, form: str) -> None:
    """Pack a snapshot into an archive with its digest beside it.

    SNAPSHOT is its folder. The bytes are the same each time. Only the files that its index names go
    in; a file that is missing, changed or added is refused.
    """
    from coldwarm.contracts.codec import without_secrets
    from coldwarm.publish.archive import package
    from coldwarm.report import snapshot

    record = package(directory, out)
    if form == "json":
        _options.print_record(record)
        return
    for line in snapshot.packed_lines(without_secrets(record)):
        say(line)


@_command.group(
    name="registry",
    help=with_example(
        "List many snapshots in one file, each id once, with their hashes.",
        "coldwarm snapshot registry add mine-1",
    ),
)
def _registry() -> None:
    """Have the commands of registries."""


@_registry.command(name="add", example="coldwarm snapshot registry add mine-1 mine-2")
@click.argument("directories", metavar="SNAPSHOT...", nargs=-1, required=True, type=_PATH)
@click.option(
    "--registry",
    type=_PATH,
    metavar="FILE",
    help="File of the registry. Default: snapshot_registry.json beside SNAPSHOT.",
)
@click.option(
    "--link",
    "links",
    multiple=True,
    metavar="NAME=URL",
    help="Where something of it is published, such as archive=https://... Repeatable.",
)
def _add(directories: tuple[Path, ...], registry: Path | None, links: tuple[str, ...]) -> None:
    """Add snapshots, by the hashes of their index and manifest.

    SNAPSHOT is its folder. A registry has each id once: a snapshot whose id is already there with
    other content is refused.
    """
    from coldwarm.publish import create

    named = dict(_link(text) for text in links)
    for folder in directories:
        path = registry or create.registry_beside(folder)
        entry = create.register(folder, path, named)
        sha256 = entry.artifacts.snapshot_index_sha256
        say(f"{entry.snapshot_id}: {sha256} in {path}")


@_registry.command(name="list", example="coldwarm snapshot registry list")
@click.option(
    "--registry",
    type=_PATH,
    default=Path("snapshot_registry.json"),
    metavar="FILE",
    show_default=True,
    help="File of the registry.",
)
@_options.output("json")
def _list(registry: Path, form: str) -> None:
    """List the snapshots of a registry, the oldest first."""
    from coldwarm.publish.create import load_registry
    from coldwarm.report import snapshot

    record = load_registry(registry)
    if form == "json":
        _options.print_record(record)
        return
    for line in snapshot.registry_lines(record):
        say(line)


def _link(given: str) -> tuple[str, str]:
    name, equals, url = given.partition("=")
    if not equals or not name or not url.startswith(("https://", "http://")):
        raise _options.wrong("--link", f"{given!r:.60}: write NAME=https://…")
    return name, url
