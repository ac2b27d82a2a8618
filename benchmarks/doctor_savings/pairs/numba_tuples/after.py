"""Which degree of a polynomial describes a light curve best, by cross-validation."""

import numpy as np
from numba import njit


@njit
def score(times, flux, coefficients, scale):
    value = np.zeros(times.size)
    slope = np.zeros(times.size)
    for one in coefficients:
        slope = slope * times + value
        value = value * times + one
    residual = flux - scale * value
    middle = np.median(residual)
    spread = 1.4826 * np.median(np.abs(residual - middle))
    clipped = residual[np.abs(residual - middle) < 4.0 * spread]
    lag = np.sum(clipped[1:] * clipped[:-1]) / np.sum(clipped**2)
    ordered = np.sort(clipped)
    tail = ordered[-ordered.size // 20 :].mean() - ordered[: ordered.size // 20].mean()
    penalty = np.log(times.size) * len(coefficients)
    chi2 = np.sum((clipped / spread) ** 2) + penalty
    return np.array([chi2, lag, tail, np.std(slope), np.percentile(clipped, 90.0)])


rng = np.random.default_rng(11)
times = np.linspace(-1.0, 1.0, 4000)
flux = 1.0 + 0.3 * times - 0.8 * times**3 + 0.2 * times**5 + 0.05 * rng.normal(size=times.size)
for degree in range(1, 5):
    coefficients = np.polyfit(times, flux, degree)
    print(degree, np.round(score(times, flux, coefficients, 1.0), 6))
