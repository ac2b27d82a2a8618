"""Trajectories of several oscillators by an adaptive Runge-Kutta method."""

import numpy as np
from numba import njit


@njit
def harmonic(t, y):
    return np.array([y[1], -y[0]])


@njit
def damped(t, y):
    return np.array([y[1], -y[0] - 0.2 * y[1]])


@njit
def pendulum(t, y):
    return np.array([y[1], -np.sin(y[0])])


@njit
def van_der_pol(t, y):
    return np.array([y[1], 1.5 * (1.0 - y[0] ** 2) * y[1] - y[0]])


@njit
def duffing(t, y):
    return np.array([y[1], 0.3 * np.cos(1.2 * t) - 0.1 * y[1] + y[0] - y[0] ** 3])


@njit
def adaptive(rhs, y, end, tolerance):
    t, h, n = 0.0, 0.01, 0
    while t < end and n < 200_000:
        h = min(h, end - t)
        k1 = rhs(t, y)
        k2 = rhs(t + h / 4, y + h * k1 / 4)
        k3 = rhs(t + 3 * h / 8, y + h * (3 * k1 + 9 * k2) / 32)
        k4 = rhs(t + 12 * h / 13, y + h * (1932 * k1 - 7200 * k2 + 7296 * k3) / 2197)
        k5 = rhs(t + h, y + h * (439 / 216 * k1 - 8 * k2 + 3680 / 513 * k3 - 845 / 4104 * k4))
        k6 = rhs(
            t + h / 2,
            y + h * (-8 / 27 * k1 + 2 * k2 - 3544 / 2565 * k3 + 1859 / 4104 * k4 - 11 / 40 * k5),
        )
        error = h * (k1 / 360 - 128 / 4275 * k3 - 2197 / 75240 * k4 + k5 / 50 + 2 / 55 * k6)
        size = np.sqrt(np.sum(error**2))
        if size <= tolerance:
            t += h
            y = y + h * (25 / 216 * k1 + 1408 / 2565 * k3 + 2197 / 4104 * k4 - k5 / 5)
        h *= min(4.0, max(0.1, 0.84 * (tolerance / (size + 1e-30)) ** 0.25))
        n += 1
    return y


start = np.array([1.0, 0.5])
for rhs in (harmonic, damped, pendulum, van_der_pol, duffing):
    print(rhs.__name__, np.round(adaptive(rhs, start, 50.0, 1e-8), 6))
