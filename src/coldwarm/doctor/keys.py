"""Keys of random numbers that are used twice: a pass of its own, without ``jit``.

Without ``jit`` every use of a key is made with its value, so that uses are told apart from one turn
of a loop to the next. JAX's own check of a key, which every function of ``jax.random`` makes, tells
of the use.
"""

import inspect
import sys

from coldwarm.doctor import sites
from coldwarm.doctor.failures import failed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

    from coldwarm.doctor.journal import Journal
    from coldwarm.doctor.sites import Site

_CHECK, _MAKE = "_check_prng_key", "_key"
_NO_USE = {"fold_in", "key_data", "key_impl", "clone", "wrap_key_data"}
"""Functions that use a key together with something else, or only look at it."""
MOST_KEYS = 200_000
"""Whose uses are remembered."""
MOST_LINES = 100
"""Pairs of places that are written."""


class Keys:
    """Follows the uses of keys."""

    def __init__(self, journal: "Journal") -> None:
        """Write into ``journal``."""
        self._journal = journal
        self._used: dict[bytes, list[Site]] = {}
        self._made: dict[bytes, list[Any]] = {}
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
            self._tell(name, before, stack, self._made.get(value))
        elif len(self._used) < MOST_KEYS:
            self._used[value] = stack

    def _make(self, key: "Any", frame: "FrameType | None") -> None:
        value, stack = _value(key), sites.stack(frame)
        if value is not None and stack and len(self._made) < MOST_KEYS:
            known = self._made.setdefault(value, [stack, 0])
            known[1] += known[0][0] == stack[0]

    def _tell(
        self, name: str, before: "list[Site]", now: "list[Site]", made: "list[Any] | None"
    ) -> None:
        pair = before[0], now[0], made[0][0] if made else None
        self._told[pair] = self._told.get(pair, 0) + 1
        if self._told[pair] == 1 and len(self._told) <= MOST_LINES:
            self._journal.write(
                "key",
                name=name,
                before=before,
                stack=now,
                made=made[0] if made else [],
                n_made=made[1] if made else 0,
            )


def _inside(frame: "FrameType | None") -> bool:
    """Say whether ``jax.random`` itself asks: one of its functions calls another."""
    while frame is not None and sites.kind(frame.f_code.co_filename) == sites.NOBODYS:
        if frame.f_globals.get(_CHECK) is not None:
            return True
        frame = frame.f_back
    return False


def _value(key: "Any") -> "bytes | None":
    """Return the value of one key; ``None``: it has none yet, or they are several."""
    base = getattr(key, "_base_array", key)
    if type(base).__name__.endswith("Tracer") or getattr(base, "ndim", 0) != 1:
        return None
    try:
        return bytes(sys.modules["numpy"].asarray(base).data)
    except Exception:
        return None
