"""An equinox model trained with a learning rate that decays, given as a number of Python."""

import equinox as eqx
import jax
import jax.numpy as jnp


@eqx.filter_jit
def make_step(model, x, y, rate):
    @eqx.filter_value_and_grad
    def loss_of(model):
        return jnp.mean((jax.vmap(model)(x) - y) ** 2)

    loss, grads = loss_of(model)
    updates = jax.tree.map(lambda g: -rate * g, grads)
    return eqx.apply_updates(model, updates), loss


def train(model, x, y, *, turns, stepper=make_step):
    turn = 0
    loss = jnp.inf
    while turn < turns:
        model, loss = stepper(model, x, y, 0.1 * 0.9**turn)
        turn += 1
    return model, loss


def main():
    keys = jax.random.split(jax.random.key(3), 2)
    model = eqx.nn.MLP(2, 1, 16, 2, key=keys[0])
    x = jax.random.normal(keys[1], (128, 2))
    y = x[:, :1] * x[:, 1:]
    model, loss = train(model, x, y, turns=8)
    print(f"{loss:.3f}")


if __name__ == "__main__":
    main()
