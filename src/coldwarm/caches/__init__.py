"""Cache modes: how each cache is isolated, listed and judged, a file for each owner.

A file here that defines ``OWNER`` is found by itself. A backend that has such a cache names it in
``caches``, and the watch of its framework returns counters under the same name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from coldwarm.contracts.answer import CacheSetting
    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.observation import CacheEvidence, Judgement
    from coldwarm.contracts.reasons import Reason


class _Judge(Protocol):
    def __call__(self, mode: CacheMode, evidence: CacheEvidence, *, compiles: bool) -> Judgement:
        """Say whether the evidence proves the mode; ``counts`` has the usual rules."""


def _nothing(_root: Path) -> dict[str, str]:
    return {}


@dataclass(frozen=True, kw_only=True)
class Owner:
    """A cache: how it is moved to a folder of its own, and how its modes are judged."""

    name: str
    limitations: tuple[Reason, ...]
    """What cannot be controlled."""
    judge: _Judge
    isolate: Callable[[Path], dict[str, str]] = _nothing
    """Return the variables that move it under a folder; an empty one is unset."""
    holds_programs: bool = False
    """Whether it holds compiled programs."""
    setting: CacheSetting | None = None
    """What a program of one's own must set to find it filled."""
    by_default: Callable[[Path], dict[str, str]] | None = None
    """As ``isolate``, with nothing set but the directory; where it is kept otherwise by default."""
    in_home: bool = False
    """Whether libraries may keep it in a process's home instead."""
    kept_by_default: Callable[[CacheEvidence], Literal["all", "some", "none"] | None] | None = None
    """Say how much of what a process compiled is kept so; without it all is."""
