"""``coldwarm snapshot``: results that a stranger can verify, rerun and compare.

Each of its commands is a file in this folder that defines ``command``.
"""

from __future__ import annotations

import rich_click as click

from coldwarm.cli._groups import Commands


class _SnapshotCommands(Commands):
    """The commands of this folder."""

    package = __name__


@click.command(name="snapshot", cls=_SnapshotCommands)
def command() -> None:
    """Make, check and share snapshots: immutable sets of results with hashes and signatures."""
