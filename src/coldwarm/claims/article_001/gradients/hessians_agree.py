"""`jacfwd(grad(f))` in JAX and double backward in PyTorch give the same Hessian."""

ARTICLE = {
    "article": "001",
    "place": "Gradient Computation Differences",
    "figure": "PyTorch supports this, but it's clunkier",
}
QUANTITY = "The largest difference of an entry of a Hessian, relative to the largest entry."
PROTOCOL = """
One process takes the Hessian of a function of 20 numbers in float64: by `jacfwd(grad(f))` in JAX,
row by row by `autograd.grad` with `create_graph=True`, and by `torch.func.hessian`.
"""
RULE = "Confirmed where all three agree to 1e-10 of the largest entry; refuted otherwise."
FACTS = ({"functions": ("hessians",), "variables": {"JAX_ENABLE_X64": "1"}},)
DOCS = ("https://docs.jax.dev/en/latest/101/transformations.html",)


def hessians():
    """Take a Hessian in three ways."""
    import jax
    import jax.numpy as jnp
    import numpy as np
    import torch

    rng = np.random.default_rng(0)
    matrix, start = rng.standard_normal((30, 20)), rng.standard_normal(20)

    def ours(w):
        return jnp.sum(jnp.log1p((jnp.asarray(matrix) @ w) ** 2)) + jnp.prod(jnp.cos(w))

    def theirs(w):
        return ((torch.tensor(matrix) @ w) ** 2).log1p().sum() + torch.cos(w).prod()

    first = np.asarray(jax.jit(jax.jacfwd(jax.grad(ours)))(start))
    w = torch.tensor(start, requires_grad=True)
    (gradient,) = torch.autograd.grad(theirs(w), w, create_graph=True)
    rows = [torch.autograd.grad(one, w, retain_graph=True)[0] for one in gradient]
    second = torch.stack(rows).numpy()
    third = torch.func.hessian(theirs)(torch.tensor(start)).numpy()
    largest = np.abs(first).max()
    return {
        "double_backward": float(np.abs(first - second).max() / largest),
        "torch_func": float(np.abs(first - third).max() / largest),
    }


def judge(seen):
    """Decide by the rule."""
    names = ("double_backward", "torch_func")
    return seen.holds(max(seen.fact("hessians", name) for name in names) <= 1e-10)
