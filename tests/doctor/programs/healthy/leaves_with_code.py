"""A command that ends with a code of its own, after healthy work."""

import sys

import jax
import jax.numpy as jnp


@jax.jit
def residual(x):
    return jnp.abs(x @ x.T - jnp.eye(x.shape[0])).max()


def main():
    value = residual(jnp.eye(8) * 1.01)
    print("checked", file=sys.stderr)
    if value > 1e-3:
        print("not orthogonal")
        return 4
    return 0


if __name__ == "__main__":
    sys.exit(main())
