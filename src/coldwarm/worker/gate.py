"""The correctness gate: an output against the stored float64 reference."""

from coldwarm.wire import because

_MOST_APART = 10_000
"""Whole numbers that differ, of which the largest difference is reported."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    import numpy as np


def check(
    outputs: "Sequence[np.ndarray[Any, Any]]",
    reference_path: str,
    tolerance: float,
    *,
    finite: bool = True,
) -> "dict[str, Any]":
    """Compare outputs with the reference.

    The error of an output array is its largest absolute difference over the largest
    magnitude of its reference, so that one tolerance serves arrays of any scale. Whole numbers
    and flags must be equal, whatever the tolerance, and so must texts. ``finite``: all numbers
    must be; otherwise those that are not must stand where the reference has the same ones.
    """
    import numpy as np

    with np.load(reference_path, allow_pickle=False) as stored:
        references = [stored[name] for name in stored.files]
    reason = _mismatch(outputs, references)
    if reason is not None:
        return _verdict(None, None, tolerance, reason)
    worst_absolute = worst_scaled = 0.0
    for index, (output, reference) in enumerate(zip(outputs, references, strict=True)):
        if "U" in {output.dtype.kind, reference.dtype.kind}:
            if output.dtype.kind != reference.dtype.kind or not np.array_equal(output, reference):
                return _verdict(None, None, tolerance, because("other_text", n_place=index))
            continue
        reason = _wrong_kind(output, reference, finite=finite)
        if reason is not None:
            return _verdict(None, None, tolerance, reason)
        error, scaled = _errors(output, reference)
        worst_absolute, worst_scaled = max(worst_absolute, error), max(worst_scaled, scaled)
    reason = None
    if not worst_scaled <= tolerance:
        reason = because("above_tolerance", error_ratio=worst_scaled, tolerance_ratio=tolerance)
    return _verdict(worst_absolute, worst_scaled, tolerance, reason)


def _errors(
    output: "np.ndarray[Any, Any]", reference: "np.ndarray[Any, Any]"
) -> "tuple[float, float]":
    """Return the largest error of the finite numbers, absolute and scaled."""
    import numpy as np

    if output.dtype.kind in "biu" and reference.dtype.kind in "biu":
        apart = output != reference
        pairs = zip(output[apart][:_MOST_APART], reference[apart][:_MOST_APART], strict=True)
        error = float(max((abs(int(a) - int(b)) for a, b in pairs), default=0))
        return error, error
    number = np.isfinite(reference)
    wide = np.result_type(reference.dtype, np.float64)
    error = float(np.max(np.abs(output[number].astype(wide) - reference[number]), initial=0.0))
    scale = float(np.max(np.abs(reference[number]), initial=0.0))
    return error, error / scale if scale else error


def _wrong_kind(
    output: "np.ndarray[Any, Any]", reference: "np.ndarray[Any, Any]", *, finite: bool
) -> "dict[str, Any] | None":
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


def _mismatch(
    outputs: "Sequence[np.ndarray[Any, Any]]", references: "Sequence[np.ndarray[Any, Any]]"
) -> "dict[str, Any] | None":
    if len(outputs) != len(references):
        return because("other_outputs", n_expected=len(references), n_outputs=len(outputs))
    for index, (output, reference) in enumerate(zip(outputs, references, strict=True)):
        if output.shape != reference.shape:
            shapes = {"expected": str(reference.shape), "shape": str(output.shape)}
            return because("other_shape", n_place=index, **shapes)
    return None


def _verdict(
    absolute: "float | None",
    scaled: "float | None",
    tolerance: float,
    reason: "dict[str, Any] | None",
) -> "dict[str, Any]":
    return {
        "passed": reason is None,
        "max_abs_error": absolute,
        "max_scaled_error": scaled,
        "tolerance": tolerance,
        "reason": reason,
    }
