"""Numba: what ``numba.core.event`` tells, whose listeners run in the thread that compiles.

Every span is charged with its *exclusive* time:

========== =======================================================================
trace      compiler passes up to and with type inference
lower      later passes in Python, down to LLVM's language
compile    LLVM itself: parsing, optimising, generating and linking machine code; in an
           empty cache also the futile lookup and the write
cache_read looking the function up and loading it, where it was found
========== =======================================================================

A first call also initialises Numba's target, about a quarter of a second that is neither:
it imports the implementations of what can be compiled. No event covers it, so the one
method that does it is timed; it counts towards the rest and is published apart, as
``target_init_s`` among the cache's own counters. Where a function uses linear algebra, the rest
also holds the import of SciPy, a tenth of a second.
"""

import sys
import time

from coldwarm.frameworks.base import PARTS, Watch, described_gpu, versions
from coldwarm.frameworks.spans import SpanAccount
from coldwarm.wire import TYPE_CHECKING, because

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from coldwarm.frameworks.base import Numbers

_LOCK = "numba:compiler_lock"
_COMPILE = "numba:compile"
_STEP = "numba:run_pass"
_FIRST_STEP = "translate_bytecode"
_LLVM = "numba:llvm_lock"
_CLOCK_NS = time.perf_counter_ns
_TARGET = "target initialisation"


