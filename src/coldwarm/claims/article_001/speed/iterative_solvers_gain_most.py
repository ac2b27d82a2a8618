"""L-BFGS and trust-region methods gain most from jit."""

ARTICLE = {
    "article": "001",
    "place": "When JAX Actually Wins",
    "figure": "benefit massively from JIT",
}
QUANTITY = "A warm call without jit over one with it: of L-BFGS, of a trust region, of two others."
PROTOCOL = """
Five iterations of L-BFGS (memory of four) and of a trust-region method (conjugate gradients in it)
on a function of 50 numbers, and beside them a training step of an MLP (256 wide, batch 256) and a
chain of ten products (256 × 256): each in JAX without jit and with it. Fresh processes, warm calls.
"""
RULE = """
Confirmed where the gains of both solvers lie above those of both others, interval against interval;
refuted where that of a solver lies below that of one of the others; otherwise inconclusive.
"""
BENCHES = tuple(
    {
        "name": name,
        "candidates": (f"{name}_jit", f"{name}_eager"),
        "regime": "warm",
        "seconds": 30.0,
        "tolerance": 1e-2,
    }
    for name in ("lbfgs", "trust_region", "training", "products")
)
DOCS = ("https://docs.jax.dev/en/latest/jit-compilation.html",)
SIZE, ITERATIONS, MEMORY = 50, 5, 4


def lbfgs_jit():
    """Minimise by L-BFGS in one program."""
    import jax

    return jax.jit(_lbfgs), _start()


def lbfgs_eager():
    """Minimise by L-BFGS, operation by operation."""
    return _lbfgs, _start()


def trust_region_jit():
    """Minimise within a trust region in one program."""
    import jax

    return jax.jit(_trust_region), _start()


def trust_region_eager():
    """Minimise within a trust region, operation by operation."""
    return _trust_region, _start()


def training_jit():
    """Take a training step in one program."""
    import jax

    return jax.jit(_training), _network()


def training_eager():
    """Take a training step, operation by operation."""
    return _training, _network()


def products_jit():
    """Multiply ten times in one program."""
    import jax

    return jax.jit(_products), _matrix()


def products_eager():
    """Multiply ten times, product by product."""
    return _products, _matrix()


def _error(x):
    import jax.numpy as jnp

    return jnp.sum(jnp.log1p((x - jnp.arange(SIZE) / SIZE) ** 2)) + 0.1 * jnp.sum(x) ** 2 / SIZE


def _start():
    import jax.numpy as jnp

    return (jnp.full(SIZE, 0.3),)


def _lbfgs(x):
    import jax
    import jax.numpy as jnp

    gradient = jax.grad(_error)
    slope = gradient(x)
    pairs: list[tuple[float, ...]] = []
    for _ in range(ITERATIONS):
        direction, weights = slope, []
        for moved, bent, inverse in reversed(pairs):
            weight = inverse * jnp.dot(moved, direction)
            direction = direction - weight * bent
            weights.append(weight)
        if pairs:
            moved, bent, _ = pairs[-1]
            direction = direction * jnp.dot(moved, bent) / jnp.dot(bent, bent)
        for (moved, bent, inverse), weight in zip(pairs, reversed(weights), strict=True):
            direction = direction + moved * (weight - inverse * jnp.dot(bent, direction))
        following = x - 0.5 * direction
        new_slope = gradient(following)
        moved, bent = following - x, new_slope - slope
        pairs = [*pairs, (moved, bent, 1 / jnp.dot(moved, bent))][-MEMORY:]
        x, slope = following, new_slope
    return x


def _trust_region(x):
    import jax
    import jax.numpy as jnp

    gradient, radius = jax.grad(_error), jnp.float32(1.0)
    for _ in range(ITERATIONS):
        slope = gradient(x)
        step, residual, direction = jnp.zeros_like(x), -slope, -slope
        for _ in range(4):  # conjugate gradients on the quadratic model
            bent = jax.jvp(gradient, (x,), (direction,))[1]
            curvature = jnp.dot(direction, bent)
            alpha = jnp.dot(residual, residual) / jnp.maximum(curvature, 1e-12)
            step = step + alpha * direction
            left = residual - alpha * bent
            ratio = jnp.dot(left, left) / jnp.maximum(jnp.dot(residual, residual), 1e-12)
            residual, direction = left, left + ratio * direction
        length = jnp.linalg.norm(step)
        step = step * jnp.minimum(1.0, radius / jnp.maximum(length, 1e-12))
        promised = -jnp.dot(slope, step) / 2
        kept = _error(x) - _error(x + step)
        good = kept > 0.1 * promised
        x = jnp.where(good, x + step, x)
        radius = jnp.where(good, radius * 1.5, radius * 0.5)
    return x


def _training(w1, w2, x, y):
    import jax
    import jax.numpy as jnp

    def loss(w1, w2):
        return jnp.mean((jnp.tanh(x @ w1) @ w2 - y) ** 2)

    first, second = jax.grad(loss, argnums=(0, 1))(w1, w2)
    return w1 - 0.1 * first, w2 - 0.1 * second


def _network():
    import jax.numpy as jnp

    x = jnp.linspace(-1.0, 1.0, 256 * 256).reshape(256, 256)
    return jnp.sin(x * 50) / 16, x[:, :1] / 16, x, x[:, 1:2]


def _products(x):
    for _ in range(10):
        x = x @ x
    return x


def _matrix():
    import jax.numpy as jnp

    return (jnp.roll(jnp.eye(256), 1, axis=0),)


def judge(seen):
    """Decide by the rule."""
    gains = {
        name: seen.ratio(f"{name}_eager", f"{name}_jit", "warm_call", bench=name)
        for name in ("lbfgs", "trust_region", "training", "products")
    }
    solvers = [gains["lbfgs"], gains["trust_region"]]
    others = [gains["training"], gains["products"]]
    if min(one.low for one in solvers) > max(one.high for one in others):
        return "confirmed"
    below = min(one.high for one in solvers) < max(one.low for one in others)
    return "refuted" if below else "inconclusive"
