"""Training in mixed precision goes the same way in both frameworks."""

ARTICLE = {
    "article": "001",
    "place": "Mixed Precision Training",
    "figure": "you're responsible for loss scaling",
}
QUANTITY = (
    "The loss after fifty steps: float32 and bfloat16, in JAX by hand, in PyTorch by autocast."
)
PROTOCOL = """
One process trains a two-layer network from the same numbers for fifty steps of gradient descent,
with parameters in float32: all in float32, and with products in bfloat16, by casting in JAX
and by `torch.amp.autocast` in PyTorch. bfloat16 has float32's range, so losses are not scaled.
"""
RULE = """
Confirmed where every loss falls to less than half, and each in bfloat16 ends within 5 % of that in
float32.
Refuted otherwise.
"""
FACTS = ({"functions": ("losses",)},)


def losses():
    """Train in both precisions in both frameworks."""
    import jax
    import jax.numpy as jnp
    import numpy as np
    import torch

    rng = np.random.default_rng(0)
    x = rng.standard_normal((128, 16)).astype("float32")
    y = np.sin(x.sum(1, keepdims=True)).astype("float32")
    start = [(rng.standard_normal(s) / 4).astype("float32") for s in ((16, 64), (64, 1))]

    def of_jax(dtype):
        def loss(weights):
            w1, w2 = (w.astype(dtype) for w in weights)
            predicted = jnp.tanh(jnp.asarray(x, dtype) @ w1) @ w2
            return jnp.mean((predicted.astype(jnp.float32) - y) ** 2)

        step = jax.jit(jax.value_and_grad(loss))
        weights = [jnp.asarray(w) for w in start]
        first, _ = step(weights)
        for _ in range(50):
            _, grads = step(weights)
            weights = [w - 0.1 * g for w, g in zip(weights, grads, strict=True)]
        return float(first), float(step(weights)[0])

    def of_torch(cast):
        weights = [torch.tensor(w, requires_grad=True) for w in start]
        optimiser = torch.optim.SGD(weights, lr=0.1)
        inputs, wanted = torch.tensor(x), torch.tensor(y)

        def loss():
            with torch.amp.autocast("cpu", dtype=torch.bfloat16, enabled=cast):
                predicted = torch.tanh(inputs @ weights[0]) @ weights[1]
            return ((predicted.float() - wanted) ** 2).mean()

        first = loss().item()
        for _ in range(50):
            optimiser.zero_grad()
            loss().backward()
            optimiser.step()
        return first, loss().item()

    found = {
        "jax_f32": of_jax(jnp.float32),
        "jax_bf16": of_jax(jnp.bfloat16),
        "torch_f32": of_torch(cast=False),
        "torch_bf16": of_torch(cast=True),
    }
    firsts = {f"{name}_first": first for name, (first, _) in found.items()}
    return firsts | {f"{name}_last": last for name, (_, last) in found.items()}


def judge(seen):
    """Decide by the rule."""
    names = ("jax_f32", "jax_bf16", "torch_f32", "torch_bf16")
    last = {name: seen.fact("losses", f"{name}_last") for name in names}
    fell = all(last[name] < seen.fact("losses", f"{name}_first") / 2 for name in names)
    near = all(abs(last[f"{of}_bf16"] / last[f"{of}_f32"] - 1) < 0.05 for of in ("jax", "torch"))
    return seen.holds(fell and near)
