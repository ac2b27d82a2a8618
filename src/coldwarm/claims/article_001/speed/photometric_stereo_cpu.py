"""Moving a photometric stereo optimiser from NumPy to JAX makes it 15 times as fast on the CPU."""

ARTICLE = {
    "article": "001",
    "place": "When JAX Actually Wins",
    "figure": "15×, from 3 minutes to 12 seconds",
    "low": 15.0,
}
QUANTITY = "A warm call of 50 steps in NumPy over one in jitted JAX."
PROTOCOL = """
Normals of a scene of 64 × 64 pixels are fitted to its images under 12 lights by 50 steps of
gradient descent on the squared error of clipped shading plus smoothness; in NumPy with the
gradient written by hand, in JAX by `grad` inside a jitted `fori_loop`. float32, same answer, fresh
processes.
"""
RULE = """
Confirmed where the interval of the ratio lies above 12 (80 % of the stated factor), refuted where
it lies below, otherwise inconclusive.
"""
BENCHES = (
    {
        "name": "scene",
        "candidates": ("jax_jit", "numpy_by_hand"),
        "regime": "warm",
        "seconds": 40.0,
        "tolerance": 1e-3,
    },
)
DOCS = ("https://docs.jax.dev/en/latest/_autosummary/jax.lax.fori_loop.html",)
NOTE = """
The source's factor is that of a GPU (an A100) over a CPU, as well as that of JAX over NumPy; here
both run on the same cores.
"""
SIDE, LIGHTS, STEPS, RATE, SMOOTH = 64, 12, 50, 0.5, 0.1


def numpy_by_hand():
    """Fit with the gradient written by hand."""
    import numpy as np

    def fit(normals, images, lights):
        for _ in range(STEPS):
            shading = normals @ lights.T
            lit = shading > 0
            gradient = 2 / LIGHTS * ((np.where(lit, shading, 0) - images) * lit) @ lights
            for axis in (0, 1):
                slope = 2 * SMOOTH * np.diff(normals, axis=axis)
                before, after = [(1, 0), (0, 0), (0, 0)], [(0, 1), (0, 0), (0, 0)]
                if axis == 1:
                    before[0], before[1] = before[1], before[0]
                    after[0], after[1] = after[1], after[0]
                gradient += np.pad(slope, before) - np.pad(slope, after)
            normals = normals - np.float32(RATE) * gradient.astype(np.float32)
        return normals

    return fit, _scene()


def jax_jit():
    """Fit with JAX's gradient, in one compiled loop."""
    import jax
    import jax.numpy as jnp

    def error(normals, images, lights):
        shading = jax.nn.relu(normals @ lights.T)
        slopes = [jnp.sum(jnp.diff(normals, axis=axis) ** 2) for axis in (0, 1)]
        return jnp.sum((shading - images) ** 2) / LIGHTS + SMOOTH * sum(slopes)

    @jax.jit
    def fit(normals, images, lights):
        def step(_, normals):
            return normals - RATE * jax.grad(error)(normals, images, lights)

        return jax.lax.fori_loop(0, STEPS, step, normals)

    return fit, tuple(jnp.asarray(array) for array in _scene())


def _scene():
    """Return first normals, the images of a sphere, and the lights."""
    import numpy as np

    y, x = np.mgrid[-0.7 : 0.7 : SIDE * 1j, -0.7 : 0.7 : SIDE * 1j]
    truth = np.stack([x, y, np.sqrt(1 - x**2 - y**2)], -1)
    angles = np.arange(LIGHTS) * 2 * np.pi / LIGHTS
    lights = np.stack([np.cos(angles), np.sin(angles), np.ones(LIGHTS)], -1) / np.sqrt(2)
    images = np.maximum(truth @ lights.T, 0)
    first = np.zeros_like(truth)
    first[..., 2] = 1
    return tuple(array.astype(np.float32) for array in (first, images, lights))


def judge(seen):
    """Decide by the rule."""
    return seen.at_least(seen.ratio("numpy_by_hand", "jax_jit", "warm_call"), 12.0)
