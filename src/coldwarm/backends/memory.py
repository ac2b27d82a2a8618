"""Copies of arrays that lie outside the heap of the C allocator.

What stays in that heap decides whether memory below it goes back to the kernel after a call, and
so what later calls cost. A program that does not keep its first result must find the heap as if it
had not been kept.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any


def outside_heap(values: "Iterable[Any]") -> "list[Any]":
    """Return copies of NumPy arrays in memory mapped for them; other values as they are."""
    import numpy as np

    return [_copy(one) if type(one) is np.ndarray else one for one in values]


def _copy(array: "Any") -> "Any":
    import mmap

    import numpy as np

    if array.dtype.hasobject:
        return array.copy()
    mapped = mmap.mmap(-1, max(array.nbytes, 1))
    same = np.frombuffer(mapped, array.dtype, count=array.size).reshape(array.shape)
    same[...] = array
    return same
