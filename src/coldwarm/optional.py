"""Packages that only an extra of coldwarm brings: one way to reach them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from coldwarm.contracts.reasons import RefusedError, because


def require(module: str, extra: str) -> Any:  # noqa: ANN401 - any module
    """Import a module that an extra brings.

    Raises:
        RefusedError: it is not installed, or something that it needs is not; says what to type.
    """
    try:
        import_module(module.partition(".")[0])
        return import_module(module)
    except ImportError as error:
        package = (error.name or module).partition(".")[0]
        raise RefusedError(because("extra_missing", package=package, extra=extra)) from None
