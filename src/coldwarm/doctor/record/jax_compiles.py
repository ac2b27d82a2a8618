"""Stages of JAX: for which line of the user's, for which call, and why.

JAX tells a listener when a stage begins, in the thread that computes and inside the call that
needs it. The stack of that moment has the user's line, and the call's function and arguments.
"""

import _thread
import sys
import threading
import time
from functools import cache, wraps

from coldwarm.doctor.record import compiled_functions, jacobians, signatures, sites
from coldwarm.doctor.record.jax_work import in_vain
from coldwarm.doctor.record.jaxprs import fingerprint, looked_into, memory_of
from coldwarm.doctor.record.journal import failed
from coldwarm.frameworks.jax import forgetting, staying
from coldwarm.wire import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType
    from typing import Any

    from coldwarm.doctor.record.journal import Journal
    from coldwarm.doctor.record.traced_values import StaleValues


_UNTOLD = "coldwarm/trace"
"""No event of JAX's: it tells of none where a function is traced below ``grad`` or ``vmap``."""
_STAGES = {
    "/jax/core/compile/jaxpr_trace_duration": "trace",
    "/jax/core/compile/jaxpr_to_mlir_module_duration": "lower",
    "/jax/core/compile/backend_compile_duration": "compile",
    _UNTOLD: "trace",
}
_TRACERS = ("trace_to_jaxpr_nocache", "trace_to_jaxpr", "trace_to_jaxpr_dynamic")
"""Functions of JAX in which a function is traced, by version."""
_NOBODYS = -1
"""The number of a call that is not known to compile anything."""
_NEAR = 6
"""Frames above a listener in which JAX holds what it lowers."""


class _Open:
    """A stage that has begun and not ended."""

    __slots__ = ("begin_ns", "event", "frame", "inner_ns", "stage")

    def __init__(self, event: str, begin_ns: int, frame: int = 0) -> None:
        """Note an event of ``_STAGES``.

        ``frame`` is the identity of the frame that traces, unless JAX tells of the end.
        """
        self.event = event
        self.frame = frame
        self.stage = _STAGES[event]
        self.inner_ns = 0
        self.begin_ns = begin_ns


class _Counted:
    """The calls at one line for one function."""

    __slots__ = ("before", "n", "slot")

    def __init__(self, slot: "int | None") -> None:
        """Count in the numbers of the journal from ``slot`` on; ``None``: there is no room."""
        self.slot = slot
        self.n = 0
        self.before = 0
        """As many as there were when the last reader came."""

    def is_written(self, most: int) -> bool:
        """Say whether the next one of them is written, where so many are for one reader."""
        return self.n - self.before <= most


class _CompilingCall:
    """A call for which something is traced, lowered or compiled."""

    __slots__ = (
        "counted",
        "fingerprint",
        "hit",
        "jitted",
        "lowered",
        "miss",
        "number",
        "order",
        "own_ns",
        "program",
        "where",
    )

    def __init__(self, number: int, miss: int, counted: "_Counted", where: "Any") -> None:
        """Note the frame with the id ``miss``, at the user's line ``where``."""
        self.number, self.miss, self.counted, self.where = number, miss, counted, where
        self.order = -1
        self.jitted = False
        self.own_ns: dict[str, int] = {}
        self.hit = False
        self.lowered: Any = None
        self.program: Any = None
        self.fingerprint: str | None = None


class _Thread(_thread._local):
    """Open stages of one thread."""

    def __init__(self) -> None:
        """With nothing open."""
        self.open: list[_Open] = []
        self.call: _CompilingCall | None = None
        self.staged_ns = 0
        self.before: _CompilingCall | None = None
        """The call before what JAX tells nothing of was traced."""
        self.traced: dict[int, list[tuple[int, int, dict[str, int]]]] = {}
        """By the frame of a call that nothing is told of yet: what was traced in it, from when to
        when, with the nanoseconds of its parts."""

    def drop_broken(self, frame: "FrameType | None") -> None:
        """Forget what is open where the frame that traced has gone: an error ended it.

        JAX would have told of the end of its own events, and of this nobody tells.
        """
        if not self.open or not self.open[0].frame:
            return
        while frame is not None:
            if id(frame) == self.open[0].frame and frame.f_code in tracers():
                return
            frame = frame.f_back
        self.open.clear()
        self.call = self.before


@cache
def tracers() -> "frozenset[CodeType]":
    """Return the code of JAX in which a function is traced. JAX is loaded."""
    space = sys.modules["jax._src.interpreters.partial_eval"]
    found = (sites.unwrapped(getattr(space, name)) for name in _TRACERS if hasattr(space, name))
    codes = (getattr(one, "__code__", None) for one in found)
    return frozenset(code for code in codes if code is not None)


