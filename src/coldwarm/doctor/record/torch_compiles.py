"""Graphs of ``torch.compile``: for which line of the user's, for which function, and why.

PyTorch calls back when it begins to compile, in the thread and inside the call that needs it. The
stack of that moment has the user's line, and the code and arguments of what is compiled.
"""

import logging
import os
import re
import sys
import threading
import time

from coldwarm.doctor.record import compiled_functions, signatures, sites
from coldwarm.doctor.record.journal import failed
from coldwarm.doctor.record.signatures import VALUES
from coldwarm.frameworks.torch import CompileWatch
from coldwarm.wire import TYPE_CHECKING

if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Any

    from coldwarm.doctor.record.journal import Journal
    from coldwarm.doctor.record.signatures import CallSignature


_NEAR = 12
"""Frames above a logger's filter in which PyTorch holds what it tells of."""
_LONGEST_GUARD = 120
_LONGEST = 300
_PLACE = re.compile(r"^\[?\d+/\d+\]?: ")
"""Place of the compilation that a failed guard is of."""
_COMMENT = re.compile(r"\s+# ")
"""Behind a guard PyTorch writes the line that it is for."""
_GLOBAL = re.compile(r"\bG\['(\w+)'\]")
_TEXT = re.compile(r"([=!]= ?)(?:'[^']*'|\"[^\"]*\")")
"""A text that something is compared with."""
_EXPLANATION = "  Explanation: "
_AFTER = ("  Hint:", "  Developer debug context:")


def _compiling(frame: "FrameType | None") -> "dict[str, Any] | None":
    """Return what PyTorch holds of the function that it is about to compile."""
    while frame is not None and not sites.is_users(frame.f_code):
        code = frame.f_code
        if code.co_name == "_compile" and "convert_frame" in code.co_filename:
            held = frame.f_locals
            if held.get("code") is not None:
                return held
        frame = frame.f_back
    return None


def guard(told: "Any") -> "str | None":
    """Return the guard that failed, of PyTorch's reason to compile again; ``None``: it has none."""
    if not isinstance(told, str):
        return None
    first = _PLACE.sub("", told.partition("\n")[0])
    written = _GLOBAL.sub(r"\1", _COMMENT.split(first)[0].strip())
    if not os.environ.get(VALUES):
        written = _TEXT.sub(_untold, written)
    if len(written) > _LONGEST_GUARD:
        written = written[: _LONGEST_GUARD - 1] + "…"
    return written or None


def _untold(found: "re.Match[str]") -> str:
    return f"{found[1]}str #{hash(found[0]) & 0xFFFFFF:06x}"


def gave_up(frame: "FrameType | None") -> "tuple[CodeType, str, int] | None":
    """Return which code is not compiled again, and the setting that limits it, with its value.

    ``None``: no limit is reached, or PyTorch raises an error there.
    """
    held = _compiling(frame)
    if held is None or held.get("exceeded") is not True or held.get("one_graph"):
        return None
    config = sys.modules["torch._dynamo.config"]
    setting = held.get("limit_type")
    limit = getattr(config, str(setting), None)
    if not isinstance(limit, int) or getattr(config, "fail_on_recompile_limit_hit", False):
        return None
    return held["code"], str(setting), limit


def broken(frame: "FrameType | None", message: str) -> "tuple[str, str]":
    """Return what kind of reason PyTorch has to end a graph, and its explanation."""
    for _ in range(_NEAR):
        if frame is None:
            break
        error = frame.f_locals.get("exc")
        if error is not None and hasattr(error, "gb_type"):
            kind = error.gb_type
            kind = kind if isinstance(kind, str) else ""
            return kind, _explained(str(error)) or kind or _shortened(message)
        frame = frame.f_back
    return "", _shortened(message)


def _explained(message: str) -> str:
    """Return the explanation in a message that has one as a field."""
    _, found, rest = message.partition(_EXPLANATION)
    kept: list[str] = []
    for line in rest.splitlines() if found else ():
        if not line.strip() or line.startswith(_AFTER):
            break
        kept.append(line.strip())
    return " ".join(kept)[:_LONGEST]


