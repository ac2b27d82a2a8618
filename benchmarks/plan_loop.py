"""A user's program: import, make the inputs, build the function, call it so many times.

``python plan_loop.py PROCESSORS BACKEND WORKLOAD SIZE CALLS [DTYPE]`` prints the monotonic clock,
in nanoseconds, when the last call has finished; of a scenario, the last step of so many loops.
Nothing is timed inside, and garbage is collected as usual.
"""

import os
import sys
import time

from coldwarm.worker import load


def main(name: str, workload_name: str, size: int, calls: int, dtype: str) -> None:
    """Do what a measured process does until its first result, then go on calling."""
    backend = load.backend(
        {
            "backend": {"module": f"coldwarm.backends.{name.partition('_')[0]}", "path": ""}
            | {"object": {"numpy": "NumpyBackend", "jax_jit": "JaxJit"}[name]},
            "device": "cpu",
            "threads": 1,
        }
    )
    workload = load.module({"module": f"coldwarm.workloads.{workload_name}", "path": ""})
    backend.import_runtime()
    backend.device_init()
    from numpy.random import default_rng

    arguments = backend.place(workload.inputs(default_rng(0), size, dtype))
    function = load.candidate(workload, backend)(backend.wrap)
    for _ in range(calls):
        out = function(*arguments)
        for step in out if getattr(workload, "SCENARIO", False) else (out,):
            if not backend.synchronous:
                backend.sync(step)
    sys.stdout.write(f"{time.perf_counter_ns()}\n")


if __name__ == "__main__":
    os.sched_setaffinity(0, map(int, sys.argv[1].split(",")))
    given_dtype = sys.argv[6] if len(sys.argv) > 6 else "float32"
    main(sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]), given_dtype)