class NumbaWatch(Watch):
    """Adds up what Numba's events tell."""

    counted = ("signatures", "llvm_lines")

    def __init__(self, device: str = "cpu") -> None:
        """Start with nothing seen."""
        super().__init__(device)
        self.spans = SpanAccount()
        self.compiles = 0
        self.loads = 0
        self.target_init_ns = 0
        self.llvm_calls = 0
        self.llvm_ns = 0
        """Time in LLVM since the last step: its calls are too many for spans."""
        self.dispatchers: list[Any] = []
        """Functions with a cache on disk: those wrapped, and others seen compiling."""
        self._seen: dict[int, Any] = {}
        """Functions of others than Numba that were compiled, by their identity."""
        self._nameless = 0
        """Compiled functions of which no event tells what they are."""
        self._marked: list[Any] | Mapping[str, Any] = []
        self._hits_before = self._loads_before = 0
        self._registered: list[tuple[str, Any]] = []
        self._tellers: list[Any] = []

    def install(self) -> None:
        """Register the listeners, once, and time the initialisation of the target."""
        if self._undo:
            return
        from numba.core import event
        from numba.core.base import BaseContext

        self._tellers = _tellers(event)
        steps, llvm = _listeners(event.Listener, self)
        for kind, listener in ((_LOCK, steps), (_COMPILE, steps), (_STEP, steps), (_LLVM, llvm)):
            event.register(kind, listener)
            self._registered.append((kind, listener))
            self._undo.append(lambda k=kind, one=listener: forget(event, k, one))  # type: ignore[misc] # Numba has no types
        self._undo.append(_time_refresh(BaseContext, self))

    def uninstall(self) -> None:
        """Stop listening, and leave Numba as it was."""
        super().uninstall()
        self._registered.clear()

    def intact(self) -> bool:
        """Say whether the listeners are registered, and are told of what happens."""
        event = sys.modules.get("numba.core.event")
        known = getattr(event, "_registered", None)
        if not self._undo or known is None:
            return True  # not installed, or not told
        listening = all(one in known.get(kind, ()) for kind, one in self._registered)
        return listening and self._tellers == _tellers(event)

    def begin_call(self) -> None:
        """Start the account of a call; counts go on."""
        self._hits_before, self._loads_before = self._count("cache_hits"), self.loads
        self.spans.begin()

    def keep(self, dispatcher: "Any") -> None:
        """Remember a compiled function for its counts of hits and misses."""
        if all(dispatcher is not known for known in self.dispatchers):
            self.dispatchers.append(dispatcher)

    def on_start(self, kind: str, data: "Mapping[str, Any]") -> None:
        """Open the span of an event."""
        self._settle()
        parent = self.spans.innermost()
        if kind == _LOCK:
            # Taken around each first call of a type, and again inside by parts of it.
            self.spans.open(kind, "cache_read_s" if parent is None else None)
        elif kind == _COMPILE:
            if parent is not None and parent.name == _LOCK:
                parent.marked = True
            self.compiles += 1
            dispatcher = data.get("dispatcher")
            if getattr(getattr(dispatcher, "stats", None), "cache_path", None):
                self.keep(dispatcher)
            if dispatcher is not None and not _is_numbas(dispatcher):
                self._seen[id(dispatcher)] = dispatcher
            self.spans.open(kind, "lower_s")
        else:
            compiling = self.spans.enclosing(_COMPILE)
            if compiling is None and _FIRST_STEP in str(data.get("name")):
                # Of ``vectorize`` and the like, of which no event tells that they compile.
                self.compiles += 1
                self._nameless += 1
                lock = self.spans.outermost()
                if lock is not None and lock.name == _LOCK:
                    lock.marked = True
            typed = compiling is not None and compiling.marked
            self.spans.open(kind, "lower_s" if typed else "trace_s")

    def on_end(self, kind: str, data: "Mapping[str, Any]") -> None:
        """Close the span of an event."""
        self._settle()
        part = None
        if kind == _STEP and "type_inference" in str(data.get("name")):
            compiling = self.spans.enclosing(_COMPILE)
            if compiling is not None:
                compiling.marked = True
        elif kind == _LOCK:
            lock = self.spans.innermost()
            if lock is not None and lock.part == "cache_read_s":
                # Nothing was found: the time around compiling is the lookup and the write.
                part = "compile_s" if lock.marked else None
                self.loads += not lock.marked
        self.spans.close(kind, part)

    def _settle(self) -> None:
        """Charge LLVM's time to compiling, except where it loads what was found."""
        ns, self.llvm_ns = self.llvm_ns, 0
        span = self.spans.innermost()
        if ns and span is not None and span.part not in (None, "cache_read_s"):
            self.spans.move(ns, "compile_s")

    def catch_up(self) -> None:
        """Remember the functions of others' that were called and have a cache on disk.

        One that was read from there compiles nothing, and no event names it. Untimed.
        """
        import gc

        from numba.core.dispatcher import Dispatcher

        for one in gc.get_objects():
            # Asking an object itself for its class may wake it, where it is a proxy.
            if issubclass(type(one), Dispatcher):
                stats = one.stats
                if stats.cache_path and (stats.cache_hits or stats.cache_misses):
                    self.keep(one)

    def parts(self) -> "Mapping[str, Any]":
        """Return the exclusive seconds of passes, LLVM and cache reads."""
        seconds: dict[str, float | None] = dict(self.spans.seconds())
        reasons = {}
        # Of ``vectorize`` no hits are counted; but nothing was compiled where it loads.
        hits = self._count("cache_hits") - self._hits_before
        if not hits and self.loads == self._loads_before:
            seconds["compile_s"] = (seconds["compile_s"] or 0.0) + (seconds["cache_read_s"] or 0.0)
            seconds["cache_read_s"] = None
            reasons["cache_read_s"] = because("not_read", cache="Numba's cache")
        return {**{part: seconds[part] for part in PARTS}, "reasons": reasons}

    def counters(self) -> "dict[str, dict[str, Any]]":
        """Return the counts of the functions' own caches; every miss was compiled.

        ``compiles`` also counts functions without a cache, such as Numba's own that are
        compiled on the way. ``bypasses`` are wrapped functions that Numba cannot cache.
        """
        hits, misses = self._count("cache_hits"), self._count("cache_misses")
        closed = self.spans.closed
        known = self.dispatchers
        return {
            "numba": {
                "requests": hits + misses,
                "hits": hits,
                "misses": misses,
                "writes": None,
                "bypasses": sum(not dispatcher.stats.cache_path for dispatcher in known),
                "compiles": self.compiles,
                "raw": {
                    "target_init_s": self.target_init_ns / 1e9,
                    "compile_events": self.compiles,
                    "run_pass_events": closed.get(_STEP, 0),
                    "llvm_calls": self.llvm_calls,
                    "functions": len(known),
                },
            }
        }

    def note(self) -> None:
        """Count up to here alone: keep what each function was compiled to. Quick.

        Of one that was read from a cache, neither what it calls nor its LLVM can be seen.
        """
        # Of ``vectorize`` no hits are counted; but nothing was compiled where it loads.
        if self._count("cache_hits") or (self.loads and not self.compiles):
            self._marked = because("inside_cached", cache="Numba's cache")
        elif self._nameless:
            self._marked = because("not_told", by="numba.vectorize")
        else:
            self._marked = [made for one in self._seen.values() for made in one.overloads.values()]

    def numbers(self) -> "Numbers":
        """Return signatures compiled, of all functions but Numba's own, and their lines of LLVM.

        The lines are of optimised code, what was linked in from Numba's own functions included.
        """
        made = self._marked
        if not isinstance(made, list):
            return dict.fromkeys(self.counted, made)
        texts = (one.library.get_llvm_str() for one in made)
        return {"signatures": len(made), "llvm_lines": sum(map(_n_lines, texts))}

    def compiles_so_far(self) -> int:
        """Return the functions compiled or read from disk: a warm window needs neither."""
        return self.compiles + self.loads

    def versions(self) -> "dict[str, str]":
        """Return the versions of Numba and of what it was loaded with."""
        return versions("numba", "llvmlite", "numpy", "scipy")

    def _count(self, counter: str) -> int:
        known = self.dispatchers
        return sum(sum(getattr(one.stats, counter).values()) for one in known)