def _shortened(message: str) -> str:
    """Return the first lines of a message that say something."""
    return " ".join(line.strip() for line in message.splitlines()[:4] if line.strip())[:_LONGEST]


_now_s = time.perf_counter
_BREAKS = "torch._dynamo.symbolic_convert.__graph_breaks"
_FRAMES = "torch._dynamo.convert_frame"
"""PyTorch's logger that warns of a limit."""
_AROUND = os.path.join("_dynamo", "external_utils")
_MOST_BREAKS = 200
_MOST_ATTRIBUTES = 64


class TorchCompiles:
    """Writes what PyTorch tells of its compilations."""

    def __init__(self, journal: "Journal") -> None:
        """Write into ``journal``."""
        self._journal = journal
        self._watch = CompileWatch()
        self._known: dict[CodeType, list[CallSignature]] = {}
        self._open: tuple[int, float] | None = None
        self._n_breaks = 0
        self._level, self._told = logging.NOTSET, False
        """State of PyTorch's logger, as it was: its level, and whether it tells."""

    def begin(self) -> None:
        """Follow compilations from now on. Dynamo is loaded."""
        from torch._dynamo import callback

        self._listen()
        # `torch._dynamo.reset()` removes all who listen; tests call it often.
        vars(callback.callback_handler)["clear"] = self._cleared
        self._watch.install()
        logging.getLogger(_FRAMES).addFilter(self._on_warning)
        logger = logging.getLogger(_BREAKS)
        self._level, self._told = logger.level, logger.isEnabledFor(logging.DEBUG)
        logger.addFilter(self._is_told)
        logger.setLevel(logging.DEBUG)

    def end(self) -> None:
        """Follow no more, and leave PyTorch as it was."""
        from torch._dynamo import callback

        handler = callback.callback_handler
        if vars(handler).get("clear") == self._cleared:
            del vars(handler)["clear"]
        logging.getLogger(_FRAMES).removeFilter(self._on_warning)
        if self._on_start in handler.start_callbacks:
            handler.remove_start_callback(self._on_start)
        if self._on_end in handler.end_callbacks:
            handler.remove_end_callback(self._on_end)
        self._watch.uninstall()
        logger = logging.getLogger(_BREAKS)
        logger.removeFilter(self._is_told)
        if logger.level == logging.DEBUG:
            logger.setLevel(self._level)

    def _listen(self) -> None:
        from torch._dynamo import callback

        callback.on_compile_start(self._on_start)
        callback.on_compile_end(self._on_end)

    def _cleared(self) -> None:
        """Do what ``torch._dynamo.reset()`` does, and listen on: all is compiled anew from here."""
        from torch._dynamo import callback

        try:
            type(callback.callback_handler).clear(callback.callback_handler)
        finally:
            self._listen()
            self._known.clear()

    def renew(self) -> None:
        """Write again what was written often enough: for a reader who came later."""
        self._n_breaks = 0

    def _is_told(self, record: logging.LogRecord) -> bool:
        self._on_break(record)
        return self._told or _asked_for()

    def _on_start(self, *_told: "Any") -> None:
        try:
            self._begun(sys._getframe(1))
        except Exception as error:
            self._open = None
            failed(self._journal, error)

    def _begun(self, frame: "FrameType | None") -> None:
        held = _compiling(frame) or {}
        code, given = _given(held)
        signature = signatures.of_values(given)
        earlier = self._known.setdefault(code, []) if code is not None else []
        differing = compiled_functions.nearest(signature, earlier)
        earlier.append(signature)
        del earlier[:-16]
        number = self._journal.number()
        self._journal.write(
            "call",
            framework="torch",
            call=number,
            slot=None,
            stack=sites.stack(frame),
            thread=threading.get_ident(),
            function=_described(code),
            cause={"kind": "first"}
            if differing is None
            else {"kind": "again", "differences": differing},
            signature=signature.told(),
            guard=guard(held.get("recompile_reason")),
        )
        self._watch.begin_call()
        self._open = number, _now_s()

    def _on_end(self, *_told: "Any") -> None:
        if self._open is None:
            return
        try:
            self._ended(*self._open)
        except Exception as error:
            failed(self._journal, error)
        finally:
            self._open = None

    def _ended(self, number: int, begin_s: float) -> None:
        seconds = _now_s() - begin_s
        # Dynamo tells of its own time after this.
        own_s = compiled_functions.apportioned(self._watch.parts(), seconds, "trace")
        self._journal.write(
            "stage",
            call=number,
            stage="compile",
            begin_s=begin_s,
            seconds=seconds,
            own_s=own_s,
            hit=bool(own_s.get("cache_read")),
            program=None,
        )

    def _on_break(self, record: logging.LogRecord) -> None:
        """Write where a graph ends."""
        self._n_breaks += 1
        try:
            if self._n_breaks <= _MOST_BREAKS:
                frame = sys._getframe(1)
                kind, text = broken(frame, record.getMessage())
                self._journal.write("break", stack=_at(frame), why=kind, text=text)
        except Exception as error:
            failed(self._journal, error)

    def _on_warning(self, _record: logging.LogRecord) -> bool:
        """Write where PyTorch compiles no more; every warning is let through."""
        try:
            found = gave_up(sys._getframe(1))
            if found is not None:
                code, setting, limit = found
                self._journal.write(
                    "limit", function=_described(code), setting=setting, limit=limit
                )
        except Exception as error:
            failed(self._journal, error)
        return True


