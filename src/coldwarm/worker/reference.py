"""The reference process: float64 answers of a workload, computed once for all candidates."""

import os

from coldwarm.worker import inputs, load

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
    path = job["reference"]
    with open(path + ".part", "wb") as file:  # noqa: PTH123 - the same style as the rest of the measured side
        np.savez(file, *outputs)
    os.replace(path + ".part", path)  # noqa: PTH105 - likewise
    return {"type": "reference", "input_sha256": input_digest(arrays)}


def widened(array: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
    """Return floats as float64; leave indices and flags as they are."""
    return array.astype("float64") if array.dtype.kind == "f" else array
