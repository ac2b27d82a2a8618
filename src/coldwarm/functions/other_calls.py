"""Calls in other circumstances than those of the timed loop: what it cannot show of itself.

The loop calls again and again with the same arguments, at once, and without Python's collector.
A user's program calls with others, when it has them, and with the collector. After the last
block some calls are made as there. Nothing here changes a figure.
"""

import sys
import time

from coldwarm.functions import values, waiting
from coldwarm.functions.far import OTHER_S, PAUSED_S, is_far
from coldwarm.wire import because

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from coldwarm.functions.arguments import Call

TRIES = 3
"""Calls of a kind, the quickest of which counts: a disturbance makes a call slower, never quicker.
One that is not far slower is enough."""
_BEFORE = 2
_USUAL, _USUAL_S, _LONGEST_S = 5, 0.2, 1.0
_PAUSE_S = 0.1
_COLLECTED, _COLLECTED_S, _FEWEST_COLLECTED = 5000, 0.2, 40
_STEP = 1 / 64
_now_ns, _sleep = time.perf_counter_ns, time.sleep  # as they were before the user's program
_OF_PROCESS = _now_ns() % 1_000_003 / 1_000_003
"""Different in each process: what an earlier one has kept on disk is not found again."""
_FIGURES = ("other_arguments_s", "paused_s", "collecting_s")
_PLAIN = {bool, int, str, bytes, type(None)}
"""Types of arguments that are the same in a copy."""


def told(
    call: "Callable[[tuple[Any, ...]], Any]",
    usual: "Callable[[], tuple[Any, ...]]",
    others: "Iterable[tuple[Any, ...]]",
    compiles: "Callable[[], int | None]",
    *,
    frozen: bool = False,
) -> "dict[str, Any]":
    """Make the calls; return seconds of one call of each kind, or the reason why there are none.

    Args:
        call: Calls with these arguments and waits.
        usual: Gives the arguments of the timed loop.
        others: Arguments of the same shapes and types, with other numbers.
        compiles: Counts the programs compiled so far; ``None``: unknown.
        frozen: Whether the loop has hidden what was there from the collector.
    """
    usual_s = _usual_s(call, usual)
    found: dict[str, Any] = {"usual_s": usual_s, **dict.fromkeys(_FIGURES)}
    reasons: dict[str, Any] = {}
    if usual_s > _LONGEST_S:
        why = because("calls_too_long", call_s=usual_s)
        return {**found, "reasons": dict.fromkeys(_FIGURES, why)}

    def at_once() -> "Iterator[tuple[Any, ...]]":
        for arguments in others:
            for _ in range(_BEFORE):  # so that what sleeps while they are made is awake
                call(usual())
            yield arguments

    kinds: dict[str, Callable[[], float]] = {
        "paused_s": lambda: _least_s(call, _paused(usual), usual_s, PAUSED_S, compiles),
        "other_arguments_s": lambda: _least_s(call, at_once(), usual_s, OTHER_S, compiles),
        "collecting_s": lambda: _collecting_s(call, usual, frozen=frozen),
    }
    for name, kind in kinds.items():
        try:
            found[name] = kind()
        except NoneToldError as error:
            reasons[name] = error.coded_reason
        except Exception as error:  # noqa: BLE001 - not every function takes other numbers
            text = (str(error).splitlines() or [""])[0][:200]
            reasons[name] = because("exception", error=type(error).__name__, text=text)
    return {**found, "reasons": reasons}


class NoneToldError(Exception):
    """There is no figure; ``coded_reason`` says why."""

    def __init__(self, reason: "dict[str, Any]") -> None:
        """Keep the reason, as it goes over the pipe."""
        super().__init__(reason["code"])
        self.coded_reason = reason


def _once_s(call: "Callable[[tuple[Any, ...]], Any]", arguments: "tuple[Any, ...]") -> float:
    begin_ns = _now_ns()
    call(arguments)
    return (_now_ns() - begin_ns) / 1e9


