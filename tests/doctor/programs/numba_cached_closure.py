"""An integrator for any right-hand side; compiled functions are kept on disk."""

import numba
import numpy as np


@numba.njit(cache=True)
def decay(t, y):
    return -0.5 * y


def make_integrator(rhs):
    @numba.njit(cache=True)
    def integrate(y, dt, n):
        t = 0.0
        for _ in range(n):
            y = y + dt * rhs(t, y)
            t += dt
        return y

    return integrate


if __name__ == "__main__":
    integrate = make_integrator(decay)
    print(f"{integrate(1.0, 0.01, 100):.3f}", np.__name__)
