"""A recurrent network as a class."""

from functools import partial

import jax
import jax.numpy as jnp


class Recurrent:
    def __init__(self, n_inputs, n_hidden):
        self.n_hidden = n_hidden
        self.params = {
            "in": jnp.sin(jnp.arange(float(n_inputs * n_hidden))).reshape(n_inputs, n_hidden),
            "rec": jnp.cos(jnp.arange(float(n_hidden**2))).reshape(n_hidden, n_hidden) * 0.1,
        }

    @partial(jax.jit, static_argnums=0)
    def run(self, params, inputs):
        hidden = jnp.zeros(self.n_hidden)
        outputs = []
        for t in range(inputs.shape[0]):
            hidden = jnp.tanh(inputs[t] @ params["in"] + hidden @ params["rec"])
            outputs.append(hidden)
        return jnp.stack(outputs)


def main():
    net = Recurrent(3, 16)
    inputs = jnp.sin(jnp.arange(60.0 * 3).reshape(60, 3))
    outputs = net.run(net.params, inputs)
    print(outputs.shape, f"{jnp.abs(outputs).mean():.2f}")


if __name__ == "__main__":
    main()
