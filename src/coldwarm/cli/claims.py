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
        group="List, show and test claims, judge stored results again, and compare two.",
        listed="List the claims by the article that they are from.",
        shown="Show one claim: the statement, the protocol, the rule, the code, and what was"
        " measured.",
        run="Test claims, all or those named, and end in one table.",
        failed="a claim could not be tested for an error",
    ),
    _bench,
)
