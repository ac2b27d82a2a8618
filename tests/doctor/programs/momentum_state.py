"""Momentum on a large vector of parameters."""

import jax
import jax.numpy as jnp


class State(dict):
    pass


jax.tree_util.register_pytree_node(
    State,
    lambda state: (tuple(state.values()), tuple(state)),
    lambda names, values: State(zip(names, values, strict=True)),
)


@jax.jit
def update(state, target):
    gradient = state["w"] - target
    momentum = 0.9 * state["m"] + gradient
    return State(w=state["w"] - 0.05 * momentum, m=momentum)


def main(size=8_000_000):
    target = jnp.linspace(0.0, 1.0, size)
    state = State(w=jnp.zeros(size), m=jnp.zeros(size))
    for _ in range(30):
        state = update(state, target)
    print(f"distance {jnp.abs(state['w'] - target).max():.2f}")


if __name__ == "__main__":
    main()
