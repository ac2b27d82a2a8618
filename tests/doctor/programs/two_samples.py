"""The distance of two samples: what it becomes with more of the one, then with more of the other."""

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def discrepancy(left, right):
    def mean(a, b):
        apart = jnp.square(a[:, None, :] - b[None, :, :]).sum(-1)
        return jnp.exp(-apart / 2).mean()

    return mean(left, left) + mean(right, right) - 2 * mean(left, right)


def compare(left, right):
    return float(discrepancy(left, right))


def main():
    rng = np.random.default_rng(3)
    points = rng.normal(size=(64, 2)).astype(np.float32)
    others = rng.normal(0.5, size=(64, 2)).astype(np.float32)
    curve = [compare(points[:n], others[:20]) for n in range(12, 22, 2)]
    curve += [compare(points[:20], others[:n]) for n in range(22, 30, 2)]
    print(" ".join(f"{value:.2f}" for value in curve))


if __name__ == "__main__":
    main()
