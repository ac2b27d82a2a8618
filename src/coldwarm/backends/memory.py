"""Copies of arrays that lie outside the heap of the C allocator.

What stays in that heap decides whether memory below it goes back to the kernel after a call, and
so what later calls cost. A program that does not keep its first result must find the heap as if it
had not been kept.
"""

from coldwarm.wire import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

_ALWAYS_MAPPED = 33 << 20
"""Bytes from which glibc maps an allocation by itself, whatever was freed before: 32 MiB. What of
them is not used is only an address. Nothing else is loaded for it, as that would take heap, too."""


def outside_heap(values: "Iterable[Any]") -> "list[Any]":
    """Return copies of NumPy arrays in memory mapped for them; other values as they are."""
    import numpy as np

    return [_copy(one) if type(one) is np.ndarray else one for one in values]


def _copy(array: "Any") -> "Any":
    import numpy as np

    if array.dtype.hasobject:
        return array.copy()
    mapped = np.empty(array.nbytes + _ALWAYS_MAPPED, np.uint8)
    same = mapped[: array.nbytes].view(array.dtype).reshape(array.shape)
    same[...] = array
    return same
