"""Keeps back what a function prints while it is called thousands of times."""

from __future__ import annotations

import io
import sys
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import TYPE_CHECKING

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
    """Keep what Python prints; where an error ends it, show the end of that."""
    tail = _Tail()
    stream = io.TextIOWrapper(io.BufferedWriter(tail), encoding="utf-8", errors="replace")
    try:
        with redirect_stdout(stream), redirect_stderr(stream):
            yield
    except BaseException:
        stream.flush()
        sys.stderr.write(tail.text())
        raise