def _is_numbas(dispatcher: "Any") -> bool:
    """Say whether a function is of Numba's own, which it compiles on the way."""
    return str(dispatcher.py_func.__module__).split(".")[0] == "numba"


def _n_lines(text: str) -> int:
    """Return the lines of LLVM's language that are neither empty nor a comment."""
    return sum(row[:1] not in ("", ";") for row in map(str.strip, text.splitlines()))


def _tellers(event: "Any") -> "list[Any]":
    """Return the functions by which Numba tells its listeners."""
    names = ("broadcast", "start_event", "end_event", "trigger_event")
    return [getattr(event, name, None) for name in names]


def forget(event: "Any", kind: str, listener: "Any") -> None:
    """Unregister a listener, where nobody has done it before."""
    if listener in getattr(event, "_registered", {}).get(kind, (listener,)):
        event.unregister(kind, listener)


def waiter(arrays: "Sequence[Any]") -> "Callable[[Any], None] | None":
    """Return what waits for all work of the GPU of such arrays; ``None``: there is none."""
    if not arrays:
        return None
    synchronize = sys.modules["numba.cuda"].synchronize
    return lambda _out: synchronize()


def has_used_gpu() -> bool:
    """Say whether a context was made on a GPU."""
    devices = getattr(sys.modules.get("numba.cuda.cudadrv.devices"), "gpus", None)
    known = vars(devices).get("lst", ()) if devices is not None else ()  # set once it was asked for
    return any(getattr(one._device, "primary_context", None) is not None for one in known)  # noqa: SLF001 - Numba tells it nowhere else


def gpu() -> "dict[str, Any] | None":
    """Return the GPU in use as Numba names it; ``None``: none was used."""
    if not has_used_gpu():
        return None
    cuda = sys.modules["numba.cuda"]
    return described_gpu(cuda.get_current_device().name, len(cuda.gpus), None)


def unfinished() -> int:
    """Return 1 where the default stream of a GPU that was used still has work."""
    if not has_used_gpu():
        return 0
    event = sys.modules["numba.cuda"].event(timing=False)
    event.record()
    return int(not event.query())


def _listeners(base: "Any", watch: NumbaWatch) -> "tuple[Any, Any]":
    clock_ns = _CLOCK_NS

    class Steps(base):  # type: ignore[misc] # Numba has no types
        """Hands the compiler's steps to the watch."""

        def on_start(self, event: "Any") -> None:
            watch.on_start(event.kind, event.data or {})

        def on_end(self, event: "Any") -> None:
            watch.on_end(event.kind, event.data or {})

    class Llvm(base):  # type: ignore[misc] # Numba has no types
        """Adds up the calls of LLVM: tens of thousands, so every attribute counts."""

        depth = begin_ns = 0

        def notify(self, event: "Any") -> None:
            if event.is_start:
                self.depth += 1
                if self.depth == 1:
                    self.begin_ns = clock_ns()
                return
            self.depth -= 1
            if not self.depth:
                watch.llvm_ns += clock_ns() - self.begin_ns
                watch.llvm_calls += 1

        on_start = on_end = notify

    return Steps(), Llvm()


def _time_refresh(context: "Any", watch: NumbaWatch) -> "Callable[[], None]":
    """Put the initialisation of Numba's target into a span of its own; return what undoes it.

    It is wrapped on the class, because Numba copies its context objects.
    """
    refresh = context.refresh

    def timed(self: "Any") -> None:
        outermost = watch.spans.enclosing(_TARGET) is None
        span = watch.spans.open(_TARGET, None)
        span.part = None  # it belongs to no part, whatever it is called from
        try:
            refresh(self)
        finally:
            watch.spans.close(_TARGET)
            if outermost:
                watch.target_init_ns += span.own_ns

    context.refresh = timed

    def restore() -> None:
        if context.refresh is timed:
            context.refresh = refresh

    return restore
