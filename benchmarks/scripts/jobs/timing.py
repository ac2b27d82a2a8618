"""Timing shared by the ten job scripts beside this file.

A script calls `run(inputs, globals())`: `inputs(n)` returns the job's float32
NumPy arrays, and a function `build_FRAMEWORK` for each framework imports
the framework and returns the job as a function of those arrays. `run` reads
FRAMEWORK and N from the command line, hands the arrays over as the
framework's own, times the first call and then warm ones, each synchronised,
and prints one JSON line. A framework the job has no code for ends the script
with exit code 3. One thread: the environment sets it for NumPy's BLAS,
OpenMP and Numba; torch and JAX are set here.
"""

import contextlib
import json
import math
import os
import statistics
import sys
import time

import numpy as np

FRAMEWORKS = ("numpy", "numba", "torch", "torch_compiled", "jax", "jax_eager")

# Read when JAX starts, which is after this; the caller's own values win.
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")
os.environ.setdefault("NPROC", "1")  # size of XLA's pool of CPU threads

SHORT = 20e-6  # calls shorter than this are timed in batches...
BATCH = 1e-3  # ...of about this many seconds
AT_LEAST_SECONDS = 1.0
AT_LEAST_CALLS = 5


def measure(call, wait):
    """Time `wait(call())`: the first call, then warm ones.

    Warm calls go on until both minimums are met. So once five were made, nothing
    runs past one second by more than a call: a cap at three would never act.
    """
    start = time.perf_counter()
    result = wait(call())
    first = time.perf_counter() - start

    samples, batch, spent, n_calls = [], 1, 0.0, 0
    while spent < AT_LEAST_SECONDS or len(samples) < AT_LEAST_CALLS:
        start = time.perf_counter()
        for _ in range(batch):
            wait(call())
        elapsed = time.perf_counter() - start
        spent += elapsed
        n_calls += batch
        samples.append(elapsed / batch)
        if batch == 1 and len(samples) == AT_LEAST_CALLS and min(samples) < SHORT:
            batch = math.ceil(BATCH / min(samples))
            samples, spent, n_calls = [], 0.0, 0
    warm = statistics.median(samples[len(samples) // 2 :])
    return result, first, warm, n_calls


def checksum(result):
    """Sum of all outputs, added up in float64."""
    outputs = result if isinstance(result, (tuple, list)) else [result]
    return sum(float(np.asarray(out, dtype=np.float64).sum()) for out in outputs)


def run(inputs, names, torch_grad=False):
    """Time the job named on the command line and print the JSON line."""
    if len(sys.argv) != 3 or sys.argv[1] not in FRAMEWORKS:
        sys.exit(f"usage: {sys.argv[0]} {{{','.join(FRAMEWORKS)}}} N")
    framework, n = sys.argv[1], int(sys.argv[2])
    build = names.get(f"build_{framework}")
    if build is None:
        print(f"no {framework} code for this job", file=sys.stderr)
        sys.exit(3)
    if os.environ.get("OMP_NUM_THREADS") != "1":
        print("warning: OMP_NUM_THREADS is not 1", file=sys.stderr)

    arrays = inputs(n)
    assert all(a.dtype == np.float32 for a in arrays)
    context = contextlib.nullcontext()

    def wait(result):
        return result

    if framework.startswith("torch"):
        import torch

        torch.set_num_threads(1)
        arrays = [torch.from_numpy(a) for a in arrays]
        if not torch_grad:
            context = torch.no_grad()
    elif framework.startswith("jax"):
        import jax
        import jax.numpy as jnp

        wait = jax.block_until_ready
        arrays = wait([jnp.asarray(a) for a in arrays])

    job = build()
    with context:
        result, first, warm, n_calls = measure(lambda: job(*arrays), wait)
    print(
        json.dumps(
            {
                "first_s": first,
                "call_s": warm,
                "n_calls": n_calls,
                "checksum": checksum(result),
            }
        )
    )
