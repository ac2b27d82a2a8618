"""Jitted JAX is typically two to three times as fast as PyTorch."""

ARTICLE = {
    "article": "001",
    "place": "Key Takeaways",
    "figure": "2–3×",
    "low": 2.0,
    "high": 3.0,
}
QUANTITY = "The median, over five jobs, of a warm call of eager PyTorch over one of jitted JAX."
PROTOCOL = """
A chain of ten products (256 × 256), ten elementwise operations on 200,000 numbers, attention (64
tokens, 4 heads of 16, batch 8), the loss and gradient of an MLP (64-128-1, batch 256), and 50 steps
of Runge and Kutta on 8 numbers; float32, same answers, fresh processes, warm calls.
"""
RULE = """
From the bounds of the five ratios, the median of the lower and of the upper ones: confirmed where
they lie between 1.6 and 3.75 (20 % below 2, 25 % above 3), refuted where both lie below or both
above, otherwise inconclusive.
"""
BENCHES = tuple(
    {
        "name": name,
        "candidates": (f"{name}_jax", f"{name}_torch"),
        "regime": "warm",
        "variables": {"JAX_PLATFORMS": "cpu"},
        "seconds": 30.0,
        "tolerance": 1e-3,
    }
    for name in ("products", "elementwise", "attention", "training", "steps")
)
NOTE = """
A median of five jobs on one machine: which jobs are typical is a matter of choice, and the ratios
of the single jobs say more.
"""


def products_jax():
    """Multiply a permutation ten times, compiled."""
    import jax
    import jax.numpy as jnp

    return jax.jit(_products), (jnp.roll(jnp.eye(256), 1, axis=0),)


def products_torch():
    """Multiply a permutation ten times."""
    import torch

    return _products, (torch.roll(torch.eye(256), 1, dims=0),)


def _products(x):
    for _ in range(10):
        x = x @ x
    return x


def elementwise_jax():
    """Run ten elementwise operations, compiled."""
    import jax
    import jax.numpy as jnp

    return jax.jit(_elementwise), (jnp.linspace(-1.0, 1.0, 200_000),)


def elementwise_torch():
    """Run ten elementwise operations."""
    import torch

    return _elementwise, (torch.linspace(-1.0, 1.0, 200_000),)


def _elementwise(x):
    for _ in range(5):
        x = (x * 1.01 + 0.01) / (1 + x * x)
    return x


def attention_jax():
    """Attend, compiled."""
    import jax
    import jax.numpy as jnp

    @jax.jit
    def attend(q, k, v):
        scores = jax.nn.softmax(jnp.einsum("bhqd,bhkd->bhqk", q, k) / 4)
        return jnp.einsum("bhqk,bhkd->bhqd", scores, v)

    x = jnp.linspace(-1.0, 1.0, 8 * 4 * 64 * 16).reshape(8, 4, 64, 16)
    return attend, (x, x * 0.5, x * 2)


def attention_torch():
    """Attend."""
    import torch

    def attend(q, k, v):
        scores = torch.softmax(torch.einsum("bhqd,bhkd->bhqk", q, k) / 4, dim=-1)
        return torch.einsum("bhqk,bhkd->bhqd", scores, v)

    x = torch.linspace(-1.0, 1.0, 8 * 4 * 64 * 16).reshape(8, 4, 64, 16)
    return attend, (x, x * 0.5, x * 2)


def training_jax():
    """Take a loss and its gradients, compiled."""
    import jax
    import jax.numpy as jnp

    def loss(weights, x, y):
        return jnp.mean((jnp.tanh(x @ weights[0]) @ weights[1] - y) ** 2)

    @jax.jit
    def step(w1, w2, x, y):
        value, grads = jax.value_and_grad(loss)((w1, w2), x, y)
        return value, *grads

    w = jnp.linspace(-0.1, 0.1, 64 * 128).reshape(64, 128)
    x = jnp.linspace(-1.0, 1.0, 256 * 64).reshape(256, 64)
    return step, (w, w[0].reshape(128, 1), x, x[:, :1])


def training_torch():
    """Take a loss and its gradients."""
    import torch

    def step(w1, w2, x, y):
        w1, w2 = w1.detach().requires_grad_(), w2.detach().requires_grad_()
        value = ((torch.tanh(x @ w1) @ w2 - y) ** 2).mean()
        return value.detach(), *torch.autograd.grad(value, (w1, w2))

    w = torch.linspace(-0.1, 0.1, 64 * 128).reshape(64, 128)
    x = torch.linspace(-1.0, 1.0, 256 * 64).reshape(256, 64)
    return step, (w, w[0].reshape(128, 1), x, x[:, :1])


def steps_jax():
    """Integrate a pendulum chain, compiled as one loop."""
    import jax
    import jax.numpy as jnp

    @jax.jit
    def integrate(x):
        return jax.lax.fori_loop(0, 50, lambda _, x: _step(x, jnp.sin), x)

    return integrate, (jnp.linspace(-1.0, 1.0, 8),)


def steps_torch():
    """Integrate a pendulum chain."""
    import torch

    def integrate(x):
        for _ in range(50):
            x = _step(x, torch.sin)
        return x

    return integrate, (torch.linspace(-1.0, 1.0, 8),)


def _step(x, sin):
    k1 = -sin(x)
    k2 = -sin(x + 0.05 * k1)
    k3 = -sin(x + 0.05 * k2)
    k4 = -sin(x + 0.1 * k3)
    return x + 0.1 / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def judge(seen):
    """Decide by the rule."""
    from statistics import median

    ratios = [
        seen.ratio(f"{name}_torch", f"{name}_jax", "warm_call", bench=name)
        for name in ("products", "elementwise", "attention", "training", "steps")
    ]
    low, high = median(one.low for one in ratios), median(one.high for one in ratios)
    if low >= 1.6 and high <= 3.75:
        return "confirmed"
    return "refuted" if high < 1.6 or low > 3.75 else "inconclusive"
