"""The correctness gate: an output against the stored float64 reference."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    import numpy as np


def check(
    outputs: "Sequence[np.ndarray[Any, Any]]", reference_path: str, tolerance: float
) -> "dict[str, Any]":
    """Compare outputs with the reference.

    The error of an output array is its largest absolute difference over the largest
    magnitude of its reference, so that one tolerance serves arrays of any scale.
    """
    import numpy as np

    with np.load(reference_path, allow_pickle=False) as stored:
        references = [stored[name] for name in stored.files]
    reason = _mismatch(outputs, references)
    if reason is not None:
        return _verdict(None, None, tolerance, reason)
    worst_absolute = worst_scaled = 0.0
    for output, reference in zip(outputs, references, strict=True):
        if not np.all(np.isfinite(output)):
            return _verdict(None, None, tolerance, "the output holds values that are not finite")
        if np.iscomplexobj(output) and not np.iscomplexobj(reference):
            return _verdict(None, None, tolerance, "the output is complex, the reference is real")
        if not np.all(np.isfinite(reference)):
            return _verdict(None, None, tolerance, "the reference is not finite: nothing is right")
        wide = np.result_type(reference.dtype, np.float64)
        error = float(np.max(np.abs(output.astype(wide) - reference), initial=0.0))
        scale = float(np.max(np.abs(reference), initial=0.0))
        scaled = error / scale if scale else error
        worst_absolute, worst_scaled = max(worst_absolute, error), max(worst_scaled, scaled)
    reason = None
    if not worst_scaled <= tolerance:
        reason = f"scaled error {worst_scaled:.3g} is above the tolerance {tolerance:.3g}"
    return _verdict(worst_absolute, worst_scaled, tolerance, reason)


def _mismatch(
    outputs: "Sequence[np.ndarray[Any, Any]]", references: "Sequence[np.ndarray[Any, Any]]"
) -> "str | None":
    if len(outputs) != len(references):
        return f"expected {len(references)} output arrays, got {len(outputs)}"
    for index, (output, reference) in enumerate(zip(outputs, references, strict=True)):
        if output.shape != reference.shape:
            return f"output {index}: expected shape {reference.shape}, got {output.shape}"
    return None


def _verdict(
    absolute: "float | None", scaled: "float | None", tolerance: float, reason: "str | None"
) -> "dict[str, Any]":
    return {
        "passed": reason is None,
        "max_abs_error": absolute,
        "max_scaled_error": scaled,
        "tolerance": tolerance,
        "reason": reason,
    }
