"""Run with `python -m diffusion.cli --steps 300`."""

import argparse

import jax.numpy as jnp

from .training import Trainer


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=300)
    args = parser.parse_args()
    angle = jnp.linspace(0, 6.28, 128)
    x = jnp.stack([jnp.cos(angle), jnp.sin(angle)], axis=1)
    trainer = Trainer(seed=3, width=16)
    trainer.fit(x, args.steps)
    print("losses", len(trainer.losses), trainer.losses[-1] < trainer.losses[0])


if __name__ == "__main__":
    main()
