"""Texture of the slices of a tomogram, along each of its axes."""

import numpy as np
from numba import njit


@njit
def texture(image, weights):
    ny, nx = image.shape
    smooth = np.zeros((ny, nx))
    for i in range(1, ny - 1):
        for j in range(1, nx - 1):
            for k in range(3):
                for m in range(3):
                    smooth[i, j] += weights[k, m] * image[i + k - 1, j + m - 1]
    rough = image - smooth
    energy = np.sqrt(np.mean(rough**2))
    ordered = np.sort(rough.ravel())
    low, high = ordered[ny * nx // 10], ordered[9 * ny * nx // 10]
    counts = np.zeros((8, 8))
    for i in range(ny - 1):
        for j in range(nx - 1):
            a = int(7.999 * min(max((rough[i, j] - low) / (high - low), 0.0), 1.0))
            b = int(7.999 * min(max((rough[i + 1, j + 1] - low) / (high - low), 0.0), 1.0))
            counts[a, b] += 1.0
    counts /= counts.sum()
    contrast = 0.0
    entropy = 0.0
    for a in range(8):
        for b in range(8):
            contrast += (a - b) ** 2 * counts[a, b]
            if counts[a, b] > 0.0:
                entropy -= counts[a, b] * np.log(counts[a, b])
    return np.array([energy, contrast, entropy, np.median(rough), np.std(smooth)])


rng = np.random.default_rng(3)
volume = rng.normal(size=(96, 96, 96)).cumsum(axis=0).cumsum(axis=2)
gauss = np.outer([0.25, 0.5, 0.25], [0.25, 0.5, 0.25])
found = np.zeros(5)
for at in range(0, 96, 8):
    slices = [volume[at], volume[:, at], volume[:, :, at], volume[at].T, volume[at, ::2, ::2]]
    for image, weights in zip(slices, [gauss, gauss.T, gauss, gauss.T, gauss.T], strict=True):
        found += texture(image, weights)
print(np.round(found, 6))