def _usual_s(
    call: "Callable[[tuple[Any, ...]], Any]", usual: "Callable[[], tuple[Any, ...]]"
) -> float:
    """Return the median of a few calls right after one another, without the collector."""
    import gc

    seconds: list[float] = []
    collects = gc.isenabled()
    gc.disable()
    try:
        while len(seconds) < _USUAL and sum(seconds) < _USUAL_S:
            seconds.append(_once_s(call, usual()))
    finally:
        if collects:
            gc.enable()
    return sorted(seconds)[len(seconds) // 2]


def _paused(usual: "Callable[[], tuple[Any, ...]]") -> "Iterable[tuple[Any, ...]]":
    for _ in range(TRIES):
        arguments = usual()
        _sleep(_PAUSE_S)
        yield arguments


def _least_s(
    call: "Callable[[tuple[Any, ...]], Any]",
    given: "Iterable[tuple[Any, ...]]",
    usual_s: float,
    far_s: float,
    compiles: "Callable[[], int | None]",
) -> float:
    """Return the quickest of some calls in which nothing was compiled.

    Raises:
        NoneToldError: there was none.
    """
    least_s, compiled = None, None
    for arguments in given:
        before = compiles()
        call_s = _once_s(call, arguments)
        after = compiles()
        if before is None or after != before:
            compiled = 0 if before is None or after is None else after - before
            continue
        least_s = call_s if least_s is None else min(call_s, least_s)
        if not is_far(least_s, usual_s, far_s):
            break
    if least_s is not None:
        return least_s
    if compiled is None:
        raise NoneToldError(because("no_other_arguments"))
    raise NoneToldError(because("compiled_in_window", n_programs=compiled))


def _collecting_s(
    call: "Callable[[tuple[Any, ...]], Any]",
    usual: "Callable[[], tuple[Any, ...]]",
    *,
    frozen: bool,
) -> float:
    """Return what a call costs on average in Python's collector, callbacks of others included.

    Raises:
        NoneToldError: the program has switched it off.
    """
    import gc

    if not gc.isenabled():
        raise NoneToldError(because("collector_off"))
    if frozen:
        gc.unfreeze()
    gc.collect()
    spent_ns, begun_ns, n_calls = 0, 0, 0

    def begin(phase: str, _info: object) -> None:
        nonlocal begun_ns
        if phase == "start":
            begun_ns = _now_ns()

    def end(phase: str, _info: object) -> None:
        nonlocal spent_ns
        if phase == "stop":
            spent_ns += _now_ns() - begun_ns

    gc.callbacks.insert(0, begin)
    gc.callbacks.append(end)
    start_ns = _now_ns()
    try:
        while n_calls < _COLLECTED:
            call(usual())
            n_calls += 1
            over_s = (_now_ns() - start_ns) / 1e9
            if over_s > (_COLLECTED_S if n_calls >= _FEWEST_COLLECTED else _LONGEST_S):
                break
    finally:
        gc.callbacks[:] = [one for one in gc.callbacks if one not in {begin, end}]
    return spent_ns / n_calls / 1e9


def varied(value: "Any", which: int) -> "Any":
    """Return a copy with other numbers of the same types and shapes, finished.

    Numbers with a point are made larger by a little, which keeps signs, orders and symmetries.
    Others are left: they may be places in an array. What cannot be copied is shared.
    """
    factor = 1 + (which + _OF_PROCESS) * _STEP
    kind = type(value)
    if kind is float or kind is complex:
        return value * factor
    if values.is_array(value):
        return _varied_array(value, factor)
    if kind is list or kind is tuple:
        return kind(varied(one, which) for one in value)
    if kind is dict:
        return {key: varied(one, which) for key, one in value.items()}
    return values.duplicate(value)


def changed(call: "Call", which: int) -> "Iterator[tuple[Any, ...]]":
    """Yield the arguments of a call with other numbers; nothing where none can be changed.

    Whole numbers become smaller, where there are no others: less of anything takes no longer,
    and stays within what they count.
    """
    flat = call.flat
    counts = not any(map(_has_points, values.leaves(list(flat)))) and _counts(flat, 1)
    if counts and _counts(flat, which):
        yield tuple(one - which if _counts((one,), which) else varied(one, which) for one in flat)
    elif not counts and any(type(one) not in _PLAIN for one in flat):
        yield _finished(tuple(varied(one, which) for one in flat))


def _finished(flat: "tuple[Any, ...]") -> "tuple[Any, ...]":
    waiting.wait(list(flat))
    return flat


def _counts(flat: "tuple[Any, ...]", which: int) -> bool:
    return any(type(one) is int and one > which for one in flat)


def _has_points(leaf: "Any") -> bool:
    if type(leaf) in {float, complex}:
        return True
    return values.is_array(leaf) and _has_point(str(getattr(leaf, "dtype", "")))


def _has_point(dtype: str) -> bool:
    return "float" in dtype or "complex" in dtype


def _varied_array(array: "Any", factor: float) -> "Any":
    if not _has_point(str(array.dtype)):
        return values.duplicate(array)
    if values.is_torch(array):
        return (array.detach() * factor).requires_grad_(array.requires_grad)
    numpy = sys.modules["numpy"]
    if isinstance(array, numpy.generic):
        return array.dtype.type(array * factor)
    if not values.is_jax(array):
        return _scaled(array, factor)
    host = numpy.asarray(array)
    if host.dtype.kind not in "fc" or len(array.devices()) > 1:
        return values.duplicate(array)
    # One that was bound to its device would be another argument to JAX.
    device = next(iter(array.devices())) if getattr(array, "_committed", False) else None
    return sys.modules["jax"].device_put(_scaled(host, factor), device).block_until_ready()


def _scaled(array: "Any", factor: float) -> "Any":
    same = array.copy(order="K")
    same *= factor
    return same
