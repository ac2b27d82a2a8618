"""Four steps of gravity among n bodies, every pair counted.

What it stands for: sums over all pairs, such as gravity, electrostatics, molecular dynamics
without a neighbour list, kernel matrices and pairwise distances. Little goes in, n² numbers
are made from it, and little comes out.

What is computed: four leapfrog steps (drift, kick, drift) of bodies with standard normal
positions and masses that add up to about 1. The acceleration of body i is the sum over all j
of ``m_j·d_ij / (d_ij·d_ij + ε²)^1.5``, where ``d_ij`` points from i to j; the softening ε = 0.05
keeps close pairs finite. Results are positions, velocities and the last step's accelerations.

What to look at: what becomes of the n×n arrays. NumPy and eager frameworks write each of them to
memory and read it again; a compiler can keep a pair in registers. The Numba candidate is the
double loop that a textbook gives, on one thread, without any such array. Cold, the step is small,
and it is compiled once although it runs four times: JAX has ``lax.fori_loop``, PyTorch compiles
the step and loops in Python.

The array candidates are written component by component. One 3×n×n array of differences would be
shorter, but XLA on a CPU does not fuse the sum over its components: for 1024 bodies such a step
took thirty times as long.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from coldwarm.workloads import Array, Function, Generator, Wrap

NAME = "nbody"
SIZES = (256, 1024)
SIZE_MEANING = "n bodies in three dimensions"
DTYPES = ("f32", "f64")
LAYOUT = "C-contiguous (row-major) 3×n positions and velocities, and n masses"
BASELINE = "numpy"
STEPS = 4
TIME_STEP = 0.05
SOFTENING_SQUARED = 0.05**2

# Largest error of NumPy, JAX, PyTorch (eager and compiled) and Numba at all sizes, five seeds:
# 5.8e-6 in f32, 3.1e-15 in f64, nearly all of it from the closest pairs, whose difference of
# positions has few digits left. Seven to eight times as much leaves room for fused multiply-adds
# and reciprocal square roots, and still refuses a lower precision such as TF32 (about 1e-3).
TOLERANCE = {"f32": 4e-5, "f64": 2.5e-14}


def inputs(rng: "Generator", size: int, dtype: str) -> "list[Array]":
    """Return positions, velocities and masses, the same for every dtype up to rounding."""
    positions = rng.standard_normal((3, size))
    velocities = 0.3 * rng.standard_normal((3, size))
    masses = rng.uniform(0.5, 1.5, size) / size
    return [array.astype(dtype) for array in (positions, velocities, masses)]


def reference(*arrays: "Array") -> "list[Array]":
    """Return positions, velocities and accelerations of float64 inputs.

    One body at a time, so that neither the arrays nor the order of summation are those of a
    candidate.
    """
    import numpy as np

    positions, velocities, masses = (array.T.copy() for array in arrays)
    accelerations = np.zeros_like(positions)
    for _ in range(STEPS):
        positions += velocities * (TIME_STEP / 2)
        for i, position in enumerate(positions):
            towards = positions - position
            distance = np.sqrt(np.sum(towards**2, axis=1) + SOFTENING_SQUARED)
            accelerations[i] = (masses / distance**3) @ towards
        velocities += accelerations * TIME_STEP
        positions += velocities * (TIME_STEP / 2)
    return [positions.T, velocities.T, accelerations.T]


def _step(np: "Any") -> "Function":
    """Return one step, in the framework whose module is ``np``."""

    def step(positions: "Any", velocities: "Any", masses: "Any") -> "tuple[Any, ...]":
        positions = positions + velocities * (TIME_STEP / 2)
        dx, dy, dz = (component - component[:, None] for component in positions)
        squared = dx * dx + dy * dy + dz * dz + SOFTENING_SQUARED
        weights = masses / (squared * np.sqrt(squared))
        accelerations = np.stack([(d * weights).sum(1) for d in (dx, dy, dz)])
        velocities = velocities + accelerations * TIME_STEP
        return positions + velocities * (TIME_STEP / 2), velocities, accelerations

    return step


def _loop(step: "Function") -> "Function":
    def nbody(positions: "Any", velocities: "Any", masses: "Any") -> "tuple[Any, ...]":
        accelerations = None
        for _ in range(STEPS):
            positions, velocities, accelerations = step(positions, velocities, masses)
        return positions, velocities, accelerations

    return nbody


def for_numpy(wrap: "Wrap") -> "Function":
    """Build the NumPy candidate: broadcasting to n×n differences of each component."""
    import numpy as np

    return wrap(_loop(_step(np)))


def for_jax(wrap: "Wrap") -> "Function":
    """Build the JAX candidate: the same broadcasting, and ``lax.fori_loop`` for the steps."""
    import jax
    import jax.numpy as jnp

    step = _step(jnp)

    def nbody(positions: "Any", velocities: "Any", masses: "Any") -> "Any":
        start = (positions, velocities, jnp.zeros_like(positions))
        return jax.lax.fori_loop(0, STEPS, lambda _, state: step(*state[:2], masses), start)

    return wrap(nbody)


def for_jax_eager(wrap: "Wrap") -> "Function":
    """Build the candidate for JAX without ``jax.jit``, where the loop is Python's.

    ``lax.fori_loop`` outside ``jit`` compiles its body, and would not be eager.
    """
    import jax.numpy as jnp

    return wrap(_loop(_step(jnp)))


def for_torch(wrap: "Wrap") -> "Function":
    """Build the PyTorch candidate: one step compiled, called in a loop."""
    import torch

    return _loop(wrap(_step(torch)))


def for_numba(wrap: "Wrap") -> "Function":
    """Build the Numba candidate: the double loop over bodies."""
    import numpy as np

    def nbody(positions: "Any", velocities: "Any", masses: "Any") -> "tuple[Any, ...]":
        number = positions.dtype.type
        whole, half, softening = number(TIME_STEP), number(TIME_STEP / 2), number(SOFTENING_SQUARED)
        positions, velocities = positions.copy(), velocities.copy()
        accelerations = np.zeros_like(positions)
        for _ in range(STEPS):
            positions += velocities * half
            x, y, z = positions
            for i in range(masses.size):
                ax = ay = az = number(0)
                for j in range(masses.size):
                    dx, dy, dz = x[j] - x[i], y[j] - y[i], z[j] - z[i]
                    squared = dx * dx + dy * dy + dz * dz + softening
                    weight = masses[j] / (squared * np.sqrt(squared))
                    ax += weight * dx
                    ay += weight * dy
                    az += weight * dz
                accelerations[0, i], accelerations[1, i], accelerations[2, i] = ax, ay, az
            velocities += accelerations * whole
            positions += velocities * half
        return positions, velocities, accelerations

    return wrap(nbody)
