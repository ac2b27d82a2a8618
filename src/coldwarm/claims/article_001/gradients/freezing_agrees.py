"""Freezing by a filtered tree in JAX does the same as `requires_grad = False` in PyTorch."""

ARTICLE = {
    "article": "001",
    "place": "When PyTorch Wins",
    "figure": "filter the pytree manually",
}
QUANTITY = "The parameters after ten steps, from the same start, with the first layer frozen."
PROTOCOL = """
One process trains a three-layer network by gradient descent for ten steps in both frameworks, in
float64. JAX differentiates by the trainable part of the parameters; PyTorch has `requires_grad`
off for the first layer.
"""
RULE = """
Confirmed where the frozen layer is bit for bit as before in both, and all others agree to 1e-10 of
the largest parameter. Refuted otherwise.
"""
FACTS = ({"functions": ("trained",), "variables": {"JAX_ENABLE_X64": "1"}},)
DOCS = ("https://docs.jax.dev/en/latest/101/transformations.html",)


def trained():
    """Train in both frameworks with the first layer frozen."""
    import jax
    import jax.numpy as jnp
    import numpy as np
    import torch

    rng = np.random.default_rng(0)
    start = {f"layer_{n}": rng.standard_normal((8, 8)) / 3 for n in range(3)}
    x, y = rng.standard_normal((32, 8)), rng.standard_normal((32, 8))

    def loss(trainable, frozen):
        value = jnp.asarray(x)
        weights = {**trainable, **frozen}
        for name in sorted(weights):
            value = jnp.tanh(value @ weights[name])
        return jnp.mean((value - y) ** 2)

    frozen = {"layer_0": jnp.asarray(start["layer_0"])}
    ours = {name: jnp.asarray(w) for name, w in start.items() if name not in frozen}
    step = jax.jit(jax.grad(loss))
    for _ in range(10):
        ours = jax.tree.map(lambda weights, slope: weights - 0.1 * slope, ours, step(ours, frozen))

    theirs = {name: torch.tensor(w, requires_grad=True) for name, w in start.items()}
    theirs["layer_0"].requires_grad = False
    active = [w for w in theirs.values() if w.requires_grad]
    optimiser = torch.optim.SGD(active, lr=0.1)
    for _ in range(10):
        optimiser.zero_grad()
        value = torch.tensor(x)
        for name in sorted(theirs):
            value = torch.tanh(value @ theirs[name])
        ((value - torch.tensor(y)) ** 2).mean().backward()
        optimiser.step()

    moved = [
        np.abs(np.asarray(w) - theirs[name].detach().numpy()).max() for name, w in ours.items()
    ]
    return {
        "jax_frozen": bool((np.asarray(frozen["layer_0"]) == start["layer_0"]).all()),
        "torch_frozen": bool((theirs["layer_0"].numpy() == start["layer_0"]).all()),
        "difference": float(max(moved) / max(np.abs(np.asarray(w)).max() for w in ours.values())),
        "trained": bool((np.asarray(ours["layer_1"]) != start["layer_1"]).any()),
    }


def judge(seen):
    """Decide by the rule."""
    shown = seen.facts("trained")
    kept = shown["jax_frozen"] and shown["torch_frozen"] and shown["trained"]
    return seen.holds(kept and seen.fact("trained", "difference") <= 1e-10)
