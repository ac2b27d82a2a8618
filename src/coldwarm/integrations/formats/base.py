"""The interface of a format: a module of this folder.

It is named as ``--format`` names it, with ``_`` for ``-``.

It defines::

    WHOLE = True   # one file; False where it writes several into a folder

    def why_not(figure: Figure) -> str | None:
        ...        # why this format has no place for a figure; None: it has

    def files(made: Exported) -> dict[str, bytes]:
        ...        # what to write by name; of one file under ""

and, where it keeps results by commit, ``BY_COMMIT = True`` and ``joined(name, old, new)``, which
returns what becomes of a file that is there already. It reads nothing and writes nothing.
"""

from __future__ import annotations

import pkgutil
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from coldwarm.integrations.figures import Exported, Figure


class Format(Protocol):
    """A module of this folder."""

    WHOLE: bool

    @staticmethod
    def why_not(figure: Figure) -> str | None:
        """Say why the format has no place for a figure; ``None``: it has."""

    @staticmethod
    def files(made: Exported) -> dict[str, bytes]:
        """Return what to write."""


def names() -> list[str]:
    """Return the formats that there are."""
    found = (info.name for info in pkgutil.iter_modules([str(Path(__file__).parent)]))
    return sorted(name.replace("_", "-") for name in found if name != "base")


def load(name: str) -> Format:
    """Return a format.

    Raises:
        ImportError: there is none of this name.
    """
    module: Any = import_module(f"coldwarm.integrations.formats.{name.replace('-', '_')}")
    made: Format = module
    return made
