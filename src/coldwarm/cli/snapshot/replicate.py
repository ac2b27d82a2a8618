"""``coldwarm snapshot replicate``: a snapshot, measured again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from coldwarm.cli import _options
from coldwarm.cli._commands import Measuring

if TYPE_CHECKING:
    from coldwarm.contracts.replication import RebuiltEnvironment, RepeatedRun
    from coldwarm.publish.verifying.whole import Verified


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
    help="The key of its maker: the snapshot must be signed with it.",
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
@click.option("--keep-environment", is_flag=True, help="Keep the virtual environment afterwards.")
@click.option("--time-budget", type=_options.Duration(), help="For each run, in place of its own.")
@_options.output("json", note=" JSON: the report.")
def command(**given: Any) -> int:  # noqa: ANN401 - options come by name
    """Measure the snapshot in DIR again, and say case by case whether the figures agree.

    The snapshot is verified. A fresh virtual environment gets the distributions of its lock, by
    their hashes and as wheels alone, and the coldwarm that measured; then each suite is run by the
    options that it was run with. On the machine of the original, seconds must agree within the
    stated intervals; on another one, the ratios to the baseline.

    Exit status: 0 no case disagrees, 1 one does, or gave no valid answer, 2 it cannot be repeated
    here, 4 nothing could be told; 3, 5 and 6 as of `coldwarm snapshot verify`.
    """
