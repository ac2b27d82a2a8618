"""Programs of Numba: for which line of the user's, for which types.

Its events arrive in the thread that compiles, and carry the function and the types of the call.
"""

import os
import sys
import threading
import time
import weakref

from coldwarm.doctor.record import compiled_functions, sites
from coldwarm.doctor.record.compiled_functions import ClosureVariables, apportioned
from coldwarm.doctor.record.journal import failed
from coldwarm.doctor.record.numba_warnings import NumbaWarnings
from coldwarm.doctor.record.object_mode import ObjectModeBlocks
from coldwarm.doctor.record.signatures import VALUES
from coldwarm.frameworks.numba import NumbaWatch, forget
from coldwarm.wire import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import Any

    from coldwarm.doctor.record.journal import Journal


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
    """Program read from the cache since the lock was taken: the function, and for which types."""


class _Reads:
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


def _keeps(dispatcher: "Any") -> bool:
    """Say whether a function is to be kept on disk."""
    return type(_cache_of(dispatcher)).__name__ == "FunctionCache"


def _cache_of(dispatcher: "Any") -> "Any":
    """Return what keeps a function; that of ``vectorize`` has another name."""
    return getattr(dispatcher, "_cache", None) or getattr(dispatcher, "cache", None)


def _why_missed(dispatcher: "Any", args: "Any") -> "str | None":
    """Return why a function was not in the cache; ``None``: it is not to be kept there."""
    if not _keeps(dispatcher):
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


_NEAR_UFUNC = 40
"""Frames between a step of Numba's compiler and the function that has started it."""
_LAST = 10
"""Frames between the lock that Numba gives back and the function that has taken it."""
_STARTS = ("ufuncbuilder.py", "dispatcher.py")
"""Files of Numba in which that function is."""


def _asked(frame: "FrameType | None") -> "tuple[Any, Any] | None":
    """Return what is compiled, and for which types; ``None``: it is part of something else."""
    for _ in range(_NEAR_UFUNC):
        if frame is None:
            return None
        code = frame.f_code
        if code.co_name == "_compile_core" and code.co_filename.endswith(_STARTS):
            held = frame.f_locals
            made, args = held.get("self"), held.get("args")
            return (made, args) if hasattr(made, "py_func") and args is not None else None
        frame = frame.f_back
    return None


def _built(frame: "FrameType | None") -> "Any":
    """Return what ``guvectorize`` compiles for, where its last part was made: the loop around it.

    ``None``: it was something else. The lock is taken by a wrapper around that part.
    """
    for _ in range(_LAST):
        if frame is None:
            return None
        if frame.f_code.co_name == "_acquire_compile_lock":
            held = frame.f_locals
            if getattr(held.get("func"), "__name__", None) != "build_ufunc":
                return None
            return getattr(next(iter(held.get("args") or ()), None), "nb_func", None)
        frame = frame.f_back
    return None


_now_s = time.perf_counter
_COMPILE, _LOCK, _STEP = "numba:compile", "numba:compiler_lock", "numba:run_pass"
_LONGEST = 200
_UFUNC = "UFuncDispatcher"
"""Type of what compiles for ``vectorize``, and, for arrays, for ``guvectorize``."""


def keep_all() -> None:
    """Let Numba keep every function of the user's on disk from now on. Numba is loaded."""
    from numba.core.dispatcher import Dispatcher

    made = Dispatcher.__init__

    def make(self: "Any", py_func: "Any", *given: "Any", **named: "Any") -> None:
        made(self, py_func, *given, **named)
        try:
            if sites.is_users(py_func.__code__):
                self.enable_caching()
        except Exception:  # of a function without a file
            return

    Dispatcher.__init__ = make  # type: ignore[method-assign] # for this process


