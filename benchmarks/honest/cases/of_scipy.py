"""SciPy: results are objects with fields, sparse arrays, interpolators, distributions."""

import numpy as np
from scipy import fft, integrate, interpolate, linalg, optimize, signal, sparse, spatial, stats

RNG = np.random.default_rng(0)
X = RNG.normal(size=300)
POINTS = RNG.normal(size=(100, 2))


def minimised():
    return optimize.minimize(optimize.rosen, np.zeros(4))


def fitted():
    return optimize.curve_fit(
        lambda t, a, b: a * np.exp(-b * t), np.arange(20.0), np.exp(-np.arange(20.0) / 4)
    )


def ode():
    return integrate.solve_ivp(lambda _, y: -0.5 * y, (0, 10), [2.0, 4.0, 8.0])


def quadrature():
    return integrate.quad(np.sin, 0, 3)


def spline():
    return interpolate.CubicSpline(np.arange(20.0), np.sin(np.arange(20.0)))(np.linspace(0, 19, 50))


def sparse_product():
    a = sparse.random(200, 200, 0.05, rng=np.random.default_rng(1), format="csr")
    return a @ a


def lu():
    return linalg.lu(RNG.normal(size=(1, 1)) * 0 + np.eye(20) * 2 + 0.1)


def cosine_transform():
    return fft.dct(X)


def filtered():
    return signal.sosfiltfilt(signal.butter(4, 0.2, output="sos"), X)


def test_of_means():
    return stats.ttest_ind(X[:150], X[150:])


def neighbours():
    return spatial.cKDTree(POINTS).query(POINTS, k=3)
