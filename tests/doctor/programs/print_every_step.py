"""Newton's iteration that prints each residual."""

import jax
import jax.numpy as jnp


class Newton:
    def __init__(self, function):
        self.step = jax.jit(lambda x: (x - function(x) / jax.grad(function)(x), function(x)))

    def run(self, x, n):
        for turn in range(n):
            x, residual = self.step(x)
            print(f"{turn:3d} {abs(residual):.3f}")
        return x


if __name__ == "__main__":
    root = Newton(lambda x: x**3 - 2 * x - 5).run(jnp.float32(50.0), 200)
    print(f"root {root:.3f}")
