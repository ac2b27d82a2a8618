"""How precise the numbers of an answer are, and how far they move that others are held against.

Moved by its arguments, changed by the tolerance of their type, and by its arithmetic, rounded up
and down: in a process of its own, started only where answers differ.
"""

import sys

from coldwarm.functions import values
from coldwarm.wire import TYPE_CHECKING
from coldwarm.worker import gate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    import numpy as np

    Array = np.ndarray[Any, Any]
    Change = Callable[[Any], Any]


_TOLERANCES = {
    **dict.fromkeys(("float64", "complex128", "float96", "float128"), 1e-8),
    **dict.fromkeys(("complex192", "complex256"), 1e-8),
    **dict.fromkeys(("float16", "bfloat16"), 1e-2),
}
"""The largest error of a number, by its type; whole numbers and flags must agree exactly."""
_TOLERANCE = 1e-4
_LONG = ("float64", "complex128", "float96", "float128", "complex192", "complex256")


def tolerance(dtype: str) -> float:
    """Return the largest error of numbers of a type."""
    if dtype in _TOLERANCES:
        return _TOLERANCES[dtype]
    return _TOLERANCE if dtype.startswith(("float", "complex")) else 0.0


def _least(dtypes: "Iterable[str]") -> str:
    """Return the least precise of some types; empty: none has a point."""
    return max((one for one in dtypes if tolerance(one)), key=tolerance, default="")


def precision_of(
    dtypes: "Sequence[str]",
    arrays: "Sequence[np.ndarray[Any, Any]]",
    given: "Iterable[str]",
    *,
    in_32_bits: bool = False,
) -> str:
    """Return the type whose precision an answer has; empty: it has no numbers with a point.

    Of float64 it may be in name alone: Python's numbers are, also those that were computed in
    float32. That is told by the numbers themselves, by the arguments, and by JAX.

    Args:
        dtypes: The types of what the answer holds.
        arrays: Its numbers, on the host.
        given: The types of the arguments' arrays.
        in_32_bits: Whether JAX has computed something, where nobody has asked it for 64 bits.
    """
    found = _least(dtypes)
    if found not in _LONG:
        return found
    shorter = [one for one in given if tolerance(one) > tolerance(found)]
    if shorter:
        return _least(shorter)
    return "float32" if in_32_bits or any(map(_is_float32, arrays)) else found


def _is_float32(array: "np.ndarray[Any, Any]") -> bool:
    """Say whether numbers of float64 are those of float32: they need all its digits, and no more.

    Whole numbers and short fractions are the same in both, and tell nothing.
    """
    import numpy as np

    if array.dtype.kind not in "fc" or array.dtype.itemsize < 8:  # noqa: PLR2004 - the bytes of float64
        return False
    parts = array.ravel().view(array.real.dtype)
    numbers = parts[np.isfinite(parts) & (parts != 0)]
    with np.errstate(all="ignore"):
        short = np.array_equal(numbers.astype("float32"), numbers)
    # Of fractions that are drawn, every other one ends with a 1 in the last place.
    digits = np.frexp(numbers)[0] * 2.0**16
    return bool(numbers.size and short and np.any(digits != np.floor(digits)))


def _spacing(dtype: str) -> float:
    """Return the share by which a number of a type is smaller than the next one."""
    if dtype == "bfloat16":
        return 2.0**-7
    import numpy as np

    return float(np.finfo(dtype or "float64").eps)


_UNMOVED = 0.01
"""Share of the largest number of an array, what is taken for a noise that nothing has shown."""
_STEADY = 100.0
"""By how much further than a second call with the same arguments one with others is away."""


