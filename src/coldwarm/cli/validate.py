"""``coldwarm validate``: whether artifacts keep their contracts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import rich_click as click

from coldwarm.cli import _options
from coldwarm.cli._commands import Command

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from coldwarm.contracts.reader import ArtifactFinding


@click.command("validate", cls=Command, example="coldwarm validate out/mine")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=_options.Input())
@_options.output("json")
@click.pass_context
def _command(context: click.Context, paths: tuple[Path, ...], form: str) -> None:
    """Check files of coldwarm: their format, hashes and figures.

    PATH is a file, the folder of a result, a snapshot (packed or not), or any folder with such
    files. Each file must have the fields of its JSON Schema. In the folder of a result, each hash
    must be right, and all figures are computed again and must be the same. One line is printed for
    each file.
    """
    from coldwarm.cli._options import say
    from coldwarm.errors import ExitCode, UsageError

    missing = ", ".join(str(path) for path in paths if not path.exists())
    if missing:
        message = f"{missing}: no such file or folder; name a file of coldwarm, or its folder"
        raise UsageError(message)
    findings = []
    for path in paths:
        for finding in _found(path):
            findings.append(finding)
            if form != "json":
                say(_line(finding))
    if form == "json":
        _options.print_rows([_row(finding) for finding in findings])
    if any(finding.fault is not None for finding in findings):
        context.exit(ExitCode.FAILED)


def _found(path: Path) -> Iterator[ArtifactFinding]:
    """Yield the state of each artifact in a place, which may be the archive of a snapshot."""
    from coldwarm.cli._results import is_archive
    from coldwarm.publish.archive import unpacked
    from coldwarm.runner.recompute import validated

    if not is_archive(path):
        yield from map(_computed_again, validated(path))
        return
    with unpacked(path) as folder:
        yield from validated(folder)


def _computed_again(finding: ArtifactFinding) -> ArtifactFinding:
    """Hold the figures of programs against their starts, as ``validated`` does those of a run."""
    from pathlib import Path

    from coldwarm.commands import result
    from coldwarm.errors import ContractError

    if finding.fault is not None or not result.is_one(finding.contract):
        return finding
    try:
        result.read(Path(finding.path))
    except ContractError as error:
        return finding._replace(fault=str(error), error=error)
    return finding


def _row(finding: ArtifactFinding) -> dict[str, object]:
    row = {name: value for name, value in finding._asdict().items() if name != "error"}
    return {**row, "otherwise": [str(one) for one in finding.otherwise]}


def _line(finding: ArtifactFinding) -> str:
    if finding.fault is not None:
        return finding.fault
    note = f" ({finding.note})" if finding.note else ""
    if finding.otherwise:
        first, n_values = finding.otherwise[0], len(finding.otherwise)
        told = (
            f"{n_values} value{'s' * (n_values > 1)} not proved, as today's rules make other ones"
        )
        where = f"{first.field}: " if first.field else ""
        return f"{finding.path}: NOT PROVED {finding.contract}: {told}: {where}{first.what}"
    return f"{finding.path}: OK {finding.contract}{note}"
