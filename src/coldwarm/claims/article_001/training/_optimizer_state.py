"""Training with Adam, whose state is handed on, forgotten, made anew, and saved to a file."""


def trained():
    """Train with the state handed on, forgotten, and made anew."""
    import warnings

    import jax
    import jax.numpy as jnp

    x, y = jnp.linspace(-1, 1, 512).reshape(32, 16), jnp.ones((32, 1))
    start = {"w1": jnp.sin(jnp.arange(256.0)).reshape(16, 16), "w2": jnp.full((16, 1), 0.1)}
    init, step = _adam(jax.grad(lambda p: jnp.mean((jnp.tanh(x @ p["w1"]) @ p["w2"] - y) ** 2)))

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        handed_on, state = start, init(start)
        for _ in range(10):
            handed_on, state = step(handed_on, state)
        forgotten, state = start, init(start)
        for _ in range(10):
            forgotten, _ = step(forgotten, state)
        anew = start
        for _ in range(10):
            anew, _ = step(anew, init(anew))

    def difference(a, b):
        return max(jax.tree.leaves(jax.tree.map(lambda p, q: float(abs(p - q).max()), a, b)))

    return {
        "from_anew": difference(forgotten, anew),
        "from_handed_on": difference(forgotten, handed_on),
        "warnings": len(caught),
    }


def of_jax():
    """Train through, and resumed from a file."""
    import io

    import jax
    import jax.numpy as jnp
    import numpy as np

    x, y = jnp.linspace(-1, 1, 512).reshape(32, 16), jnp.ones((32, 1))
    start = {"w1": jnp.sin(jnp.arange(256.0)).reshape(16, 16), "w2": jnp.full((16, 1), 0.1)}
    init, step = _adam(jax.grad(lambda p: jnp.mean((jnp.tanh(x @ p["w1"]) @ p["w2"] - y) ** 2)))

    def run(params, state, steps):
        for _ in range(steps):
            params, state = step(params, state)
        return params, state

    through, _ = run(start, init(start), 20)
    half = run(start, init(start), 10)
    leaves, form = jax.tree.flatten(half)
    file = io.BytesIO()
    np.savez(file, *map(np.asarray, leaves))
    file.seek(0)
    with np.load(file) as saved:
        loaded = [jnp.asarray(saved[f"arr_{n}"]) for n in range(len(leaves))]
    params, state = jax.tree.unflatten(form, loaded)
    resumed, _ = run(params, state, 10)
    equal = jax.tree.map(lambda a, b: bool((a == b).all()), through, resumed)
    return {"equal": all(jax.tree.leaves(equal))}


def of_torch():
    """Train through, and resumed from a file."""
    import io

    import torch

    x, y = torch.linspace(-1, 1, 512).reshape(32, 16), torch.ones(32, 1)

    def made():
        model = torch.nn.Sequential(
            torch.nn.Linear(16, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1)
        )
        return model, torch.optim.Adam(params=model.parameters(), lr=0.01)

    def run(model, optimiser, steps):
        for _ in range(steps):
            optimiser.zero_grad()
            ((model(x) - y) ** 2).mean().backward()
            optimiser.step()

    torch.manual_seed(0)
    model, optimiser = made()
    file = io.BytesIO()
    run(model, optimiser, 10)
    torch.save({"model": model.state_dict(), "optimiser": optimiser.state_dict()}, file)
    run(model, optimiser, 10)
    file.seek(0)
    saved = torch.load(file)
    resumed, its_optimiser = made()
    resumed.load_state_dict(saved["model"])
    its_optimiser.load_state_dict(saved["optimiser"])
    run(resumed, its_optimiser, 10)
    pairs = zip(model.parameters(), resumed.parameters(), strict=True)
    return {"equal": all(bool((a == b).all()) for a, b in pairs)}


def _adam(gradient):
    """Return an initial state and a step of Adam that is a pure function of params and state."""
    import jax
    import jax.numpy as jnp

    def init(params):
        zeros = jax.tree.map(jnp.zeros_like, params)
        return {"count": jnp.zeros((), int), "first": zeros, "second": zeros}

    @jax.jit
    def step(params, state):
        grads = gradient(params)
        count = state["count"] + 1
        first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state["first"], grads)
        second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g**2, state["second"], grads)

        def moved(p, m, v):
            m, v = m / (1 - 0.9**count), v / (1 - 0.999**count)
            return p - 0.01 * m / (jnp.sqrt(v) + 1e-8)

        params = jax.tree.map(moved, params, first, second)
        return params, {"count": count, "first": first, "second": second}

    return init, step
