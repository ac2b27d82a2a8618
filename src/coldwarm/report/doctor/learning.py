"""Which pattern shows what to do instead of what was found, where there is one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import coldwarm
from coldwarm.catalogue.patterns import patterns

if TYPE_CHECKING:
    from coldwarm.catalogue.patterns import PatternSpec

_SAME = {"shape-change": "shape-padding", "no-jit-hot-loop": "jit-hot-loop"}
"""Findings whose pattern has another name."""
_REPOSITORY = "https://github.com/coldwarm/coldwarm/blob/main/src/coldwarm"


def pattern_of(finding: str) -> PatternSpec | None:
    """Return the pattern of a kind of finding; ``None``: no pattern shows it."""
    return patterns().get(_SAME.get(finding, finding))


def page_of(spec: PatternSpec) -> str:
    """Return the address at which a pattern is written."""
    file = Path(spec.source.path).relative_to(Path(coldwarm.__file__).parent)
    return f"{_REPOSITORY}/{file.as_posix()}"
