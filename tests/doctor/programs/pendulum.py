"""A chain of pendulums, integrated with the leapfrog scheme."""

import jax.numpy as jnp


class Chain:
    def __init__(self, n, dt):
        self.angle = jnp.linspace(0.1, 1.0, n)
        self.speed = jnp.zeros(n)
        self.dt = dt

    def force(self, angle):
        pull = jnp.roll(angle, 1) + jnp.roll(angle, -1) - 2 * angle
        return 0.5 * pull - jnp.sin(angle)

    def step(self):
        half = self.speed + 0.5 * self.dt * self.force(self.angle)
        self.angle = self.angle + self.dt * half
        self.speed = half + 0.5 * self.dt * self.force(self.angle)

    def energy(self):
        return 0.5 * jnp.sum(self.speed**2) + jnp.sum(1 - jnp.cos(self.angle))


def main():
    chain = Chain(200, 0.01)
    for _ in range(400):
        chain.step()
    print(f"energy {chain.energy():.2f}")


if __name__ == "__main__":
    main()
