"""Keys of random numbers that are used twice: a pass of its own, without ``jit``.

Without ``jit`` every use of a key is made with its value, so that uses are told apart from one turn
of a loop to the next. JAX's own check of a key, which every function of ``jax.random`` makes, tells
of the use.
"""

import inspect
import sys

from coldwarm.doctor.record import sites
from coldwarm.doctor.record.journal import failed
from coldwarm.wire import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

    from coldwarm.doctor.record.journal import Journal
    from coldwarm.doctor.record.sites import Site


_CHECK, _MAKE = "_check_prng_key", "_key"
_NO_USE = {"fold_in", "key_data", "key_impl", "clone", "wrap_key_data"}
"""Functions that use a key together with something else, or only look at it."""
_MOST_KEYS = 200_000
"""Most keys whose uses are remembered."""
_MOST_LINES = 100
"""Pairs of places that are written."""


class Keys:
    """Follows the uses of keys."""

    def __init__(self, journal: "Journal") -> None:
        """Write into ``journal``."""
        self._journal = journal
        self._used: dict[Any, tuple[list[Site], list[int]]] = {}
        """By value: the lines that led to the first use, and where in their code."""
        self._made: dict[Any, list[Any]] = {}
        """By value: where such a key was made, and how often."""
        self._told: dict[Any, int] = {}

    def begin(self) -> bool:
        """Follow from now on; return whether this version of JAX can be followed."""
        held = getattr(inspect.unwrap(sys.modules["jax"].random.normal), "__globals__", {})
        if _CHECK not in held or _MAKE not in held:
            return False
        check, make = held[_CHECK], held[_MAKE]

        def checked(name: str, key: "Any", **more: "Any") -> "Any":
            try:
                self._use(name, key, sys._getframe(2))
            except Exception as error:
                failed(self._journal, error)
            return check(name, key, **more)

        def made(*args: "Any", **more: "Any") -> "Any":
            key = make(*args, **more)
            try:
                self._make(key, sys._getframe(2))
            except Exception as error:
                failed(self._journal, error)
            return key

        held[_CHECK], held[_MAKE] = checked, made
        return True

    def _use(self, name: str, key: "Any", frame: "FrameType | None") -> None:
        if name in _NO_USE or _inside(frame):
            return
        value, stack = _value(key), sites.stack(frame)
        if value is None or not stack:
            return
        before = self._used.get(value)
        if before is not None:
            self._tell(name, before, (stack, _offsets(frame)), self._made.get(value))
        elif len(self._used) < _MOST_KEYS:
            self._used[value] = stack, _offsets(frame)

    def _make(self, key: "Any", frame: "FrameType | None") -> None:
        value, stack = _value(key), sites.stack(frame)
        if value is not None and stack and len(self._made) < _MOST_KEYS:
            known = self._made.setdefault(value, [stack, 0])
            known[1] += known[0][0] == stack[0]

    def _tell(
        self,
        name: str,
        before: "tuple[list[Site], list[int]]",
        now: "tuple[list[Site], list[int]]",
        made: "list[Any] | None",
    ) -> None:
        apart = _apart(before, now)
        (first, _), (stack, _) = before, now
        lines = (*stack,) if apart is None else (first[apart], stack[apart])
        pair = lines, made[0][0] if made else None
        self._told[pair] = self._told.get(pair, 0) + 1
        if self._told[pair] == 1 and len(self._told) <= _MOST_LINES:
            self._journal.write(
                "key",
                name=name,
                before=first,
                stack=stack,
                made=made[0] if made else [],
                n_made=made[1] if made else 0,
                apart=apart,
            )


def _apart(
    before: "tuple[list[Site], list[int]]", now: "tuple[list[Site], list[int]]"
) -> "int | None":
    """Return which is the innermost call that two uses have not in common; ``None``: none is."""
    both = zip(zip(*before, strict=False), zip(*now, strict=False), strict=False)
    return next((at for at, (one, other) in enumerate(both) if one != other), None)


def _offsets(frame: "FrameType | None") -> "list[int]":
    """Return at which instructions the user's frames of a stack are: two calls may share a line."""
    found: list[int] = []
    while frame is not None and len(found) < sites.MOST:
        if sites.is_users(frame.f_code):
            found.append(frame.f_lasti)
        frame = frame.f_back
    return found or [0]


def _inside(frame: "FrameType | None") -> bool:
    """Say whether ``jax.random`` itself asks: one of its functions calls another."""
    while frame is not None and sites.kind(frame.f_code.co_filename) == sites.NOBODYS:
        if frame.f_globals.get(_CHECK) is not None:
            return True
        frame = frame.f_back
    return False


def _value(key: "Any") -> "Any":
    """Return the value of one key, or of all keys of a batch; ``None``: it has none yet."""
    if type(key).__name__ == "BatchTracer":
        key = _batch(key)
        base = getattr(key, "_base_array", key)
        data = _data(base)
        # Kept short: a batch may be large.
        return None if data is None else (hash(data), tuple(base.shape))
    base = getattr(key, "_base_array", key)
    return _data(base) if getattr(base, "ndim", 0) == 1 else None


def _batch(key: "Any") -> "Any":
    """Return all keys of which ``vmap`` gives one at a time.

    ``None``: ``vmap`` itself is being traced, as where both branches of a condition are, of which
    one is taken.
    """
    held = getattr(sys.modules.get("jax._src.core"), "trace_ctx", None)
    if type(getattr(held, "trace", None)).__name__ != "BatchTrace":
        return None
    while type(key).__name__ == "BatchTracer":
        key = key.val
    return key


def _data(base: "Any") -> "bytes | None":
    if base is None or type(base).__name__.endswith("Tracer"):
        return None
    try:
        return bytes(sys.modules["numpy"].asarray(base).tobytes())
    except Exception:
        return None
