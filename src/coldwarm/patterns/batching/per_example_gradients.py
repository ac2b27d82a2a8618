"""Take per-example gradients with `vmap` over `grad`."""

FRAMEWORK = "jax"
MEASURES = "warm_call_s"
SYMPTOM = "a gradient for each example takes a loop"
MECHANISM = """
`grad` gives the gradient of one example, and `vmap` maps that over a batch: one program computes
all gradients, with the batch as another axis of its operations. A loop runs a program for each, so
its cost grows with every example.
"""
EXCEPTION = """
Gradients of all examples take the memory of the batch times the parameters; where only their norms
or their mean are wanted, compute those inside, or map over smaller parts of the batch.
"""
DOCS = ("https://docs.jax.dev/en/latest/101/transformations.html",)
ARTICLES = (
    {"article": "002", "place": "Per-example gradients: The canonical pattern", "figure": ""},
    {"article": "001", "place": "VMAP: The Killer Feature", "figure": ""},
)
TOLERANCE = 1e-3
SECONDS = 30.0
GRID = {"examples": (8, 32, 128)}


def do(examples):
    """Map the gradient over a batch."""
    import jax
    import jax.numpy as jnp

    def loss(x, y, params):
        hidden = jnp.tanh(x @ params["first"])
        return jnp.sum((hidden @ params["second"] - y) ** 2)

    of_one = jax.grad(loss, argnums=2)
    gradients = jax.jit(jax.vmap(of_one, in_axes=(0, 0, None)))
    params = {"first": jnp.full((32, 16), 0.02), "second": jnp.full((16, 4), 0.05)}
    return gradients, (jnp.ones((examples, 32)), jnp.zeros((examples, 4)), params)


def dont(examples):
    """Compute the gradient of each example in turn, and stack them."""
    import jax
    import jax.numpy as jnp

    def loss(x, y, params):
        hidden = jnp.tanh(x @ params["first"])
        return jnp.sum((hidden @ params["second"] - y) ** 2)

    gradient = jax.jit(jax.grad(loss, argnums=2))

    def gradients(batch, targets, params):
        each = [gradient(x, y, params) for x, y in zip(batch, targets, strict=True)]
        return jax.tree.map(lambda *parts: jnp.stack(parts), *each)

    params = {"first": jnp.full((32, 16), 0.02), "second": jnp.full((16, 4), 0.05)}
    return gradients, (jnp.ones((examples, 32)), jnp.zeros((examples, 4)), params)
