"""JAX: what ``jax.monitoring`` tells, whose listeners run in the thread that compiles.

A scalar event opens a span and a duration event closes it; spans nest (a lowering may trace and
compile an inner program), so each is charged with its *exclusive* time. Nothing of JAX is
wrapped: wrapping ``jax.jit`` would change the identity of functions and cause retraces.
"""

import sys
import time

from coldwarm.frameworks.base import Watch, versions
from coldwarm.frameworks.jax_programs import Programs
from coldwarm.frameworks.spans import SpanAccount
from coldwarm.wire import TYPE_CHECKING, because

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from coldwarm.frameworks.base import Numbers

_COMPILE = "/jax/core/compile/backend_compile_duration"
_LOWER = "/jax/core/compile/jaxpr_to_mlir_module_duration"
_SPANS = {
    "/jax/core/compile/jaxpr_trace_duration": "trace_s",
    _LOWER: "lower_s",
    _COMPILE: "compile_s",
}
_now_s = time.perf_counter  # as it was before the user's program
KEPT_FROM_S = 1.0
"""``jax_persistent_cache_min_compile_time_secs`` as JAX has it by itself."""
_RETRIEVAL = "/jax/compilation_cache/cache_retrieval_time_sec"
_REQUEST = "/jax/compilation_cache/compile_requests_use_cache"
_HIT = "/jax/compilation_cache/cache_hits"
_NAMES = 16
_WRITE = "/jax/compilation_cache/cache_misses"  # fires when an entry is written


