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
_READERS = {("compile", "dispatcher.py"), ("_compile_core", "ufuncbuilder.py")}
"""Functions of Numba that ask its cache, and their files."""


class _Lock(threading.local):
    """How deep one thread is in Numba's lock."""

    depth = 0
    begin_s = 0.0
    compiles = False
    read: "tuple[Any, Any] | None" = None
    """What was read from the cache since the lock was taken: the function, and for which types."""


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
            self._mine.begin_s, self._mine.compiles, self._mine.read = _now_s(), False, None

    def is_held(self) -> bool:
        """Say whether this thread has the lock, or waits for it."""
        return self._mine.depth > 0

    def begin_s(self) -> float:
        """Return when this thread asked for the lock that it has, or had last."""
        return self._mine.begin_s

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
        if not mine.compiles:
            # Of `vectorize`, the lock is taken once more around the function that asks.
            mine.read = _found(sys._getframe(1)) or mine.read
        if mine.depth:
            return None
        # While another thread had the lock, this one waited and read nothing.
        begin_s, self._released_s = max(mine.begin_s, self._released_s), _now_s()
        return (*mine.read, begin_s) if mine.read and not mine.compiles else None


def _found(frame: "FrameType | None") -> "tuple[Any, Any] | None":
    """Return the function that Numba has found in its cache, and for which types."""
    for _ in range(_NEAR):
        if frame is None:
            return None
        code = frame.f_code
        if (code.co_name, code.co_filename.rpartition("/")[2]) in _READERS:
            held = frame.f_locals
            found = held.get("cres")
            return (held["self"], found.signature.args) if found is not None else None
        frame = frame.f_back
    return None


def keeps(dispatcher: "Any") -> bool:
    """Say whether a function is to be kept on disk."""
    return type(_cache_of(dispatcher)).__name__ == "FunctionCache"


def _cache_of(dispatcher: "Any") -> "Any":
    """Return what keeps a function; that of ``vectorize`` has another name."""
    return getattr(dispatcher, "_cache", None) or getattr(dispatcher, "cache", None)


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

    cache = _cache_of(dispatcher)
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
    target = getattr(dispatcher, "targetctx", None) or dispatcher.targetdescr.target_context
    _, machine, (code, captured) = cache._index_key(args, target.codegen())
    kept_for = [(key[1], *key[2]) for key in alike]
    for at, name in enumerate(("processor", "code", "captured")):
        kept_for = [one for one in kept_for if one[at] == (machine, code, captured)[at]]
        if not kept_for:
            return name
    return "unreadable"
