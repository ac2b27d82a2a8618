"""Attention with four heads of 16 numbers each, over n tokens: n from 16 to 1,024.

    coldwarm bench attention.py:numpy attention.py:numba attention.py:torch \
        attention.py:torch_compiled attention.py:jax attention.py:jax_eager \
        --sweep n=16:1024 --input n=n

With the four products by weights around it, as in a layer of a transformer. PyTorch and JAX have a
function for the inner part. Numba calls SciPy's library for its products, and uses one thread.
"""

HEADS, WIDTH = 4, 16


def numpy(n):
    """All heads at once."""
    import numpy as np

    def attend(x, wq, wk, wv, wo):
        q, k, v = ((x @ w).reshape(-1, HEADS, WIDTH).swapaxes(0, 1) for w in (wq, wk, wv))
        scores = q @ k.swapaxes(1, 2) / WIDTH**0.5
        scores = np.exp(scores - scores.max(axis=2, keepdims=True))
        scores /= scores.sum(axis=2, keepdims=True)
        return (scores @ v).swapaxes(0, 1).reshape(-1, HEADS * WIDTH) @ wo

    return attend, _tokens(n)


def numba(n):
    """One head after the other, with a loop for the weights of each token."""
    import numba
    import numpy as np

    scale = np.float32(WIDTH**-0.5)

    @numba.njit(fastmath=True)
    def attend(x, wq, wk, wv, wo):
        q, k, v = x @ wq * scale, x @ wk, x @ wv
        mixed = np.empty_like(q)
        for first in range(0, HEADS * WIDTH, WIDTH):
            head = slice(first, first + WIDTH)
            scores = np.ascontiguousarray(q[:, head]) @ np.ascontiguousarray(k[:, head]).T
            for i in range(len(x)):
                row = np.exp(scores[i] - scores[i].max())
                scores[i] = row / row.sum()
            mixed[:, head] = scores @ np.ascontiguousarray(v[:, head])
        return mixed @ wo

    return attend, _tokens(n)


def torch(n):
    """``scaled_dot_product_attention`` between the products."""
    return _torch(n, lambda function: function)


def torch_compiled(n):
    """The same, compiled."""
    import torch

    return _torch(n, torch.compile)


def jax(n):
    """``dot_product_attention`` and the products as one program."""
    import jax

    attend, arguments = jax_eager(n)
    return jax.jit(attend), arguments


def jax_eager(n):
    """``dot_product_attention`` between the products."""
    import jax
    import jax.numpy as jnp

    def attend(x, wq, wk, wv, wo):
        q, k, v = ((x @ w).reshape(-1, HEADS, WIDTH) for w in (wq, wk, wv))
        return jax.nn.dot_product_attention(q, k, v).reshape(-1, HEADS * WIDTH) @ wo

    return attend, tuple(map(jnp.asarray, _tokens(n)))


def _torch(n, compiler):
    import torch

    inner = torch.nn.functional.scaled_dot_product_attention

    @compiler
    def attend(x, wq, wk, wv, wo):
        q, k, v = ((x @ w).view(-1, HEADS, WIDTH).transpose(0, 1)[None] for w in (wq, wk, wv))
        return inner(q, k, v)[0].transpose(0, 1).reshape(-1, HEADS * WIDTH) @ wo

    return attend, tuple(map(torch.from_numpy, _tokens(n)))


def _tokens(n):
    """Return the tokens, and the weights for queries, keys, values and the result."""
    import numpy as np

    rng = np.random.default_rng(0)
    weights = rng.standard_normal((4, HEADS * WIDTH, HEADS * WIDTH)) / (HEADS * WIDTH) ** 0.5
    return (
        rng.standard_normal((n, HEADS * WIDTH)).astype("float32"),
        *weights.astype("float32"),
    )
