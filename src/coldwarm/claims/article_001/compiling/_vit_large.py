"""A training step of a vision transformer whose blocks are written one after the other."""

BLOCKS, HEADS = 24, 16


class Transformer:
    """The 24 blocks of a ViT-Large, at one width and for inputs of one size, in float32."""

    def __init__(self, *, width, tokens, batch, patch):
        """Remember the sizes: of a token, of an image in tokens, and of a patch in numbers."""
        self.width, self.tokens, self.batch, self.patch = width, tokens, batch, patch

    def first_call(self):
        """Time the first call of a training step with Adam."""
        import time

        import jax
        import jax.numpy as jnp

        params = self._params()
        patches = jnp.ones((self.batch, self.tokens, self.patch))
        labels = jnp.zeros(self.batch, int)
        state = (params, *(jax.tree.map(jnp.zeros_like, params) for _ in range(2)))
        jax.block_until_ready((state, patches, labels))
        begin = time.perf_counter()
        jax.block_until_ready(jax.jit(_step)(state, 1, patches, labels))
        return {"first_s": time.perf_counter() - begin}

    def _params(self):
        import jax.numpy as jnp

        width = self.width

        def block():
            return {
                "first": jnp.ones(width),
                "second": jnp.ones(width),
                "qkv": jnp.full((width, 3 * width), 0.01),
                "out": jnp.full((width, width), 0.01),
                "up": jnp.full((width, 4 * width), 0.01),
                "down": jnp.full((4 * width, width), 0.01),
            }

        return {
            "embed": jnp.full((self.patch, width), 0.01),
            "places": jnp.full((self.tokens, width), 0.01),
            "blocks": [block() for _ in range(BLOCKS)],
            "last": jnp.ones(width),
            "head": jnp.full((width, 10), 0.01),
        }


def _step(state, count, patches, labels):
    """Return the parameters and both moments of Adam after a step, and the loss before it."""
    import jax
    import jax.numpy as jnp

    def adam(param, first, second, slope):
        first, second = 0.9 * first + 0.1 * slope, 0.999 * second + 0.001 * slope**2
        scale = jnp.sqrt(second / (1 - 0.999**count)) + 1e-8
        return param - 1e-3 * first / (1 - 0.9**count) / scale, first, second

    loss, slopes = jax.value_and_grad(_loss)(state[0], patches, labels)
    leaves, form = zip(*map(jax.tree.flatten, (*state, slopes)), strict=True)
    updated = zip(*map(adam, *leaves), strict=True)
    return [jax.tree.unflatten(form[0], one) for one in updated], loss


def _loss(params, patches, labels):
    import jax
    import jax.numpy as jnp

    def norm(x, scale):
        centred = x - x.mean(-1, keepdims=True)
        return centred * jax.lax.rsqrt(jnp.mean(centred**2, -1, keepdims=True) + 1e-6) * scale

    def attention(x, block):
        q, k, v = jnp.split(x @ block["qkv"], 3, axis=-1)
        heads = [a.reshape(*a.shape[:2], HEADS, -1) for a in (q, k, v)]
        scores = jnp.einsum("bqhd,bkhd->bhqk", *heads[:2]) / heads[0].shape[-1] ** 0.5
        mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), heads[2])
        return mixed.reshape(x.shape) @ block["out"]

    x = patches @ params["embed"] + params["places"]
    for block in params["blocks"]:
        x = x + attention(norm(x, block["first"]), block)
        x = x + jax.nn.gelu(norm(x, block["second"]) @ block["up"]) @ block["down"]
    scores = jax.nn.log_softmax(norm(x, params["last"]).mean(1) @ params["head"])
    return -jnp.mean(jnp.take_along_axis(scores, labels[:, None], 1))


whole = Transformer(width=1024, tokens=197, batch=8, patch=768)
narrow = Transformer(width=64, tokens=17, batch=2, patch=48)
