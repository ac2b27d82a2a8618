"""Simulate a few bodies: python -m orbits --turns 120."""

import argparse
import functools

import jax
import jax.numpy as jnp

from .forces import acceleration
from .leapfrog import leapfrog


def main():
    parser = argparse.ArgumentParser(prog="orbits")
    parser.add_argument("--turns", type=int, default=100)
    options = parser.parse_args()
    place = jax.random.normal(jax.random.key(0), (5, 2))
    mass = jnp.ones(5)
    run = jax.jit(leapfrog(functools.partial(acceleration, mass=mass), 0.01, options.turns))
    track = place[None]
    speed = jnp.zeros_like(place)
    for _ in range(12):
        place, speed = run(place, speed)
        track = jnp.vstack([track, place[None]])
    print(track.shape)


main()
