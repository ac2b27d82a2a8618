"""Two hundred Runge-Kutta steps of a nonlinear system.

What it stands for: simulation. A small right-hand side is evaluated again and again, each
evaluation waits for the one before, and the user writes both the equations and the loop.

What is computed: a ring of n FitzHugh-Nagumo cells, a model of nerve or heart tissue. Each cell
has a voltage ``u`` and a recovery ``w``, is driven by a current of its own and touches its two
neighbours: ``u' = u - u³/3 - w + current + (left - 2u + right)``, ``w' = 0.08·(u + 0.7 - 0.8w)``.
The classical method of order four advances it by 200 steps of 0.05. The answer is both at the
end.

What to look at: 800 evaluations of some fifteen cheap operations. Eagerly each operation is a
call from Python, so that the smaller size measures the price of a call and little else. JAX
compiles the loop with the step inside (``lax.fori_loop``) and Numba does the same with plain
loops. In PyTorch the *step* is compiled and the loop stays in Python, as two hundred steps
unrolled would be a program of some fifteen thousand operations: 200 calls of a compiled function
are part of its warm figure.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    import numpy as np

    Function = Callable[..., Any]
    Wrap = Callable[[Function], Function]

NAME = "ode_rk4"
SIZES = (1_000, 20_000)
SIZE_MEANING = "n cells with two unknowns each; 200 steps"
DTYPES = ("f32", "f64")
LAYOUT = "three contiguous arrays of n cells: voltage, recovery, current"
BASELINE = "numpy"
STEPS = 200
STEP = 0.05
RATE = 0.08
OFFSET = 0.7
DECAY = 0.8

# Largest error of NumPy, JAX, PyTorch (eager and compiled) and Numba at all sizes, five seeds:
# 1.5e-5 in f32, 1.1e-14 in f64, reached where a cell is about to fire and small errors grow. Seven
# times as much leaves room for fused multiply-adds, and still refuses half precision (above 1e-2).
TOLERANCE = {"f32": 1e-4, "f64": 8e-14}


def inputs(rng: "np.random.Generator", size: int, dtype: str) -> "list[np.ndarray[Any, Any]]":
    """Return voltages, recoveries and currents: some cells fire and others rest."""
    arrays = (
        rng.standard_normal(size),
        rng.standard_normal(size) * 0.5,
        rng.uniform(0, 1, size),
    )
    return [array.astype(dtype) for array in arrays]


def reference(*arrays: "np.ndarray[Any, Any]") -> "list[np.ndarray[Any, Any]]":
    """Return the end of float64 inputs, from the method's tableau and one vector of unknowns."""
    import numpy as np

    voltage, recovery, current = arrays
    cells = np.arange(voltage.size)
    left, right = cells - 1, (cells + 1) % voltage.size
    state = np.stack((voltage, recovery))
    tableau = ((0, 1 / 6), (1 / 2, 1 / 3), (1 / 2, 1 / 3), (1, 1 / 6))
    for _ in range(STEPS):
        slope, total = np.zeros_like(state), np.zeros_like(state)
        for reach, weight in tableau:
            u, w = state + STEP * reach * slope
            touch = u.take(left) + u.take(right) - 2 * u
            slope = np.stack((u - u**3 / 3 - w + current + touch, RATE * (u + OFFSET - DECAY * w)))
            total += weight * slope
        state = state + STEP * total
    return [state[0], state[1]]


def for_numpy(wrap: "Wrap") -> "Function":
    """Build the NumPy candidate: whole arrays, a Python loop."""
    import numpy as np

    def slopes(u: "Any", w: "Any", current: "Any") -> "tuple[Any, Any]":
        touch = np.roll(u, 1) - 2 * u + np.roll(u, -1)
        return u - u * u * u / 3 - w + current + touch, RATE * (u + OFFSET - DECAY * w)

    return wrap(_loop(_step(slopes)))


def for_jax(wrap: "Wrap") -> "Function":
    """Build the compiled JAX candidate: one loop body for the compiler."""
    import jax

    step = _step(_slopes_in_jax())

    def ode_rk4(u: "Any", w: "Any", current: "Any") -> "Any":
        return jax.lax.fori_loop(0, STEPS, lambda _, state: step(*state, current), (u, w))

    return wrap(ode_rk4)


