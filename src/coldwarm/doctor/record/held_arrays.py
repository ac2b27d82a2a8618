"""Arrays that a line which takes long can use: their names, and how large they are.

Looked at from another thread, a few times for each line, so that no call of the program's is
changed. Nothing of an array is read but its type and its sizes, and nothing is kept.
"""

import sys

from coldwarm.doctor.record import sites
from coldwarm.wire import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import CodeType, FrameType
    from typing import Any

    from coldwarm.doctor.record.journal import Journal


_AT = (3, 12, 60)
"""Looks at a line after which its arrays are looked at: the first turn lacks what others have."""
_MOST_LINES, _MOST_ARRAYS = 400, 64
_TYPES = {
    "torch": ("Tensor", "Parameter"),
    "numpy": ("ndarray",),
    "jaxlib": ("ArrayImpl",),
}
"""By the package: classes whose sizes are at hand; those of a user's may compute them."""
_OWN_NAMES = {"locals", "vars", "eval", "exec", "dir"}
"""Functions that may keep the very dictionary in which Python shows a function's variables."""
_OPTIMIZED = 0x1
"""A flag of code whose variables are no dictionary; ``inspect`` would be loaded for it."""
_ALONE = 3
"""References to a copy of a function's variables that nobody else holds: of its frame, ours, and
that which asks. Packages such as pandas compute with the copy of who calls them."""
_SHOWN_ANEW = sys.version_info >= (3, 13)
"""Whether Python shows variables without a copy of them."""


class HeldArrays:
    """Notes the arrays of lines at which the program is seen again and again."""

    def __init__(self, journal: "Journal") -> None:
        """Write into ``journal``."""
        self._journal = journal
        self._n_looks: dict[tuple[str, int], int] = {}
        self._known: dict[tuple[str, int], dict[str, Any]] = {}

    def look(self, frame: "FrameType | None") -> None:
        """Count a look at the user's lines of a stack, and note their arrays now and then."""
        left = sites.MOST
        while frame is not None and left:
            if sites.kind(frame.f_code.co_filename) == sites.USERS:
                self._look_at(frame)
                left -= 1
            frame = frame.f_back

    def _look_at(self, frame: "FrameType") -> None:
        place = frame.f_code.co_filename, frame.f_lineno or 0
        n = self._n_looks.get(place, 0)
        if n or len(self._n_looks) < _MOST_LINES:
            self._n_looks[place] = n + 1
        if n + 1 in _AT:
            found = {**self._known.get(place, {}), **_arrays(frame)}
            if found != self._known.get(place, {}):
                self._known[place] = found
                path, line = sites.path_of(place[0]), place[1]
                arrays = [[name, *what] for name, what in found.items()]
                self._journal.write("held", path=path, line=line, arrays=arrays)


def _arrays(frame: "FrameType") -> "dict[str, Any]":
    """Return the arrays among the variables of a function, and among what its object holds.

    Those of its module that it names are among them.
    """
    code = frame.f_code
    if not _may_be_shown(frame, code):
        return {}
    held = frame.f_locals
    around = {name: frame.f_globals.get(name) for name in code.co_names}
    found = _described("", {**around, **held}.items())
    if code.co_argcount and code.co_varnames[0] == "self":
        own = getattr(held.get("self"), "__dict__", None)
        found |= _described("self.", own.items() if isinstance(own, dict) else ())
    if code.co_flags & _OPTIMIZED and not _SHOWN_ANEW and sys.getrefcount(held) == _ALONE:
        held.clear()  # else the copy keeps what the program gives up
    return found


def _may_be_shown(frame: "FrameType", code: "CodeType") -> bool:
    """Say whether nobody else may be looking at a function's variables."""
    return frame.f_trace is None and not _OWN_NAMES.intersection(code.co_names)


def _described(owner: str, held: "Iterable[tuple[str, Any]]") -> "dict[str, Any]":
    found: dict[str, Any] = {}
    for name, value in [*held]:
        kind = type(value)
        package = kind.__module__.partition(".")[0]
        if kind.__name__ in _TYPES.get(package, ()) and len(found) < _MOST_ARRAYS:
            dtype = str(value.dtype).rpartition(".")[2]
            found[f"{owner}{name}"] = [package, dtype, [int(one) for one in value.shape]]
    return found
