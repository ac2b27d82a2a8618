"""A function that imports what it needs in its first call."""

import numpy as np

X = np.linspace(0.1, 9.0, 3_000)


def smoothed() -> float:
    """Return the integral of a spline through some values of a Bessel function."""
    from scipy import interpolate, special

    spline = interpolate.CubicSpline(X, special.jv(1.5, X))
    return float(spline.integrate(0.2, 8.0))
