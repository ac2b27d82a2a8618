"""Multi-head self-attention, four heads of 16 numbers each, over n tokens.

With the four products by weights (q, k, v, output), model width 64. NumPy takes
all heads at once; Numba one head after the other, with a loop for the weights
of each token; torch and JAX use their own attention function between the
products.
"""

import math

import numpy as np
from timing import run

HEADS, SIZE = 4, 16
WIDTH = HEADS * SIZE
SCALE = 1 / math.sqrt(SIZE)


def inputs(n):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((n, WIDTH), dtype=np.float32)
    scale = np.float32(1 / math.sqrt(WIDTH))
    weights = [scale * rng.standard_normal((WIDTH, WIDTH), dtype=np.float32) for _ in range(4)]
    return [x, *weights]


def build_numpy():
    def attention(x, wq, wk, wv, wo):
        n = x.shape[0]
        q, k, v = ((x @ w).reshape(n, HEADS, SIZE).transpose(1, 0, 2) for w in (wq, wk, wv))
        scores = SCALE * (q @ k.transpose(0, 2, 1))
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        return (weights @ v).transpose(1, 0, 2).reshape(n, WIDTH) @ wo

    return attention


def build_numba():
    from numba import njit

    scale, zero, one = np.float32(SCALE), np.float32(0), np.float32(1)

    @njit
    def attention(x, wq, wk, wv, wo):
        n = x.shape[0]
        q, k, v = np.dot(x, wq), np.dot(x, wk), np.dot(x, wv)
        mixed = np.empty_like(q)
        for head in range(HEADS):
            start, stop = head * SIZE, (head + 1) * SIZE
            qh = np.ascontiguousarray(q[:, start:stop])
            kh = np.ascontiguousarray(k[:, start:stop])
            vh = np.ascontiguousarray(v[:, start:stop])
            weights = np.dot(qh, kh.T)
            for i in range(n):
                top = weights[i, 0]
                for j in range(1, n):
                    top = max(top, weights[i, j])
                total = zero
                for j in range(n):
                    weights[i, j] = math.exp(scale * (weights[i, j] - top))
                    total += weights[i, j]
                share = one / total
                for j in range(n):
                    weights[i, j] *= share
            mixed[:, start:stop] = np.dot(weights, vh)
        return np.dot(mixed, wo)

    return attention


def build_torch():
    import torch.nn.functional as F

    def attention(x, wq, wk, wv, wo):
        n = x.shape[0]
        q, k, v = [(x @ w).view(1, n, HEADS, SIZE).transpose(1, 2) for w in (wq, wk, wv)]
        mixed = F.scaled_dot_product_attention(q, k, v)
        return mixed.transpose(1, 2).reshape(n, WIDTH) @ wo

    return attention


def build_torch_compiled():
    import torch

    return torch.compile(build_torch())


def build_jax_eager():
    import jax

    def attention(x, wq, wk, wv, wo):
        n = x.shape[0]
        q, k, v = ((x @ w).reshape(n, HEADS, SIZE) for w in (wq, wk, wv))
        return jax.nn.dot_product_attention(q, k, v).reshape(n, WIDTH) @ wo

    return attention


def build_jax():
    import jax

    return jax.jit(build_jax_eager())


if __name__ == "__main__":
    run(inputs, globals())
