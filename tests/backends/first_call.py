"""Run by the tests as a program: one process's start, in the order of the worker.

Arguments: module and class of a backend, name of a workload, size, dtype. Prints JSON.
"""

import importlib
import json
import sys
import time

import numpy as np


def main() -> None:
    """Go through the phases and print what the backend says of them."""
    module, kind, workload_name, size, dtype = sys.argv[1:]
    backend = getattr(importlib.import_module(f"coldwarm.backends.{module}"), kind)("cpu")
    workload = importlib.import_module(f"coldwarm.workloads.{workload_name}")
    backend.import_runtime()
    backend.device_init()
    backend.watch()
    arrays = workload.inputs(np.random.default_rng(0), int(size), dtype)
    arguments = backend.place(arrays)
    function = getattr(workload, f"for_{backend.framework}")(backend.wrap)
    modules = set(sys.modules)
    backend.begin_call()
    imported = sorted(set(sys.modules) - modules)
    begin = time.perf_counter()
    out = function(*arguments)
    first_call_s = time.perf_counter() - begin
    parts = dict(backend.parts())
    counters = backend.counters()
    function(*arguments)  # a second call may still settle something
    compiles = backend.compiles_so_far()
    for _ in range(5):
        function(*arguments)
    in_window = backend.compiles_so_far() - compiles
    references = workload.reference(*(array.astype("float64") for array in arrays))
    outputs = backend.fetch(out)
    error = max(
        float(np.abs(output - reference).max() / np.abs(reference).max())
        for output, reference in zip(outputs, references, strict=True)
    )
    said = {
        "first_call_s": first_call_s,
        "parts": parts,
        "counters": counters,
        "compiles": compiles,
        "in_window": in_window,
        "error": error,
        "imported_by_begin_call": imported,
        "versions": backend.versions(),
    }
    sys.stdout.write("\n" + json.dumps(said) + "\n")


if __name__ == "__main__":
    main()
