"""Warm calls of another candidate in this process, in turns with those of its own.

Processes of one program differ by a percent or two, by where their pages and objects lie, and a
ratio of two processes has that of both. Calls in one process have most of it in common. What is
left is mostly where inputs and executables lie, so both sides are made anew a few times: in forks
of a template where importing takes long, else in this process.

After the process's last word of what it has measured, which is safe whatever happens here.
"""

import sys

from coldwarm.frameworks import settings
from coldwarm.wire import TYPE_CHECKING, because
from coldwarm.worker import candidate, gate
from coldwarm.worker.candidate import Prepared, now_ns
from coldwarm.worker.loop import make_loop

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from coldwarm.backends.base import Backend
    from coldwarm.worker.template import Template

    Timed = Callable[[int], int]
    """Calls so often and returns the ns that it took."""


_WARM_NS, _SAMPLE_NS = 10**8, 10**6
"""How long both run before anything is kept, and how long a turn of each is at least."""
_FEWEST, _MOST = 6, 400
"""Turns."""
_TURNS_NS, _LEAST_NS = 35 * 10**7, 4 * 10**8
"""How long the turns take until both sides are made anew, and at least where they are not."""
_MOST_NS = 3 * 10**9
"""How long all of it takes at most: no side is made anew that would take it beyond."""
_LONGEST_NS = 5 * 10**7
"""Calls that are longer are not made here: so few would tell nothing."""
_DEAR_IMPORT_NS = 5 * 10**8
"""How long importing takes at least where forks of a template stand for further processes."""
_FORKS_NS = 5 * 10**8
"""How long the turns of a fork take."""
_LATE_S = 5
"""By how much a fork may be slower than twice what it took in the process, until it is ended."""


def measure(
    prepared: Prepared,
    job: "Mapping[str, Any]",
    start_s: float,
    found: "list[dict[str, Any]]",
    templates: "Sequence[Template]" = (),
) -> "dict[str, Any] | None":
    """Load the function of another candidate and time both in turns; return why there are no more.

    ``start_s``: what the process took to start. The dearer another one is, the longer this one
    goes on. ``found`` gets the turns, one entry each time that both were made.
    """
    most_ns = min(_MOST_NS, int(start_s * 1e9))
    turns_ns = _TURNS_NS if job["again"] else max(_LEAST_NS, most_ns // 3)
    ends_ns = now_ns() + most_ns
    own: Prepared | dict[str, Any] = prepared
    while True:
        begin_ns = now_ns()
        if found:
            _forget()
            own = _loaded(prepared.backend, prepared.job)
        turns = _both(own, _loaded(prepared.backend, job), turns_ns)
        if "reason" in turns:
            return turns["reason"]  # type: ignore[no-any-return] # a reason in a message
        found.append({**turns, "forked": False})
        if templates:
            found += _of_forks(templates[0], job, start_s, now_ns() - begin_ns)
            return None
        if not job["again"] or now_ns() + (now_ns() - begin_ns) > ends_ns:
            return None


def template(
    backend: "Backend", job: "Mapping[str, Any]", entered_ns: int, pipes: "Sequence[int]"
) -> "list[Template]":
    """Return a template, if one can be made and another process would take much longer.

    Its forks call the function of the process and another one, both made there.
    """
    if now_ns() - entered_ns < _DEAR_IMPORT_NS:
        return []
    from coldwarm.worker.template import made

    def answer(other: "Mapping[str, Any]") -> "dict[str, Any]":
        backend.device_init()
        backend.watch()
        return _both(_loaded(backend, job), _loaded(backend, other), _FORKS_NS)

    found = made(answer, pipes)
    return [] if found is None else [found]


def _of_forks(
    template: "Template", job: "Mapping[str, Any]", start_s: float, own_ns: int
) -> "Iterator[dict[str, Any]]":
    """Let one fork after the other call both, for twice as long as another process takes to start.

    ``own_ns``: how long it took here. Of a time budget, processes that come after this one are left
    time for that, and then as much as this one takes; and half of that is left at the end.
    """
    begin_ns, n_later = now_ns(), job["n_later"]
    most_ns = int(2 * start_s * 1e9)
    if job["until_s"] is not None:
        left_ns = int(job["until_s"] * 1e9) - begin_ns - own_ns * n_later - own_ns // 2
        most_ns = min(most_ns, left_ns // (n_later + 1))
    longest_ns = own_ns
    while (now := now_ns()) + longest_ns < begin_ns + most_ns:
        turns = template.fork(dict(job), _LATE_S + 2 * own_ns // 10**9)
        if not turns or "reason" in turns:
            return
        longest_ns = max(longest_ns, now_ns() - now)
        yield {**turns, "forked": True}


def _both(
    own: "Prepared | dict[str, Any]", other: "Prepared | dict[str, Any]", turns_ns: int
) -> "dict[str, Any]":
    """Return the turns of both sides, or the reason why there are none."""
    if isinstance(own, dict):
        return own
    return other if isinstance(other, dict) else _turns(own, other, turns_ns)


def _forget() -> None:
    """Let JAX compile again, so that executables lie elsewhere, too."""
    jax: Any = sys.modules.get("jax")
    if jax is not None:
        jax.clear_caches()


def _loaded(beside: "Backend", job: "Mapping[str, Any]") -> "Prepared | dict[str, Any]":
    """Return the other candidate after two calls, or the reason why it cannot be here."""
    before = settings.told()
    backend: Any = beside.beside(job["function"])  # type: ignore[attr-defined] # of a user's function
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


def _turns(prepared: Prepared, other: Prepared, turns_ns: int) -> "dict[str, Any]":
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
        ends_ns = now_ns() + turns_ns
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
