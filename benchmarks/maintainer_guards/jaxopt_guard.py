"""What a pull request must not make slower: a start with JAX, and the fit of a model.

It stands in the repository of ``maintainer.py`` as ``benchmarks/guard.py``.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jaxopt import GradientDescent, objective

_drawn = np.random.default_rng(1)
DATA = _drawn.standard_normal((1500, 60)).astype("float32")
LABELS = (DATA[:, 0] + _drawn.standard_normal(1500) > 0).astype("int32")
STEPS = 200


def work() -> jax.Array:
    """Return the weights after all steps of a logistic regression."""
    return _fitted(DATA, LABELS)


@jax.jit  # type: ignore[untyped-decorator]
def _fitted(data: jax.Array, labels: jax.Array) -> jax.Array:
    solver = GradientDescent(
        objective.binary_logreg,
        stepsize=0.1,
        maxiter=STEPS,
        tol=0.0,
        acceleration=False,
        implicit_diff=False,
    )
    return solver.run(jnp.zeros(data.shape[1]), (data, labels)).params
