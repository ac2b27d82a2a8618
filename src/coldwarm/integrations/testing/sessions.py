"""The end of a session in which something was measured: a summary, a file, a comparison."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coldwarm.contracts.codec import without_secrets
from coldwarm.contracts.policy import Policy
from coldwarm.contracts.result import Measured
from coldwarm.errors import ColdwarmError, ListedError, UsageError
from coldwarm.integrations import opening, telling
from coldwarm.integrations.foreign import pyperf
from coldwarm.integrations.foreign.document import Opened
from coldwarm.integrations.testing import limits
from coldwarm.integrations.testing.kept import document
from coldwarm.report import compare, terminal
from coldwarm.runner.machine import environment
from coldwarm.stats.compare.results import IncomparableError, compare_results

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coldwarm.contracts.result import Benchmarks
    from coldwarm.integrations.testing.kept import Kept

TITLE = "coldwarm: measured"
_NOW = "this session"


def base(path: str) -> Benchmarks:
    """Read what a session is to be compared with.

    Raises:
        UsageError: there is nothing.
        ContractError: it is broken, or of a kind that is not read.
    """
    found = opening.read(Path(path))
    if isinstance(found, Measured):
        return limits.by_target(opening.of_run(found), found)
    return found


def refuse_place(path: str) -> None:
    """Refuse a file that cannot be written, before anything is measured.

    Raises:
        UsageError: it cannot.
    """
    place = Path(path)
    if place.is_dir():
        raise UsageError(f"--coldwarm-save {path} is a folder; name a file, such as base.json")
    if not place.absolute().parent.is_dir():
        raise UsageError(f"--coldwarm-save {path}: its folder is not there; make it first")


def lines(kept: Kept, width: int, *, save: str | None, against: Benchmarks | None) -> Iterator[str]:
    """Write the file; yield what is printed at the end."""
    for test, line in kept.lines:
        yield f"{test}: {line}"
    if not kept.benchmarks:
        if save is not None or against is not None:
            yield (
                "no test has measured anything, so there is nothing to save or to compare: a test"
                " measures by the fixture `coldwarm`, coldwarm.warm(f, x) or coldwarm.assert_ttfr"
            )
        return
    made = document(kept, environment.collect())
    if against is not None:
        yield from _compared(against, made, save or _NOW, width)
    if save is not None:
        yield _saved(made, Path(save))


def _saved(made: dict[str, Any], path: Path) -> str:
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(telling.json_bytes(made))
        part.replace(path)
    except OSError as error:
        return f"--coldwarm-save {path}: not written: {error.strerror}"
    return f"saved in {path}; to compare: coldwarm compare {path} OTHER"


def _compared(against: Benchmarks, made: dict[str, Any], name: str, width: int) -> Iterator[str]:
    try:
        now = pyperf.benchmarks(Opened(name, "", made))
        found = compare_results([against], [now], Policy())
    except IncomparableError as error:
        yield from ListedError(compare.refused(error)).lines
        return
    except ColdwarmError as error:
        yield from error.lines
        return
    said = compare.document(without_secrets(found), everything=True)
    yield from terminal.text(said, width).splitlines()
