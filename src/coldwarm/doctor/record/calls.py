"""Calls of the user's lines, told by ``sys.monitoring`` (Python 3.12 and later).

Calls are told of in the user's code and in installed packages. A place that calls nothing of
interest is told to be silent until something else is compiled, so that a line costs something
once. Where a clock is read it is asked whether the work was done by then; random numbers of NumPy
and of Python that are drawn in a trace are the same in every call.
"""

import _thread
import sys
import time
from _weakref import ref

from coldwarm.doctor.record import sites
from coldwarm.doctor.record.dispatches import (
    CallSiteCounts,
    Dispatches,
    Now,
    Transfers,
    callbacks,
    is_partial,
    slow_path,
)
from coldwarm.doctor.record.journal import failed
from coldwarm.wire import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType
    from typing import Any

    from coldwarm.doctor.record.jax_compiles import JaxStages
    from coldwarm.doctor.record.journal import Journal


_CLOCKS = (
    *("perf_counter", "perf_counter_ns", "time", "time_ns", "monotonic", "monotonic_ns"),
    *("process_time", "process_time_ns"),
)
_OF_DAY = ("datetime.now", "datetime.utcnow")
_MOST_SHARE = 0.01
"""Largest share of the time so far that may go into looking for arrays that are not ready."""
_MOST_MOMENTS = 64
"""Readings of one place that are written."""
_now_ns = time.perf_counter_ns
_Builtin: "Any" = type(len)


def _is_of_day(called: "Any") -> bool:
    """Say whether a call is of ``datetime.now``, which is another object each time."""
    if type(called) is not _Builtin or type(called.__self__) is not type:
        return False
    return called.__self__.__module__ == "datetime" and called.__qualname__ in _OF_DAY


class _Clocks:
    """Writes when clocks are read, and how much was in flight then."""

    def __init__(self, places: "CallSiteCounts", now: "Now") -> None:
        """Count at ``places``; ``now`` is what this thread is at."""
        self._places, self._now = places, now
        self._began_ns = _now_ns()
        self._looked_ns = 0
        self._moments: dict[int, int] = {}
        self.late: list[tuple[int, int, int, list[ref[Any]]]] = []
        """Readings while results were being computed: where, the how many-th, when, and these."""
        self._pending: Callable[[], list[Any]] = list

    def wanted(self) -> "dict[Any, Callable[..., None]]":
        """Return the functions whose calls are to be told, and by whom they are taken."""
        return {getattr(time, name): self.read for name in _CLOCKS}

    def jax_is_here(self) -> None:
        """Look for JAX's arrays from now on. Before a clock is read: loading this takes time."""
        from coldwarm.frameworks.jax import in_flight

        self._pending = in_flight

    def read(self, code: "CodeType", offset: int, called: "Any", _first: "Any") -> None:
        """Take note of a clock that is read."""
        if sites.kind(code.co_filename) != sites.USERS:
            return  # a package measures for itself
        slot = self._places.at("clock", code, offset, called)
        if slot is None:
            return
        # While JAX starts its devices, asking for its arrays would wait for ever.
        looked = self._now.dispatched and not self._now.starting
        pending = self._in_flight() if looked else []
        self._places.add(slot, 1, bool(pending))
        seen = self._moments.get(slot, 0)
        if seen < _MOST_MOMENTS:
            self._moments[slot] = seen + 1
            self._places.journal.write(
                "clock",
                slot=slot,
                thread=_thread.get_ident(),
                pending=len(pending),
                number=seen,
                after=self._now.last if self._now.dispatched else None,
                caller=sites.stack(sys._getframe(2))[1:],
            )
            if pending:
                self.late.append((slot, seen, _now_ns(), [ref(one) for one in pending]))
        self._now.dispatched = False

    def settle(self) -> None:
        """Write of readings that came too early by when all was ready at the latest.

        Of a result that nobody keeps that is not known.
        """
        now_ns = _now_ns()
        for reading in self.late[:]:
            slot, number, at_ns, results = reading
            arrays = [one for one in (held() for held in results) if one is not None]
            if len(arrays) < len(results):
                self.late.remove(reading)
            elif all(one.is_ready() for one in arrays):
                self.late.remove(reading)
                late_s = (now_ns - at_ns) / 1e9
                self._places.journal.write("ready", slot=slot, number=number, late_s=late_s)

    def forget(self) -> None:
        """Begin anew: in a process that was forked."""
        self._moments.clear()
        self.late.clear()

    def timed_by_timeit(self, frame: "FrameType | None") -> None:
        """Take note of a time that ``timeit`` has taken, which keeps no result to wait for."""
        if self._now.dispatched:
            slot = self._places.of_stack("timeit", sites.stack(frame), "timeit")
            self._places.add(slot, 1, 1)
            self._now.dispatched = False

    def _in_flight(self) -> "list[Any]":
        """Return the arrays that are still being computed; none where looking costs too much."""
        begin_ns = _now_ns()
        if self._looked_ns > _MOST_SHARE * (begin_ns - self._began_ns) + 1e7:
            return []
        found = self._pending()
        self._looked_ns += _now_ns() - begin_ns
        return found


