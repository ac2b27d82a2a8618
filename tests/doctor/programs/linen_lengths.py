"""A text classifier of flax linen, whose loader pads each batch to its longest text."""

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training import train_state


class Classifier(nn.Module):
    words: int = 500

    @nn.compact
    def __call__(self, tokens):
        x = nn.Embed(self.words, 16)(tokens)
        x = nn.relu(nn.Dense(32)(x)).mean(axis=1)
        return nn.Dense(2)(x)


def batches(rng, number):
    """Yield batches as they come, each as long as its longest text."""
    for _ in range(number):
        lengths = rng.integers(4, 24, size=8)
        longest = int(lengths.max())
        tokens = np.zeros((8, longest), np.int32)
        for row, length in enumerate(lengths):
            tokens[row, :length] = rng.integers(1, 500, size=length)
        yield tokens, rng.integers(0, 2, size=8)


@jax.jit
def train_step(state, tokens, labels):
    def loss_of(params):
        logits = state.apply_fn({"params": params}, tokens)
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()

    loss, grads = jax.value_and_grad(loss_of)(state.params)
    return state.apply_gradients(grads=grads), loss


def run_epoch(step, state, loader):
    losses = []
    for batch in loader:
        state, loss = step(state, *batch)
        losses.append(loss)
    return state, jnp.stack(losses).mean()


model = Classifier()
params = model.init(jax.random.key(0), jnp.zeros((1, 4), jnp.int32))["params"]
state = train_state.TrainState.create(apply_fn=model.apply, params=params, tx=optax.adam(1e-2))
for epoch in range(2):
    state, mean = run_epoch(train_step, state, batches(np.random.default_rng(epoch), 20))
    print(f"epoch {epoch}: {mean:.2f}")
