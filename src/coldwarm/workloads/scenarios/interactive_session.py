"""A person looks at a table, call by call.

What it stands for: an hour in a notebook. Sixteen questions to a table of six columns, each a
little different from the one before: another column, another threshold, half of the rows, every
second row, more bins, one more regressor. Nobody plans the shapes of such a session.

What is computed: four functions of the kind that one defines in the first cell and decorates
with a compiler. ``describe``: mean, standard deviation, smallest and largest. ``cut``: mean and
standard deviation of one column where another exceeds a threshold. ``survival``: the share
above each of some thresholds. ``regress``: least squares of a column on some others. Rows are
selected outside of them, as one does at the prompt. Each step of the loop is one question.

What to look at: which questions take long. A new column is nothing new to any framework; a new
threshold is a value; fewer rows are a new shape, for which ``jax.jit`` compiles again; every
second row is a new memory layout, for which Numba does; one more regressor is a new signature
for all of them. The selection of rows itself is compiled where JAX executes it.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from coldwarm.workloads import Array, Function, Generator, Wrap

NAME = "interactive_session"
SCENARIO = True
SIZES = (10_000, 200_000)
SIZE_MEANING = "rows of the table"
DTYPES = ("f32",)
TOLERANCE = {"f32": 5e-4}
LAYOUT = "six contiguous columns, and 20 sorted thresholds"
BASELINE = "numpy"

COLUMNS = 6
BINS = 20


def inputs(rng: "Generator", size: int, dtype: str) -> "list[Array]":
    """Return columns that have to do with each other, and thresholds."""
    import numpy as np

    hidden = rng.standard_normal(size)
    columns = [rng.standard_normal(size) + place * 0.3 * hidden for place in range(COLUMNS)]
    columns.append(np.sort(rng.standard_normal(BINS)))
    return [column.astype(dtype) for column in columns]


def reference(*arrays: "Array") -> "list[Array]":
    """Return the answers to all questions, on float64 inputs."""
    import numpy as np

    answers = for_numpy(lambda function: function)(*arrays)
    return [np.asarray(out) for step in answers for out in step]


def _session(functions: "tuple[Function, ...]") -> "Function":
    describe, cut, survival, regress = functions

    def session(*arrays: "Any") -> "Iterator[Any]":
        a, b, c, d, e, f, bins = arrays
        half = len(a) // 2
        yield describe(a)
        yield describe(d)
        yield describe(f)
        yield cut(a, b, 0.0)
        yield cut(a, b, 0.5)
        yield cut(c, b, 0.5)
        yield survival(c, bins[:10])
        yield survival(c, bins)
        yield survival(e, bins)
        yield describe(a[:half])
        yield describe(a[half:])
        yield cut(a[:half], b[:half], 0.5)
        yield describe(e[::2])
        yield regress(f, a, b)
        yield regress(f, a, e)
        yield regress(f, a, b, c)

    return session


def _plain(np: "Any") -> "tuple[Function, ...]":
    """Return the functions that are the same in NumPy and JAX, whose module is ``np``."""

    def describe(x: "Any") -> "Any":
        return x.mean(), x.std(), x.min(), x.max()

    def survival(x: "Any", thresholds: "Any") -> "Any":
        return ((x > thresholds[:, None]).mean(1, dtype=x.dtype),)

    def regress(y: "Any", *columns: "Any") -> "Any":
        x = np.stack(columns)
        return (np.linalg.solve(x @ x.T, x @ y),)

    return describe, survival, regress


def for_numpy(wrap: "Wrap") -> "Function":
    """Build the NumPy candidate, with rows selected by a mask."""
    import numpy as np

    def cut(x: "Any", by: "Any", above: "Any") -> "Any":
        kept = x[by > above]
        return kept.mean(), kept.std()

    describe, survival, regress = _plain(np)
    return _session((wrap(describe), wrap(cut), wrap(survival), wrap(regress)))


def for_jax(wrap: "Wrap") -> "Function":
    """Build the JAX candidate: shapes may not depend on values, so a cut is a weighted mean."""
    import jax.numpy as jnp

    def cut(x: "Any", by: "Any", above: "Any") -> "Any":
        kept = by > above
        return x.mean(where=kept), x.std(where=kept)

    describe, survival, regress = _plain(jnp)
    return _session((wrap(describe), wrap(cut), wrap(survival), wrap(regress)))


def for_torch(wrap: "Wrap") -> "Function":
    """Build the PyTorch candidate: a cut as a weighted mean, which needs no graph break.

    The solver is left to PyTorch, which has a kernel for it anyway: Inductor keeps no program in
    its cache that can raise an error, as solving a singular system does.
    """
    import torch

    def describe(x: "Any") -> "Any":
        return x.mean(), x.std(correction=0), x.min(), x.max()

    def cut(x: "Any", by: "Any", above: "Any") -> "Any":
        kept = (by > above).to(x.dtype)
        mean = (x * kept).sum() / kept.sum()
        return mean, (((x - mean) ** 2 * kept).sum() / kept.sum()).sqrt()

    def survival(x: "Any", thresholds: "Any") -> "Any":
        return ((x > thresholds[:, None]).to(x.dtype).mean(1),)

    def normal(y: "Any", *columns: "Any") -> "Any":
        x = torch.stack(columns)
        return x @ x.T, x @ y

    normal = wrap(normal)

    def regress(y: "Any", *columns: "Any") -> "Any":
        return (torch.linalg.solve(*normal(y, *columns)),)

    return _session((wrap(describe), wrap(cut), wrap(survival), regress))


def for_numba(wrap: "Wrap") -> "Function":
    """Build the Numba candidate: loops where they are natural, sums in float64."""
    import numpy as np

    def describe(x: "Any") -> "Any":
        number = x.dtype.type
        mean = x.sum(dtype=np.float64) / x.size
        spread = 0.0
        for value in x:
            spread += (value - mean) ** 2
        # As arrays: a number would come back as Python's own, which is float64.
        spread = (spread / x.size) ** 0.5
        return (
            np.array(number(mean)),
            np.array(number(spread)),
            np.array(x.min()),
            np.array(x.max()),
        )

    def cut(x: "Any", by: "Any", above: "Any") -> "Any":
        number = x.dtype.type
        kept = x[by > above]
        mean = kept.sum(dtype=np.float64) / kept.size
        spread = 0.0
        for value in kept:
            spread += (value - mean) ** 2
        return np.array(number(mean)), np.array(number((spread / kept.size) ** 0.5))

    def survival(x: "Any", thresholds: "Any") -> "Any":
        share = np.empty(thresholds.size, x.dtype)
        for place in range(thresholds.size):
            share[place] = (x > thresholds[place]).sum() / x.size
        return (share,)

    def regress(y: "Any", *columns: "Any") -> "Any":
        x = np.stack(columns)
        return (np.linalg.solve(np.dot(x, x.T), np.dot(x, y)),)

    return _session((wrap(describe), wrap(cut), wrap(survival), wrap(regress)))
