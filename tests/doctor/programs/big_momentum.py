"""Train a wide regression with momentum, all parameters in one dictionary."""

import jax
import jax.numpy as jnp
import optax

SIZE = 1500
optimizer = optax.sgd(0.01, momentum=0.9)


def loss_of(params, x):
    return jnp.mean((jnp.tanh(x @ params["a"]) @ params["b"]) ** 2)


def update(carry, x):
    params, state = carry
    loss, grads = jax.value_and_grad(loss_of)(params, x)
    change, state = optimizer.update(grads, state, params)
    return (optax.apply_updates(params, change), state), loss


step = jax.jit(update)


def main():
    key = jax.random.key(0)
    params = {
        name: jax.random.normal(k, (SIZE, SIZE)) * 0.02
        for name, k in zip("ab", jax.random.split(key), strict=True)
    }
    carry = (params, optimizer.init(params))
    x = jax.random.normal(jax.random.fold_in(key, 1), (16, SIZE))
    losses = []
    for _ in range(12):
        carry, loss = step(carry, x)
        losses.append(loss)
    print(f"{losses[-1] / losses[0]:.2f}")


main()
