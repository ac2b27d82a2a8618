"""Clusters of sites in a random field that are above a threshold."""

import numpy as np
from numba import njit

rng = np.random.default_rng(7)
fields = rng.random((4, 200, 200))
for threshold in (0.35, 0.4, 0.45, 0.5, 0.55):

    @njit
    def clusters(field):
        mask = field > threshold
        rows, columns = mask.shape
        labels = np.arange(rows * columns)
        for i in range(rows):
            for j in range(columns):
                if not mask[i, j]:
                    continue
                for di, dj in ((0, 1), (1, 0)):
                    k, m = i + di, j + dj
                    if k < rows and m < columns and mask[k, m]:
                        a, b = i * columns + j, k * columns + m
                        while labels[a] != a:
                            a = labels[a]
                        while labels[b] != b:
                            b = labels[b]
                        labels[max(a, b)] = min(a, b)
        sizes = np.zeros(rows * columns)
        for i in range(rows):
            for j in range(columns):
                a = i * columns + j
                while labels[a] != a:
                    a = labels[a]
                sizes[a] += mask[i, j]
        found = np.sort(sizes[sizes > 0])
        weights = found / found.sum()
        return np.array([found.size, found.max(), np.sum(weights * found), np.median(found)])

    print(threshold, np.round(sum(clusters(field) for field in fields), 4))
