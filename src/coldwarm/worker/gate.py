"""The check of an answer: an output against the stored reference, number by number.

A number is right where it is off by at most the tolerance of itself, or by no more than the
reference itself moves there when what goes into it is inexact by the tolerance. So each number is
held to its own size, whatever stands beside it in the array, and what is left of numbers that
cancel each other is not called wrong.

How far the reference moves is found by calling it again with inputs that were moved a little at
random, and with arithmetic that rounds up, and down.
"""

import os
import time

from coldwarm.wire import TYPE_CHECKING, because

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    import numpy as np

    Array = np.ndarray[Any, Any]


_MOST_APART = 10_000
"""Whole numbers that differ, of which the largest difference is reported."""
_MOST = 1e300
"""Number reported of an error that is beyond all numbers."""
NOISE, ROUNDED = "noise_", "rounded_"
"""In the file of a reference, how far each number moves, over the share by which its inputs did,
and over the precision of its type where its arithmetic was rounded otherwise."""
OTHERS = ".others"
"""End of the name of the folder beside the file of a reference, where its answers to other data
lie."""
_OPERATIONS = 640.0
"""Times the tolerance, what many roundings may add up to: a tolerance is about the square root of
the precision of its type, and ten times its square is that precision."""


def check(
    outputs: "Sequence[Array]", reference_path: str, tolerance: float, *, finite: bool = True
) -> "dict[str, Any]":
    """Compare outputs with the reference in a file, as ``compare`` does."""
    references, noises = stored(reference_path, tolerance)
    return compare(outputs, references, tolerance, noises=noises, finite=finite)


def stored(path: str, tolerance: float = 0.0) -> "tuple[list[Array], list[Array | None]]":
    """Return the arrays of a reference, and of each how far it moves; ``None``: unknown."""
    import numpy as np

    with np.load(path, allow_pickle=False) as held:
        names = [name for name in held.files if not name.startswith((NOISE, ROUNDED))]
        noises: list[Array | None] = []
        for number in range(len(names)):
            noise = held.get(f"{NOISE}{number}")
            rounded = held.get(f"{ROUNDED}{number}")
            if noise is not None and rounded is not None:
                noise = np.maximum(noise, _OPERATIONS * tolerance * rounded)
            noises.append(noise)
        return [held[name] for name in names], noises


def compare(
    outputs: "Sequence[Array]",
    references: "Sequence[Array]",
    tolerance: float,
    *,
    noises: "Sequence[Array | None] | None" = None,
    finite: bool = True,
) -> "dict[str, Any]":
    """Compare outputs with references.

    The error of a number is its difference over the magnitude of its reference; where the
    reference itself moves further than the tolerance allows, over how far it moves. Whole numbers
    and flags must be equal, whatever the tolerance, and so must texts. Lists of numbers are
    arrays, and axes of length one say nothing. ``finite``: all numbers must be; otherwise those
    that are not must stand where the reference has the same ones.
    """
    import numpy as np

    known = [None] * len(references) if noises is None else list(noises)
    joined, reason = _paired(outputs, references, known)
    if reason is not None:
        return _verdict(None, None, tolerance, reason)
    absolute = relative = 0.0
    n_wrong = n_numbers = 0
    for index, (output, reference, noise) in enumerate(joined):
        if "U" in {output.dtype.kind, reference.dtype.kind}:
            if output.dtype.kind != reference.dtype.kind or not np.array_equal(output, reference):
                return _verdict(None, None, tolerance, because("other_text", n_place=index))
            continue
        reason = _wrong_kind(output, reference, finite=finite)
        if reason is not None:
            return _verdict(None, None, tolerance, reason)
        if output.dtype.kind in "biu" and reference.dtype.kind in "biu":
            errors = apart = _differences(output, reference)
            n_wrong += int(np.count_nonzero(output != reference))
        else:
            errors, apart = _errors(output, reference, noise)
            n_wrong += int(np.count_nonzero(~(errors <= tolerance)))
        absolute = max(absolute, float(np.max(apart, initial=0.0)))
        relative = max(relative, float(np.max(errors, initial=0.0)))
        n_numbers += reference.size
    reason = None
    if n_wrong:
        counts = {"n_wrong": n_wrong, "n_numbers": n_numbers}
        reason = because("wrong_numbers", **counts, error_ratio=relative, tolerance_ratio=tolerance)
    return _verdict(absolute, relative, tolerance, reason)


def _differences(output: "Array", reference: "Array") -> "Array":
    """Return by how much whole numbers differ that do; of flags 1."""
    import numpy as np

    apart = output != reference
    pairs = zip(output[apart][:_MOST_APART], reference[apart][:_MOST_APART], strict=True)
    return np.array([float(abs(int(a) - int(b))) for a, b in pairs])


