"""Jitted JAX is typically two to three times as fast as PyTorch."""

ARTICLE = {
    "article": "001",
    "place": "Key Takeaways",
    "figure": "2–3×",
    "low": 2.0,
    "high": 3.0,
}
QUANTITY = "A warm call of eager PyTorch over one of jitted JAX, in each of ten jobs."
PROTOCOL = """
Five jobs of numerical work: ten products (256 × 256), ten elementwise operations on 200,000
numbers, 200 steps of Runge and Kutta on 8 numbers, 50 steps of heat on 128 × 128 points, and a
Cholesky factor of 200 × 200 with a solution for it. Five of deep learning: attention (64 tokens, 4
heads of 16, batch 8), the loss and gradient of an MLP (64-128-1, batch 256), two convolutions (16
channels, 32 × 32 pixels, batch 8), a recurrent layer (64 wide, 50 steps, batch 32), and the cross
entropy of 256 × 1,000 scores with its gradient. float32, same answers, fresh processes, warm calls.
"""
RULE = """
Each job counts for itself. Confirmed where the interval of the ratio lies between 1.6 and 3.75
(20 % below 2, 25 % above 3) in more than half of the jobs; refuted where it does so in none, and
lies outside in more than half; depends where it lies between in some and outside in others;
otherwise inconclusive.
"""
JOBS = (
    *("products", "elementwise", "steps", "heat", "solve"),
    *("attention", "training", "convolutions", "recurrence", "entropy"),
)
BENCHES = tuple(
    {
        "name": name,
        "candidates": (f"{name}_jax", f"{name}_torch"),
        "regime": "warm",
        "variables": {"JAX_PLATFORMS": "cpu"},
        "seconds": 25.0,
        "tolerance": 1e-3,
    }
    for name in JOBS
)
NOTE = """
Which jobs are typical is a matter of choice; the ratios of the single jobs say more than any one
number for all.
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
        return jax.lax.fori_loop(0, 200, lambda _, x: _step(x, jnp.sin), x)

    return integrate, (jnp.linspace(-1.0, 1.0, 8),)


def steps_torch():
    """Integrate a pendulum chain."""
    import torch

    def integrate(x):
        for _ in range(200):
            x = _step(x, torch.sin)
        return x

    return integrate, (torch.linspace(-1.0, 1.0, 8),)


def _step(x, sin):
    k1 = -sin(x)
    k2 = -sin(x + 0.01 * k1)
    k3 = -sin(x + 0.01 * k2)
    k4 = -sin(x + 0.02 * k3)
    return x + 0.02 / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def heat_jax():
    """Let heat spread on a plate, compiled as one loop."""
    import jax
    import jax.numpy as jnp

    @jax.jit
    def spread(x):
        return jax.lax.fori_loop(0, 50, lambda _, x: _spread(x, jnp.roll), x)

    return spread, (jnp.sin(jnp.arange(128 * 128.0)).reshape(128, 128),)


def heat_torch():
    """Let heat spread on a plate."""
    import torch

    def spread(x):
        for _ in range(50):
            x = _spread(x, torch.roll)
        return x

    return spread, (torch.sin(torch.arange(128 * 128.0)).reshape(128, 128),)


def _spread(x, roll):
    around = roll(x, 1, 0) + roll(x, -1, 0) + roll(x, 1, 1) + roll(x, -1, 1)
    return x + 0.1 * (around - 4 * x)


def solve_jax():
    """Solve equations by a Cholesky factor, compiled."""
    import jax
    import jax.numpy as jnp

    @jax.jit
    def solve(a, b):
        return jax.scipy.linalg.cho_solve(jax.scipy.linalg.cho_factor(a, lower=True), b)

    return solve, (200 * jnp.eye(200) + 1, jnp.linspace(-1.0, 1.0, 200)[:, None])


def solve_torch():
    """Solve equations by a Cholesky factor."""
    import torch

    def solve(a, b):
        return torch.cholesky_solve(b, torch.linalg.cholesky(a))

    return solve, (200 * torch.eye(200) + 1, torch.linspace(-1.0, 1.0, 200)[:, None])


def convolutions_jax():
    """Convolve twice, compiled."""
    import jax
    import jax.numpy as jnp

    @jax.jit
    def convolve(x, first, second):
        hidden = jax.nn.relu(jax.lax.conv(x, first, (1, 1), "SAME"))
        return jax.lax.conv(hidden, second, (1, 1), "SAME")

    x = jnp.linspace(-1.0, 1.0, 8 * 16 * 32 * 32).reshape(8, 16, 32, 32)
    kernel = jnp.linspace(-0.1, 0.1, 16 * 16 * 9).reshape(16, 16, 3, 3)
    return convolve, (x, kernel, kernel * 0.5)


def convolutions_torch():
    """Convolve twice."""
    import torch

    def convolve(x, first, second):
        hidden = torch.relu(torch.conv2d(x, first, padding=1))
        return torch.conv2d(hidden, second, padding=1)

    x = torch.linspace(-1.0, 1.0, 8 * 16 * 32 * 32).reshape(8, 16, 32, 32)
    kernel = torch.linspace(-0.1, 0.1, 16 * 16 * 9).reshape(16, 16, 3, 3)
    return convolve, (x, kernel, kernel * 0.5)


def recurrence_jax():
    """Run a recurrent layer over a sequence, compiled as one loop."""
    import jax
    import jax.numpy as jnp

    @jax.jit
    def run(xs, own, back):
        def step(state, x):
            state = jnp.tanh(x @ own + state @ back)
            return state, None

        return jax.lax.scan(step, jnp.zeros((32, 64)), xs)[0]

    xs = jnp.linspace(-1.0, 1.0, 50 * 32 * 64).reshape(50, 32, 64)
    weights = jnp.linspace(-0.1, 0.1, 64 * 64).reshape(64, 64)
    return run, (xs, weights, weights.T)


def recurrence_torch():
    """Run a recurrent layer over a sequence."""
    import torch

    def run(xs, own, back):
        state = torch.zeros(32, 64)
        for x in xs:
            state = torch.tanh(x @ own + state @ back)
        return state

    xs = torch.linspace(-1.0, 1.0, 50 * 32 * 64).reshape(50, 32, 64)
    weights = torch.linspace(-0.1, 0.1, 64 * 64).reshape(64, 64)
    return run, (xs, weights, weights.T)


def entropy_jax():
    """Take a cross entropy and its gradient, compiled."""
    import jax
    import jax.numpy as jnp

    def loss(scores, labels):
        chosen = jnp.take_along_axis(jax.nn.log_softmax(scores), labels[:, None], 1)
        return -jnp.mean(chosen)

    scores = jnp.sin(jnp.arange(256 * 1000.0)).reshape(256, 1000)
    return jax.jit(jax.value_and_grad(loss)), (scores, jnp.arange(256))


def entropy_torch():
    """Take a cross entropy and its gradient."""
    import torch

    def loss(scores, labels):
        scores = scores.detach().requires_grad_()
        value = torch.nn.functional.cross_entropy(scores, labels)
        return value.detach(), torch.autograd.grad(value, scores)[0]

    scores = torch.sin(torch.arange(256 * 1000.0)).reshape(256, 1000)
    return loss, (scores, torch.arange(256))


def judge(seen):
    """Decide by the rule."""
    ratios = [seen.ratio(f"{name}_torch", f"{name}_jax", "warm_call", bench=name) for name in JOBS]
    return seen.mostly(ratios, 1.6, 3.75)