def for_jax_eager(wrap: "Wrap") -> "Function":
    """Build the eager JAX candidate: a Python loop.

    ``lax.fori_loop`` outside ``jit`` compiles its body, and would not be eager.
    """
    return wrap(_loop(_step(_slopes_in_jax())))


def _slopes_in_jax() -> "Function":
    """Return the right-hand side in JAX."""
    import jax.numpy as jnp

    def slopes(u: "Any", w: "Any", current: "Any") -> "tuple[Any, Any]":
        touch = jnp.roll(u, 1) - 2 * u + jnp.roll(u, -1)
        return u - u * u * u / 3 - w + current + touch, RATE * (u + OFFSET - DECAY * w)

    return slopes


def for_torch(wrap: "Wrap") -> "Function":
    """Build the PyTorch candidate: the step compiled, the loop in Python."""
    import torch

    def slopes(u: "Any", w: "Any", current: "Any") -> "tuple[Any, Any]":
        touch = torch.roll(u, 1) - 2 * u + torch.roll(u, -1)
        return u - u * u * u / 3 - w + current + touch, RATE * (u + OFFSET - DECAY * w)

    return _loop(wrap(_step(slopes)))


# As one program the loop would be unrolled: 17,600 operations, which take minutes to export alone.
for_torch_aot = None


def _step(slopes: "Function") -> "Function":
    """Return one step of the classical method, in plain arithmetic that all arrays share."""

    def step(u: "Any", w: "Any", current: "Any") -> "tuple[Any, Any]":
        du1, dw1 = slopes(u, w, current)
        du2, dw2 = slopes(u + STEP / 2 * du1, w + STEP / 2 * dw1, current)
        du3, dw3 = slopes(u + STEP / 2 * du2, w + STEP / 2 * dw2, current)
        du4, dw4 = slopes(u + STEP * du3, w + STEP * dw3, current)
        u = u + STEP / 6 * (du1 + 2 * (du2 + du3) + du4)
        w = w + STEP / 6 * (dw1 + 2 * (dw2 + dw3) + dw4)
        return u, w

    return step


def _loop(step: "Function") -> "Function":
    """Return a Python loop over a step."""

    def ode_rk4(u: "Any", w: "Any", current: "Any") -> "tuple[Any, Any]":
        for _ in range(STEPS):
            u, w = step(u, w, current)
        return u, w

    return ode_rk4


def for_numba(wrap: "Wrap") -> "Function":
    """Build the Numba candidate: loops over the cells, and work arrays made once a call.

    The constants are of the arrays' own type: a Python number would make the arithmetic
    float64 for float32 arrays.
    """
    import numpy as np

    def ode_rk4(voltage: "Any", recovery: "Any", current: "Any") -> "tuple[Any, Any]":
        number = voltage.dtype.type
        two, third, sixth = number(2), number(1 / 3), number(STEP / 6)
        rate, offset, decay = number(RATE), number(OFFSET), number(DECAY)
        # How far the next stage reaches along this stage's slope, and how often that slope counts.
        reaches = np.array((STEP / 2, STEP / 2, STEP, 0), voltage.dtype)
        weights = np.array((1, 2, 2, 1), voltage.dtype)
        u, w = voltage.copy(), recovery.copy()
        at_u, at_w = np.empty_like(u), np.empty_like(w)
        next_u, next_w = np.empty_like(u), np.empty_like(w)
        sum_u, sum_w = np.empty_like(u), np.empty_like(w)
        cells = u.size
        for _ in range(STEPS):
            for i in range(cells):
                at_u[i], at_w[i] = u[i], w[i]
                sum_u[i] = sum_w[i] = number(0)
            for stage in range(4):
                reach, weight = reaches[stage], weights[stage]
                for i in range(cells):
                    here = at_u[i]
                    touch = at_u[i - 1] - two * here + at_u[i + 1 if i + 1 < cells else 0]
                    du = here - here * here * here * third - at_w[i] + current[i] + touch
                    dw = rate * (here + offset - decay * at_w[i])
                    sum_u[i] += weight * du
                    sum_w[i] += weight * dw
                    next_u[i] = u[i] + reach * du
                    next_w[i] = w[i] + reach * dw
                at_u, next_u = next_u, at_u
                at_w, next_w = next_w, at_w
            for i in range(cells):
                u[i] += sixth * sum_u[i]
                w[i] += sixth * sum_w[i]
        return u, w

    return wrap(ode_rk4)
