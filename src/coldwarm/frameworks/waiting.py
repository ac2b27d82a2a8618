"""Waiting until what a framework computes is there.

The framework has been imported by whoever made the value; nothing is imported here.
"""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any


def for_jax_array(array: "Any") -> None:
    """Wait for one array of JAX, without a walk through a tree."""
    array.block_until_ready()


def for_jax(value: "Any") -> None:
    """Wait for every array of JAX in a tree."""
    sys.modules["jax"].block_until_ready(value)


def for_torch(leaves: "Iterable[Any]") -> None:
    """Wait for the stream of every GPU that holds one of the tensors; others are finished."""
    torch = sys.modules["torch"]
    for device in {leaf.device for leaf in leaves if getattr(leaf, "is_cuda", False)}:
        torch.cuda.current_stream(device).synchronize()
