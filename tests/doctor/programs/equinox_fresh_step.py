"""An equinox model, trained with optax; the step is made where it is used."""

import equinox as eqx
import jax
import jax.numpy as jnp
import optax


def make_step(optimizer):
    @eqx.filter_jit
    def step(model, state, x, y):
        def loss(model):
            return jnp.mean((jax.vmap(model)(x) - y) ** 2)

        value, grads = eqx.filter_value_and_grad(loss)(model)
        updates, state = optimizer.update(grads, state)
        return eqx.apply_updates(model, updates), state, value

    return step


def main():
    x = jnp.sin(jnp.arange(64.0 * 3).reshape(64, 3))
    y = x.sum(axis=1, keepdims=True)
    model = eqx.nn.MLP(3, 1, 8, 1, key=jax.random.key(0))
    optimizer = optax.sgd(0.05)
    state = optimizer.init(eqx.filter(model, eqx.is_array))
    for _ in range(6):
        step = make_step(optimizer)
        model, state, value = step(model, state, x, y)
    print(f"improved {value < 2.0}")


if __name__ == "__main__":
    main()
