"""What imports take: those that the user's own code asks for, of everything that is not theirs."""

import importlib
import sys
import threading
import time

from coldwarm.doctor import sites
from coldwarm.doctor.failures import failed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from coldwarm.doctor.journal import Journal

    Done = tuple[str, float, float]

WORTH_S = 0.001
"""Imports that take less are not written."""
_now_s = time.perf_counter
_FROZEN = "<frozen importlib._bootstrap>"


class _Open(threading.local):
    """The imports that have begun in a thread, each with what ended inside of it."""

    def __init__(self) -> None:
        self.inner: list[list[Done]] = []


def follow(journal: "Journal") -> None:
    """Write how long imports take, from now on."""
    bootstrap: Any = importlib._bootstrap
    load, threads = bootstrap._find_and_load, _Open()

    def _call_with_frames_removed(name: str, import_: "Any") -> "Any":
        threads.inner.append([])
        begin_s = _now_s()
        try:
            return load(name, import_)
        finally:
            try:
                _ended(threads, name, begin_s, journal)
            except Exception as error:
                failed(journal, error)

    # Python leaves frames of this file out of the tracebacks of imports that fail.
    timed = _call_with_frames_removed
    timed.__code__ = timed.__code__.replace(co_filename=_FROZEN)
    bootstrap._find_and_load = timed


def _ended(threads: _Open, name: str, begin_s: float, journal: "Journal") -> None:
    inner = threads.inner.pop() if threads.inner else []
    end_s = _now_s()
    if end_s - begin_s < WORTH_S and not inner:
        return
    users = sites.kind(_origin(sys.modules.get(name))) == sites.USERS
    found: list[Done] = inner if users else [(name, begin_s, end_s)]
    if threads.inner:
        threads.inner[-1] += found
        return
    for one, from_s, to_s in found:
        if to_s - from_s >= WORTH_S:
            thread = threading.get_ident()
            journal.write("import", name=one, begin_s=from_s, seconds=to_s - from_s, thread=thread)


def _origin(module: "Any") -> str:
    """Return the file of a module; a lazy one is not asked, as that would load it."""
    try:
        return str(object.__getattribute__(module, "__spec__").origin)
    except Exception:
        return "<unknown>"
