"""A Hessian is cheaper in JAX than by PyTorch's double backward."""

ARTICLE = {
    "article": "001",
    "place": "Gradient Computation Differences",
    "figure": "trivial to compute higher-order gradients",
}
QUANTITY = "A warm call of PyTorch's double backward over one of `jit(jacfwd(grad(f)))`."
PROTOCOL = """
The Hessian of a function of 60 numbers, float32: jitted `jacfwd(grad(f))`; row by row by
`autograd.grad` with `create_graph=True`; `torch.func.hessian` beside them. Fresh processes.
"""
RULE = """
Confirmed where the interval of double backward over JAX lies above 1, refuted where it lies below,
otherwise inconclusive.
"""
BENCHES = (
    {
        "name": "hessian",
        "candidates": ("jax_jacfwd", "torch_double_backward", "torch_func"),
        "regime": "warm",
        "variables": {"JAX_PLATFORMS": "cpu"},
        "seconds": 60.0,
        "tolerance": 1e-3,
    },
)
DOCS = ("https://docs.jax.dev/en/latest/101/transformations.html",)
SIZE = 60


def jax_jacfwd():
    """Differentiate the gradient forward, compiled."""
    import jax
    import jax.numpy as jnp

    def f(w, matrix):
        return jnp.sum(jnp.log1p((matrix @ w) ** 2))

    matrix = jnp.cos(jnp.arange(2.0 * SIZE * SIZE)).reshape(2 * SIZE, SIZE)
    return jax.jit(jax.jacfwd(jax.grad(f))), (jnp.linspace(-1.0, 1.0, SIZE), matrix)


def torch_double_backward():
    """Go backward through the gradient, row by row."""
    import torch

    def hessian(w, matrix):
        w = w.clone().requires_grad_()
        value = ((matrix @ w) ** 2).log1p().sum()
        (gradient,) = torch.autograd.grad(value, w, create_graph=True)
        rows = [torch.autograd.grad(one, w, retain_graph=True)[0] for one in gradient]
        return torch.stack(rows)

    matrix = torch.cos(torch.arange(2.0 * SIZE * SIZE)).reshape(2 * SIZE, SIZE)
    return hessian, (torch.linspace(-1.0, 1.0, SIZE), matrix)


def torch_func():
    """Take the Hessian by `torch.func`."""
    import torch

    def f(w, matrix):
        return ((matrix @ w) ** 2).log1p().sum()

    matrix = torch.cos(torch.arange(2.0 * SIZE * SIZE)).reshape(2 * SIZE, SIZE)
    return torch.func.hessian(f), (torch.linspace(-1.0, 1.0, SIZE), matrix)


def judge(seen):
    """Decide by the rule."""
    seen.ratio("torch_func", "jax_jacfwd", "warm_call")
    return seen.at_least(seen.ratio("torch_double_backward", "jax_jacfwd", "warm_call"), 1.0)
