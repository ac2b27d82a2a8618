"""Pass values that change as ordinary arguments, not as static ones."""

FRAMEWORK = "jax"
MEASURES = "first_call_s"
SYMPTOM = "every call is slow"
MECHANISM = """
A static argument is part of the key under which a compiled program is kept, so each new value
traces and compiles again. An ordinary number is an input of one program, whatever its value.
"""
EXCEPTION = """
A value that decides on shapes or on the structure of the program (a number of layers, an axis) has
to be static; with a handful of values each is compiled once and kept. What is lost grows with the
number of values.
"""
DOCS = ("https://docs.jax.dev/en/latest/jit-compilation.html#marking-arguments-as-static",)
ARTICLES = (
    {
        "article": "002",
        "place": "Avoiding recompilation with static arguments",
        "figure": "",
    },
)
TOLERANCE = 1e-5
SECONDS = 22.0
GRID = {"values": (2, 5, 20, 50)}


def do(values):
    """Let heat spread in shorter and shorter steps, each given as a number."""
    import jax
    import jax.numpy as jnp

    @jax.jit
    def spread(heat, dt):
        return heat + dt * (jnp.roll(heat, 1) - 2.0 * heat + jnp.roll(heat, -1))

    def simulate(heat):
        for turn in range(values):
            heat = spread(heat, 0.4 / (1 + turn))
        return heat

    return simulate, (jnp.linspace(0.0, 1.0, 4096),)


def dont(values):
    """Let heat spread in shorter and shorter steps, each compiled in as a constant."""
    import jax
    import jax.numpy as jnp

    def by_step(heat, dt):
        return heat + dt * (jnp.roll(heat, 1) - 2.0 * heat + jnp.roll(heat, -1))

    spread = jax.jit(by_step, static_argnums=1)

    def simulate(heat):
        for turn in range(values):
            heat = spread(heat, 0.4 / (1 + turn))
        return heat

    return simulate, (jnp.linspace(0.0, 1.0, 4096),)
