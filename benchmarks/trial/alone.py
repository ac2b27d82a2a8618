"""The true ratio of two subjects, measured without coldwarm.

``python alone.py warm FILE A B SECONDS KIND SHAPE`` calls both in turns in one process, and prints
the ratio B over A of each pair of calls. ``python alone.py cold FILE N KIND SHAPE`` is one start:
it prints the seconds of the import and of the first call together.
"""

import json
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any


def main() -> None:
    """Measure what the arguments say, and print it as JSON."""
    how, file, *rest = sys.argv[1:]
    begin_s = time.perf_counter()
    module = import_module(Path(file).stem)  # it lies beside this file
    import_s = time.perf_counter() - begin_s
    framework, shape = rest[-2:]
    x, ready = argument(framework, [int(n) for n in shape.split(",")])
    if how == "cold":
        begin_s = time.perf_counter()
        ready(getattr(module, f"units_{rest[0]}")(x))
        print(json.dumps(import_s + time.perf_counter() - begin_s))
        return
    a, b = (getattr(module, f"units_{units}") for units in rest[:2])
    print(json.dumps(in_turns(lambda: ready(a(x)), lambda: ready(b(x)), float(rest[2]))))


def argument(framework: str, shape: list[int]) -> tuple[Any, Callable[[Any], Any]]:
    """Return an array of the framework, and what waits for one."""
    import numpy as np

    values = np.random.default_rng(0).standard_normal(shape)
    if framework == "jax":
        import jax

        return jax.block_until_ready(jax.numpy.asarray(values, "float32")), jax.block_until_ready
    if framework == "torch":
        import torch

        return torch.tensor(values, dtype=torch.float32), lambda out: out
    return values, lambda out: out


def in_turns(a: Callable[[], Any], b: Callable[[], Any], limit_s: float) -> list[float]:
    """Return the ratios of neighbouring calls; the side that begins changes each time."""
    for _ in range(3):
        a()
        b()
    ratios: list[float] = []
    end_s = time.perf_counter() + limit_s
    while time.perf_counter() < end_s:
        if len(ratios) % 2:
            b_s, a_s = timed(b), timed(a)
        else:
            a_s, b_s = timed(a), timed(b)
        ratios.append(b_s / a_s)
    return ratios


def timed(call: Callable[[], Any]) -> float:
    """Return the seconds of one call."""
    begin_s = time.perf_counter()
    call()
    return time.perf_counter() - begin_s


if __name__ == "__main__":
    main()