def _goes_on(known: _CompilingCall, miss: "FrameType | None", frame: "FrameType | None") -> bool:
    """Say whether a stage belongs to the call of the stage before.

    What is lowered or compiled by itself, without a call, does so where one line asks for both.
    """
    if known.miss != id(miss):
        return False
    return miss is not None or known.where == next(iter(sites.stack(frame)), None)


def _missed(frame: "FrameType | None") -> "FrameType | None":
    """Return the frame in which JAX holds the call that it has no program for."""
    while frame is not None:
        code = frame.f_code
        if code.co_name == "cache_miss" and code.co_filename.endswith("pjit.py"):
            return frame
        if sites.is_users(code):
            return None
        frame = frame.f_back
    return None


def _lowering(frame: "FrameType | None") -> "Any":
    """Return what is about to be lowered, and which of its inputs are given away."""
    for _ in range(_NEAR):
        if frame is None:
            return None
        if "closed_jaxpr" in frame.f_code.co_varnames:
            held = frame.f_locals
            return held.get("closed_jaxpr"), held.get("donated_invars") or ()
        frame = frame.f_back
    return None


_LISTENERS = "_event_duration_secs_listeners"
_now_ns = time.perf_counter_ns
_ORDER = {"trace": 0, "lower": 1, "compile": 2}
_RETRIEVAL = "/jax/compilation_cache/cache_retrieval_time_sec"
_HIT = "/jax/compilation_cache/cache_hits"


