"""The gradient of a stack of transformer blocks, with each block under `jax.checkpoint` or none."""


class Stack:
    """As many blocks as wanted, in a scan or one after the other (64 wide, 4 heads, 128 tokens)."""

    def __init__(self, layers, *, scanned):
        """Remember how many blocks, and how they are run."""
        self.layers, self.scanned = layers, scanned

    def plain(self):
        """Take the gradient with everything kept."""
        return self._gradient(checkpointed=False), self._start()

    def checkpointed(self):
        """Take the gradient with each block computed again."""
        return self._gradient(checkpointed=True), self._start()

    def savings(self):
        """Compare the temporary memory of both gradients."""
        without, with_it = (one.memory_analysis().temp_size_in_bytes for one in self._compiled())
        return {"without_bytes": without, "with_bytes": with_it, "saved": 1 - with_it / without}

    def operations(self):
        """Count the operations of both gradients."""
        without, with_it = (one.cost_analysis()["flops"] for one in self._compiled())
        return {"without": without, "with": with_it, "ratio": with_it / without}

    def _compiled(self):
        """Return the compiled gradients: without checkpointing, and with it."""
        made = [self._gradient(checkpointed=which) for which in (False, True)]
        return [gradient.lower(*self._start()).compile() for gradient in made]

    def _gradient(self, *, checkpointed):
        import jax
        import jax.numpy as jnp

        used = jax.checkpoint(_block) if checkpointed else _block

        def loss(weights, x):
            if self.scanned:
                x, _ = jax.lax.scan(lambda x, one: (used(x, one), None), x, weights)
            else:
                for n in range(self.layers):
                    x = used(x, jax.tree.map(lambda w, n=n: w[n], weights))
            return jnp.mean(x**2)

        return jax.jit(jax.grad(loss))

    def _start(self):
        import jax.numpy as jnp

        layers, batch, tokens = self.layers, 4, 128
        shapes = {"qkv": (64, 192), "out": (64, 64), "up": (64, 256), "down": (256, 64)}
        weights = {
            name: jnp.sin(jnp.arange(float(layers * s[0] * s[1]))).reshape(layers, *s) / 20
            for name, s in shapes.items()
        }
        return weights, jnp.cos(jnp.arange(float(batch * tokens * 64))).reshape(batch, tokens, 64)


def _block(x, weights):
    import jax
    import jax.numpy as jnp

    q, k, v = jnp.split(x @ weights["qkv"], 3, axis=-1)
    heads = [a.reshape(*a.shape[:2], 4, -1) for a in (q, k, v)]
    scores = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", *heads[:2]) / 4)
    x = x + jnp.einsum("bhqk,bkhd->bqhd", scores, heads[2]).reshape(x.shape) @ weights["out"]
    return x + jax.nn.gelu(x @ weights["up"]) @ weights["down"]


four_in_a_row = Stack(4, scanned=False)
eight_in_a_scan = Stack(8, scanned=True)
many_in_a_scan = Stack(32, scanned=True)
