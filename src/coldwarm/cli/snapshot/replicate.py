"""``coldwarm snapshot replicate``: a snapshot, measured again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from coldwarm.cli import _options, _output
from coldwarm.cli._commands import Measuring
from coldwarm.cli._options import say

if TYPE_CHECKING:
    from coldwarm.contracts.snapshot import Replication, SnapshotIndex

_LONGEST = 80
"""Characters of an id that another is made of."""


@click.command("replicate", cls=Measuring)
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--out-dir",
    required=True,
    type=click.Path(path_type=Path),
    help="For the replica and replication_report.json: a new or an empty folder.",
)
@click.option(
    "--public-key",
    "key",
    metavar="PUB.PEM",
    type=click.Path(path_type=Path),
    help="The key of its maker, from elsewhere than the snapshot: it must be signed with it.",
)
@click.option("--identity", metavar="NAME", help="Who must have signed it through sigstore.")
@click.option("--issuer", metavar="URL", help="Who vouches for that identity.")
@click.option(
    "--trust",
    is_flag=True,
    help="Run what its maker has chosen though nothing says who that is.",
)
@click.option("--python", metavar="PROGRAM", help="The interpreter that the environment is of.")
@click.option(
    "--as-it-is",
    is_flag=True,
    help="Measure in the environment that runs this, and install nothing.",
)
@click.option(
    "--with-its-wheel",
    is_flag=True,
    help="Run the coldwarm that lies in the snapshot, which is code of its maker.",
)
@click.option(
    "--noise",
    "noises",
    multiple=True,
    type=click.Path(path_type=Path),
    help="A report that `coldwarm noise` has kept. Default: those of this machine in out.",
)
@click.option("--keep-environment", is_flag=True, help="Keep the virtual environment afterwards.")
@click.option("--time-budget", type=_options.Duration(), help="For each run, in place of its own.")
@_options.output(*_output.EVERY_FORM, note=f" JSON: the report.{_output.NOTE}")
def command(**given: Any) -> int:  # noqa: ANN401 - options come by name
    """Measure the snapshot in DIR again, and say case by case whether the figures agree.

    **Replicating runs code that the maker of the snapshot has chosen.** Nothing is installed or run
    without --public-key, --identity or --trust; its names are shown first.

    The snapshot is verified. A fresh virtual environment gets what coldwarm and the measured
    backends need of the distributions of its lock, by their hashes and as wheels alone, and the
    coldwarm that measured; then each suite is run by the options that it was run with. On the
    machine of the original, seconds must agree within the stated intervals; on another one, the
    ratios to the baseline. Patterns and claims are left out:
    `coldwarm patterns run` and `coldwarm claims run` measure those again.

    Exit status: 0 no case disagrees, 1 one does, or gave no valid answer, 2 it cannot be repeated
    here, 4 nothing could be told; 3, 5 and 6 as of `coldwarm snapshot verify`.
    """
    from coldwarm.errors import ExitCode
    from coldwarm.publish import compare, replicate, signing, verify
    from coldwarm.publish.unpacking import unpacked
    from coldwarm.report import checked
    from coldwarm.runner import recompute

    if given["as_it_is"] and (given["python"] or given["with_its_wheel"]):
        text = "--as-it-is makes no environment; leave out --python and --with-its-wheel"
        raise click.UsageError(text)
    signer = signing.signer(given["identity"], given["issuer"])
    with unpacked(given["folder"]) as folder:
        verified = verify.require(folder, given["folder"], given["key"], signer)
        index, sha256, runs = verified.content()
        if verified.judged:
            _leave_out_verdicts(given["folder"], has_runs=bool(runs))
        request = replicate.Request(
            folder=folder,
            name=compare.named(index, sha256),
            trusted=bool(given["trust"] or given["key"] or signer),
            signed_by=verified.signature.key_sha256 if given["key"] else None,
            runs=runs,
            out_dir=given["out_dir"],
            python=given["python"],
            as_it_is=given["as_it_is"],
            with_wheel=given["with_its_wheel"],
            keep_environment=given["keep_environment"],
            noise=recompute.read_noise(given["noises"] or None, ()),
            budget_s=given["time_budget"],
        )
        report = replicate.repeat(request, _tell)
        _publish(given["out_dir"], index, sha256, report)
    _output.emit(given["form"], report, lambda: checked.replication(report))
    if given["form"] == "table":
        say(f"Report: {given['out_dir'] / replicate.REPORT}", before="\n")
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


def _publish(out_dir: Path, index: SnapshotIndex, sha256: str, report: Replication) -> None:
    """Make a snapshot of the replica, and the published report that names both."""
    from coldwarm.contracts import codec
    from coldwarm.publish import compare, layout, replicate
    from coldwarm.publish.contents import collect_runs as collect
    from coldwarm.publish.create import Request, create
    from coldwarm.publish.writing import replace_file

    runs = collect([out_dir / replicate.RUNS / run.name for run in report.runs])
    named = f"{index.snapshot_id[:_LONGEST]}-replica"
    made = create(Request(snapshot_id=named, results=runs, sources=None), out_dir / "snapshot")
    replica = codec.decode_as(type(index), made.files[layout.INDEX])
    published = compare.published(index, sha256, replica, made.index_sha256, report)
    path = out_dir / layout.PUBLISHED / replicate.REPORT
    replace_file(path, codec.encode(published))
