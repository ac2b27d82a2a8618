"""Normals of a sphere fitted to its images under several lights, in NumPy and in JAX."""

LIGHTS, STEPS, RATE, SMOOTH = 12, 10, 0.5, 0.1


def numpy_by_hand(side):
    """Fit with the gradient written by hand, as many pixels across as along."""
    import numpy as np

    def fit(normals, images, lights):
        for _ in range(STEPS):
            shading = normals @ lights.T
            lit = shading > 0
            gradient = 2 / LIGHTS * ((np.where(lit, shading, 0) - images) * lit) @ lights
            across = 2 * SMOOTH * np.diff(normals, axis=1)
            along = 2 * SMOOTH * np.diff(normals, axis=0)
            gradient[:, 1:] += across
            gradient[:, :-1] -= across
            gradient[1:] += along
            gradient[:-1] -= along
            normals = normals - np.float32(RATE) * gradient
        return normals

    return fit, _scene(side)


def jax_jit(side):
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

    return fit, tuple(jnp.asarray(array) for array in _scene(side))


def _scene(side):
    """Return first normals, the images of a sphere, and the lights, in float32."""
    import numpy as np

    y, x = np.mgrid[-0.7 : 0.7 : side * 1j, -0.7 : 0.7 : side * 1j]
    truth = np.stack([x, y, np.sqrt(1 - x**2 - y**2)], -1)
    angles = np.arange(LIGHTS) * 2 * np.pi / LIGHTS
    lights = np.stack([np.cos(angles), np.sin(angles), np.ones(LIGHTS)], -1) / np.sqrt(2)
    images = np.maximum(truth @ lights.T, 0)
    first = np.zeros_like(truth)
    first[..., 2] = 1
    return tuple(array.astype(np.float32) for array in (first, images, lights))
