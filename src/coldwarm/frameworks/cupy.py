"""CuPy: waiting for its arrays. What it compiles is not watched."""

import sys

from coldwarm.frameworks.base import described_gpu
from coldwarm.wire import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any


def waiter(arrays: "Sequence[Any]") -> "Callable[[Any], None] | None":
    """Return what waits for all work of the devices of such arrays; ``None``: there is none.

    Where this process has used a GPU, and no array says which, it is the current one: what was
    returned may be a number of the host, and the work be in any stream.
    """
    if not arrays and not has_used_gpu():
        return None
    device = sys.modules["cupy"].cuda.Device
    devices = [device(number) for number in sorted({array.device.id for array in arrays})]
    devices = devices or [device()]

    def wait(_out: "Any") -> None:
        for one in devices:
            one.synchronize()

    return wait


def unfinished() -> int:
    """Return how many of the default and the current stream still have work."""
    cuda = getattr(sys.modules["cupy"], "cuda", None)
    try:
        streams = [cuda.Stream.null, cuda.get_current_stream()]  # type: ignore[union-attr] # what is missing is caught
        return sum(not stream.done for stream in streams)
    except Exception:  # noqa: BLE001 - without a driver CuPy raises errors of its own, and has computed nothing
        return 0


def has_used_gpu() -> bool:
    """Say whether an array was made: memory is kept in a pool when it is freed."""
    pool = getattr(sys.modules["cupy"], "get_default_memory_pool", None)
    return pool is not None and pool().total_bytes() > 0


def gpu() -> "dict[str, Any] | None":
    """Return the GPU in use as CuPy names it; ``None``: none was used."""
    if not has_used_gpu():
        return None
    runtime = sys.modules["cupy"].cuda.runtime
    name = runtime.getDeviceProperties(runtime.getDevice())["name"]
    return described_gpu(name, runtime.getDeviceCount(), None)
