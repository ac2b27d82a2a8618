"""A toy language model that writes one token after another."""

import jax
import jax.numpy as jnp


class Decoder:
    def __init__(self, vocabulary, width):
        grid = jnp.arange(float(vocabulary * width)).reshape(vocabulary, width)
        self.params = {"embed": jnp.sin(grid), "mix": jnp.cos(grid[:width, :width] * 0.3)}
        self.forward = jax.jit(self._forward)

    @staticmethod
    def _forward(params, tokens):
        x = params["embed"][tokens]
        attention = jax.nn.softmax(x @ x.T)
        x = jnp.tanh(attention @ x @ params["mix"])
        return x[-1] @ params["embed"].T

    def generate(self, prompt, length):
        tokens = jnp.array(prompt)
        while tokens.shape[0] < length:
            logits = self.forward(self.params, tokens)
            following = jnp.argmax(logits)[None]
            tokens = jnp.concatenate([tokens, following])
        return tokens


if __name__ == "__main__":
    tokens = Decoder(64, 16).generate([1, 2, 3], 15)
    print("wrote", tokens.shape[0], "tokens")