def moves(  # noqa: PLR0913 - what is called, and what is known of its answer
    call: "Callable[[tuple[Any, ...]], Any]",
    arguments: "Callable[[], tuple[Any, ...]]",
    answers: "Sequence[Array]",
    kind: str,
    *,
    seed: int = 0,
    drift: "Sequence[Array]" = (),
    keep: "Callable[[Mapping[str, Array]], None] | None" = None,
) -> "dict[str, Array]":
    """Return how far the numbers of an answer to these arguments move, named as in its file.

    Args:
        call: Calls with these arguments.
        arguments: Gives the arguments.
        answers: What it answered.
        kind: The type whose precision the answer has.
        seed: Seed for how the arguments are moved.
        drift: How far a second call with the same arguments was away: what is not far above that
            is left out, as drawn numbers are.
        keep: Takes what is known already, as a program may not survive the other arithmetic.
    """
    from numpy.random import default_rng

    rng, share, spacing = default_rng(seed), tolerance(kind), _spacing(kind)
    if not share:
        return {}

    def called(change: "Change | None" = None) -> "list[Array]":
        return values.on_host(call(values.duplicate(arguments(), change)))

    noises = gate.noises(lambda: called(lambda leaf: _moved(leaf, share, rng)), answers, share)
    if drift:
        noises = [_above(*pair, share) for pair in zip(noises, drift, strict=True)]
    if keep is not None:
        keep(_named(_known(noises, answers)))
    rounded = gate.rounded(called, answers, spacing)
    if drift:
        rounded = [_above(*pair, spacing) for pair in zip(rounded, drift, strict=True)]
    return _named(_known(noises, answers, rounded), rounded)


def _named(noises: "Sequence[Array]", rounded: "Sequence[Array]" = ()) -> "dict[str, Array]":
    found = {f"{gate.NOISE}{n}": noise for n, noise in enumerate(noises)}
    return {**found, **{f"{gate.ROUNDED}{n}": noise for n, noise in enumerate(rounded)}}


def _above(noise: "Array", drift: "Array", share: float) -> "Array":
    """Leave out what differs from call to call by itself, as drawn numbers do."""
    import numpy as np

    return np.where(_STEADY * drift <= noise * share, noise, 0.0)


def _moved(leaf: "Any", share: float, rng: "np.random.Generator") -> "Any":
    """Return another leaf: one with numbers that a less precise type would have."""
    kind = type(leaf)
    if kind in {float, complex}:
        # Whole ones are the same in any type, and may be counts.
        return leaf if leaf == int(leaf.real) else leaf * (1 + share * rng.standard_normal())
    if values.is_torch(leaf) and leaf.is_floating_point():
        host = gate.moved(leaf.detach().to("cpu").double().numpy(), share, rng)
        same = values.duplicate(leaf)
        torch = sys.modules["torch"]
        with torch.no_grad():
            return same.copy_(torch.as_tensor(host)).requires_grad_(leaf.requires_grad)
    if values.is_jax(leaf):
        return _moved_of_jax(leaf, share, rng)
    if values.is_array(leaf) and getattr(getattr(leaf, "dtype", None), "kind", "") in {"f", "c"}:
        if getattr(leaf, "ndim", 0) and type(leaf).__name__ == "ndarray":
            return values.placed_like(leaf, gate.moved(leaf, share, rng))
        return leaf * leaf.dtype.type(1 + share * rng.standard_normal())
    return values.duplicate(leaf)


def _moved_of_jax(leaf: "Any", share: float, rng: "np.random.Generator") -> "Any":
    import numpy as np

    jax = sys.modules["jax"]
    if not jax.numpy.issubdtype(leaf.dtype, jax.numpy.inexact) or len(leaf.devices()) > 1:
        return values.duplicate(leaf)
    kind = leaf.dtype
    wide = np.asarray(leaf).astype("c16" if np.dtype(kind).kind == "c" else "f8")
    # An array that is bound to its device, and one that is not, are compiled for each for itself.
    place = leaf.sharding if leaf.committed else None
    return jax.device_put(gate.moved(wide, share, rng).astype(kind), place)


def _known(
    noises: "list[Array]", answers: "Sequence[Array]", rounded: "Sequence[Array]" = ()
) -> "list[Array]":
    """Return the noises; where nothing has shown any, what is usual for the largest number."""
    import numpy as np

    found = []
    for place, (noise, answer) in enumerate(zip(noises, answers, strict=True)):
        moves_at_all = noise.any() or (rounded and rounded[place].any())
        finite = np.abs(answer[np.isfinite(answer)]) if answer.dtype.kind in "fc" else np.zeros(0)
        usual = _UNMOVED * float(np.max(finite, initial=0.0))
        found.append(noise if moves_at_all else np.full(answer.shape, usual))
    return found
