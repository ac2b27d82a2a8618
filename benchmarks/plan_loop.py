"""A user's program: import, make the inputs, build the function, call it so many times.

``python plan_loop.py THREADS BACKEND WORKLOAD SIZE CALLS [DTYPE]``, with the workload's module
below ``coldwarm.workloads``, runs on as many processors as it has threads, and prints the
monotonic clock, in nanoseconds, when the last call has finished; of a scenario, the last step of
so many loops. Nothing is timed inside, and garbage is collected as usual. The C allocator
is as it comes, as in a measured process.
"""

import os
import sys
import time

from coldwarm.worker import candidate


def main(name: str, module: str, size: int, calls: int, dtype: str) -> None:
    """Do what a measured process does until its first result, then go on calling."""
    backend = candidate.load_backend(
        {
            "backend": {"module": f"coldwarm.backends.{name.partition('_')[0]}", "path": ""}
            | {"object": {"numpy": "NumpyBackend", "jax_jit": "JaxJit"}[name]},
            "device": "cpu",
            "threads": 1,
        }
    )
    workload = candidate.load_module({"module": f"coldwarm.workloads.{module}", "path": ""})
    backend.import_runtime()
    backend.device_init()
    from numpy.random import default_rng

    arguments = backend.place(workload.inputs(default_rng(0), size, dtype))
    function = candidate.load_builder(workload, backend)(backend.wrap)
    if getattr(workload, "SCENARIO", False):
        for _ in range(calls):
            for step in function(*arguments):
                backend.sync(step)
    else:
        for _ in range(calls):
            backend.sync(function(*arguments))
    sys.stdout.write(f"{time.perf_counter_ns()}\n")


if __name__ == "__main__":
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: int(sys.argv[1])])
    given_dtype = sys.argv[6] if len(sys.argv) > 6 else "float32"
    main(sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]), given_dtype)
