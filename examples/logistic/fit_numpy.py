"""Logistic regression by Newton's method, in NumPy: ten steps from zero."""

import numpy as np


def fit(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the weights for features ``x`` (n, k) and labels ``y`` (n,) of 0 and 1."""
    w = np.zeros(x.shape[1], x.dtype)
    ridge = np.eye(x.shape[1], dtype=x.dtype)
    for _ in range(10):
        p = 1 / (1 + np.exp(-x @ w))
        gradient = x.T @ (p - y) + w
        hessian = (x.T * (p * (1 - p))) @ x + ridge
        w = w - np.linalg.solve(hessian, gradient)
    return w