def _asked_for() -> bool:
    """Say whether the program has asked PyTorch to tell of graph breaks."""
    state = getattr(sys.modules.get("torch._logging._internal"), "log_state", None)
    is_enabled = getattr(state, "is_artifact_enabled", None)
    return is_enabled is not None and bool(is_enabled("graph_breaks"))


def _given(held: "dict[str, Any]") -> "tuple[CodeType | None, dict[str, Any]]":
    """Return the code that PyTorch compiles, and the values of its arguments."""
    code = held.get("code")
    if code is None:
        return None, {}
    code, values = _inlined(code, held.get("locals") or {})
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    given = {name: values[name] for name in names if name in values}
    return code, {**given, **_attributes(given.get("self"))}


def _inlined(code: "CodeType", held: "dict[str, Any]") -> "tuple[CodeType, dict[str, Any]]":
    """Return what is compiled inside of the function that PyTorch puts around its own modules."""
    module = held.get("fn")
    forward = getattr(getattr(type(module), "forward", None), "__code__", None)
    if code.co_name != "inner" or _AROUND not in code.co_filename or forward is None:
        return code, held
    given = (module, *(held.get("args") or ()))
    named = dict(zip(forward.co_varnames[: forward.co_argcount], given, strict=False))
    return forward, {**named, **(held.get("kwargs") or {})}


def _attributes(value: "Any") -> "dict[str, Any]":
    """Return what an object holds that is part of what is compiled: numbers, texts, lengths."""
    found: dict[str, Any] = {}
    for name, one in getattr(value, "__dict__", {}).items():
        if isinstance(one, (bool, int, float, str)):
            found[f"self.{name}"] = one
        elif isinstance(one, (list, tuple, dict)):
            found[f"len(self.{name})"] = len(one)
    return dict(list(found.items())[:_MOST_ATTRIBUTES])


def _described(code: "CodeType | None") -> "dict[str, Any]":
    if code is None:
        return {"name": "backward"}
    return compiled_functions.described_code(code, "function")


def _at(frame: "FrameType | None") -> "list[Any]":
    """Return the line that PyTorch was at, which it interprets itself, and those that called it."""
    inner: list[Any] = []
    while frame is not None and not sites.is_users(frame.f_code):
        me = frame.f_locals.get("self")
        if frame.f_code.co_name in {"run", "step"} and hasattr(me, "current_instruction"):
            code, line = getattr(me, "f_code", None), getattr(me, "lineno", None)
            if code is not None and line and sites.is_users(code):
                place = (code.co_filename, line, code.co_qualname)
                if place not in inner:
                    inner.append(place)
        frame = frame.f_back
    return [*inner, *sites.stack(frame)]
