"""A running mean over batches that starts from zero."""

import jax
import jax.numpy as jnp


@jax.jit
def accumulate(total, count, batch):
    def body(i, total):
        return total + jnp.sin(batch[i]).sum()

    return jax.lax.fori_loop(0, batch.shape[0], body, total), count + batch.shape[0]


def main():
    total, count = 0.0, 0
    for turn in range(20):
        batch = jnp.arange(turn, turn + 32.0)
        total, count = accumulate(total, count, batch)
    print(f"mean {total / count:.3f}")


if __name__ == "__main__":
    main()