class NumbaCompiles:
    """Writes what Numba tells of its compilations: the outermost one, with all that is inside."""

    def __init__(self, journal: "Journal") -> None:
        """Write into ``journal``."""
        self._journal = journal
        self._watch = NumbaWatch()
        self._warnings = NumbaWarnings(journal)
        self._blocks = ObjectModeBlocks(journal)
        self._depth = 0
        self._open: tuple[int, float] | None = None
        self._silent: int | None = None
        """The thread that compiles something of which no event tells but its steps."""
        self._types: weakref.WeakKeyDictionary[Any, list[list[str]]] = weakref.WeakKeyDictionary()
        self._last: weakref.WeakKeyDictionary[Any, tuple[int, bool]] = weakref.WeakKeyDictionary()
        """By function, the last call that it was compiled or read for."""
        self._reads = _Reads()
        self._init_ns = 0
        self._listeners: dict[str, Any] = {}
        self._made: dict[Any, tuple[int, ClosureVariables]] = {}
        """By the code that somebody wrote, how many functions were made of it, and what the last
        of them takes from around it."""

    def begin(self) -> None:
        """Follow compilations from now on. Numba is loaded."""
        from numba.core import event

        self._watch.install()
        self._warnings.begin()
        self._blocks.begin()

        class NumbaListener(event.Listener):  # type: ignore[misc] # Numba has no types
            def __init__(
                self, start: "Callable[[Any], None]", end: "Callable[[Any], None]"
            ) -> None:
                self._start, self._end = start, end

            def on_start(self, event: "Any") -> None:
                self._start(event.data or {})

            def on_end(self, event: "Any") -> None:
                self._end(event.data or {})

        self._listeners = {
            _COMPILE: NumbaListener(self.on_start, self.on_end),
            _LOCK: NumbaListener(self.on_lock, self.on_release),
            _STEP: NumbaListener(self.on_step, lambda _data: None),
        }
        for kind, listener in self._listeners.items():
            event.register(kind, listener)

    def end(self) -> None:
        """Follow no more, and leave Numba as it was."""
        from numba.core import event

        for kind, listener in self._listeners.items():
            forget(event, kind, listener)
        self._watch.uninstall()
        self._warnings.end()
        self._blocks.end()

    def forget(self) -> None:
        """Begin anew in a process that was forked."""
        self._blocks.forget()

    def on_lock(self, _data: "dict[str, Any]") -> None:
        """Note that a function is asked for that is not in memory."""
        self._reads.locking()

    def on_release(self, _data: "dict[str, Any]") -> None:
        """Note that it is there now; write it down where it was read from the cache."""
        try:
            read = self._reads.released()
            silent = self._silent == threading.get_ident() and not self._reads.is_held()
            if silent:
                self._silent = None
                self._watch.on_end(_COMPILE, {})
                self.on_end({})
            if self._reads.is_held():
                return
            # Numba's target is initialised on the way, once: that is no reading.
            init_s, self._init_ns = self._initialised_s(), self._watch.target_init_ns
            if read is not None:
                dispatcher, args, begin_s = read
                seconds = max(0.0, _now_s() - begin_s - init_s)
                number = self._call(dispatcher, args)
                self._last[dispatcher] = number, True
                self._stage(number, begin_s, seconds, {"cache_read": seconds}, hit=True)
            elif not silent:
                self._add_loop(_built(sys._getframe(1)), init_s)
        except Exception as error:
            failed(self._journal, error)

    def _add_loop(self, dispatcher: "Any", init_s: float) -> None:
        """Add the loop that ``guvectorize`` makes around what was compiled or read."""
        known = self._last.get(dispatcher) if dispatcher is not None else None
        if known is not None:
            number, hit = known
            begin_s = self._reads.begin_s()
            seconds = max(0.0, _now_s() - begin_s - init_s)
            part = "cache_read" if hit else "compile"
            self._stage(number, begin_s, seconds, {part: seconds}, hit=hit)

    def _initialised_s(self) -> float:
        """Return the seconds of initialising Numba's target since this was last looked at."""
        return (self._watch.target_init_ns - self._init_ns) / 1e9

    def on_start(self, data: "dict[str, Any]") -> None:
        """Note that compiling begins."""
        self._reads.compiling()
        self._depth += 1
        if self._depth > 1:
            return
        try:
            dispatcher, args = data.get("dispatcher"), data.get("args") or ()
            number = self._call(dispatcher, args, missed=_why_missed(dispatcher, args))
            self._last[dispatcher] = number, False
            self._watch.begin_call()
            self._open = number, _now_s()
        except Exception as error:
            self._open = None
            failed(self._journal, error)

    def on_step(self, data: "dict[str, Any]") -> None:
        """Note that compiling begins where only its first step tells: of ``vectorize``."""
        if self._depth or not self._reads.is_held():
            return
        found = _asked(sys._getframe(1))
        if found is None:
            return
        dispatcher, args = found
        self._silent = threading.get_ident()
        self.on_start({"dispatcher": dispatcher, "args": args})
        # It is charged like what Numba tells of; the lock is given back at its end.
        self._watch.on_start(_COMPILE, {})
        self._watch.on_start(_STEP, data)

    def _call(self, dispatcher: "Any", args: "Any", **more: "Any") -> int:
        """Write which function is asked for, where, and for which types."""
        types = [_told(one) for one in args]
        cause = self._new(dispatcher) or {"kind": "first"}
        earlier = self._types.setdefault(dispatcher, [])
        if earlier:
            cause = _cause(types, earlier, _names(dispatcher))
        number, function = self._journal.number(), _described(dispatcher)
        if type(dispatcher).__name__ == _UFUNC and not any(hasattr(one, "ndim") for one in args):
            compiled_functions.parallel_ufuncs[dispatcher.py_func.__name__] = function
        self._journal.write(
            "call",
            framework="numba",
            call=number,
            slot=None,
            stack=sites.stack(sys._getframe(2)),
            thread=threading.get_ident(),
            function=function,
            cause=cause,
            signature={
                "arguments": dict(zip(_names(dispatcher), types, strict=False)),
                "static": {},
            },
            keeps=_keeps(dispatcher),
            around=_takes_compiled(dispatcher),
            **_asked_for(sys._getframe(2), dispatcher, args),
            tuples=compiled_functions.tuples(getattr(dispatcher, "py_func", None)),
            **more,
        )
        earlier.append(types)
        del earlier[:-16]
        return number

    def _new(self, dispatcher: "Any") -> "dict[str, Any] | None":
        """Return the cause where the same code was compiled as another function before."""
        function = getattr(dispatcher, "py_func", None)
        code = getattr(function, "__code__", None)
        if code is None or dispatcher in self._types:
            return None
        n, before = self._made.get(code, (0, None))
        taken = ClosureVariables(function)
        self._made[code] = n + 1, taken
        if before is None:
            return None
        more = taken.since(before)
        return {"kind": "new_function", "n_objects": n + 1, "differences": [], **more}

    def on_end(self, _data: "dict[str, Any]") -> None:
        """Note that compiling has ended."""
        self._depth = max(0, self._depth - 1)
        if self._depth or self._open is None:
            return
        try:
            self._ended(*self._open)
        except Exception as error:
            failed(self._journal, error)

    def _ended(self, number: int, begin_s: float) -> None:
        seconds = _now_s() - begin_s
        own_s = apportioned(self._watch.parts(), seconds, "compile")
        self._stage(number, begin_s, seconds, own_s, hit=False)

    def _stage(
        self, number: int, begin_s: float, seconds: float, own_s: "dict[str, float]", *, hit: bool
    ) -> None:
        self._journal.write(
            "stage",
            call=number,
            stage="compile",
            begin_s=begin_s,
            seconds=seconds,
            own_s=own_s,
            hit=hit,
            program=None,
        )


