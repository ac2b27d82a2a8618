"""How far an answer moves where what goes into it is inexact: the noise that it has in any case.

The reference is called again with inputs that were moved a little at random, and with arithmetic
that rounds up, and down. How far each number of the answer moves then is what
``coldwarm.worker.gate`` holds the errors of a candidate against where numbers cancel each other.
"""

import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    import numpy as np

    Array = np.ndarray[Any, Any]

_TIMES = {1: 100.0, 2: 30.0, 3: 16.0, 4: 10.0, 5: 8.0, 6: 6.0, 7: 5.0, 8: 4.0}
"""By how many calls, what their root mean square is multiplied with: a number that happened to
stay where it was in all of few calls may move much further in another one."""
MOST = max(_TIMES)
_LONG_S, _ENOUGH_S = 5.0, 1.0
"""A call longer than the first is not repeated at all; the second is enough for all of them."""
_now_s = time.perf_counter
_ROUNDED = {"x86_64": (0x800, 0x400), "aarch64": (0x400000, 0x800000)}
"""By processor, how ``fesetround`` of C is told to round up, and down."""


def noises(
    call: "Callable[[], Sequence[Array]]", references: "Sequence[Array]", share: float
) -> "list[Array]":
    """Return for each array how far its numbers move for inputs moved by all of themselves.

    ``call`` answers for inputs that it moves by ``share``, otherwise each time. What is not
    answered with the same shapes tells nothing; where nothing is told, all is 0.
    """
    import numpy as np

    squares = [np.zeros(one.shape) for one in references]
    began_s, n_told = _now_s(), 0
    for _ in range(MOST):
        before_s = _now_s()
        try:
            with np.errstate(all="ignore"):
                answers = call()
        except Exception:  # noqa: BLE001 - not every function takes other numbers
            answers = []
        after_s = _now_s()
        if _is_alike(answers, references):
            n_told += 1
            for place, pair in enumerate(zip(answers, references, strict=True)):
                squares[place] += differences(*pair) ** 2
        longest_s = after_s - before_s
        if longest_s > _LONG_S or after_s - began_s + longest_s > _ENOUGH_S:
            break
    times = _TIMES.get(n_told, 0.0) / share
    return [times * np.sqrt(square / max(n_told, 1)) for square in squares]


def _is_alike(answers: "Sequence[Array]", references: "Sequence[Array]") -> bool:
    return [one.shape for one in answers] == [one.shape for one in references]


def differences(answer: "Array", reference: "Array") -> "Array":
    """Return how far apart two answers are; 0 where that is no number."""
    import numpy as np

    if not {answer.dtype.kind, reference.dtype.kind} <= set("fc"):
        return np.zeros(reference.shape)
    wide = np.result_type(reference.dtype, np.float64)
    with np.errstate(all="ignore"):
        apart = np.abs(answer.astype(wide) - reference.astype(wide))
    return np.where(np.isfinite(apart), apart, 0.0)


def moved(array: "Array", share: float, rng: "np.random.Generator") -> "Array":
    """Return a copy whose numbers with a point are larger or smaller by a share of themselves."""
    if array.dtype.kind not in "fc":
        return array
    # Not by the same share each: two that moved alike would have the same difference.
    copy = array.copy(order="K")
    copy *= 1 + share * rng.standard_normal(array.shape)
    return copy


def rounded(
    call: "Callable[[], Sequence[Array]]", references: "Sequence[Array]", step: float
) -> "list[Array]":
    """Return how far numbers move where this thread rounds up, or down, over ``step``.

    ``step`` is the share by which a number of their type is smaller than the next one. Numbers are
    0 that other threads compute, and all where the system cannot be told how to round.
    """
    import ctypes

    import numpy as np

    found = [np.zeros(one.shape) for one in references]
    rounds = getattr(ctypes.CDLL(None), "fesetround", None)
    for mode in _ROUNDED.get(os.uname().machine, ()):
        if rounds is None or rounds(mode):
            break
        try:
            answers = call()
        except Exception:  # noqa: BLE001 - not every function bears it
            answers = []
        finally:
            rounds(0)
        if _is_alike(answers, references):
            for place, pair in enumerate(zip(answers, references, strict=True)):
                found[place] = np.maximum(found[place], differences(*pair) / step)
    return found
