"""Sequences of many lengths through one attention layer: what the variants share.

A variant says to which length a sequence is filled up with zeros before it is passed on; all
else is the same, and so is the answer.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from coldwarm.workloads import Array, Function, Generator, Wrap

    Fill = Callable[[int, int], int]

DIMENSIONS = 32
SIXTY_FOURTHS = (33, 12, 57, 64, 21, 45, 12, 8, 51, 33, 27, 39, 64, 5, 21, 48, 57, 16, 39, 12)
"""The lengths of the sequences as they come, in 64ths of the longest: 13 different ones."""


def lengths(longest: int) -> "list[int]":
    """Return the length of each sequence."""
    return [longest * part // 64 for part in SIXTY_FOURTHS]


def inputs_filled(fill: "Fill") -> "Function":
    """Return what makes inputs; ``fill`` takes a length and the longest one."""

    def inputs(rng: "Generator", longest: int, dtype: str) -> "list[Array]":
        """Return the layer's three matrices and the sequences, filled up as a loader would do."""
        import numpy as np

        shape = (DIMENSIONS, DIMENSIONS)
        arrays = [rng.standard_normal(shape) / DIMENSIONS**0.5 for _ in range(3)]
        for length in lengths(longest):
            sequence = rng.standard_normal((length, DIMENSIONS))
            arrays.append(np.pad(sequence, ((0, fill(length, longest) - length), (0, 0))))
        return [array.astype(dtype) for array in arrays]

    return inputs


def reference(*arrays: "Array") -> "list[Array]":
    """Return the answer for each sequence from its own rows alone."""
    import numpy as np

    longest = max(len(x) for x in arrays[3:])
    found = []
    for x, length in zip(arrays[3:], lengths(longest), strict=True):
        q, k, v = (x[:length] @ matrix for matrix in arrays[:3])
        scores = q @ k.T / DIMENSIONS**0.5
        weight = np.exp(scores - scores.max(1, keepdims=True))
        found.append((weight / weight.sum(1, keepdims=True) @ v).mean(0))
    return found


def for_numpy(wrap: "Wrap") -> "Function":
    """Build the NumPy candidate: the rows that were filled up are left out at once."""
    import numpy as np

    def encode(x: "Any", length: "Any", wq: "Any", wk: "Any", wv: "Any") -> "Any":
        number = x.dtype.type
        x = x[:length]
        q, k, v = np.dot(x, wq), np.dot(x, wk), np.dot(x, wv)
        weight = np.exp(np.dot(q, k.T) * number(DIMENSIONS**-0.5))
        mixed = np.dot(weight, v) / weight.sum(1).reshape(-1, 1)
        return mixed.sum(0) / number(length)

    return _loop(wrap(encode))


def for_jax(wrap: "Wrap") -> "Function":
    """Build the JAX candidate: the length is a value, and masks what was filled up."""
    import jax
    import jax.numpy as jnp

    def encode(x: "Any", length: "Any", wq: "Any", wk: "Any", wv: "Any") -> "Any":
        real = jnp.arange(len(x)) < length
        scores = (x @ wq) @ (x @ wk).T / DIMENSIONS**0.5
        weight = jax.nn.softmax(jnp.where(real, scores, -jnp.inf), axis=1)
        mixed = weight @ (x @ wv)
        return jnp.where(real[:, None], mixed, 0).sum(0) / length

    return _loop(wrap(encode))


def for_torch(wrap: "Wrap") -> "Function":
    """Build the PyTorch candidate: the length is a tensor, and masks what was filled up."""
    import torch

    def encode(x: "Any", length: "Any", wq: "Any", wk: "Any", wv: "Any") -> "Any":
        real = torch.arange(len(x), device=x.device) < length
        scores = (x @ wq) @ (x @ wk).T / DIMENSIONS**0.5
        weight = torch.softmax(scores.masked_fill(~real, -torch.inf), dim=1)
        mixed = weight @ (x @ wv)
        return mixed.masked_fill(~real[:, None], 0).sum(0) / length

    compiled = wrap(encode)

    def encode_of(x: "Any", length: int, *weights: "Any") -> "Any":
        # As a number it would be compiled into the program.
        return compiled(x, torch.tensor(length, device=x.device), *weights)

    return _loop(encode_of)


def for_numba(wrap: "Wrap") -> "Function":
    """Build the Numba candidate: NumPy's function as it stands."""
    return for_numpy(wrap)


def _loop(encode: "Function") -> "Function":
    def loop(*arrays: "Any") -> "Iterator[Any]":
        weights, sequences = arrays[:3], arrays[3:]
        longest = max(len(x) for x in sequences)
        for x, length in zip(sequences, lengths(longest), strict=True):
            yield encode(x, length, *weights)

    return loop