def _cause(types: "list[str]", earlier: "list[list[str]]", names: "list[str]") -> "dict[str, Any]":
    """Return which arguments have another type than in the earlier call that is most alike."""
    alike = min(
        reversed(earlier), key=lambda one: sum(a != b for a, b in zip(one, types, strict=False))
    )
    if len(alike) != len(types):
        counts = {"before": f"{len(alike)} arguments", "now": f"{len(types)} arguments"}
        return {"kind": "again", "differences": [{"kind": "tree", "argument": "", **counts}]}
    differing = [
        {"kind": "type", "argument": name, "before": a, "now": b}
        for name, a, b in zip(names, alike, types, strict=False)
        if a != b
    ]
    return {"kind": "again", "differences": differing}


def _told(kind: "Any") -> str:
    """Return a type of Numba's as a text; of a text that is a type of its own, not the text."""
    name = type(kind).__name__
    if name == "StringLiteral" and not os.environ.get(VALUES):
        return f"Literal[str](#{hash(str(kind)) & 0xFFFFFF:06x})"
    return str(kind)[:_LONGEST]


def _takes_compiled(dispatcher: "Any") -> bool:
    """Say whether a function takes another compiled one from the function around it."""
    cells = getattr(getattr(dispatcher, "py_func", None), "__closure__", None) or ()
    for cell in cells:
        try:
            if hasattr(cell.cell_contents, "py_func"):
                return True
        except ValueError:  # an empty cell
            continue
    return False


