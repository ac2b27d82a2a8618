"""Names of cases, workloads, candidates and backends: text that is what it looks like.

No character in a name changes how what follows it is shown: none that controls a terminal, turns
the direction of writing, ends a line, or cannot be seen.
"""

from __future__ import annotations

import re
from typing import Annotated

import msgspec

LONGEST = 200
UNSEEN = (
    r"\u0000-\u001f\u007f-\u00a0\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    r"\u200b-\u200f\u2028-\u202f\u205f-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\uffff"
    "\U000e0000-\U000e0fff"
)
"""Ranges of a regular expression: control and format characters, marks of direction, ends of lines,
and those without a shape or width."""
NAME = rf"^(?!::)[^{UNSEEN}]+$(?!\n)"
SUITE = r"^[\w.@+-]+$(?!\n)"
SuiteName = Annotated[str, msgspec.Meta(pattern=SUITE, max_length=LONGEST)]
"""Of a suite: letters, digits and a few signs."""
Name = Annotated[str, msgspec.Meta(pattern=NAME, max_length=LONGEST)]

_NAME = re.compile(NAME)


def is_name(name: str) -> bool:
    """Say whether a text may be a name."""
    return len(name) <= LONGEST and name.isprintable() and _NAME.match(name) is not None
