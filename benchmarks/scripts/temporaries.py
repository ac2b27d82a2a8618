"""A function whose cost is that of its temporary arrays, in a program that has loaded more."""

import asyncio  # noqa: F401 - a program of some size: what it loads decides where its heap ends

import numpy as np

X = np.random.default_rng(0).standard_normal(40_000)


def misfit() -> float:
    """Return a sum over five temporary arrays."""
    return float(((X * 2.0 + 1.0) - (X - 3.0) * X).sum())
