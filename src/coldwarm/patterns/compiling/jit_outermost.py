"""Compile a whole training step as one program, not its parts one by one."""

FRAMEWORK = "jax"
MEASURES = "warm_call_s"
LINT = "no-jit-hot-loop"
SYMPTOM = "many short programs in each step"
MECHANISM = """
What several jitted functions compute is computed by each for itself, and goes through memory and
Python between them. Inside one program XLA computes it once, and fuses what follows it.
"""
EXCEPTION = """
Parts are compiled separately with reason where the whole takes too long to compile. In a large step
what is left of the difference is what is computed twice: here the forward pass, for the loss and
for the gradients.
"""
DOCS = (
    "https://docs.jax.dev/en/latest/201/profiling.html",
    "https://docs.jax.dev/en/latest/_autosummary/jax.value_and_grad.html",
)
ARTICLES = (
    {
        "article": "002",
        "place": "JIT at the outermost possible scope",
        "figure": "2–10×",
        "low": 2.0,
        "high": 10.0,
    },
    {
        "article": "002",
        "place": "Quick reference: The 10 commandments of JAX performance",
        "figure": "",
    },
)
TOLERANCE = 1e-4
SECONDS = 40.0


def do():
    """Compute loss, gradients and update in one compiled step."""
    import jax
    import jax.numpy as jnp

    def loss_of(params, x, y):
        for w in params:
            x = jnp.tanh(x @ w)
        return jnp.mean((x - y) ** 2)

    @jax.jit
    def train_step(params, x, y):
        loss, grads = jax.value_and_grad(loss_of)(params, x, y)
        return jax.tree.map(lambda p, g: p - 0.01 * g, params, grads), loss

    params = [jnp.full((32, 32), 0.01 * n) for n in range(1, 9)]
    return train_step, (params, jnp.ones((16, 32)), jnp.zeros((16, 32)))


def dont():
    """Compute loss, gradients and update by a compiled function each."""
    import jax
    import jax.numpy as jnp

    def loss_of(params, x, y):
        for w in params:
            x = jnp.tanh(x @ w)
        return jnp.mean((x - y) ** 2)

    def updated(params, grads):
        return jax.tree.map(lambda p, g: p - 0.01 * g, params, grads)

    jitted_loss = jax.jit(loss_of)
    jitted_grads = jax.jit(jax.grad(loss_of))
    jitted_update = jax.jit(updated)

    def train_step(params, x, y):
        loss = jitted_loss(params, x, y)
        grads = jitted_grads(params, x, y)
        return jitted_update(params, grads), loss

    params = [jnp.full((32, 32), 0.01 * n) for n in range(1, 9)]
    return train_step, (params, jnp.ones((16, 32)), jnp.zeros((16, 32)))
