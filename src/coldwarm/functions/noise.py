"""How far the answer of a user's function moves that others are held against.

A process of its own, started only where answers differ: it calls the function again, with its
arguments moved by the tolerance of their type, and then with its arithmetic rounded up and down.
"""

import os
import sys

from coldwarm.functions import precision, values
from coldwarm.functions.inspection import Inspection
from coldwarm.worker import gate, moved

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    import numpy as np

    Array = np.ndarray[Any, Any]
    Change = Callable[[Any], Any]

_UNMOVED = 0.01
"""Of the largest number of an array, what is taken for a noise that nothing has shown."""
_STEADY = 100.0
"""By how much further than a second call with the same arguments one with others is away."""


class Reference:
    """A function called again and again with what its first answer was for."""

    def __init__(self, job: "Mapping[str, Any]") -> None:
        """Load it, and read its answer."""
        inspection = Inspection(job)
        function, self._call, _ = inspection.prepare()
        self._function = inspection.backend.finishing(function)
        self._path: str = job["answer"]
        self.kind: str = job["precision"]
        self.answers, _ = gate.stored(self._path)

    def called(self, change: "Change | None" = None) -> "list[Array]":
        """Return what it answers for copies of its arguments, or for changed ones."""
        positional = values.duplicate(self._call.positional, change)
        named = values.duplicate(self._call.named, change)
        return values.on_host(self._function(*positional, **named))

    def apart(self) -> "list[Array]":
        """Return how far another call with the same arguments is away from the first one."""
        found = self.called()
        if [one.shape for one in found] != [one.shape for one in self.answers]:
            return [abs(one) * 0.0 for one in self.answers]
        return [moved.differences(*pair) for pair in zip(found, self.answers, strict=True)]

    def write(self, noises: "list[Array]", rounded: "list[Array]") -> None:
        """Write how far the numbers move beside the answer."""
        import numpy as np

        named: dict[str, Any] = {f"{gate.NOISE}{n}": noise for n, noise in enumerate(noises)}
        named.update((f"{gate.ROUNDED}{n}", noise) for n, noise in enumerate(rounded))
        with open(self._path + ".part", "wb") as file:  # noqa: PTH123 - the style of the measured side
            np.savez(file, *self.answers, **named)
        os.replace(self._path + ".part", self._path)  # noqa: PTH105 - as above


def beside(
    call: "Callable[[tuple[Any, ...]], Any]",
    arguments: "Callable[[], tuple[Any, ...]]",
    answers: "Sequence[Array]",
    kind: str,
) -> "dict[str, Array]":
    """Return how far the numbers of an answer to these arguments move, named as in its file."""
    from numpy.random import default_rng

    rng, share, step = default_rng(0), precision.tolerance(kind), precision.step(kind)
    if not share:
        return {}

    def called(change: "Change | None" = None) -> "list[Array]":
        return values.on_host(call(values.duplicate(arguments(), change)))

    moves = moved.noises(lambda: called(lambda leaf: _moved(leaf, share, rng)), answers, share)
    rounds = moved.rounded(called, answers, step)
    found = {f"{gate.NOISE}{n}": one for n, one in enumerate(_known(moves, list(answers), rounds))}
    return {**found, **{f"{gate.ROUNDED}{n}": one for n, one in enumerate(rounds)}}


def report(job: "Mapping[str, Any]") -> "dict[str, Any]":
    """Write how far each number moves beside the answer that is there."""
    from numpy.random import default_rng

    reference = Reference(job)
    share, step = precision.tolerance(reference.kind), precision.step(reference.kind)
    rng = default_rng(job["seed"])
    again = reference.apart()
    noises = moved.noises(
        lambda: reference.called(lambda leaf: _moved(leaf, share, rng)), reference.answers, share
    )
    noises = [_steady(*pair, share) for pair in zip(noises, again, strict=True)]
    # Already now, as a program may not survive the other arithmetic.
    reference.write(_known(noises, reference.answers), [])
    rounded = moved.rounded(reference.called, reference.answers, step)
    rounded = [_steady(*pair, step) for pair in zip(rounded, again, strict=True)]
    reference.write(_known(noises, reference.answers, rounded), rounded)
    return {"type": "noise"}


def others(job: "Mapping[str, Any]") -> "dict[str, Any]":
    """Write the answers to other data, in a process that is called with nothing else.

    So what a function keeps of its usual call cannot answer for them.
    """
    Inspection(job).written_first()(beside)
    return {"type": "others"}


def _steady(noise: "Array", again: "Array", share: float) -> "Array":
    """Leave out what differs from call to call by itself, as drawn numbers do."""
    import numpy as np

    return np.where(_STEADY * again <= noise * share, noise, 0.0)


def _moved(leaf: "Any", share: float, rng: "np.random.Generator") -> "Any":
    """Return another leaf: one with numbers that a less precise type would have."""
    kind = type(leaf)
    if kind in {float, complex}:
        # Whole ones are the same in any type, and may be counts.
        return leaf if leaf == int(leaf.real) else leaf * (1 + share * rng.standard_normal())
    if values.is_torch(leaf) and leaf.is_floating_point():
        host = moved.moved(leaf.detach().to("cpu").double().numpy(), share, rng)
        same = values.duplicate(leaf)
        torch = sys.modules["torch"]
        with torch.no_grad():
            return same.copy_(torch.as_tensor(host)).requires_grad_(leaf.requires_grad)
    if values.is_jax(leaf):
        return _moved_of_jax(leaf, share, rng)
    if values.is_array(leaf) and getattr(getattr(leaf, "dtype", None), "kind", "") in {"f", "c"}:
        if getattr(leaf, "ndim", 0) and type(leaf).__name__ == "ndarray":
            return values.placed_like(leaf, moved.moved(leaf, share, rng))
        return leaf * leaf.dtype.type(1 + share * rng.standard_normal())
    return values.duplicate(leaf)


def _moved_of_jax(leaf: "Any", share: float, rng: "np.random.Generator") -> "Any":
    import numpy as np

    jax = sys.modules["jax"]
    if not jax.numpy.issubdtype(leaf.dtype, jax.numpy.inexact) or len(leaf.devices()) > 1:
        return values.duplicate(leaf)
    kind = leaf.dtype
    wide = np.asarray(leaf).astype("c16" if np.dtype(kind).kind == "c" else "f8")
    return jax.device_put(moved.moved(wide, share, rng).astype(kind), leaf.sharding)


def _known(
    noises: "list[Array]", answers: "list[Array]", others: "list[Array] | None" = None
) -> "list[Array]":
    """Return the noises; where nothing has shown any, what is usual for the largest number."""
    import numpy as np

    found = []
    for place, (noise, answer) in enumerate(zip(noises, answers, strict=True)):
        told = noise.any() or (others is not None and others[place].any())
        finite = np.abs(answer[np.isfinite(answer)]) if answer.dtype.kind in "fc" else np.zeros(0)
        usual = _UNMOVED * float(np.max(finite, initial=0.0))
        found.append(noise if told else np.full(answer.shape, usual))
    return found
