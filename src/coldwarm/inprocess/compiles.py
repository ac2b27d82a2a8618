"""What is compiled in this process while it is watched; nothing stays behind afterwards.

No framework is imported: only those that the user has loaded can compile anything.
"""

from __future__ import annotations

import sys
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from coldwarm.backends import _torch_account

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_JAX_COMPILED = "/jax/core/compile/backend_compile_duration"
_NUMBA_LOCK = "numba:compiler_lock"


class Count:
    """How many programs were compiled, or read from a cache on disk, since it began."""

    def __init__(self) -> None:
        """Start at 0."""
        self._events = 0
        self._torch_before = _torch_account.steps()

    def one(self, *_arguments: object, **_named: object) -> None:
        """Count an event of a framework's."""
        self._events += 1

    def so_far(self) -> int:
        """Return the count."""
        return self._events + _torch_account.steps() - self._torch_before


@contextmanager
def counting() -> Iterator[Count]:
    """Count in the frameworks that are loaded, and stop listening at the end."""
    count = Count()
    with ExitStack() as stack:
        if "jax.monitoring" in sys.modules:
            stack.callback(_listen_to_jax(count))
        if "numba.core.event" in sys.modules:
            stack.callback(_listen_to_numba(count))
        yield count


def _listen_to_jax(count: Count) -> Callable[[], object]:
    """Begin to listen; return what ends it."""
    monitoring: Any = sys.modules["jax.monitoring"]

    def listen(event: str, _seconds: float, **_details: object) -> None:
        if event == _JAX_COMPILED:
            count.one()

    monitoring.register_event_duration_secs_listener(listen)
    # Versions that cannot forget a listener keep this one, which then counts for nobody.
    forget = getattr(monitoring, "unregister_event_duration_listener", lambda _listener: None)
    return lambda: forget(listen)


def _listen_to_numba(count: Count) -> Callable[[], object]:
    """Begin to listen; return what ends it. The lock is taken to compile and to read."""
    event: Any = sys.modules["numba.core.event"]
    base: Any = event.Listener
    members = {"on_start": lambda _self, _event: count.one(), "on_end": lambda _self, _event: None}
    listener = type("Listener", (base,), members)()
    event.register(_NUMBA_LOCK, listener)
    return lambda: event.unregister(_NUMBA_LOCK, listener)
