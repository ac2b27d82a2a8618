"""A scenario of three steps."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    import numpy as np

NAME = "bare_loop"
SCENARIO = True


def inputs(rng: "np.random.Generator", size: int, dtype: str) -> "list[np.ndarray[Any, Any]]":
    """Return one vector."""
    return [rng.standard_normal(size).astype(dtype)]


def reference(x: "np.ndarray[Any, Any]") -> "list[np.ndarray[Any, Any]]":
    """Return its first three multiples."""
    return [x, 2 * x, 3 * x]


def for_numpy(wrap: "Callable[..., Any]") -> "Callable[..., Iterator[Any]]":
    """Build the loop."""
    multiply = wrap(lambda x, factor: x * x.dtype.type(factor))

    def loop(x: "Any") -> "Iterator[Any]":
        for factor in (1, 2, 3):
            yield multiply(x, factor)

    return loop
