"""``coldwarm claims``: what articles say, put to the test here and now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.cli._catalogue import Help, group

if TYPE_CHECKING:
    from pathlib import Path

    from coldwarm.runner.functions.targets import Request
    from coldwarm.runner.suite import Outcome


def _bench(what: Request, folder: Path) -> Outcome:
    """Measure candidates; loaded when it is needed."""
    from coldwarm.runner.functions import bench

    return bench.run(what, folder)


_command = group(
    "claims",
    Help(
        group="Check on this machine what articles say about compilers.",
        listed="List the claims by article, each with its id.",
        shown="Show a claim: what is said, how it is measured and judged, and its code.",
        run="Check claims: all, or those with these ids (`claims list`).",
        example="pmap-recipe-works",
    ),
    _bench,
)
