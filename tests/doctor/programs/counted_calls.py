"""An optimiser that counts how often it evaluates its objective."""

import jax
import jax.numpy as jnp


class Objective:
    def __init__(self):
        self.evaluations = 0
        self.value_and_grad = jax.jit(jax.value_and_grad(self.evaluate))

    def evaluate(self, x):
        self.evaluations += 1
        return jnp.sum((x - 1.0) ** 4)


def main():
    objective = Objective()
    x = jnp.zeros(8)
    for _ in range(100):
        value, gradient = objective.value_and_grad(x)
        x = x - 0.05 * gradient
    print(f"value {value:.4f} after {objective.evaluations} evaluations")


if __name__ == "__main__":
    main()
