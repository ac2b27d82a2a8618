"""How coldwarm is installed today, and the one way to reach what only an extra of it brings."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from coldwarm.errors import UsageError

_SOURCE = "."
"""Argument of pip: ``.`` in a clone, and ``coldwarm`` once that name is on PyPI."""
_WHERE = {".": "in a clone of coldwarm, "}


def _command(*extras: str) -> str:
    """Return the command, such as ``pip install '.[jax,numba]'``."""
    return f"pip install '{_SOURCE}[{','.join(extras)}]'" if extras else f"pip install {_SOURCE}"


def advice(*extras: str) -> str:
    """Return the command and where to type it."""
    return f"{_WHERE.get(_SOURCE, '')}{_command(*extras)}"


class MissingError(UsageError):
    """A package that an extra brings, and that is not installed."""


def require(module: str, extra: str) -> Any:  # noqa: ANN401 - any module
    """Import a module that an extra brings.

    Raises:
        MissingError: it is not installed, or something that it needs is not; says what to type.
    """
    try:
        import_module(module.partition(".")[0])
        return import_module(module)
    except ImportError as error:
        package = (error.name or module).partition(".")[0]
        raise MissingError(f"{package} is not installed: {advice(extra)}") from None
