"""What a test asks of a first result. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from coldwarm.errors import UsageError
from coldwarm.stats.intervals import FEWEST_FOR_CONFIDENCE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.contracts.base import CacheMode

_MODES: dict[str, CacheMode] = {
    "empty": "cold_process_cold_cache",
    "filled": "cold_process_warm_cache",
}
"""By what the caches on disk are before a process starts."""
MOST = 1.1
"""Times as long as a stored result, by default: as ``coldwarm compare`` has it for starts."""


@dataclass(frozen=True)
class Wanted:
    """The first result of a target."""

    target: str
    inputs: Sequence[str]
    mode: CacheMode

    @property
    def called(self) -> str:
        """What it is called in a saved file: other inputs make another figure."""
        inputs = f"({', '.join(self.inputs)})" if self.inputs else ""
        return f"{self.target}{inputs}"

    @property
    def name(self) -> str:
        """The name of its first result there."""
        return f"{self.called}/{self.mode}/first_result"


@dataclass(frozen=True)
class Asked:
    """What a test wants to know of a first result; see ``Measuring.assert_ttfr``."""

    target: str
    """``package.module:name`` or ``file.py:name``."""
    inputs: Sequence[str] = ()
    caches: str = "empty"
    processes: int = 6
    timeout_s: float = 300.0

    def __post_init__(self) -> None:
        """Check it.

        Raises:
            UsageError: it is not what it must be.
        """
        given: Any = self.target  # whatever a test has given
        if not isinstance(given, str):
            what = f"assert_ttfr takes the name of a function, not a {type(given).__name__}"
            raise UsageError(
                f"{what}: 'package.module:name', so that fresh processes can import it"
            )
        if self.caches not in _MODES:
            raise UsageError(f"caches={self.caches!r}: give 'empty' or 'filled'")
        if self.processes < FEWEST_FOR_CONFIDENCE:
            few = f"processes={self.processes}: give {FEWEST_FOR_CONFIDENCE} or more"
            raise UsageError(f"{few}; fewer give no interval to judge by")

    @property
    def mode(self) -> CacheMode:
        """The cache mode."""
        return _MODES[self.caches]

    @property
    def wanted(self) -> Wanted:
        """What to look for in a stored result."""
        return Wanted(self.target, self.inputs, self.mode)


@dataclass(frozen=True)
class Limit:
    """How late a first result may come; see ``Measuring.assert_ttfr``."""

    below: float | None
    """With a baseline a ratio, without one seconds."""
    baseline: str | None
    allow: Sequence[str] = ()

    def __post_init__(self) -> None:
        """Check it.

        Raises:
            UsageError: it is none.
        """
        given: Any = self.below  # whatever a test has given
        if given is None and self.baseline is None:
            what = "assert_ttfr needs a limit: below=2.0 in seconds"
            raise UsageError(f"{what}, or baseline='out/base', a stored result")
        number = isinstance(given, (int, float)) and not isinstance(given, bool)
        if given is not None and not (number and 0 < given < math.inf):
            raise UsageError(f"below={given!r}: give a number above 0")
