"""Times a program by itself, with nothing of coldwarm in the process; prints two times in seconds.

``python alone.py function FILE NAME [x=f32:2000,20 …]`` imports the file and calls its function.
``python alone.py factory FILE NAME`` calls the factory first, which gives function and arguments.
``python alone.py workload FILE FRAMEWORK SIZE DTYPE`` imports the framework, makes the workload's
inputs and builds its function for it.

The first time is what a first result needs: the import, the factory and the first call, waited for.
Devices are asked for, and inputs are made and placed, between the two, untimed. The second is the
median of warm calls.
"""

import sys
from os import path
from time import perf_counter

# Nothing else is imported before the program, which would find it loaded and seem quicker.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

WARM_S, DISCARDED = 1.0, 0.25
"""Seconds of warm calls, and the share of them that comes before a steady state."""
SHORTEST_S = 0.001
"""A sample holds as many calls as take this long."""


def main(kind: str, file: str, *given: str) -> None:
    """Time what was named."""
    sys.path.insert(0, path.dirname(file))  # noqa: PTH120 - pathlib is not loaded yet
    module, names = path.basename(file).removesuffix(".py"), list(given)  # noqa: PTH119 - likewise
    framework: Any = None
    found: Any = None
    begin = perf_counter()
    if kind == "workload":
        framework = __import__(names[0])
    else:
        found = getattr(__import__(module), names[0])
    spent = perf_counter() - begin
    if "jax" in sys.modules:
        sys.modules["jax"].devices()
    arguments: Sequence[Any] = made(names[1:]) if kind == "function" else ()
    if kind == "workload":
        found, arguments = built(module, framework, *names[1:])
    begin = perf_counter()
    if kind == "factory":
        found, arguments = found()
    wait(found(*arguments))
    spent += perf_counter() - begin
    print(spent, warm(found, arguments))


def made(inputs: "Sequence[str]") -> "list[Any]":
    """Return the inputs of a function as arrays of the framework that its module has imported."""
    arrays = []
    for text in inputs:
        import numpy as np

        kind, _, shape = text.partition("=")[2].partition(":")
        array = np.random.default_rng(0).standard_normal(tuple(map(int, shape.split(","))))
        arrays.append(placed(array.astype({"f32": "float32", "f64": "float64"}[kind])))
    return arrays


def built(module: str, framework: "Any", size: str, dtype: str) -> "tuple[Any, list[Any]]":
    """Return a workload's function for a framework, and its inputs."""
    import numpy as np

    workload = __import__(module)
    arguments = [placed(one) for one in workload.inputs(np.random.default_rng(0), int(size), dtype)]
    name = framework.__name__
    wraps = {"jax": "jit", "numba": "njit"}
    wrap = getattr(framework, wraps[name]) if name in wraps else (lambda function: function)
    return getattr(workload, f"for_{name}")(wrap), arguments


def placed(array: "Any") -> "Any":
    """Return an array as JAX has it, where JAX is there."""
    jax = sys.modules.get("jax")
    return array if jax is None else jax.block_until_ready(jax.device_put(array))


def wait(out: "Any") -> "Any":
    """Wait for what a call returned."""
    if "jax" in sys.modules:
        sys.modules["jax"].block_until_ready(out)
    return out


def warm(function: "Callable[..., Any]", arguments: "Sequence[Any]") -> float:
    """Return the median seconds of a warm call."""
    begin = perf_counter()
    wait(function(*arguments))
    wait(function(*arguments))
    batch = max(1, round(2 * SHORTEST_S / (perf_counter() - begin)))
    samples: list[float] = []
    ends = perf_counter() + WARM_S
    begin = perf_counter()
    while begin < ends or len(samples) < 10:
        for _ in range(batch):
            wait(function(*arguments))
        end = perf_counter()
        samples.append((end - begin) / batch)
        begin = end
    steady = sorted(samples[int(DISCARDED * len(samples)) :])
    return steady[len(steady) // 2]


if __name__ == "__main__":
    main(*sys.argv[1:])