class JaxWatch(Watch):
    """Watch by ``jax.monitoring``: exclusive seconds by part, and counts.

    The part ``compile_s`` of a program found in the cache is the time around the read:
    making the key, and what XLA does with the entry; the read itself is ``cache_read_s``.
    """

    counted = ("programs", "equations", "instructions")

    def __init__(self, device: str = "cpu") -> None:
        """Start with nothing seen."""
        super().__init__(device)
        self.spans = SpanAccount()
        self.requests = self.hits = self.writes = self.compiles = 0
        self.quick_compiles = 0
        """Programs that compiled faster than those that JAX keeps by its own settings."""
        self.longest_compile_s = 0.0
        self.reads = False
        """Whether something made or compiled earlier was read."""
        self.untold = False
        """Whether a step ended of which no beginning was told, as before JAX 0.6.1."""
        self._begun = self._hit = False
        self._tellers: list[Any] = []
        self._programs = Programs()
        self.names: list[str] = []
        """The first programs that were compiled or read, as JAX names them."""

    def on_scalar(self, event: str, _value: float, **_details: "Any") -> None:
        """Open a span."""
        if event in _SPANS:
            self._begun = True
            self.spans.open(event, _SPANS[event])
            if event == _LOWER:
                self._programs.lowering()

    def on_event(self, event: str, **_details: "Any") -> None:
        """Count a request, a hit or a write."""
        if event == _REQUEST:
            self.requests += 1
        elif event == _HIT:
            self.hits += 1
            self.reads = True
            span = self.spans.innermost()
            self._hit = True
            if span is not None:
                span.marked = True
        elif event == _WRITE:
            self.writes += 1

    def on_duration(self, event: str, seconds: float, **details: "Any") -> None:
        """Close a span, or charge a cache read apart from the span it happened in."""
        if event == _RETRIEVAL:
            # By a clock that a program may have replaced.
            self.spans.move(max(0, int(seconds * 1e9)), "cache_read_s")
        elif event in _SPANS:
            span = self.spans.innermost()
            self.untold = not self._begun
            hit = self._hit if span is None else span.marked
            self.spans.close(event)
            if event == _COMPILE:
                self._hit = False
                self.compiles += not hit
                self._keep_name(str(details.get("fun_name", "")))
                self.quick_compiles += not hit and seconds < KEPT_FROM_S
                self.longest_compile_s = max(self.longest_compile_s, 0.0 if hit else seconds)

    def _keep_name(self, name: str) -> None:
        if name and name not in self.names and len(self.names) < _NAMES:
            self.names.append(name)

    def install(self) -> None:
        """Register the listeners, once."""
        if self._undo:
            return
        from jax import monitoring  # JAX has loaded it

        self._tellers = _tellers()
        monitoring.register_event_listener(self.on_event)
        self._undo.append(forgetting("event_listener", self.on_event))
        monitoring.register_event_duration_secs_listener(self.on_duration)
        self._undo.append(forgetting("event_duration_listener", self.on_duration))
        if hasattr(monitoring, "register_scalar_listener"):
            monitoring.register_scalar_listener(self.on_scalar)
            self._undo.append(forgetting("scalar_listener", self.on_scalar))

    def intact(self) -> bool:
        """Say whether the listeners are registered, and are told of what happens.

        Anybody can clear all of them.
        """
        private = sys.modules.get("jax._src.monitoring")
        durations = getattr(private, "_event_duration_secs_listeners", None)
        events = getattr(private, "_event_listeners", None)
        if not self._undo or durations is None or events is None:
            return True  # not installed, or not told
        listening = self.on_duration in durations and self.on_event in events
        return listening and self._tellers == _tellers()

    def begin_call(self) -> None:
        """Start the account of a call."""
        self.spans.begin()

    def parts(self) -> "Mapping[str, Any]":
        """Return the exclusive seconds of tracing, lowering, compiling and cache reads."""
        parts: dict[str, Any] = self.spans.seconds()
        if self.untold:
            why = because("begins_not_reported")
            return {**dict.fromkeys(parts), "reasons": dict.fromkeys(parts, why)}
        if self.reads:
            return parts
        why = because("not_read", cache="the persistent cache")
        return {**parts, "cache_read_s": None, "reasons": {"cache_read_s": why}}

    def counters(self) -> "dict[str, dict[str, Any]]":
        """Return the persistent cache's counts; a miss is a request without a hit."""
        return {
            "jax": {
                "requests": self.requests,
                "hits": self.hits,
                "misses": self.requests - self.hits,
                "writes": self.writes,
                "bypasses": None,
                "compiles": self.compiles,
                "raw": {
                    **self.spans.closed,
                    "programs": ", ".join(self.names) or None,
                    "quick_compiles": self.quick_compiles,
                    "longest_compile_s": self.longest_compile_s,
                },
            }
        }

    def compiles_so_far(self) -> int:
        """Return the programs that XLA compiled or read from the cache.

        A read counts too: a warm window must need neither.
        """
        return self.compiles + self.hits

    def note(self) -> None:
        """Count up to here alone."""
        self._programs.mark(self.compiles + self.hits)

    def folded(self) -> "list[str]":
        """Return the programs that XLA has computed while it compiled them, as JAX names them."""
        try:
            return self._programs.folded()
        except Exception:  # noqa: BLE001 - another version may lack what is looked into
            return []

    def numbers(self) -> "Numbers":
        """Return programs, equations traced, and instructions after XLA's optimisations."""
        counts = self._programs.counts()
        if self.untold:
            counts["equations"] = because("begins_not_reported")
        return counts

    def versions(self) -> "dict[str, str]":
        """Return the versions of JAX, jaxlib and NumPy."""
        return versions("jax", "jaxlib", "numpy")

    def gpu(self) -> "dict[str, Any] | None":
        """Return the first GPU that JAX has."""
        try:
            return described(sys.modules["jax"].devices("gpu")[0])
        except RuntimeError:
            return None


def _tellers() -> "list[Any]":
    """Return the functions by which JAX tells its listeners."""
    private = (
        vars(sys.modules["jax._src.monitoring"]) if "jax._src.monitoring" in sys.modules else {}
    )
    return [told for name, told in private.items() if name.startswith("record_")]


