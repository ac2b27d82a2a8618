"""Colours of a field, each of which Python's own function makes out of its angle."""

import colorsys

import numpy as np
from numba import njit, objmode


@njit
def colour(angle, strength):
    with objmode(red="float64"):
        red = colorsys.hsv_to_rgb(angle, 0.8, strength)[0]
    return red


@njit
def picture(field):
    out = np.empty(field.shape)
    for i in range(field.shape[0]):
        for j in range(field.shape[1]):
            out[i, j] = colour(field[i, j] % 1.0, 0.5)
    return out


def main():
    field = np.add.outer(np.linspace(0, 3, 1500), np.linspace(0, 2, 1500))
    print(f"red {picture(field).mean():.3f}")


if __name__ == "__main__":
    main()
