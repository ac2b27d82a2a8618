"""Stamps the phases of this process on the runner's clock.

Reading ``/proc/self/status`` happens after a phase's end is stamped and before the next
one begins, so it lies outside every window; the text is parsed after the first result.
"""

import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any

# As they were before a program could replace them.
now_ns, process_s = time.perf_counter_ns, time.process_time


def _status() -> "bytes | None":
    """Return this process's memory and switch counts as the kernel words them."""
    try:
        descriptor = os.open("/proc/self/status", os.O_RDONLY)
    except OSError:
        return None
    try:
        return os.read(descriptor, 8192)
    finally:
        os.close(descriptor)


def _field(status: bytes, name: bytes) -> "int | None":
    start = status.find(b"\n" + name + b":")
    if start < 0:
        return None
    return int(status[start + len(name) + 2 :].split(None, 1)[0])


class Phases:
    """The phases so far; use ``with phases("import"): …`` for each."""

    def __init__(self) -> None:
        """Start with no phase and one reading of the counters."""
        self._spans: list[tuple[str, int, int, bytes | None, bytes | None]] = []
        self._name = ""
        self._begin_ns = 0
        self._before = _status()

    def __call__(self, name: str) -> "Phases":
        """Name the phase that the ``with`` block times."""
        self._name = name
        return self

    def __enter__(self) -> None:
        """Stamp the beginning."""
        self._begin_ns = now_ns()

    def __exit__(
        self,
        kind: "type[BaseException] | None",
        error: "BaseException | None",
        trace: "TracebackType | None",
    ) -> None:
        """Stamp the end, also of a phase that raised."""
        end_ns = now_ns()
        after = _status()
        self._spans.append((self._name, self._begin_ns, end_ns, self._before, after))
        self._before = after

    def account(self) -> "list[dict[str, Any]]":
        """Return every phase with its stamps, peak memory and involuntary switches."""
        return [
            {
                "name": name,
                "begin_ns": begin_ns,
                "end_ns": end_ns,
                "peak_rss_bytes": _peak_bytes(after),
                "involuntary_switches": _switches(before, after),
            }
            for name, begin_ns, end_ns, before, after in self._spans
        ]


def _peak_bytes(status: "bytes | None") -> "int | None":
    peak_kib = _field(status, b"VmHWM") if status else None
    return None if peak_kib is None else peak_kib * 1024


def _switches(before: "bytes | None", after: "bytes | None") -> "int | None":
    if not before or not after:
        return None
    name = b"nonvoluntary_ctxt_switches"
    first, last = _field(before, name), _field(after, name)
    return None if first is None or last is None else last - first
