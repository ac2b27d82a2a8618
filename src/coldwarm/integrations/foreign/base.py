"""The interface of a tool whose files are read: a module of this folder.

It defines::

    TOOL = "hyperfine"                       # as its makers write it

    def is_mine(document: dict) -> bool:
        ...                                  # whether a JSON document looks like its own

    def benchmarks(opened: Opened) -> Benchmarks:
        ...                                  # what it holds; ContractError where it is broken

It reads no file: ``opening.py`` does.
"""

from __future__ import annotations

import pkgutil
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from coldwarm.contracts.result import Benchmarks
    from coldwarm.integrations.foreign.document import Opened


class _Tool(Protocol):
    """A module of this folder."""

    TOOL: str

    @staticmethod
    def is_mine(document: dict[str, Any]) -> bool:
        """Say whether a document looks like one of this tool."""

    @staticmethod
    def benchmarks(opened: Opened) -> Benchmarks:
        """Return what a document holds.

        Raises:
            ContractError: it is broken.
        """


def tools() -> list[_Tool]:
    """Return the tools that there are."""
    names = sorted(info.name for info in pkgutil.iter_modules([str(Path(__file__).parent)]))
    package = __name__.rpartition(".")[0]
    modules: list[Any] = [
        import_module(f"{package}.{name}") for name in names if name not in {"base", "document"}
    ]
    return modules
