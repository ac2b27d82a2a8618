"""Multi-head attention forward and backward, the block that transformers are made of.

What it stands for: training on sequences, where a handful of matrix products surrounds a softmax
over all pairs of positions.

What is computed: for a batch of 4 sequences of n positions with 128 features, queries, keys and
values in 4 heads of 32 features (one product with a 128×384 matrix), ``softmax(q·kᵀ/√32)·v`` for
each head, an output product and the input added; no mask, no dropout, no normalisation. Then the
derivative of that by input and both matrices, for a given derivative by the output.

What to look at: warm, matrix products take most of the time, and each framework hands them to
a BLAS; what differs is the softmax, for which NumPy writes n² numbers for each head to memory five
times, whereas a fused kernel never writes them. Cold, library calls are cheap and the compiler
still has the whole derivative to work through.

PyTorch has ``scaled_dot_product_attention``. The JAX candidate is written out, because
``jax.nn.dot_product_attention`` takes its softmax in float32 for float64 arrays too. NumPy and
Numba have matrix products, and a derivative written by hand; neither has bfloat16, whose
baseline is therefore eager PyTorch. In bfloat16 every array is: inputs, outputs, derivatives. What
a kernel adds up in between in float32 is its own affair, and shows in its error.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from coldwarm.workloads import Array, Function, Generator, Wrap

NAME = "attention_block"
SIZES = (64, 256)
SIZE_MEANING = "n positions in each of 4 sequences; 128 features, 4 heads"
DTYPES = ("f32", "f64", "bf16")
LAYOUT = "C-contiguous (row-major) 4×n×128 input and output derivative, 128×384 and 128×128 weights"
BASELINE = {"f32": "numpy", "f64": "numpy", "bf16": "torch_eager_cpu"}
BATCH = 4
FEATURES = 128
HEADS = 4
DEPTH = FEATURES // HEADS
SCALE = DEPTH**-0.5
PARTS = (2, 0, 3, 1, 4)
"""How sequence, position, part, head, feature become part, sequence, head, position, feature."""

# Largest error of NumPy, JAX, PyTorch (eager and compiled) and Numba at all sizes, five seeds:
# 9.4e-7 in f32, 2.7e-15 in f64. Eight to nine times as much leaves room for other BLAS kernels and
# orders of summation, and still refuses a lower precision such as TF32 (about 1e-3), and a
# softmax in float32 for f64 (1e-7).
#
# In bf16 a number is rounded by up to 2e-3 (2⁻⁹) of itself. The reference takes the same rounded
# inputs and rounds nothing more; JAX and PyTorch (eager and compiled) are off by 9.5e-3 at most,
# JAX 0.12 by 1.7e-2. Three times the former; already rounding the inputs to 8 bits, with three or
# four of them for the fraction, would be off by 8e-2.
TOLERANCE = {"f32": 8e-6, "f64": 2.4e-14, "bf16": 3e-2}


def inputs(rng: "Generator", size: int, dtype: str) -> "list[Array]":
    """Return input, both weights and the derivative by the output.

    Weights are scaled by the square root of their fan-in, so that scores are of order one.
    """
    x, slope = rng.standard_normal((2, BATCH, size, FEATURES))
    w_in = rng.standard_normal((FEATURES, 3 * FEATURES)) / FEATURES**0.5
    w_out = rng.standard_normal((FEATURES, FEATURES)) / FEATURES**0.5
    return [array.astype(dtype) for array in (x, w_in, w_out, slope)]


def reference(*arrays: "Array") -> "list[Array]":
    """Return output and derivatives of float64 inputs, head by head.

    The derivative by the weights of one head's scores is taken through the softmax's Jacobian
    applied from the left, one sequence and head at a time: no array of a candidate appears.
    """
    import numpy as np

    x, w_in, w_out, slope = arrays
    out, by_x = x.copy(), slope.copy()
    by_w_in, by_w_out = np.zeros_like(w_in), np.zeros_like(w_out)
    for sequence, (rows, slopes) in enumerate(zip(x, slope, strict=True)):
        for head in range(HEADS):
            columns = [slice(start, start + DEPTH) for start in _starts(head)]
            wq, wk, wv = (w_in[:, chosen] for chosen in columns)
            wo = w_out[columns[0]]
            q, k, v = rows @ wq, rows @ wk, rows @ wv
            powers = np.exp(q @ k.T / np.sqrt(DEPTH))
            weights = powers / powers.sum(1, keepdims=True)
            mixed = weights @ v
            out[sequence] += mixed @ wo
            by_w_out[columns[0]] += mixed.T @ slopes
            by_mixed = slopes @ wo.T
            by_weights = by_mixed @ v.T
            # Row by row, the mean under the weights equals mixed · by_mixed.
            means = np.einsum("ij,ij->i", mixed, by_mixed)[:, None]
            by_scores = weights * (by_weights - means) / np.sqrt(DEPTH)
            derivatives = (by_scores @ k, by_scores.T @ q, weights.T @ by_mixed)
            for chosen, factor, by_factor in zip(columns, (wq, wk, wv), derivatives, strict=True):
                by_w_in[:, chosen] += rows.T @ by_factor
                by_x[sequence] += by_factor @ factor.T
    return [out, by_x, by_w_in, by_w_out]


def _starts(head: int) -> "tuple[int, int, int]":
    """Return where the columns of a head's queries, keys and values begin."""
    return head * DEPTH, FEATURES + head * DEPTH, 2 * FEATURES + head * DEPTH


