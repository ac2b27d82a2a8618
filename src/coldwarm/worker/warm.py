"""The warm regime: blocks of repeated calls, each block in a loop without other work.

Nothing is imported for it but a few small files: what lies in the heap decides what a call costs.
"""

from coldwarm import wire
from coldwarm.worker.loop import make_loop
from coldwarm.worker.phases import now_ns, process_s

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from coldwarm.worker.prepared import Prepared


class Warm:
    """Runs blocks for one candidate."""

    def __init__(self, prepared: "Prepared") -> None:
        """Make the loop and freeze what lives long, so that collecting stays cheap."""
        import gc

        self._prepared = prepared
        self._make_loop()
        self._idle_since_cpu_s = process_s()
        self._collects = gc.isenabled()
        gc.collect()
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
        gc.collect()
        compiles = backend.compiles_so_far()
        before = resource.getrusage(resource.RUSAGE_SELF)
        budget_ns = int(order["seconds"] * 1e9)
        gc.disable()
        cpu_s = process_s()
        start_ns = now_ns()
        try:
            samples_ns = self._loop(
                now_ns,
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
        wall_ns = now_ns() - start_ns
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


def serve(prepared: "Prepared", reader: int, writer: int) -> None:
    """Run the blocks that the runner asks for until it says ``quit``."""
    warm = Warm(prepared)
    while True:
        order = wire.decode_bare(wire.read_line(reader))
        if order["op"] == "quit":
            return
        wire.write_all(writer, wire.encode_bare(warm.block(order)))
