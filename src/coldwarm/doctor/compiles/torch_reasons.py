"""Why PyTorch does what it does, as it tells itself: read from the frames that are on the stack.

Its fields are taken, not the wording of its messages.
"""

import os
import re
import sys

from coldwarm.doctor import sites
from coldwarm.doctor.signatures import VALUES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Any

_NEAR = 12
"""Frames above a logger's filter in which PyTorch holds what it tells of."""
_LONGEST_GUARD = 120
_LONGEST = 300
_PLACE = re.compile(r"^\[?\d+/\d+\]?: ")
"""Which compilation a failed guard is of."""
_COMMENT = re.compile(r"\s+# ")
"""Behind a guard PyTorch writes the line that it is for."""
_GLOBAL = re.compile(r"\bG\['(\w+)'\]")
_TEXT = re.compile(r"([=!]= ?)(?:'[^']*'|\"[^\"]*\")")
"""A text that something is compared with."""
_EXPLANATION = "  Explanation: "
_AFTER = ("  Hint:", "  Developer debug context:")


def compiling(frame: "FrameType | None") -> "dict[str, Any] | None":
    """Return what PyTorch holds of the function that it is about to compile."""
    while frame is not None and not sites.is_users(frame.f_code):
        code = frame.f_code
        if code.co_name == "_compile" and "convert_frame" in code.co_filename:
            held = frame.f_locals
            if held.get("code") is not None:
                return held
        frame = frame.f_back
    return None


def guard(told: "Any") -> "str | None":
    """Return the guard that failed, of PyTorch's reason to compile again; ``None``: it has none."""
    if not isinstance(told, str):
        return None
    first = _PLACE.sub("", told.partition("\n")[0])
    written = _GLOBAL.sub(r"\1", _COMMENT.split(first)[0].strip())
    if not os.environ.get(VALUES):
        written = _TEXT.sub(_untold, written)
    if len(written) > _LONGEST_GUARD:
        written = written[: _LONGEST_GUARD - 1] + "…"
    return written or None


def _untold(found: "re.Match[str]") -> str:
    return f"{found[1]}str #{hash(found[0]) & 0xFFFFFF:06x}"


def gave_up(frame: "FrameType | None") -> "tuple[CodeType, str, int] | None":
    """Return which code is not compiled again, and the setting that limits it, with its value.

    ``None``: no limit is reached, or PyTorch raises an error there.
    """
    held = compiling(frame)
    if held is None or held.get("exceeded") is not True or held.get("one_graph"):
        return None
    config = sys.modules["torch._dynamo.config"]
    setting = held.get("limit_type")
    limit = getattr(config, str(setting), None)
    if not isinstance(limit, int) or getattr(config, "fail_on_recompile_limit_hit", False):
        return None
    return held["code"], str(setting), limit


def broken(frame: "FrameType | None", message: str) -> "tuple[str, str]":
    """Return what kind of reason PyTorch has to end a graph, and its explanation."""
    for _ in range(_NEAR):
        if frame is None:
            break
        error = frame.f_locals.get("exc")
        if error is not None and hasattr(error, "gb_type"):
            kind = error.gb_type
            kind = kind if isinstance(kind, str) else ""
            return kind, _explained(str(error)) or kind or _shortened(message)
        frame = frame.f_back
    return "", _shortened(message)


def _explained(message: str) -> str:
    """Return the explanation in a message that has one as a field."""
    _, found, rest = message.partition(_EXPLANATION)
    kept: list[str] = []
    for line in rest.splitlines() if found else ():
        if not line.strip() or line.startswith(_AFTER):
            break
        kept.append(line.strip())
    return " ".join(kept)[:_LONGEST]


def _shortened(message: str) -> str:
    """Return the first lines of a message that say something."""
    return " ".join(line.strip() for line in message.splitlines()[:4] if line.strip())[:_LONGEST]
