"""The loss of an MLP and its gradients, in one program and operation by operation."""


def jitted():
    """Take the loss and its gradients in one program."""
    import jax

    return jax.jit(jax.value_and_grad(_loss)), _start()


def eager():
    """Take the loss and its gradients operation by operation."""
    import jax

    return jax.value_and_grad(_loss), _start()


def _loss(weights, x, y):
    import jax.numpy as jnp

    return jnp.mean((jnp.tanh(x @ weights[0]) @ weights[1] - y) ** 2)


def _start():
    import jax.numpy as jnp

    w = jnp.linspace(-0.1, 0.1, 64 * 128).reshape(64, 128)
    x = jnp.linspace(-1.0, 1.0, 256 * 64).reshape(256, 64)
    return (w, w[0].reshape(128, 1)), x, x[:, :1]
