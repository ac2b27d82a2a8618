"""A subject as a peer's user would write it: a function without arguments, whose result is there.

It lies beside the subjects; the peers' scripts import it from there.
"""

from collections.abc import Callable
from importlib import import_module
from math import prod

import numpy as np


def timed(kind: str, units: str, shape: str) -> Callable[[], object]:
    """Return what does so many units of a kind, for an array of a shape such as ``112,112``."""
    function = getattr(import_module(f"work_{kind}"), f"units_{units}")
    sizes = [*map(int, shape.split(","))]
    numbers = np.linspace(0.0, 1.0, prod(sizes)).reshape(sizes)
    if kind == "jax":
        import jax.numpy as jnp

        array = jnp.asarray(numbers, jnp.float32)
        return lambda: function(array).block_until_ready()
    if kind == "torch":
        import torch

        tensor = torch.from_numpy(numbers).float()
        return lambda: function(tensor)
    return lambda: function(numbers)
