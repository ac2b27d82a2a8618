"""Integrate the Lorenz system by Runge and Kutta, as an object that is called."""

import dataclasses

import jax.numpy as jnp


@dataclasses.dataclass(frozen=True)
class Lorenz:
    sigma: float = 10.0
    rho: float = 28.0
    beta: float = 8 / 3

    def __call__(self, state):
        x, y, z = state
        return jnp.array([self.sigma * (y - x), x * (self.rho - z) - y, x * y - self.beta * z])


class RungeKutta:
    def __init__(self, field, dt):
        self.field, self.dt = field, dt

    def __call__(self, state):
        f, h = self.field, self.dt
        k1 = f(state)
        k2 = f(state + h / 2 * k1)
        k3 = f(state + h / 2 * k2)
        k4 = f(state + h * k3)
        return state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def main():
    solver = RungeKutta(Lorenz(), 0.01)
    state = jnp.ones(3)
    turn = 0
    while turn < 200:
        state = solver(state)
        turn += 1
    print(state.shape)


if __name__ == "__main__":
    main()
