"""What Numba compiles: for which line of the user's, for which types, and whether it was kept.

Its events arrive in the thread that compiles, and carry the function and the types of the call.
"""

import sys
import threading
import time
import weakref

from coldwarm.doctor import sites
from coldwarm.doctor.causes import apportioned
from coldwarm.doctor.failures import failed
from coldwarm.frameworks.numba import NumbaWatch, forget

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from coldwarm.doctor.journal import Journal

_now_s = time.perf_counter
_COMPILE = "numba:compile"
_LONGEST = 200


class NumbaCompiles:
    """Writes what Numba tells of its compilations: the outermost one, with all that is inside."""

    def __init__(self, journal: "Journal") -> None:
        """Write into ``journal``."""
        self._journal = journal
        self._watch = NumbaWatch()
        self._depth = 0
        self._open: tuple[int, float] | None = None
        self._types: weakref.WeakKeyDictionary[Any, list[list[str]]] = weakref.WeakKeyDictionary()
        self._listener: Any = None
        self._n_objects: dict[Any, int] = {}
        """By the code that somebody wrote, how many functions were made of it."""

    def begin(self) -> None:
        """Follow compilations from now on. Numba is loaded."""
        from numba.core import event

        self._watch.install()
        ours = self

        class Listener(event.Listener):  # type: ignore[misc] # Numba has no types
            def on_start(self, event: "Any") -> None:
                ours.on_start(event.data or {})

            def on_end(self, event: "Any") -> None:
                ours.on_end(event.data or {})

        self._listener = Listener()
        event.register(_COMPILE, self._listener)

    def end(self) -> None:
        """Follow no more, and leave Numba as it was."""
        from numba.core import event

        forget(event, _COMPILE, self._listener)
        self._watch.uninstall()

    def on_start(self, data: "dict[str, Any]") -> None:
        """Note that compiling begins."""
        self._depth += 1
        if self._depth > 1:
            return
        try:
            self._begun(data)
        except Exception as error:
            self._open = None
            failed(self._journal, error)

    def _begun(self, data: "dict[str, Any]") -> None:
        dispatcher = data.get("dispatcher")
        types = [str(one)[:_LONGEST] for one in data.get("args") or ()]
        cause = self._new(dispatcher) or {"kind": "first"}
        earlier = self._types.setdefault(dispatcher, [])
        if earlier:
            cause = _cause(types, earlier, _names(dispatcher))
        number = self._journal.number()
        self._journal.write(
            "call",
            framework="numba",
            call=number,
            slot=None,
            stack=sites.stack(sys._getframe(2)),
            thread=threading.get_ident(),
            function=_described(dispatcher),
            cause=cause,
            signature={
                "arguments": dict(zip(_names(dispatcher), types, strict=False)),
                "static": {},
            },
            keeps=type(getattr(dispatcher, "_cache", None)).__name__ == "FunctionCache",
            around=_takes_compiled(dispatcher),
        )
        earlier.append(types)
        del earlier[:-16]
        self._watch.begin_call()
        self._open = number, _now_s()

    def _new(self, dispatcher: "Any") -> "dict[str, Any] | None":
        """Return the cause where the same code was compiled as another function before."""
        code = getattr(getattr(dispatcher, "py_func", None), "__code__", None)
        if code is None or dispatcher in self._types:
            return None
        self._n_objects[code] = n = self._n_objects.get(code, 0) + 1
        return {"kind": "new_function", "n_objects": n, "differences": []} if n > 1 else None

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
        self._journal.write(
            "stage",
            call=number,
            stage="compile",
            begin_s=begin_s,
            seconds=seconds,
            own_s=apportioned(self._watch.parts(), seconds, "compile"),
            hit=False,
            program=None,
        )


def _cause(types: "list[str]", earlier: "list[list[str]]", names: "list[str]") -> "dict[str, Any]":
    """Return which arguments have another type than in the earlier call that is most alike."""
    if not earlier:
        return {"kind": "first"}
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


def _names(dispatcher: "Any") -> "list[str]":
    code = getattr(getattr(dispatcher, "py_func", None), "__code__", None)
    return list(code.co_varnames[: code.co_argcount]) if code is not None else []


def _described(dispatcher: "Any") -> "dict[str, Any]":
    function = getattr(dispatcher, "py_func", None)
    code = getattr(function, "__code__", None)
    if code is None:
        return {"name": str(getattr(function, "__name__", "?"))}
    closure = bool(getattr(function, "__closure__", None))
    return {
        "name": code.co_qualname.replace("<locals>.", ""),
        "path": code.co_filename,
        "line": code.co_firstlineno,
        "operation": False,
        "kind": "closure" if closure else "function",
        "whose": sites.WHOSE[sites.kind(code.co_filename)],
    }