_OWNERS = ("RandomState", "Generator", "Random", "SystemRandom")
_MODULES = ("numpy", "random")


_Function, _Descriptor = type(lambda: None), type(str.join)
_Method: "Any" = type(CallSiteCounts.at.__get__(0))
"""Kinds of what is called, as ``types`` has them."""
_NO_DRAW = ("seed", "getstate", "setstate", "get_state", "set_state", "spawn")


def _is_draw(called: "Any", first: "Any") -> bool:
    """Say whether a call draws a random number; ``first`` is what it is given first.

    A method that is called at once is told of as a function, with the object as the first argument.
    Objects of other kinds are asked nothing: that may run code of the user's.
    """
    kind = type(called)
    if kind is _Builtin or kind is _Method:
        owner = type(called.__self__)
    elif kind is _Function and called.__module__ != "random":
        return False  # it will call what draws itself
    elif kind in (_Function, _Descriptor) or kind.__name__.startswith("cython_"):
        owner = type(first)
    else:
        return False
    if owner.__name__ not in _OWNERS or owner.__module__.partition(".")[0] not in _MODULES:
        return False
    name = called.__name__
    return name[0] != "_" and name not in _NO_DRAW and hasattr(owner, name)


def _type_of(value: "Any") -> str:
    """Return a type as Numba writes it; that of what is no array and no number is its class's."""
    dtype, shape = getattr(value, "dtype", None), getattr(value, "shape", None)
    if dtype is not None and isinstance(shape, tuple):
        return f"array({dtype}, {len(shape)}d)" if shape else str(dtype)
    return _PYTHONS.get(type(value), type(value).__name__)


_PYTHONS = {int: "int64", float: "float64", complex: "complex128", bool: "bool"}
_WORTH_S = 0.001
"""Shorter times of JAX's own functions are not written."""
_RESTS_NS = 100_000_000
"""Between two times at which silent places are asked again, at least."""
_EFFECTS = (print, input, open)
_COMPILED_BY = 2
_MOST_OF_UFUNC = 2_000
_MOST_OF_NUMBA = 20_000
"""Calls of a place that are counted one by one: of more it is known that there were so many."""


