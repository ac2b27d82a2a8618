"""The loss is read each hundred steps; printing inside goes through jax.debug."""

import equinox as eqx
import jax
import jax.numpy as jnp
import optax


class Model(eqx.Module):
    layers: list
    name: str = eqx.field(static=True)

    def __init__(self, key):
        inner, outer = jax.random.split(key)
        self.layers = [
            eqx.nn.Linear(4, 16, key=inner),
            eqx.nn.Linear(16, 1, key=outer),
        ]
        self.name = "small"

    def __call__(self, x):
        for layer in self.layers[:-1]:
            x = jax.nn.relu(layer(x))
        return self.layers[-1](x)


optimizer = optax.adam(1e-2)


@eqx.filter_jit
def step(model, state, x, y):
    def loss_of(model):
        return jnp.mean((jax.vmap(model)(x) - y) ** 2)

    loss, grads = eqx.filter_value_and_grad(loss_of)(model)
    jax.lax.cond(loss > 1e3, lambda: jax.debug.print("large: {x}", x=loss), lambda: None)
    updates, state = optimizer.update(grads, state)
    return eqx.apply_updates(model, updates), state, loss


def main():
    model = Model(jax.random.key(0))
    state = optimizer.init(eqx.filter(model, eqx.is_array))
    x = jax.random.normal(jax.random.key(9), (32, 4))
    y = x[:, :1]
    for turn in range(400):
        model, state, loss = step(model, state, x, y)
        if turn % 100 == 99:
            print(turn + 1, float(loss) < 10)


main()
