"""The reference process: float64 answers of a workload, computed once for all candidates.

Beside them lies how far each number moves where the reference is computed in float32 instead.
"""

import os

from coldwarm.worker import gate, inputs, load, moved

_FLOAT32 = 2.0**-23
"""From a number of float32 to the next one, as a share of it."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    import numpy as np


def input_digest(arrays: "Sequence[np.ndarray[Any, Any]]") -> str:
    """Return the SHA-256 of the inputs: dtype, shape and bytes of each array in order."""
    import hashlib

    digest = hashlib.sha256()
    for array in arrays:
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def compute(job: "Mapping[str, Any]") -> "dict[str, Any]":
    """Write the reference outputs to ``job["reference"]`` and describe the inputs."""
    import numpy as np

    workload = load.module(job["workload"])
    arrays = inputs.make(workload, job)
    outputs = workload.reference(*(widened(array) for array in arrays))
    for index, output in enumerate(outputs):
        if not np.all(np.isfinite(output)):
            text = f"reference output {index} is not finite, so it could not tell right from wrong"
            raise ValueError(text)
    noises = _noises(workload, arrays, outputs, job["seed"])
    named: dict[str, Any] = {f"{gate.NOISE}{place}": noise for place, noise in enumerate(noises)}
    path = job["reference"]
    with open(path + ".part", "wb") as file:  # noqa: PTH123 - the same style as the rest of the measured side
        np.savez(file, *outputs, **named)
    os.replace(path + ".part", path)  # noqa: PTH105 - likewise
    return {"type": "reference", "input_sha256": input_digest(arrays)}


def _noises(
    workload: "Any",
    arrays: "Sequence[np.ndarray[Any, Any]]",
    outputs: "Sequence[np.ndarray[Any, Any]]",
    seed: int,
) -> "list[np.ndarray[Any, Any]]":
    """Return how far the numbers move where inputs and arithmetic are those of float32."""
    from numpy.random import default_rng

    rng = default_rng(seed)

    def narrow() -> "list[np.ndarray[Any, Any]]":
        given = (moved.moved(widened(array), _FLOAT32, rng) for array in arrays)
        found: list[np.ndarray[Any, Any]] = workload.reference(
            *(array.astype("float32") if array.dtype.kind == "f" else array for array in given)
        )
        return found

    return moved.noises(narrow, outputs, _FLOAT32)


def widened(array: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
    """Return floats as float64; leave indices and flags as they are."""
    return array.astype("float64") if array.dtype.kind == "f" else array
