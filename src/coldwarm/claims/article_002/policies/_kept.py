"""What a checkpointed function keeps for the way back, under one policy and without one."""


class Policy:
    """A policy of `jax.checkpoint_policies`."""

    def __init__(self, name):
        """Remember its name."""
        self.name = name

    def kept(self):
        """Count what is kept, and compare gradients."""
        import contextlib
        import io

        import jax
        import jax.numpy as jnp
        from jax.ad_checkpoint import print_saved_residuals

        def block(w, x, y):
            hidden = jnp.tanh(x @ w)
            scores = jnp.einsum("bij,bkj->bik", hidden, y)
            return jnp.sum(jnp.sin(scores))

        under = jax.checkpoint(block, policy=getattr(jax.checkpoint_policies, self.name))
        arguments = jnp.full((4, 5), 0.1), jnp.ones((2, 3, 4)), jnp.full((2, 3, 5), 0.2)

        def lines(function):
            told = io.StringIO()
            with contextlib.redirect_stdout(told):
                print_saved_residuals(function, *arguments)
            found = told.getvalue().splitlines()
            return [line for line in found if "from the argument" not in line and line.strip()]

        of_policy, of_all = lines(under), lines(block)
        gradients = [jax.jit(jax.grad(function))(*arguments) for function in (under, block)]
        return {
            "kept": len(of_policy),
            "kept_products": sum("dot_general" in line or "einsum" in line for line in of_policy),
            "kept_without": len(of_all),
            "difference": float(abs(gradients[0] - gradients[1]).max()),
            "told": "; ".join(line.partition(" from ")[0] for line in of_policy),
        }


everything = Policy("everything_saveable")
nothing = Policy("nothing_saveable")
dots = Policy("dots_with_no_batch_dims_saveable")