def forgetting(name: str, listener: "Callable[..., None]") -> "Callable[[], None]":
    """Return what unregisters a listener; versions before 0.8 have it under another name."""

    def forget() -> None:
        from jax import monitoring

        private = sys.modules["jax._src.monitoring"]
        older = getattr(private, f"_unregister_{name}_by_callback", None)
        unregister = getattr(monitoring, f"unregister_{name}", older)
        try:
            if unregister is not None:
                unregister(listener)
        except (AssertionError, ValueError):
            return  # somebody has cleared all listeners

    return forget


def staying(listen: "Callable[[], None]") -> "Callable[[], None]":
    """Call ``listen`` again whenever a program clears all listeners; return what ends that."""
    monitoring, name = sys.modules["jax"].monitoring, "clear_event_listeners"
    places = [one for one in (monitoring, sys.modules["jax._src.monitoring"]) if hasattr(one, name)]
    known = {one: getattr(one, name) for one in places}
    wanted = [True]

    def clear_event_listeners() -> None:
        known[places[0]]()
        if wanted[0]:
            listen()

    def end() -> None:
        wanted[0] = False
        for one in places:
            if getattr(one, name) is clear_event_listeners:
                setattr(one, name, known[one])

    for one in places:
        setattr(one, name, clear_event_listeners)
    return end


def wait_for_array(array: "Any") -> None:
    """Wait for one array, without a walk through a tree."""
    array.block_until_ready()


def wait(value: "Any") -> None:
    """Wait for every array in a tree."""
    sys.modules["jax"].block_until_ready(value)


def copied(array: "Any") -> "Any":
    """Return an array in memory of its own, where it was; no program is compiled for it."""
    try:
        return sys.modules["jax"].device_put(array, may_alias=False)
    except TypeError:  # an older JAX cannot be told
        return array.copy()


_GRACE_S, _MOST_LOOKS = 1e-4, 10_000
"""The outputs of one program become ready one right after the other."""


def has_started() -> bool:
    """Say whether a device was used, so that something may be computed."""
    bridge = sys.modules.get("jax._src.xla_bridge")
    return bool(getattr(bridge, "_backends", None))


def in_flight() -> "list[Any]":
    """Return the arrays that somebody holds and that are still being computed.

    Nothing is asked where no device was used yet: that would start JAX's client.
    """
    if not has_started():
        return []
    return [array for array in _held() if not _is_ready(array)]


def has_used_gpu() -> bool:
    """Say whether anything was put on a device other than the CPU."""
    if not has_started():
        return False
    jax = sys.modules["jax"]
    others = [device for device in jax.devices() if device.platform != "cpu"]
    stats = [device.memory_stats() or {} for device in others]
    return any(one.get("num_allocs") or one.get("peak_bytes_in_use") for one in stats)


def unfinished(known: "Sequence[Any]" = ()) -> int:
    """Return how many arrays are still being computed, besides those that are known to be."""
    left = [array for array in in_flight() if all(array is not other for other in known)]
    end_s = _now_s() + _GRACE_S
    for _ in range(_MOST_LOOKS):
        if not left or _now_s() >= end_s:
            break
        left = [array for array in left if not _is_ready(array)]
    return len(left)


def _held() -> "list[Any]":
    """Return the arrays that are alive, on the CPU and on the default device."""
    jax = sys.modules["jax"]
    found: list[Any] = jax.live_arrays()
    return found if jax.default_backend() == "cpu" else [*found, *jax.live_arrays("cpu")]


def _is_ready(array: "Any") -> bool:
    try:
        return bool(array.is_ready())
    except RuntimeError:  # it was given away meanwhile
        return True


def described(device: "Any") -> "dict[str, Any]":
    """Return a device as JAX names it; memory where it keeps a count."""
    stats = device.memory_stats() or {}
    return {
        "platform": device.platform,
        "kind": device.device_kind,
        "count": len(sys.modules["jax"].devices(device.platform)),
        "memory_peak_bytes": stats.get("peak_bytes_in_use"),
    }
