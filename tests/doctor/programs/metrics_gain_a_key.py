"""Running metrics in a dict; each phase adds its own."""

from dataclasses import dataclass, field

import jax
import jax.numpy as jnp


@jax.tree_util.register_dataclass
@dataclass
class Metrics:
    values: dict = field(default_factory=dict)
    count: int = 0


@jax.jit
def blend(metrics, decay):
    values = jax.tree.map(lambda v: v * decay + jnp.log1p(jnp.abs(v)), metrics.values)
    return Metrics(values, metrics.count + 1)


def main():
    metrics = Metrics({}, 0)
    for phase in range(12):
        metrics.values[f"phase{phase}"] = jnp.full(4, float(phase))
        for _ in range(5):
            metrics = blend(metrics, 0.9)
    print(len(metrics.values), int(metrics.count))


if __name__ == "__main__":
    main()
