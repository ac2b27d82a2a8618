"""``coldwarm patterns``: every DO measured against its DON'T, here and now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.cli._catalogue import Help, group

if TYPE_CHECKING:
    from pathlib import Path

    from coldwarm.runner.functions.targets import Request
    from coldwarm.runner.suite import Outcome


def _bench(what: Request, folder: Path) -> Outcome:
    """Measure both sides; loaded when it is needed."""
    from coldwarm.runner.functions import bench

    return bench.run(what, folder)


_command = group(
    "patterns",
    Help(
        group="List, show and measure patterns: what to do and what not; judge them again,"
        " compare two.",
        listed="List the patterns, topic by topic.",
        shown="Show one pattern: its code, why it matters, when it does not, and what was"
        " measured.",
        run="Measure patterns, all or those named, and end in one table.",
        failed="a pattern could not be measured",
    ),
    _bench,
)