def for_numpy(wrap: "Wrap") -> "Function":
    """Build the NumPy candidate: batched products, the derivative written by hand."""
    import numpy as np

    def split(array: "Any", count: int) -> "Any":
        shape = (*array.shape[:2], count, HEADS, DEPTH)
        return array.reshape(shape).transpose(PARTS)

    def merge(array: "Any") -> "Any":
        count, batch, _, length, _ = array.shape
        return array.transpose(1, 3, 0, 2, 4).reshape(batch, length, count * FEATURES)

    def attention_block(x: "Any", w_in: "Any", w_out: "Any", slope: "Any") -> "tuple[Any, ...]":
        q, k, v = split(x @ w_in, 3)
        scores = (q * SCALE) @ k.swapaxes(-1, -2)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        weights /= weights.sum(-1, keepdims=True)
        mixed = merge((weights @ v)[None])
        out = x + mixed @ w_out

        (by_mixed,) = split(slope @ w_out.T, 1)
        by_scores = by_mixed @ v.swapaxes(-1, -2)
        by_scores -= np.sum(by_scores * weights, -1, keepdims=True)
        by_scores *= weights
        by_q = by_scores @ k * SCALE
        by_k = by_scores.swapaxes(-1, -2) @ (q * SCALE)
        by_v = weights.swapaxes(-1, -2) @ by_mixed
        by_all = merge(np.stack((by_q, by_k, by_v)))

        by_w_out = mixed.reshape(-1, FEATURES).T @ slope.reshape(-1, FEATURES)
        by_w_in = x.reshape(-1, FEATURES).T @ by_all.reshape(-1, 3 * FEATURES)
        return out, slope + by_all @ w_in.T, by_w_in, by_w_out

    return wrap(attention_block)


def for_jax(wrap: "Wrap") -> "Function":
    """Build the JAX candidate: products and ``jax.nn.softmax``, derived by ``jax.vjp``."""
    import jax
    import jax.numpy as jnp

    def product(rows: "Any", matrix: "Any") -> "Any":
        # On a CPU, JAX 0.12 may add up bfloat16 in bfloat16 unless it is asked for float32.
        wide = jnp.promote_types(rows.dtype, jnp.float32)
        sums = jnp.matmul(rows, matrix, precision="highest", preferred_element_type=wide)
        return sums.astype(rows.dtype)

    def block(x: "Any", w_in: "Any", w_out: "Any") -> "Any":
        projected = product(x, w_in)
        heads = projected.reshape(*x.shape[:2], 3, HEADS, DEPTH)
        q, k, v = heads[:, :, 0] * SCALE, heads[:, :, 1], heads[:, :, 2]
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k, precision="highest")
        weights = jax.nn.softmax(scores)
        mixed = jnp.einsum("bhqk,bkhd->bqhd", weights, v, precision="highest")
        return x + product(mixed.reshape(x.shape), w_out)

    def attention_block(x: "Any", w_in: "Any", w_out: "Any", slope: "Any") -> "tuple[Any, ...]":
        out, pullback = jax.vjp(block, x, w_in, w_out)
        return out, *pullback(slope)

    return wrap(attention_block)


