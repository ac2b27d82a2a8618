"""Numba's cache on disk: what was read from it, and why something was not there.

Numba counts both and names no reason: the index beside the function's file has it.
"""

import sys
import threading
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

_now_s = time.perf_counter
_NEAR = 12
"""Frames above a listener in which Numba holds the function that it is asked for."""


class _Lock(threading.local):
    """How deep one thread is in Numba's lock."""

    depth = 0
    begin_s = 0.0
    compiles = False


class Reads:
    """Tells reads from the cache from compilations: around both Numba takes its lock."""

    def __init__(self) -> None:
        """With nothing open."""
        self._mine = _Lock()
        self._released_s = 0.0

    def locking(self) -> None:
        """Note that a thread asks for the lock."""
        self._mine.depth += 1
        if self._mine.depth == 1:
            self._mine.begin_s, self._mine.compiles = _now_s(), False

    def compiling(self) -> None:
        """Note that what is asked for has to be compiled."""
        self._mine.compiles = True

    def released(self) -> "tuple[Any, Any, float] | None":
        """Note that the lock is given back.

        Returns the function that was read from the cache meanwhile, the types of its arguments,
        and when that began; ``None``: none was.
        """
        mine = self._mine
        mine.depth = max(0, mine.depth - 1)
        if mine.depth:
            return None
        # While another thread had the lock, this one waited and read nothing.
        begin_s, self._released_s = max(mine.begin_s, self._released_s), _now_s()
        held = None if mine.compiles else _asked(sys._getframe(1))
        if held is None or held.get("cres") is None:
            return None
        return held["self"], held["args"], begin_s


def _asked(frame: "FrameType | None") -> "dict[str, Any] | None":
    """Return what Numba holds of the function that it is asked for."""
    for _ in range(_NEAR):
        if frame is None:
            return None
        code = frame.f_code
        if code.co_name == "compile" and code.co_filename.endswith("dispatcher.py"):
            return frame.f_locals
        frame = frame.f_back
    return None


def keeps(dispatcher: "Any") -> bool:
    """Say whether a function is to be kept on disk."""
    return type(getattr(dispatcher, "_cache", None)).__name__ == "FunctionCache"


def why_missed(dispatcher: "Any", args: "Any") -> "str | None":
    """Return why a function was not in the cache; ``None``: it is not to be kept there."""
    if not keeps(dispatcher):
        return None
    try:
        return _why(dispatcher, tuple(args))
    except Exception:  # of another version of Numba, or an index that is broken
        return "unknown"


def _why(dispatcher: "Any", args: "tuple[Any, ...]") -> str:
    import pickle

    cache = dispatcher._cache
    file = cache._cache_file
    try:
        with open(file._index_path, "rb") as index:
            version = pickle.load(index)  # noqa: S301 - Numba has just read the same file
            if version != file._version:
                return "version"
            stamp, kept = pickle.load(index)  # noqa: S301 - as above
    except FileNotFoundError:
        return "nothing_kept"
    if stamp != file._source_stamp:
        return "file_changed"
    alike = [key for key in kept if tuple(getattr(key[0], "args", key[0])) == args]
    if not alike:
        return "types"
    _, machine, (code, captured) = cache._index_key(args, dispatcher.targetctx.codegen())
    kept_for = [(key[1], *key[2]) for key in alike]
    for at, name in enumerate(("processor", "code", "captured")):
        kept_for = [one for one in kept_for if one[at] == (machine, code, captured)[at]]
        if not kept_for:
            return name
    return "unreadable"