class CallCounter:
    """Counts calls by place."""

    def __init__(self, journal: "Journal", stages: "Callable[[], JaxStages | None]") -> None:
        """Write into ``journal``; ``stages`` knows what is being traced."""
        self._journal = journal
        self._now = Now()
        self._stages = stages
        self._places = CallSiteCounts(journal)
        self._clocks = _Clocks(self._places, self._now)
        self._dispatches = Dispatches(self._places, self._now, stages)
        self._transfers = Transfers(self._places, self._now, self._dispatches.is_tracing)
        self._wanted: dict[int, tuple[Any, Callable[..., Any]]] = {}
        """By identity: what is called, and who takes note of it."""
        self._started: dict[CodeType, Callable[[], None]] = {}
        """Code of frameworks that is told of each time that it starts."""
        self._timed: set[CodeType] = set()
        """Code of operations of JAX's that is told of each time that it ends."""
        self._returns: dict[Any, Callable[[], None]] = {}
        """Code that is told of each time that it returns."""
        self._tracers: frozenset[CodeType] = frozenset()
        """Code of JAX's in which a function is traced."""
        self._devices: CodeType | None = None
        self._timeit: CodeType | None = None
        self._numba: type | None = None
        """The type of functions that Numba compiles."""
        self._ufunc: type | None = None
        """The type of those that its ``vectorize`` makes."""
        self._of_numpy: type | None = None
        """The type of NumPy's own."""
        self._given: set[tuple[int, str]] = set()
        """By function of Numba's: types of the first argument that are written already."""
        self._n_ufuncs: dict[tuple[CodeType, int], int] = {}
        """By place: calls of those."""
        self._main = _thread.get_ident()
        self._numba_at: dict[int, int] = {}
        """By place: when one was called last."""
        self._told: dict[int, ref[CodeType]] = {}
        """By identity: code of which single events are told."""
        self._asked_ns = 0
        self._next: Callable[[], None] | None = None
        """What is to be done at the next call."""
        self._stale = False
        """Whether silent places are to be asked again as soon as that may be."""

    def begin(self) -> bool:
        """Follow calls from now on; return whether this Python can."""
        monitoring: Any = getattr(sys, "monitoring", None)
        tool = _free_tool(monitoring)
        if tool is None:
            return False
        self._monitoring, self._tool = monitoring, tool
        events = monitoring.events
        monitoring.register_callback(tool, events.PY_START, self._start)
        monitoring.register_callback(tool, events.CALL, self._call)
        monitoring.register_callback(tool, events.C_RETURN, self._returned)
        monitoring.register_callback(tool, events.C_RAISE, self._returned)
        monitoring.register_callback(tool, events.PY_RETURN, self._ended)
        self._want({**self._clocks.wanted(), **dict.fromkeys(_EFFECTS, self._effect)})
        monitoring.restart_events()
        monitoring.set_events(tool, events.PY_START)
        for frame in list(sys._current_frames().values()):
            self._follow_running(frame)
        return True

    def follow(self, code: "Any", started: "Callable[[], None]", ended: "Any") -> None:
        """Tell of each time that code starts, and that it returns."""
        self._started[code] = started
        self._returns[code] = ended
        self._tell_end(code)

    def then(self, do: "Callable[[], None]") -> None:
        """Do something as soon as the user's code, or a package, calls anything."""
        self._next = do
        self._monitoring.restart_events()

    def end(self) -> None:
        """Follow no more, and give the tool's number back."""
        monitoring, tool = self._monitoring, self._tool
        monitoring.set_events(tool, 0)
        events = monitoring.events
        for event in (events.PY_START, events.CALL, events.C_RETURN, events.C_RAISE):
            monitoring.register_callback(tool, event, None)
        monitoring.register_callback(tool, events.PY_RETURN, None)
        for told in list(self._told.values()):
            code = told()
            if code is not None:  # otherwise its place costs something for ever
                monitoring.set_local_events(tool, code, 0)
        monitoring.free_tool_id(tool)

    def leave(self) -> None:
        """Take note that the process ends."""
        self._clocks.settle()
        stages = self._stages()
        if stages is not None and stages.stale is not None:
            stages.stale.settle()

    def renew(self) -> None:
        """Write again what was written often enough: for a reader who came later."""
        self._clocks.forget()

    def _follow_running(self, frame: "FrameType | None") -> None:
        """Follow the calls of code that has begun already."""
        while frame is not None:
            if sites.kind(frame.f_code.co_filename) != sites.NOBODYS:
                self._tell(frame.f_code, self._monitoring.events.CALL)
            frame = frame.f_back

    def jax_is_here(self) -> None:
        """Follow what belongs to JAX too."""
        jax = sys.modules["jax"]
        self._want(self._transfers.wanted(jax))
        self._clocks.jax_is_here()
        self._started |= dict.fromkeys(slow_path(), self._missed)
        from coldwarm.doctor.record.jax_compiles import tracers
        from coldwarm.doctor.record.traced_values import StaleValues

        stages = self._stages()
        if stages is not None:
            stages.stale = StaleValues(self._journal)
        self._tracers = tracers()
        self._started |= dict.fromkeys(self._tracers, self._trace_begins)
        self._started |= dict.fromkeys(self._transfers.reads(), self._transfers.read)
        self._started |= dict.fromkeys(callbacks(), self._dispatches.called_back)
        operators = self._dispatches.begin(jax)
        self._started |= {code: self._operated(code) for code in operators}
        self._dispatches.enough = lambda: self._leave_operations(operators)
        self._timed = operators | self._dispatches.ends()
        for code in self._timed | self._tracers:
            self._tell_end(code)
        backends = getattr(sys.modules.get("jax._src.xla_bridge"), "backends", None)
        if backends is not None:
            self._devices = sites.unwrapped(backends).__code__
            self._returns[self._devices] = self._devices_are_there
            self._tell_end(self._devices)
        self._monitoring.restart_events()

    def _leave_operations(self, operators: "set[CodeType]") -> None:
        """Count no operations any more."""
        for code in operators:
            self._started.pop(code, None)
        for code in self._timed:
            self._monitoring.set_local_events(self._tool, code, 0)
        self._timed = set()

    def _operated(self, code: "CodeType") -> "Callable[[], None]":
        return lambda: self._dispatches.operated(code)

    def numba_is_here(self) -> None:
        """Count calls of functions that Numba compiles, as long as they are not very many."""
        self._numba = getattr(sys.modules.get("numba.core.registry"), "CPUDispatcher", None)
        self._ufunc = getattr(sys.modules.get("numba.np.ufunc.dufunc"), "DUFunc", None)
        self._of_numpy = getattr(sys.modules.get("numpy"), "ufunc", None)
        self._monitoring.restart_events()

    def timeit_is_here(self) -> None:
        """Follow the times that ``timeit`` takes."""
        self._timeit = sys.modules["timeit"].Timer.timeit.__code__
        self._returns[self._timeit] = lambda: self._clocks.timed_by_timeit(sys._getframe(2))
        self._tell_end(self._timeit)

    def ask_again(self) -> None:
        """Ask silent places again: what they call next may be a function that is compiled now."""
        now_ns = _now_ns()
        self._stale = now_ns - self._asked_ns < _RESTS_NS
        if not self._stale:
            self._asked_ns = now_ns
            self._monitoring.restart_events()

    def _tell_end(self, code: "CodeType") -> None:
        self._tell(code, self._monitoring.events.PY_RETURN)

    def _tell(self, code: "CodeType", events: int) -> None:
        self._monitoring.set_local_events(self._tool, code, events)
        self._told[id(code)] = ref(code)

    def _want(self, functions: "dict[Any, Callable[..., None]]") -> None:
        self._wanted |= {id(one): (one, taken) for one, taken in functions.items()}

    def _start(self, code: "CodeType", _offset: int) -> "Any":
        try:
            taken = self._started.get(code)
            if taken is not None:
                taken()
                return None
            if code is self._devices:
                self._now.starting, self._now.since_ns = True, _now_ns()
                return None
            if code is self._timeit:
                self._now.dispatched = False
                return None
            if sites.kind(code.co_filename) != sites.NOBODYS:
                self._tell(code, self._monitoring.events.CALL)
        except Exception as error:
            failed(self._journal, error)
            return None
        return self._monitoring.DISABLE

    def _ended(self, code: "CodeType", _offset: int, _returned: "Any") -> "Any":
        """Take note of what a function of JAX's or of ``timeit`` has taken."""
        try:
            returned = self._returns.get(code)
            if returned is not None:
                returned()
                return None
            if code in self._timed:
                self._dispatches.returned(code)
                return None
            stages = self._stages()
            if code in self._tracers and stages is not None:
                stages.trace_ended(sys._getframe(1))
                return None
        except Exception as error:
            failed(self._journal, error)
            return None
        return self._monitoring.DISABLE

    def _missed(self) -> None:
        """Take note of a call that JAX's fast path does not take."""
        stages = self._stages()
        if stages is not None:
            stages.called(sys._getframe(2))
        self._dispatches.missed()

    def _trace_begins(self) -> None:
        stages = self._stages()
        if stages is not None:
            stages.trace_begins(sys._getframe(2))

    def _devices_are_there(self) -> None:
        self._now.starting = False
        self._devices_started(_now_ns() - self._now.since_ns)

    def _devices_started(self, spent_ns: int) -> None:
        if spent_ns >= _WORTH_S * 1e9:
            thread = _thread.get_ident()
            self._journal.write("devices", seconds=spent_ns / 1e9, thread=thread)
            self._now.apart_ns += spent_ns
            self._dispatches.leave_out(spent_ns)

    def _call(self, code: "CodeType", offset: int, called: "Any", first: "Any") -> "Any":
        try:
            named = called
            if is_partial(called):
                first = called.args[0] if called.args else first
                called = called.func
            if type(called) is _Method:
                called = called.__func__
            if self._next is not None or self._stale or self._clocks.late:
                self._catch_up()
            if self._dispatches.takes(called):
                self._dispatches.call(code, offset, called, named, first)
                return None
            known = self._wanted.get(id(called))
            taken = known[1] if known is not None else self._by_owner(named, first)
            if taken is None:
                return self._monitoring.DISABLE
            if known is None and type(called) not in {self._numba, self._ufunc, self._of_numpy}:
                called = named.__qualname__
            if taken == self._clocks.read and self._dispatches.is_tracing():
                self._effect(code, offset, called, first)
            else:
                return taken(code, offset, called, first)
        except Exception as error:
            failed(self._journal, error)
            return None
        return None

    def _catch_up(self) -> None:
        """Do what was left for the next call."""
        then, self._next = self._next, None
        if then is not None:
            then()
        if self._stale:
            self.ask_again()
        self._clocks.settle()

    def _numba_called(self, code: "CodeType", offset: int, called: "Any", first: "Any") -> "Any":
        """Count a call of a function that Numba compiles; the place is silent after many."""
        name = str(called.__name__)
        self._note_given(called, first)
        # One place may call several functions, each by its name.
        slot = self._places.at("numba", code, (offset, name), name)
        if slot is None:
            return self._monitoring.DISABLE
        now_ns, n = _now_ns(), self._journal.counts[slot] + 1
        before_ns = self._numba_at.pop(slot, now_ns)
        # Between the first two calls it may compile.
        elsewhere = _thread.get_ident() != self._main
        self._places.add(slot, 1, now_ns - before_ns if n > _COMPILED_BY else 0, elsewhere)
        if n % _MOST_OF_NUMBA == 0:
            return self._monitoring.DISABLE
        self._numba_at[slot] = now_ns
        return None

    def _note_given(self, called: "Any", first: "Any") -> None:
        """Write once which type a function is given first."""
        kind = _type_of(first)
        if (id(called), kind) not in self._given:
            from coldwarm.doctor.record import compiled_functions  # once Numba is here

            self._given.add((id(called), kind))
            name = str(called.__name__)
            function = compiled_functions.parallel_ufuncs.get(name)
            if function is None or type(called) is not self._of_numpy:
                function = compiled_functions.described(sites.unwrapped(called), name)
            self._journal.write("given", function=function, first=kind)

    def _ufunc_called(self, code: "CodeType", offset: int, called: "Any", first: "Any") -> "Any":
        """Take note of what a function that ``vectorize`` has made is given first."""
        self._note_given(called, first)
        n = self._n_ufuncs[code, offset] = self._n_ufuncs.get((code, offset), 0) + 1
        return self._monitoring.DISABLE if n % _MOST_OF_UFUNC == 0 else None

    def _by_owner(self, called: "Any", first: "Any") -> "Callable[..., Any] | None":
        """Return what takes note of a method that is known by what it is of, not by itself."""
        if type(called) is self._numba:
            return self._numba_called
        if type(called) is self._ufunc or self._is_parallel(called):
            return self._ufunc_called
        if _is_of_day(called):
            return self._clocks.read
        # Otherwise the place is silent: drawing is what a program does most of the time.
        if self._dispatches.is_tracing() and _is_draw(called, first):
            return self._draw
        return None

    def _is_parallel(self, called: "Any") -> bool:
        """Say whether Numba has made this function of NumPy's, for all processors."""
        kind: Any = type(called)
        if kind is not self._of_numpy:
            return False
        from coldwarm.doctor.record.compiled_functions import parallel_ufuncs  # Numba is here

        return called.__name__ in parallel_ufuncs

    def _returned(self, _code: "CodeType", _offset: int, called: "Any", _first: "Any") -> "Any":
        try:
            if is_partial(called):
                called = called.func
            if type(called) is _Method:
                called = called.__func__
            if type(called) is self._dispatches.jitted:
                self._dispatches.returned(called)
        except Exception as error:
            failed(self._journal, error)
            return None
        return None

    def _effect(self, code: "CodeType", offset: int, called: "Any", _first: "Any") -> None:
        """Count what happens while a function is traced, and not when it is called."""
        if sites.kind(code.co_filename) == sites.USERS and self._dispatches.is_tracing():
            self._places.add(self._places.at("effect", code, offset, called), 1)

    def _draw(self, code: "CodeType", offset: int, called: "Any", _first: "Any") -> None:
        """Count a random number that is drawn while a function is traced."""
        if sites.kind(code.co_filename) == sites.USERS:
            self._places.add(self._places.at("draw", code, offset, called), 1)

    def forget(self) -> None:
        """Begin anew: in a process that was forked."""
        self._numba_at.clear()
        for one in (self._places, self._clocks, self._transfers):
            one.forget()


def _free_tool(monitoring: "Any") -> "int | None":
    """Return a number that no other tool uses."""
    if monitoring is None:
        return None
    for number in (4, 3, 2, 1, 0, 5):
        if monitoring.get_tool(number) is None:
            monitoring.use_tool_id(number, "coldwarm")
            return number
    return None
