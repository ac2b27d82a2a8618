"""An equinox model with a temperature that is a plain number."""

import equinox as eqx
import jax
import jax.numpy as jnp


class Head(eqx.Module):
    weight: jax.Array
    temperature: float

    def __call__(self, x):
        return jax.nn.softmax(self.weight @ x / self.temperature)


@eqx.filter_jit
def entropy(model, xs):
    p = jax.vmap(model)(xs)
    return -jnp.sum(p * jnp.log(p + 1e-9), axis=1).mean()


def main():
    xs = jnp.sin(jnp.arange(32.0 * 4).reshape(32, 4))
    model = Head(jnp.cos(jnp.arange(20.0).reshape(5, 4)), 2.0)
    for _ in range(12):
        value = entropy(model, xs)
        cooler = model.temperature * 0.95
        model = eqx.tree_at(lambda m: m.temperature, model, cooler)
    print(f"entropy {value:.2f}")


if __name__ == "__main__":
    main()
