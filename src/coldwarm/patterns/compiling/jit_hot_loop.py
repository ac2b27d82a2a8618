"""Jit what a loop calls again and again: without it every operation is a program of its own."""

FRAMEWORK = "jax"
MEASURES = "warm_call_s"
SYMPTOM = "much time in Python, many short programs"
MECHANISM = """
Outside of `jit` each operation is dispatched from Python, and writes its result to memory before
the next begins. A compiled function is dispatched once, and its elementwise operations are fused.
"""
EXCEPTION = """
A function that is called once or twice takes longer to compile than to run; and where one large
operation takes nearly all the time, dispatching it costs little.
"""
DOCS = ("https://docs.jax.dev/en/latest/201/jit.html",)
ARTICLES = (
    {
        "article": "002",
        "place": "Quick reference: The 10 commandments of JAX performance",
        "figure": "",
    },
    {"article": "002", "place": "Hardware-specific considerations", "figure": "moderate on CPU"},
    {
        "article": "001",
        "place": "The JIT Wall",
        "figure": "0.0095 s against 0.0031 s",
        "low": 3.06,
        "high": 3.06,
    },
)
TOLERANCE = 1e-4
SECONDS = 20.0
GRID = {"size": (100, 1000, 10_000, 100_000)}


def do(size):
    """Advance an oscillator by a compiled step."""
    import jax
    import jax.numpy as jnp

    @jax.jit
    def step(position, velocity):
        force = -jnp.sin(position) - 0.1 * velocity
        velocity = velocity + 0.01 * force
        return position + 0.01 * velocity, velocity

    def simulate(position, velocity):
        for _ in range(10):
            position, velocity = step(position, velocity)
        return position, velocity

    return simulate, (jnp.linspace(0.0, 1.0, size), jnp.zeros(size))


def dont(size):
    """Advance an oscillator operation by operation."""
    import jax.numpy as jnp

    def step(position, velocity):
        force = -jnp.sin(position) - 0.1 * velocity
        velocity = velocity + 0.01 * force
        return position + 0.01 * velocity, velocity

    def simulate(position, velocity):
        for _ in range(10):
            position, velocity = step(position, velocity)
        return position, velocity

    return simulate, (jnp.linspace(0.0, 1.0, size), jnp.zeros(size))
