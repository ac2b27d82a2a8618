"""``coldwarm validate``: whether artifacts keep their contracts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from coldwarm.cli import _options

if TYPE_CHECKING:
    from coldwarm.contracts.reader import ArtifactFinding


@click.command(name="validate")
@click.argument(
    "paths", metavar="PATH...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
@_options.output("json", note=" JSON: a list of the artifacts, with what is wrong.")
@click.pass_context
def _command(context: click.Context, paths: tuple[Path, ...], form: str) -> None:
    """Check artifacts: files, folders of a run, or any folder with artifacts in it.

    A file is recognised by its schema_version. In the folder of a run, hashes and indexes
    must agree with the files as well, and everything that was computed must come out the same
    again. One line is printed for each artifact: that it is fine, or path, line and field of each
    fault. Where it says that another version of coldwarm measured it, what today's rules make
    otherwise is called not proved.

    Exit status: 0 no fault, 3 a fault was found, 2 a PATH does not exist.
    """
    from coldwarm.cli._options import say
    from coldwarm.errors import ExitCode, UsageError
    from coldwarm.runner.recompute import validated

    missing = ", ".join(str(path) for path in paths if not path.exists())
    if missing:
        message = f"{missing}: no such file or folder; name an artifact or a run's folder"
        raise UsageError(message)
    findings = []
    for path in paths:
        for finding in validated(path):
            findings.append(finding)
            if form != "json":
                say(_line(finding))
    if form == "json":
        _options.print_rows([_row(finding) for finding in findings])
    if any(finding.fault is not None for finding in findings):
        context.exit(ExitCode.FAILED)


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
