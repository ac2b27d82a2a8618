"""Time as the runner sees it."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from importlib.machinery import BuiltinImporter
from importlib.util import module_from_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType


def _unchanged() -> ModuleType:
    """Return Python's module ``time`` as it comes, whatever a program has put into its own."""
    spec = BuiltinImporter.find_spec("time")
    if spec is None or spec.loader is None:  # not built into this interpreter
        return time
    made = module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


TIME = _unchanged()
"""A program that calls ``coldwarm.bench`` may have replaced the functions of its own."""


class Clock:
    """A monotonic clock, and the date: the machine's own."""

    def now_s(self) -> float:
        """Return seconds since some fixed moment."""
        return float(TIME.perf_counter())

    def date(self) -> str:
        """Return the date and time in UTC as ISO 8601, to the second."""
        return datetime.now(UTC).isoformat(timespec="seconds")
