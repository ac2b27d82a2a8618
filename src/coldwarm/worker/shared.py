"""Warm calls of another candidate in this process, in turns with those of its own.

Processes of one program differ by a percent or two, by where their pages and objects lie, and a
ratio of two processes has that of both. Calls in one process have most of it in common.

After the process's last word of what it has measured, which is safe whatever happens here.
"""

from coldwarm.frameworks import settings
from coldwarm.wire import TYPE_CHECKING, because
from coldwarm.worker import candidate, gate
from coldwarm.worker.candidate import Prepared, now_ns
from coldwarm.worker.loop import make_loop

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    Timed = Callable[[int], int]
    """Calls so often and returns the ns that it took."""


_WARM_NS, _SAMPLE_NS = 10**8, 10**6
"""How long both run before anything is kept, and how long a turn of each is at least."""
_FEWEST, _MOST = 6, 400
"""Turns."""
_LEAST_S, _MOST_S = 0.4, 1.5
"""How long the turns take."""
_LONGEST_NS = 5 * 10**7
"""Calls that are longer are not made here: so few would tell nothing."""


def measure(prepared: Prepared, job: "Mapping[str, Any]", start_s: float) -> "dict[str, Any]":
    """Load the function of another candidate and time both in turns, or say why not.

    ``start_s``: what the process took to start. The dearer another one is, the longer this one
    goes on.
    """
    found = _loaded(prepared, job)
    if isinstance(found, dict):
        return found
    return _turns(prepared, found, max(_LEAST_S, min(_MOST_S, start_s / 2)))


def _loaded(prepared: Prepared, job: "Mapping[str, Any]") -> "Prepared | dict[str, Any]":
    """Return the other candidate after two calls, or the reason why it cannot be here."""
    before = settings.told()
    backend: Any = prepared.backend.beside(job["function"])  # type: ignore[attr-defined] # of a user's function
    arguments = backend.place(candidate.make_inputs(backend, job))
    if backend.builds:
        arguments = backend.build()
    function = backend.for_user_function(backend.wrap)
    other = Prepared(job, backend, backend, function, arguments)
    backend.look()
    first = other.call(arguments)
    backend.refuse_unfinished(first)
    if other.reference_path is not None:
        outputs = backend.kept(backend.keep(first))
        held = gate.check(outputs, other.reference_path, job["tolerance"], finite=False)
        if not held["passed"]:
            return {"reason": because("correctness_gate")}
    del first
    other.call(other.fresh())
    if before is None or settings.told() != before:
        return {"reason": because("other_settings")}
    return other


def _turns(prepared: Prepared, other: Prepared, seconds: float) -> "dict[str, Any]":
    """Time the two in turns, each first in every other turn."""
    import gc

    sides = (_timed(prepared), _timed(other))
    begin_ns, batches = now_ns(), [1, 1]
    quickest = [2**62, 2**62]
    while now_ns() - begin_ns < _WARM_NS:
        for side, timed in enumerate(sides):
            quickest[side] = min(quickest[side], timed(1))
    if max(quickest) > _LONGEST_NS:
        return {"reason": because("calls_too_long", call_s=max(quickest) / 1e9)}
    for side, one in enumerate((prepared, other)):
        if one.renew is None:
            batches[side] = -(-_SAMPLE_NS // min(_SAMPLE_NS, max(quickest[side], 1)))
    compiles = prepared.backend.compiles_so_far()
    taken: tuple[list[int], list[int]] = ([], [])
    gc.collect()
    enabled = gc.isenabled()
    gc.disable()
    try:
        ends_ns = now_ns() + int(seconds * 1e9)
        while len(taken[0]) < _FEWEST or (now_ns() < ends_ns and len(taken[0]) < _MOST):
            first = len(taken[0]) % 2
            for side in (first, 1 - first):
                taken[side].append(sides[side](batches[side]))
    finally:
        if enabled:
            gc.enable()
    after = prepared.backend.compiles_so_far()
    return {
        "own_ns": taken[0],
        "other_ns": taken[1],
        "batches": batches,
        "compiles": None if after is None or compiles is None else after - compiles,
    }


def _timed(prepared: Prepared) -> "Timed":
    """Return the loop of a measured block, for one sample at a time."""
    from itertools import repeat

    backend = prepared.backend
    loop = make_loop(
        len(prepared.arguments),
        prepared.keywords,
        synchronous=backend.synchronous,
        renewing=prepared.renew is not None,
    )
    given = prepared.arguments if prepared.renew is None else prepared.renew

    def timed(batch: int) -> int:
        return loop(now_ns, repeat, prepared.function, backend.sync, given, batch, 1, 0)[0]

    return timed