class JaxStages:
    """Writes what JAX tells of its stages."""

    def __init__(self, journal: "Journal") -> None:
        """Write into ``journal``."""
        self._journal = journal
        self._threads = _Thread()
        self._functions = compiled_functions.Functions()
        self._lock = threading.RLock()
        self._places: dict[Any, _Counted] = {}
        """By the user's line and the function."""
        self._stops: list[Callable[[], None]] = []
        self.spent_ns = 0
        """In here: no cost of the program's."""
        self.stale: StaleValues | None = None
        """Where calls are followed, who is told what functions take from around them."""
        self.compiled: Callable[[], None] | None = None
        """Called after something was compiled that is called with arguments."""

    def begin(self) -> None:
        """Listen from now on. JAX is loaded."""
        self._listen()
        follows = self._watched_clearing(), jacobians.in_jax(self._journal).end
        self._stops = [staying(self._listen), *follows]

    def end(self) -> None:
        """Listen no more."""
        for stop in self._stops:
            stop()
        self._forget()

    def _listen(self) -> None:
        """Listen, once: some versions of JAX do not clear all listeners."""
        self._forget()
        monitoring = sys.modules["jax"].monitoring
        monitoring.register_event_listener(self.on_event)
        monitoring.register_event_duration_secs_listener(self.on_duration)
        if hasattr(monitoring, "register_scalar_listener"):
            monitoring.register_scalar_listener(self.on_scalar)

    def _watched_clearing(self) -> "Callable[[], None]":
        """Note where the program makes JAX forget what it has compiled; return what ends that."""
        jax: Any = sys.modules["jax"]
        clear = jax.clear_caches

        @wraps(clear)
        def noted(*arguments: "Any", **named: "Any") -> "Any":
            try:
                self._journal.write("cleared", stack=sites.stack(sys._getframe(1)))
            except Exception as error:
                failed(self._journal, error)
            return clear(*arguments, **named)

        def stop() -> None:
            if jax.clear_caches is noted:
                jax.clear_caches = clear

        jax.clear_caches = noted
        return stop

    def _forget(self) -> None:
        forgetting("event_listener", self.on_event)()
        forgetting("event_duration_listener", self.on_duration)()
        forgetting("scalar_listener", self.on_scalar)()

    def is_told(self) -> bool:
        """Say whether JAX still tells of its stages: a program may have taken the listeners."""
        listeners = getattr(sys.modules.get("jax._src.monitoring"), _LISTENERS, None)
        return listeners is None or self.on_duration in listeners

    def renew(self) -> None:
        """Write again what was written often enough: for a reader who came later."""
        with self._lock:
            for counted in self._places.values():
                counted.before = counted.n

    def staged_ns(self) -> int:
        """Return the nanoseconds of all stages of this thread that have ended."""
        return self._threads.staged_ns

    def number(self) -> "int | None":
        """Return the number of the call that this thread compiles something for."""
        call = self._threads.call
        return call.number if call is not None and call.number != _NOBODYS else None

    def is_open(self) -> bool:
        """Say whether this thread is in any stage."""
        return bool(self._threads.open)

    def is_tracing(self) -> bool:
        """Say whether this thread traces a function."""
        if not self._threads.open:
            return False
        self._threads.drop_broken(sys._getframe(1))
        return any(one.stage == "trace" for one in self._threads.open)

    def called(self, frame: "FrameType") -> None:
        """Note that JAX's slow path begins: a call that had this frame before is over."""
        mine = self._threads
        mine.traced.pop(id(frame), None)
        if mine.call is not None and mine.call.miss == id(frame):
            mine.call.miss = 0

    def trace_begins(self, frame: "FrameType") -> None:
        """Note that a function is traced by a frame of JAX's, where JAX tells of nothing.

        Whether something is compiled for it is not known before that begins.
        """
        begin_ns = _now_ns()
        mine = self._threads
        mine.drop_broken(frame)
        if mine.open:
            return
        miss = _missed(frame.f_back)
        if miss is None:
            return  # no call of a compiled function
        mine.before, mine.call = mine.call, _CompilingCall(_NOBODYS, id(miss), _Counted(None), None)
        self._spent(_now_ns() - begin_ns)
        mine.open.append(_Open(_UNTOLD, _now_ns(), id(frame)))

    def trace_ended(self, frame: "FrameType") -> None:
        """Note that a frame of JAX's has ended that traced."""
        mine = self._threads
        if not mine.open or mine.open[0].frame != id(frame):
            return
        begin_ns, ended = mine.open[0].begin_ns, mine.call
        self._ended(_UNTOLD, 0.0)
        mine.call, mine.before = mine.before, None
        if ended is None:
            return  # something failed meanwhile, and was told
        part = begin_ns, _now_ns(), ended.own_ns
        if mine.call is not None and mine.call.miss == ended.miss:
            self._traced(mine.call, [part])
        else:
            mine.traced.setdefault(ended.miss, []).append(part)

    def _traced(self, call: _CompilingCall, parts: "list[tuple[int, int, dict[str, int]]]") -> None:
        """Write what was traced for a call, which JAX has not told of."""
        for begin_ns, end_ns, own_ns in parts:
            call.own_ns = own_ns
            self._leave(call, "trace", begin_ns, end_ns)

    def on_scalar(self, event: str, _value: float, fun_name: str = "?", **_more: "Any") -> None:
        """Note that a stage begins."""
        if event not in _STAGES:
            return
        begin_ns = _now_ns()
        mine = self._threads
        try:
            mine.drop_broken(sys._getframe(1))
            if not mine.open:
                self._enter(event, fun_name)
                if _STAGES[event] == "lower" and mine.call is not None:
                    mine.call.lowered = _lowering(sys._getframe(1))
                if _STAGES[event] == "compile" and mine.call and self._journal.fingerprints:
                    mine.call.fingerprint = fingerprint(sys._getframe(1))
        except Exception as error:
            mine.call = None
            failed(self._journal, error)
        finally:
            self._spent(_now_ns() - begin_ns)
            mine.open.append(_Open(event, _now_ns()))

    def _spent(self, spent_ns: int) -> None:
        """Leave what was done here out of what is open, or of the call around it."""
        self.spent_ns += spent_ns
        if not self._threads.open:
            self._threads.staged_ns += spent_ns
        self.leave_out(spent_ns)

    def leave_out(self, spent_ns: int) -> None:
        """Leave a time out of the stages that this thread has open."""
        for one in self._threads.open:
            one.begin_ns += spent_ns

    def on_duration(self, event: str, seconds: float, **_more: "Any") -> None:
        """Note that a stage has ended."""
        try:
            self._ended(event, seconds)
        except Exception as error:
            self._threads.call = None
            failed(self._journal, error)

    def _ended(self, event: str, seconds: float) -> None:
        mine = self._threads
        if event == _RETRIEVAL and mine.call is not None and mine.open:
            read_ns = max(0, int(seconds * 1e9))
            mine.open[-1].inner_ns += read_ns
            _add(mine.call.own_ns, "cache_read", read_ns)
        if event not in _STAGES or not any(one.event == event for one in mine.open):
            return
        end_ns = _now_ns()
        one = mine.open[-1]
        while mine.open:
            one = mine.open.pop()
            whole_ns = end_ns - one.begin_ns
            if mine.call is not None:
                _add(mine.call.own_ns, one.stage, max(0, whole_ns - one.inner_ns))
            if mine.open:
                mine.open[-1].inner_ns += whole_ns
            if one.event == event:
                break
        if not mine.open:
            mine.staged_ns += end_ns - one.begin_ns
        if not mine.open and mine.call is not None and mine.call.number != _NOBODYS:
            self._leave(mine.call, one.stage, one.begin_ns, end_ns)

    def on_event(self, event: str, **_more: "Any") -> None:
        """Note that a program was read from the cache on disk."""
        call = self._threads.call
        if event == _HIT and call is not None:
            call.hit = True

    def _enter(self, event: str, name: str) -> None:
        """Find out for which call an outermost stage begins."""
        order = _ORDER[_STAGES[event]]
        frame: FrameType | None = sys._getframe(2)
        miss = _missed(frame)
        known = self._threads.call
        if known is not None and order > known.order and _goes_on(known, miss, frame):
            known.order = order
            known.hit = False  # a read from the cache inside of an earlier stage is another's
            return
        self._threads.call = call = self._new(frame, miss, name)
        call.order = order
        self._traced(call, self._threads.traced.pop(id(miss), []) if miss is not None else [])

    def _new(
        self, frame: "FrameType | None", miss: "FrameType | None", name: str
    ) -> _CompilingCall:
        stack = sites.stack(frame)
        held = miss.f_locals if miss is not None else {}
        function = held.get("fun")
        wrapped = sites.around(miss)
        static: dict[str, Any] = {}
        if function is not None and self.stale is not None:
            given = held.get("jit_info"), held.get("args", ()), held.get("kwargs", {})
            static = signatures.divided(function, *given)[0]
            self.stale.compiled(function, static)
        place = (stack[0] if stack else None, name)
        with self._lock:
            number = self._journal.number()
            counted = self._places.get(place)
            if counted is None:
                counted = self._places[place] = _Counted(self._journal.slot())
            counted.n += 1
        call = _CompilingCall(number, id(miss), counted, place[0])
        call.jitted = function is not None and not compiled_functions.is_operation(function)
        cause: dict[str, Any] = {"kind": "apart"}  # of what is compiled without a call
        signature = None
        if function is not None:
            signature = signatures.of_call(
                function,
                held.get("jit_info"),
                held.get("args", ()),
                held.get("kwargs", {}),
                wrapped,
            )
            inner = compiled_functions.written(wrapped.function) if wrapped else None
            with self._lock:
                cause = self._functions.cause(function, name, signature, inner)
            function = inner or function
        if counted.is_written(self._journal.most_of_a_place):
            self._journal.write(
                "call",
                framework="jax",
                call=number,
                told=_bare(name),
                slot=counted.slot,
                stack=stack,
                thread=threading.get_ident(),
                function=compiled_functions.described(function, name)
                if function
                else {"name": _bare(name)},
                captured=compiled_functions.captured(function) if function else [],
                cause=cause,
                signature=signature.told() if signature else None,
                hash_s=signatures.hashing_s(static),
            )
        return call

    def _looked_into(self, lowered: "Any") -> "dict[str, Any] | None":
        """Return what is known of a program; where a part cannot be looked at, that is told."""
        program = looked_into(lowered)
        if program is not None:
            try:
                program |= in_vain(lowered[0].jaxpr)
            except Exception as error:
                failed(self._journal, error)
        return program

    def _leave(self, call: _CompilingCall, stage: str, begin_ns: int, end_ns: int) -> None:
        """Write that an outermost stage has ended."""
        begun_ns = _now_ns()
        slot = call.counted.slot
        if slot is not None:
            counts = self._journal.counts
            counts[slot] = call.counted.n
            counts[slot + 1] += end_ns - begin_ns
            counts[slot + 2] += (stage == "compile") and not call.hit
            counts[slot + 3] += (stage == "compile") and call.hit
        if call.counted.is_written(self._journal.most_of_a_place):
            if call.lowered is not None:  # now, so that none of its arrays is kept
                call.program, call.lowered = self._looked_into(call.lowered), None
            self._journal.write(
                "stage",
                call=call.number,
                stage=stage,
                begin_s=begin_ns / 1e9,
                seconds=(end_ns - begin_ns) / 1e9,
                own_s={name: ns / 1e9 for name, ns in call.own_ns.items()},
                hit=call.hit if stage == "compile" else None,
                program=call.program if stage == "compile" else None,
                memory=memory_of(sys._getframe(3)) if stage == "compile" else None,
                **({"fingerprint": call.fingerprint} if call.fingerprint else {}),
            )
        call.own_ns = {}
        if stage == "compile":
            call.hit, call.program, call.fingerprint = False, None, None
            if self.compiled is not None and call.jitted:
                self.compiled()
        self._spent(_now_ns() - begun_ns)

    def forget(self) -> None:
        """Begin anew: in a process that was forked."""
        self._places.clear()
        self._lock = threading.RLock()
        self._threads = _Thread()


def _bare(name: str) -> str:
    """Return the name of a function that JAX calls ``jit(name)`` from its lowering on."""
    return name[4:-1] if name.startswith("jit(") and name.endswith(")") else name


def _add(sums: "dict[str, int]", name: str, ns: int) -> None:
    sums[name] = sums.get(name, 0) + ns
