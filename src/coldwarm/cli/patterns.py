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
        group="Check advice for fast code: measure code with and without it.",
        listed="List the patterns by topic, each with its id.",
        shown="Show a pattern: its code with and without the advice, why, and when it is wrong.",
        run="Measure patterns: all, or those with these ids (`patterns list`).",
        example="key-reuse",
    ),
    _bench,
)
