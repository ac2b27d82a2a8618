"""The logging module reads clocks of its own, while arrays are being computed."""

import logging
import sys

import jax
import jax.numpy as jnp

log = logging.getLogger("run")


@jax.jit
def work(x):
    return jax.lax.fori_loop(0, 5, lambda _, y: jnp.tanh(y @ x), x)


def main():
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(asctime)s %(message)s")
    x = jnp.full((300, 300), 0.001)
    for turn in range(20):
        y = work(x)
        if turn % 5 == 0:
            log.info("turn %d is on its way", turn)
    print(y.block_until_ready().shape)


if __name__ == "__main__":
    main()