def _asked_for(frame: "FrameType | None", dispatcher: "Any", types: "Any") -> "dict[str, Any]":
    """Return what is known of the call that asks for a compilation, if a call does."""
    found = _arguments(frame, dispatcher)
    if found is None:
        return {"declared": True, "lists": {}}
    named = list(zip(_names(dispatcher), types, found, strict=False))
    return {"declared": False, "lists": _lists(named), "given": _sizes(named)}


def _arguments(frame: "FrameType | None", dispatcher: "Any") -> "tuple[Any, ...] | None":
    """Return the arguments of the call that asks; ``None``: types were declared."""
    for _ in range(_NEAR_UFUNC):
        if frame is None or sites.is_users(frame.f_code):
            break
        if frame.f_code.co_name == "_compile_for_args":
            held = frame.f_locals
            return tuple(held["args"]) if held.get("self") is dispatcher else ()
        frame = frame.f_back
    return None


def _lists(named: "list[tuple[str, Any, Any]]") -> "dict[str, int]":
    """Return how many elements those arguments have that Numba copies before each call."""
    return {
        name: _n_elements(value) for name, kind, value in named if getattr(kind, "reflected", False)
    }


def _sizes(named: "list[tuple[str, Any, Any]]") -> "dict[str, list[int]]":
    """Return the sizes of arrays, and the values of integers."""
    found: dict[str, list[int]] = {}
    for name, _, value in named:
        if type(value) is int:
            found[name] = [value]
        elif isinstance(getattr(value, "shape", None), tuple):
            found[name] = list(value.shape)
    return found


def _n_elements(value: "Any") -> int:
    """Return how many elements a list or set has, those of the lists in it counted."""
    inner = value and isinstance(value, list) and isinstance(value[0], list)
    return sum(map(len, value)) if inner else len(value)


def _names(dispatcher: "Any") -> "list[str]":
    code = getattr(getattr(dispatcher, "py_func", None), "__code__", None)
    return list(code.co_varnames[: code.co_argcount]) if code is not None else []


def _described(dispatcher: "Any") -> "dict[str, Any]":
    function = getattr(dispatcher, "py_func", None)
    code = getattr(function, "__code__", None)
    if code is None:
        return {"name": str(getattr(function, "__name__", "?"))}
    closure = bool(getattr(function, "__closure__", None))
    return compiled_functions.described_code(code, "closure" if closure else "function")
