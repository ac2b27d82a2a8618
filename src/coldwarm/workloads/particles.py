"""One step of many charged particles, written for one and vectorised.

What it stands for: a rule for one item that is applied to many: particles, cells, agents,
rays, options to be priced. The items do not see each other.

What is computed: Boris's method, the usual way to move charged particles in a plasma code. A
particle at ``x = (x₁, x₂, x₃)`` with velocity ``v`` and ratio ``q`` of charge to mass meets a
magnetic mirror ``B = (-x₁x₃, -x₂x₃, 1 + x₃²)`` and an electric field
``E = (-x₁/2, -x₂/2, sin 2x₃)``. Its velocity gets half of the electric push, is rotated about
``B`` without changing its length, and gets the other half; then its position advances by 0.1
times the new velocity. The answer is the new positions and velocities.

What to look at: what it costs to write the rule for one particle and leave the rest to
``vmap``. JAX and PyTorch do that; their arithmetic is then the same as in the NumPy version,
which has the particle's axis written out, and the Numba version, which is one loop with scalars
on one thread. Run eagerly, each of some thirty operations makes an array of its own, and
``vmap`` takes its time in Python on every call. Compiled, ``vmap`` is gone before the first
step, and what remains is one pass over memory.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from coldwarm.workloads import Array, Function, Generator, Wrap

NAME = "particles"
SIZES = (10_000, 100_000)
SIZE_MEANING = "n particles in three dimensions"
DTYPES = ("f32", "f64")
LAYOUT = "C-contiguous (row-major) n×3 positions and n×3 velocities, n ratios of charge to mass"
BASELINE = "numpy"
STEP = 0.1
HALF = STEP / 2

# Largest error of NumPy, JAX, PyTorch (eager and compiled) and Numba at all sizes, five seeds:
# 1.5e-7 in f32, 3.7e-16 in f64. Seven to eight times as much leaves room for fused multiply-adds
# and other sines, and still refuses half precision (about 1e-3).
TOLERANCE = {"f32": 1e-6, "f64": 3e-15}


def inputs(rng: "Generator", size: int, dtype: str) -> "list[Array]":
    """Return positions and velocities (standard normal), and ratios of charge to mass.

    The ratios lie between 0.5 and 1.5, so that no particle turns by more than it would in a
    simulation that resolves its orbit.
    """
    arrays = (
        rng.standard_normal((size, 3)),
        rng.standard_normal((size, 3)),
        rng.uniform(0.5, 1.5, size),
    )
    return [array.astype(dtype) for array in arrays]


def reference(*arrays: "Array") -> "list[Array]":
    """Return the step of float64 inputs, the rotation as the linear system that defines it.

    With ``a`` the velocity before the rotation and ``b`` after it, ``b - a = (b + a) × t``. The
    candidates use the closed form of its solution; here a 3×3 system is solved for each particle.
    """
    import numpy as np

    position, velocity, ratio = arrays
    x, y, z = position.T
    half = HALF * ratio
    tx, ty, tz = -half * x * z, -half * y * z, half * (1 + z * z)
    push = half[:, None] * np.stack((-x / 2, -y / 2, np.sin(2 * z)), axis=1)

    turn = np.zeros((len(ratio), 3, 3))  # the matrix of w ↦ t × w
    turn[:, 0, 1], turn[:, 0, 2] = -tz, ty
    turn[:, 1, 0], turn[:, 1, 2] = tz, -tx
    turn[:, 2, 0], turn[:, 2, 1] = -ty, tx
    before = (np.eye(3) - turn) @ (velocity + push)[:, :, None]
    after = np.linalg.solve(np.eye(3) + turn, before)[:, :, 0] + push
    return [position + STEP * after, after]


def for_numpy(wrap: "Wrap") -> "Function":
    """Build the NumPy candidate: whole arrays, with the axis of the particles written out."""
    import numpy as np

    def particles(position: "Any", velocity: "Any", ratio: "Any") -> "tuple[Any, ...]":
        x, y, z = position[:, 0], position[:, 1], position[:, 2]
        half = (HALF * ratio)[:, None]
        push = half * np.stack((-0.5 * x, -0.5 * y, np.sin(2 * z)), axis=1)
        t = half * np.stack((-x * z, -y * z, 1 + z * z), axis=1)
        s = 2 * t / (1 + (t * t).sum(axis=1, keepdims=True))
        before = velocity + push
        between = before + np.cross(before, t)
        after = before + np.cross(between, s) + push
        return position + STEP * after, after

    return wrap(particles)


def for_jax(wrap: "Wrap") -> "Function":
    """Build the JAX candidate: ``jax.vmap`` of a function of one particle."""
    import jax
    import jax.numpy as jnp

    def particle(position: "Any", velocity: "Any", ratio: "Any") -> "tuple[Any, ...]":
        x, y, z = position
        half = HALF * ratio
        push = half * jnp.stack((-0.5 * x, -0.5 * y, jnp.sin(2 * z)))
        t = half * jnp.stack((-x * z, -y * z, 1 + z * z))
        s = 2 * t / (1 + jnp.sum(t * t))
        before = velocity + push
        between = before + jnp.cross(before, t)
        after = before + jnp.cross(between, s) + push
        return position + STEP * after, after

    return wrap(jax.vmap(particle))


def for_torch(wrap: "Wrap") -> "Function":
    """Build the PyTorch candidate: ``torch.vmap`` of a function of one particle."""
    import torch

    def particle(position: "Any", velocity: "Any", ratio: "Any") -> "tuple[Any, ...]":
        x, y, z = position.unbind()
        half = HALF * ratio
        push = half * torch.stack((-0.5 * x, -0.5 * y, torch.sin(2 * z)))
        t = half * torch.stack((-x * z, -y * z, 1 + z * z))
        s = 2 * t / (1 + (t * t).sum())
        before = velocity + push
        between = before + torch.linalg.cross(before, t)
        after = before + torch.linalg.cross(between, s) + push
        return position + STEP * after, after

    return wrap(torch.vmap(particle))


# With ``dynamic=True`` Dynamo makes symbols of constants such as ``HALF``, and ``torch.vmap`` of
# PyTorch 2.13 refuses to multiply an array by one: the compiler fails.
for_torch_compile_dynamic = None


def for_numba(wrap: "Wrap") -> "Function":
    """Build the Numba candidate: one loop over the particles, with scalars."""
    import numpy as np

    def particles(position: "Any", velocity: "Any", ratio: "Any") -> "tuple[Any, ...]":
        number = position.dtype.type
        one, two, step = number(1), number(2), number(STEP)
        moved, turned = np.empty_like(position), np.empty_like(velocity)
        for i in range(ratio.size):
            x, y, z = position[i, 0], position[i, 1], position[i, 2]
            half = number(HALF) * ratio[i]
            px, py, pz = -half * x / two, -half * y / two, half * np.sin(two * z)
            tx, ty, tz = -half * x * z, -half * y * z, half * (one + z * z)
            scale = two / (one + tx * tx + ty * ty + tz * tz)

            ax, ay, az = velocity[i, 0] + px, velocity[i, 1] + py, velocity[i, 2] + pz
            bx = ax + ay * tz - az * ty
            by = ay + az * tx - ax * tz
            bz = az + ax * ty - ay * tx
            turned[i, 0] = ax + scale * (by * tz - bz * ty) + px
            turned[i, 1] = ay + scale * (bz * tx - bx * tz) + py
            turned[i, 2] = az + scale * (bx * ty - by * tx) + pz
            for k in range(3):
                moved[i, k] = position[i, k] + step * turned[i, k]
        return moved, turned

    return wrap(particles)