def for_torch(wrap: "Wrap") -> "Function":
    """Build the PyTorch candidate: ``scaled_dot_product_attention`` compiled, and autograd."""
    import torch

    def block(x: "Any", w_in: "Any", w_out: "Any") -> "Any":
        heads = (x @ w_in).view(*x.shape[:2], 3, HEADS, DEPTH).permute(2, 0, 3, 1, 4)
        mixed = torch.nn.functional.scaled_dot_product_attention(heads[0], heads[1], heads[2])
        return x + mixed.transpose(1, 2).reshape(x.shape) @ w_out

    wrapped = wrap(block)

    def attention_block(x: "Any", w_in: "Any", w_out: "Any", slope: "Any") -> "tuple[Any, ...]":
        leaves = [leaf.detach().requires_grad_() for leaf in (x, w_in, w_out)]
        out = wrapped(*leaves)
        return out.detach(), *torch.autograd.grad(out, leaves, slope)

    return attention_block


def for_numba(wrap: "Wrap") -> "Function":
    """Build the Numba candidate: the derivative written by hand, one head after the other.

    Products go to BLAS, from and to contiguous arrays of one head; the softmax and its derivative
    are loops over rows, which stay in a processor's cache.
    """
    import numpy as np

    def attention_block(x: "Any", w_in: "Any", w_out: "Any", slope: "Any") -> "tuple[Any, ...]":
        batch, length, _ = x.shape
        one, scale = x.dtype.type(1), x.dtype.type(SCALE)
        rows, slopes = x.reshape(-1, FEATURES), slope.reshape(-1, FEATURES)
        split = (batch, length, -1, HEADS, DEPTH)
        apart = np.dot(rows, w_in).reshape(split).transpose(PARTS).copy()
        by_outs = np.dot(slopes, w_out.T).reshape(split).transpose(PARTS).copy()
        by_apart, outs = np.empty_like(apart), np.empty_like(by_outs)
        for sequence in range(batch):
            for head in range(HEADS):
                q, k = apart[0, sequence, head], apart[1, sequence, head]
                v, by_mixed = apart[2, sequence, head], by_outs[0, sequence, head]
                weights, by_scores = np.dot(q, k.T), np.dot(by_mixed, v.T)
                for i in range(length):
                    highest, total, mean = weights[i, 0], one - one, one - one
                    for j in range(length):
                        highest = max(highest, weights[i, j])
                    for j in range(length):
                        weights[i, j] = np.exp((weights[i, j] - highest) * scale)
                        total += weights[i, j]
                    for j in range(length):
                        weights[i, j] /= total
                        mean += weights[i, j] * by_scores[i, j]
                    for j in range(length):
                        by_scores[i, j] = weights[i, j] * (by_scores[i, j] - mean) * scale
                np.dot(by_scores, k, by_apart[0, sequence, head])
                np.dot(by_scores.T, q, by_apart[1, sequence, head])
                np.dot(weights.T, by_mixed, by_apart[2, sequence, head])
                np.dot(weights, v, outs[0, sequence, head])

        by_all = by_apart.transpose(1, 3, 0, 2, 4).copy().reshape(-1, 3 * FEATURES)
        mixed = outs.transpose(1, 3, 0, 2, 4).copy().reshape(-1, FEATURES)
        out, by_x = rows + np.dot(mixed, w_out), slopes + np.dot(by_all, w_in.T)
        by_w_in, by_w_out = np.dot(rows.T, by_all), np.dot(mixed.T, slopes)
        return out.reshape(x.shape), by_x.reshape(x.shape), by_w_in, by_w_out

    return wrap(attention_block)
