"""The journal of one process: lines of JSON, written at once, and counts that outlive the process.

A line is given to the kernel when it is written, and the counts lie in a file that is mapped into
memory, so that both are there whatever ends the process.
"""

import itertools
import json
import mmap
import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LINES, COUNTS = ".jsonl", ".counts"
"""What the names of a process's two files end with."""
MOST_BYTES = 32 * 2**20
"""Of lines; what comes after is not written, and the last line says so."""
SLOTS, FIELDS = 2**16, 4
"""Of the file of counts: places, and 64-bit numbers of each."""
LOST = 0
"""Where it counts the lines that could not be written."""
_now_s = time.perf_counter
_write = os.write


class Journal:
    """What one process writes."""

    def __init__(self, folder: str) -> None:
        """Open the files of this process in a folder, which is made where it is missing.

        Raises:
            OSError: that is not possible.
        """
        self.folder = folder
        os.makedirs(folder, exist_ok=True)
        self._open()

    def _open(self) -> None:
        stem = os.path.join(self.folder, f"{os.getpid()}-{time.monotonic_ns()}")
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        self._file = os.open(stem + LINES, flags, 0o600)
        self._left = MOST_BYTES
        self._mine = os.fstat(self._file)[1:3]
        with open(stem + COUNTS, "w+b") as file:
            # Taken at once: a full disk would end the program when it is written to.
            os.posix_fallocate(file.fileno(), 0, SLOTS * FIELDS * 8)
            self._mapped = mmap.mmap(file.fileno(), 0)
        self.counts = memoryview(self._mapped).cast("q")
        """``FIELDS`` numbers for each place."""
        self._places = itertools.count(1)  # the first one is the journal's own
        self._broken = False
        self._numbers = itertools.count(1)

    def number(self) -> int:
        """Return the number of another call for which something is compiled."""
        return next(self._numbers)

    def reopen(self) -> None:
        """Go on in files of its own: of a process that was forked."""
        if self._is_mine():
            os.close(self._file)
        self._open()

    def _is_mine(self) -> bool:
        """Say whether the descriptor is still that of the journal: a program may close all."""
        try:
            return os.fstat(self._file)[1:3] == self._mine
        except OSError:
            return False

    def slot(self) -> "int | None":
        """Return where the numbers of another place begin; ``None``: all are taken."""
        place = next(self._places)
        return place * FIELDS if place < SLOTS else None

    def write(self, kind: str, **fields: "Any") -> None:
        """Write a line, with the moment on the clock that parent and child share, in seconds."""
        if self._left <= 0:
            return
        try:
            row = json.dumps({"kind": kind, "at_s": _now_s(), **fields}, default=str) + "\n"
            raw = row.encode("utf-8", "backslashreplace")
            self._left -= len(raw)
            if self._left <= 0:
                raw = json.dumps({"kind": "cut", "at_s": _now_s()}).encode() + b"\n"
            self._append(raw)
        except (OSError, ValueError, TypeError, RecursionError):
            self.counts[LOST] += 1  # the program goes on

    def _append(self, raw: bytes) -> None:
        """Give a line to the kernel, or count it as lost: the disk may be full."""
        if self._broken:
            raw = b"\n" + raw
        done = _write(self._file, raw) if self._is_mine() else 0
        self.counts[LOST] += done < len(raw)
        self._broken = 0 < done < len(raw) or (self._broken and not done)