def _errors(output: "Array", reference: "Array", noise: "Array | None") -> "tuple[Array, Array]":
    """Return the error of each finite number, and its difference.

    A reference of exactly 0 that does not move has no size of its own: it takes the largest of its
    array, of at most 1.
    """
    import numpy as np

    number = np.isfinite(reference)
    wide = np.result_type(reference.dtype, np.float64)
    right = reference[number].astype(wide)
    apart = np.abs(output[number].astype(wide) - right)
    size = np.abs(right)
    if noise is not None:
        size = np.maximum(size, np.nan_to_num(noise[number], posinf=0.0))
    size[size == 0] = min(float(np.max(size, initial=0.0)) or 1.0, 1.0)
    with np.errstate(over="ignore"):
        errors = np.minimum(apart / size, _MOST)
    return np.where(apart <= _least(output, reference), 0.0, errors), apart


def _least(*arrays: "Array") -> float:
    """Return the magnitude below which a type holds no number in full: there all are alike."""
    import numpy as np

    kinds = [np.finfo(one.dtype) for one in arrays if one.dtype.kind in "fc"]
    least = [
        # Numbers of float16 below that are used, and no compiler rounds them to zero.
        float(4 * kind.smallest_subnormal if kind.bits <= 16 else kind.tiny)  # noqa: PLR2004
        for kind in kinds
    ]
    return max(least, default=0.0)


def _wrong_kind(output: "Array", reference: "Array", *, finite: bool) -> "dict[str, Any] | None":
    """Say why the numbers cannot be compared, or ``None``."""
    import numpy as np

    if np.iscomplexobj(output) and not np.iscomplexobj(reference):
        return because("output_complex")
    if finite and not np.all(np.isfinite(output)):
        return because("output_not_finite")
    if finite and not np.all(np.isfinite(reference)):
        return because("reference_not_finite")
    odd = ~np.isfinite(reference)
    same = np.array_equal(output[odd], reference[odd], equal_nan=True)
    if not same or not np.all(np.isfinite(output[~odd])):
        return because("not_finite_elsewhere")
    return None


def _paired(
    outputs: "Sequence[Array]", references: "Sequence[Array]", noises: "Sequence[Array | None]"
) -> "tuple[list[tuple[Array, Array, Array | None]], dict[str, Any] | None]":
    """Return the arrays that are to be held together, of one shape each, or why there are none.

    What one side has in a list of equal parts the other may have as one array.
    """
    found: list[tuple[Array, Array, Array | None]] = []
    left, right = list(outputs), list(zip(references, noises, strict=True))
    while left and right:
        output, (reference, noise) = left[0], right[0]
        shape = _without_ones(reference)
        if _without_ones(output) == shape:
            found.append((left.pop(0).reshape(shape), reference.reshape(shape), noise))
            right.pop(0)
        elif (joined := _joined(left, reference)) is not None:
            found.append((joined.reshape(shape), reference.reshape(shape), noise))
            right.pop(0)
        elif (joined := _joined(rights := [one for one, _ in right], output)) is not None:
            taken = [moves for _, moves in right[: len(right) - len(rights)]]
            del right[: len(taken)]
            moves = None if any(one is None for one in taken) else _stacked(taken)
            shape = _without_ones(output)
            found.append((left.pop(0).reshape(shape), joined.reshape(shape), moves))
        else:
            shapes = {"expected": str(reference.shape), "shape": str(output.shape)}
            reason = because("other_shape", n_place=len(outputs) - len(left), **shapes)
            if len(outputs) != len(references):
                counts = {"n_expected": len(references), "n_outputs": len(outputs)}
                reason = because("other_outputs", **counts)
            return [], reason
    if left or right:
        return [], because("other_outputs", n_expected=len(references), n_outputs=len(outputs))
    shaped = [
        (output, reference, None if noise is None else noise.reshape(reference.shape))
        for output, reference, noise in found
    ]
    return shaped, None


def _without_ones(array: "Array") -> "tuple[int, ...]":
    return tuple(length for length in array.shape if length != 1)


def _joined(parts: "list[Array]", whole: "Array") -> "Array | None":
    """Take from ``parts`` those of one shape that make an array like ``whole``; ``None``: none."""
    part = parts[0]
    n_axes = whole.ndim - part.ndim
    if n_axes < 1 or whole.shape[n_axes:] != part.shape or not part.size:
        return None
    n_parts = whole.size // part.size
    taken = parts[:n_parts]
    if n_parts < 1 or len(taken) < n_parts or any(one.shape != part.shape for one in taken):
        return None
    if len({one.dtype.kind == "U" for one in taken}) > 1:
        return None
    del parts[:n_parts]
    return _stacked(taken)


def _stacked(parts: "Iterator[Array] | Sequence[Any]") -> "Array":
    import numpy as np

    return np.stack(list(parts))


def _verdict(
    absolute: "float | None",
    relative: "float | None",
    tolerance: float,
    reason: "dict[str, Any] | None",
) -> "dict[str, Any]":
    return {
        "passed": reason is None,
        "max_abs_error": absolute,
        "max_relative_error": relative,
        "tolerance": tolerance,
        "reason": reason,
    }


_TIMES = {1: 100.0, 2: 30.0, 3: 16.0, 4: 10.0, 5: 8.0, 6: 6.0, 7: 5.0, 8: 4.0}
"""By how many calls, what their root mean square is multiplied with: a number that happened to
stay where it was in all of few calls may move much further in another one."""
_MOST_CALLS = max(_TIMES)
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
    for _ in range(_MOST_CALLS):
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
