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
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

    import numpy as np

    Array = np.ndarray[Any, Any]
    Change = Callable[[Any], Any]

_ROUNDED = {"x86_64": (0x800, 0x400), "aarch64": (0x400000, 0x800000)}
"""By processor, how ``fesetround`` of C is told to round up, and down."""
_UNMOVED = 0.01
"""Of the largest number of an array, what is taken for a noise that nothing has shown."""
_ROUNDING = 1e-3
"""What the noise of arithmetic counts beside that of arguments: to round up in every step adds up,
where usual errors do not."""
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

    def write(self, noises: "list[Array]") -> None:
        """Write how far the numbers move beside the answer."""
        import numpy as np

        named: dict[str, Any] = {
            f"{gate.NOISE}{place}": noise for place, noise in enumerate(noises)
        }
        with open(self._path + ".part", "wb") as file:  # noqa: PTH123 - the style of the measured side
            np.savez(file, *self.answers, **named)
        os.replace(self._path + ".part", self._path)  # noqa: PTH105 - as above


def report(job: "Mapping[str, Any]") -> "dict[str, Any]":
    """Write how far each number moves beside the answer that is there."""
    import numpy as np
    from numpy.random import default_rng

    reference = Reference(job)
    share, step = precision.tolerance(reference.kind), precision.step(reference.kind)
    rng = default_rng(job["seed"])
    again = reference.apart()
    noises = moved.noises(
        lambda: reference.called(lambda leaf: _moved(leaf, share, rng)), reference.answers, share
    )
    # What differs from call to call by itself, as drawn numbers do, is no noise of computing.
    noises = [
        np.where(_STEADY * other <= noise * share, noise, 0.0)
        for noise, other in zip(noises, again, strict=True)
    ]
    # Already now, as a program may not survive the other arithmetic.
    reference.write([_known(*pair) for pair in zip(noises, reference.answers, strict=True)])
    for one in _rounded(reference):
        for place, noise in enumerate(one):
            told = np.where(_STEADY * again[place] <= noise, noise, 0.0) / step
            weight = _ROUNDING if np.any(noises[place]) else 1.0
            noises[place] = np.maximum(noises[place], weight * told)
    reference.write([_known(*pair) for pair in zip(noises, reference.answers, strict=True)])
    return {"type": "noise"}


def _moved(leaf: "Any", share: float, rng: "np.random.Generator") -> "Any":
    """Return another leaf: one with numbers that a less precise type would have."""
    kind = type(leaf)
    if kind in {float, complex}:
        # Whole ones are the same in any type, and may be counts.
        return leaf if leaf == int(leaf.real) else leaf * (1 + share * rng.choice([-1, 1]))
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
        return leaf * leaf.dtype.type(1 + share * rng.choice([-1, 1]))
    return values.duplicate(leaf)


def _moved_of_jax(leaf: "Any", share: float, rng: "np.random.Generator") -> "Any":
    import numpy as np

    jax = sys.modules["jax"]
    if not jax.numpy.issubdtype(leaf.dtype, jax.numpy.inexact) or len(leaf.devices()) > 1:
        return values.duplicate(leaf)
    kind = leaf.dtype
    wide = np.asarray(leaf).astype("c16" if np.dtype(kind).kind == "c" else "f8")
    return jax.device_put(moved.moved(wide, share, rng).astype(kind), leaf.sharding)


def _known(noise: "Array", answer: "Array") -> "Array":
    """Return a noise; where nothing has shown any, what is usual for the largest number."""
    import numpy as np

    if np.any(noise) or answer.dtype.kind not in "fc":
        return noise
    finite = np.abs(answer[np.isfinite(answer)])
    return np.full(answer.shape, _UNMOVED * float(np.max(finite, initial=0.0)))


def _rounded(reference: Reference) -> "Iterator[list[Array]]":
    """Yield how far its answers are away where this thread rounds its arithmetic otherwise."""
    import ctypes

    rounded = getattr(ctypes.CDLL(None), "fesetround", None)
    for mode in _ROUNDED.get(os.uname().machine, ()):
        if rounded is None or rounded(mode):
            return
        try:
            found = reference.apart()
        except Exception:  # noqa: BLE001 - not every function bears it
            return
        finally:
            rounded(0)
        yield found
