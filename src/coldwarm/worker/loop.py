"""The warm regime: the timed loops, blocks of repeated calls, and the allocator that they find.

Loops are generated for the number of arguments, as ``timeit`` does, so that a timed call
costs what it costs in a user's own loop: no argument unpacking, no closure. Nothing is imported for
a block but a few small files: what lies in the heap decides what a call costs.

An array of 128 KiB or more is memory that glibc at first takes from the kernel and gives back for
every temporary result, or trims from the end of its heap; the kernel then clears the same pages
again in every call. Whether that happens depends on what the process allocated before: importing
a module of the standard library is enough to make the same NumPy call 1.8 times as long. glibc
learns from what is freed, up to blocks of 32 MiB, and from then on keeps such memory.

A user's program has had no such lesson, so figures are of processes without one, and nothing large
is allocated for the harness before the last warm call. Some processes begin with the lesson, to
show what it would gain.

Source: ``M_MMAP_THRESHOLD`` and ``M_TRIM_THRESHOLD`` in mallopt(3).
"""

import os

from coldwarm import wire
from coldwarm.wire import TYPE_CHECKING
from coldwarm.worker.candidate import now_ns, process_s

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from coldwarm.worker.candidate import Prepared


_LARGEST_LESSON_BYTES = 2**25 - 2**16
"""Just below the 32 MiB up to which glibc raises its thresholds, with room for headers."""


def keep_freed_memory() -> None:
    """Free one large block, so that the allocator keeps what is freed from now on.

    Its pages are never touched. Where the environment or the program has set the thresholds,
    glibc leaves them as they are; other allocators take no notice.
    """
    bytes(_LARGEST_LESSON_BYTES)


def is_glibc() -> bool:
    """Say whether the C library is glibc, whose allocator can be taught."""
    try:
        return bool(os.confstr("CS_GNU_LIBC_VERSION"))
    except (AttributeError, OSError, ValueError):
        return False


_HEAD = """
def loop(clock, repeat, function, sync, arguments, batch, limit, budget_ns):
    {unpack}
    samples = []
    keep = samples.append
    last = clock() + budget_ns
"""
_SERIES = """
    for _ in repeat(None, limit if {asked} else 0):
        {before}
        begin = clock()
        {calls}
        end = clock()
        keep(end - begin)
        if end >= last:
            return samples
"""


def make_loop(
    n_arguments: int,
    keywords: "tuple[str, ...]" = (),
    *,
    synchronous: bool,
    renewing: bool = False,
) -> "Callable[..., list[int]]":
    """Return the timed loop for a candidate of so many arguments.

    The last of them go by the names in ``keywords``. ``renewing``: instead of arguments the
    loop takes the function that gives them anew, which it calls outside the timed window.

    Each sample is the wall clock in ns of ``batch`` calls; inside are the call, the
    synchronisation on its own output, and the release of that output.
    """
    names = [f"a{index}" for index in range(n_arguments)]
    given = [""] * (n_arguments - len(keywords)) + [f"{keyword}=" for keyword in keywords]
    inner = f"function({', '.join(map(str.__add__, given, names))})"
    call = inner if synchronous else f"sync({inner})"
    left = f"{', '.join(names)}, = " if names else ""
    if renewing:
        text = _HEAD.format(unpack="pass")
        text += _SERIES.format(asked=True, before=f"{left}arguments()", calls=call)
    else:
        text = _HEAD.format(unpack=f"{left}arguments")
        text += _SERIES.format(asked="batch == 1", before="pass", calls=call)
        batched = {"before": "calls = repeat(None, batch)", "calls": f"for _ in calls: {call}"}
        text += _SERIES.format(asked="batch > 1", **batched)
    text += "    return samples"
    scope: dict[str, Any] = {}
    exec(text, scope)  # noqa: S102 - the text above, and keywords of a call that was made
    loop: Callable[..., list[int]] = scope["loop"]
    return loop


class WarmLoop:
    """Runs blocks for one candidate."""

    def __init__(
        self,
        prepared: "Prepared",
        *,
        alone: bool = True,
        clock: "Callable[[], int]" = now_ns,
    ) -> None:
        """Make the loop; ``alone``: freeze what lives long, so that collecting stays cheap.

        In a process that is somebody else's there is one collection, before the first block.
        """
        import gc

        self._prepared, self._alone, self._now_ns = prepared, alone, clock
        self._make_loop()
        self._idle_since_cpu_s = process_s()
        self._collects = gc.isenabled()
        gc.collect()
        if alone:
            prepared.frozen = gc.get_freeze_count() == 0
            gc.freeze()

    def _make_loop(self) -> None:
        prepared = self._prepared
        self._synchronous = prepared.backend.synchronous
        self._loop = make_loop(
            len(prepared.arguments),
            prepared.keywords,
            synchronous=self._synchronous,
            renewing=prepared.renew is not None,
        )

    def block(self, order: "Mapping[str, Any]") -> "dict[str, Any]":
        """Time one block as ``order`` says and return its raw samples and counts."""
        import gc
        import resource
        from itertools import repeat

        idle_cpu_s = process_s() - self._idle_since_cpu_s
        prepared, backend = self._prepared, self._prepared.backend
        if self._synchronous and not backend.synchronous:  # a framework came meanwhile
            self._make_loop()
        if self._alone:
            gc.collect()
        compiles = backend.compiles_so_far()
        before = resource.getrusage(resource.RUSAGE_SELF)
        budget_ns = int(order["seconds"] * 1e9)
        gc.disable()
        cpu_s = process_s()
        start_ns = self._now_ns()
        try:
            samples_ns = self._loop(
                self._now_ns,
                repeat,
                prepared.function,
                backend.sync,
                prepared.arguments if prepared.renew is None else prepared.renew,
                order["batch"],
                order["limit"],
                budget_ns,
            )
        finally:
            if self._collects:
                gc.enable()
        after = resource.getrusage(resource.RUSAGE_SELF)
        wall_ns = self._now_ns() - start_ns
        used_s = process_s() - cpu_s
        compiled = backend.compiles_so_far()
        counted = None if compiled is None or compiles is None else compiled - compiles
        backend.refuse_pending()
        self._idle_since_cpu_s = process_s()
        return {
            "type": "block",
            "start_ns": start_ns,
            "batch": order["batch"],
            "samples_ns": samples_ns,
            "compiles": counted,
            "uncounted": backend.uncounted() if counted is None else None,
            "involuntary_switches": after.ru_nivcsw - before.ru_nivcsw,
            "page_faults": after.ru_minflt - before.ru_minflt,
            "idle_cpu_s": max(0.0, idle_cpu_s),
            "cpu_s": max(0.0, used_s),
            "wall_ns": wall_ns,
        }


def serve(prepared: "Prepared", reader: int, writer: int) -> int:
    """Run the blocks that the runner asks for until it says ``quit``.

    Returns how many processes come after this one that want a part of the time.
    """
    warm = WarmLoop(prepared)
    while True:
        order = wire.decode_bare(wire.read_line(reader))
        if order["op"] == "quit":
            return int(order.get("n_later", 0))
        wire.write_all(writer, wire.encode_bare(warm.block(order)))
