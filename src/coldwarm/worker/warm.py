"""The warm regime: blocks of repeated calls, each block in a loop without other work.

The loops are generated for the number of arguments, as ``timeit`` does, so that a timed
call costs what it costs in a user's own loop: no argument unpacking, no closure.
"""

import time

from coldwarm import wire
from coldwarm.worker.phases import now_ns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from coldwarm.worker.session import Prepared

_TEMPLATE = """
def loop(clock, repeat, function, sync, arguments, batch, limit, budget_ns):
    {unpack}
    samples = []
    keep = samples.append
    if batch == 1:
        last = clock() + budget_ns
        for _ in repeat(None, limit):
            begin = clock()
            {call}
            end = clock()
            keep(end - begin)
            if end >= last:
                break
        return samples
    last = clock() + budget_ns
    for _ in repeat(None, limit):
        calls = repeat(None, batch)
        begin = clock()
        for _ in calls:
            {call}
        end = clock()
        keep(end - begin)
        if end >= last:
            break
    return samples
"""


_RENEWING_TEMPLATE = """
def loop(clock, repeat, function, sync, arguments, batch, limit, budget_ns):
    samples = []
    keep = samples.append
    last = clock() + budget_ns
    for _ in repeat(None, limit):
        {unpack_fresh}
        begin = clock()
        {call}
        end = clock()
        keep(end - begin)
        if end >= last:
            break
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
    template = _RENEWING_TEMPLATE if renewing else _TEMPLATE
    text = template.format(unpack=f"{left}arguments", unpack_fresh=f"{left}arguments()", call=call)
    scope: dict[str, Any] = {}
    exec(text, scope)  # noqa: S102 - the text above, and keywords of a call that was made
    loop: Callable[..., list[int]] = scope["loop"]
    return loop


class Warm:
    """Runs blocks for one candidate."""

    def __init__(self, prepared: "Prepared") -> None:
        """Make the loop and settle what lives long, so that collecting stays cheap."""
        import gc

        self._prepared = prepared
        backend = prepared.backend
        self._loop = make_loop(
            len(prepared.arguments),
            prepared.keywords,
            synchronous=backend.synchronous,
            renewing=prepared.renew is not None,
        )
        self._idle_since_cpu_s = time.process_time()
        gc.collect()
        gc.freeze()

    def block(self, order: "Mapping[str, Any]") -> "dict[str, Any]":
        """Time one block as ``order`` says and return its raw samples and counts."""
        import gc
        import resource
        from itertools import repeat

        idle_cpu_s = time.process_time() - self._idle_since_cpu_s
        prepared, backend = self._prepared, self._prepared.backend
        gc.collect()
        compiles = backend.compiles_so_far()
        switches = resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw
        budget_ns = int(order["seconds"] * 1e9)
        gc.disable()
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
            gc.enable()
        switched = resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw - switches
        compiled = backend.compiles_so_far()
        self._idle_since_cpu_s = time.process_time()
        return {
            "type": "block",
            "start_ns": start_ns,
            "batch": order["batch"],
            "samples_ns": samples_ns,
            "compiles": None if compiled is None or compiles is None else compiled - compiles,
            "involuntary_switches": switched,
            "idle_cpu_s": max(0.0, idle_cpu_s),
        }


def serve(prepared: "Prepared", reader: int, writer: int) -> None:
    """Run the blocks that the runner asks for until it says ``quit``."""
    warm = Warm(prepared)
    while True:
        order = wire.decode(wire.read_line(reader))
        if order["op"] == "quit":
            return
        wire.write_all(writer, wire.encode(warm.block(order)))
