"""The interface of a format: a module of this folder, named as ``--format`` names it.

It defines::

    SUFFIX = ".html"   # of the one file; "" where it writes several into a folder

    def files(results: Sequence[Measured], name: str) -> dict[str, bytes]:
        ...

A format may also define ``begin()``, which is called before results are read,
``compared(comparison, sides, name)`` for what changed from one result to another, and
``with_verdicts(results, verdicts, name)`` for results with verdicts on patterns and claims, or for
these alone.

``files`` returns what to write: of one file under ``name``, of several under their names in the
folder. It reads nothing and writes nothing. Results are as ``runner.recompute`` returns them.
What only an extra brings is imported inside ``files``, by ``coldwarm.installing.require``.
"""

from __future__ import annotations

import pkgutil
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.contracts.result import Measured


class Format(Protocol):
    """A module of this folder."""

    SUFFIX: str

    @staticmethod
    def files(results: Sequence[Measured], name: str) -> dict[str, bytes]:
        """Return the files of a report by their names."""


def names() -> list[str]:
    """Return the formats that there are."""
    found = (info.name for info in pkgutil.iter_modules([str(Path(__file__).parent)]))
    return sorted(name for name in found if name != "base")


def load(name: str) -> Format:
    """Return a format.

    Raises:
        ImportError: there is none of this name.
    """
    module: Any = import_module(f"coldwarm.report.formats.{name}")
    made: Format = module
    return made
