"""Times of two solvers, whose answers are records: JAX knows one of both classes as a tree."""

import time
from dataclasses import dataclass

import jax
import jax.numpy as jnp


@dataclass
class Answer:
    field: jax.Array
    steps: int


@jax.tree_util.register_pytree_node_class
@dataclass
class Known:
    field: jax.Array

    def tree_flatten(self):
        return (self.field,), None

    @classmethod
    def tree_unflatten(cls, _, parts):
        return cls(*parts)


@jax.jit
def relax(x):
    return jax.lax.fori_loop(0, 25, lambda _, y: jnp.sin(y @ y.T) * 1e-2, x)


def time_of_record(x):
    begin = time.perf_counter()
    answer = Answer(relax(x), 25)
    jax.block_until_ready(answer)
    return answer, time.perf_counter() - begin


def time_of_known(x):
    begin = time.perf_counter()
    known = Known(relax(x))
    jax.block_until_ready(known)
    return known, time.perf_counter() - begin


start = jnp.full((500, 500), 1e-2)
jax.block_until_ready(relax(start))
for timed in (time_of_record, time_of_known):
    print([timed(start)[1] > 0 for _ in range(5)])
