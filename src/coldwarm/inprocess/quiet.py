"""Keeps back what a function prints while it is called thousands of times."""

from __future__ import annotations

import io
import sys
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from _typeshed import ReadableBuffer

_TAIL_BYTES = 16 * 1024


class _Tail(io.RawIOBase):
    """Keeps the end of what is written."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._kept = bytearray()

    def writable(self) -> bool:
        """Say that it can be written."""
        return True

    def write(self, data: ReadableBuffer, /) -> int:
        """Take all."""
        taken = bytes(data)
        self._kept += taken
        if len(self._kept) > 2 * _TAIL_BYTES:
            del self._kept[:-_TAIL_BYTES]
        return len(taken)

    def text(self) -> str:
        """Return the end of it, from the beginning of a line on."""
        last = bytes(self._kept[-_TAIL_BYTES:])
        if len(last) < len(self._kept):
            last = last.partition(b"\n")[2]
        return last.decode("utf-8", "replace")


@contextmanager
def kept_back() -> Iterator[None]:
    """Keep what Python prints and draws; where an error ends it, show the end of the prints."""
    tail = _Tail()
    stream = io.TextIOWrapper(io.BufferedWriter(tail), encoding="utf-8", errors="replace")
    try:
        with redirect_stdout(stream), redirect_stderr(stream), _no_displays(), _no_figures():
            yield
    except BaseException:
        stream.flush()
        sys.stderr.write(tail.text())
        raise


@contextmanager
def _no_displays() -> Iterator[None]:
    """Publish nothing in a notebook."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    publisher: Any = getattr(shell, "display_pub", None)
    if not hasattr(publisher, "register_hook"):
        yield
        return
    publisher.register_hook(_dropped)
    try:
        yield
    finally:
        publisher.unregister_hook(_dropped)


def _dropped(_message: object) -> None:
    """Publish nothing: what a hook returns is published."""


@contextmanager
def _no_figures() -> Iterator[None]:
    """Close the figures of Matplotlib that are new: a notebook shows all that are open."""
    before = _figures()
    try:
        yield
    finally:
        for number in _figures() - before:
            sys.modules["matplotlib.pyplot"].close(number)


def _figures() -> set[int]:
    pyplot = sys.modules.get("matplotlib.pyplot")
    return set() if pyplot is None else set(pyplot.get_fignums())
