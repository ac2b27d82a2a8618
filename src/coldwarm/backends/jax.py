"""JAX: eager and under ``jax.jit``, on CPU and GPU.

How a first call is divided into parts stands under *How it is watched*.
"""

from coldwarm.backends.base import Backend, DeviceUnavailableError
from coldwarm.frameworks.jax import JaxWatch, described, wait
from coldwarm.wire import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, ClassVar

    import numpy as np


class _Jax(Backend):
    """Parts that eager and compiled JAX share."""

    framework = "jax"
    modules: "ClassVar[tuple[str, ...]]" = ("jax", "jaxlib")
    distributions: "ClassVar[tuple[str, ...]]" = ("jax", "jaxlib")
    devices = ("cpu", "gpu")
    dtypes = ("f32", "f64", "bf16")
    caches = ("jax",)
    compiles = True
    synchronous = False
    sync_policy = "block_until_ready on every array of the candidate's own output"

    watched_by = JaxWatch
    watcher: JaxWatch

    def __init__(self, device: str, threads: "int | None" = None) -> None:
        """Remember where to run; import nothing."""
        super().__init__(device, threads)
        self._device: Any = None

    @classmethod
    def environment(cls, device: str, threads: "int | None") -> "dict[str, str]":
        """Choose the platform, the threads, and on a GPU full float32 products.

        XLA's CPU client sizes its thread pool by the processors it may use and takes no
        count of threads, so there ``threads`` becomes an affinity, which the runner sets.
        """
        del threads
        if device == "cpu":
            return {"JAX_PLATFORMS": "cpu"}
        return {
            "JAX_PLATFORMS": "cuda",
            # A GPU's default is a shorter mantissa, which is another answer.
            "JAX_DEFAULT_MATMUL_PRECISION": "highest",
            # A client takes three quarters of the memory by default; several candidates
            # that wait for their turns share one device.
            "XLA_CLIENT_MEM_FRACTION": "0.2",
            "XLA_PYTHON_CLIENT_MEM_FRACTION": "",  # the older name, which must not be set beside it
        }

    def device_init(self) -> None:
        """Ask for the devices, which starts the client."""
        import jax

        try:
            devices = jax.devices("gpu" if self.device == "gpu" else "cpu")
        except RuntimeError as error:
            reason = "gpu_unavailable" if self.device == "gpu" else f"no CPU client: {error}"
            raise DeviceUnavailableError(reason) from error
        self._device = devices[0]

    def place(self, arrays: "Sequence[np.ndarray[Any, Any]]") -> "tuple[Any, ...]":
        """Put the arrays on the device and wait for them."""
        import jax

        if any(array.dtype.itemsize == 8 for array in arrays):  # noqa: PLR2004 - eight bytes: 64 bits
            jax.config.update("jax_enable_x64", True)  # noqa: FBT003 - JAX's signature
        if self.dtype == "bf16":
            arrays = [_shortened(array) for array in arrays]
        placed = jax.device_put(tuple(arrays), self._device)
        jax.block_until_ready(placed)
        return tuple(placed)

    def sync(self, out: "Any") -> None:
        """Wait for every array of the output; a single array without a tree walk."""
        try:
            out.block_until_ready()
        except AttributeError:
            wait(out)

    def fetch(self, out: "Any") -> "list[np.ndarray[Any, Any]]":
        """Return host copies of the leaves; bfloat16, which NumPy lacks, as float32."""
        import jax
        import numpy as np

        arrays = [np.asarray(leaf) for leaf in jax.tree.leaves(out)]
        return [a.astype("float32") if a.dtype.name == "bfloat16" else a for a in arrays]

    def device_info(self) -> "dict[str, Any]":
        """Return the device as JAX names it; memory where it keeps a count."""
        return described(self._device)


def _shortened(array: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
    """Return floats as bfloat16, in the type with which JAX extends NumPy."""
    import jax.numpy as jnp

    return array.astype(jnp.bfloat16) if array.dtype.kind == "f" else array


class JaxEager(_Jax):
    """JAX without ``jax.jit``: each operation is compiled once and dispatched alone."""

    name = "jax_eager"


class JaxJit(_Jax):
    """JAX under ``jax.jit``: traced, lowered and compiled as one program."""

    name = "jax_jit"

    def __init__(self, device: str, threads: "int | None" = None) -> None:
        """Remember where to run; import nothing."""
        super().__init__(device, threads)
        self._wrapped: list[Any] = []
        self._arguments: tuple[Any, ...] = ()

    def wrap(self, function: "Callable[..., Any]") -> "Callable[..., Any]":
        """Return ``jax.jit(function)``."""
        import jax

        wrapped: Callable[..., Any] = jax.jit(function)
        self._wrapped.append(wrapped)
        return wrapped

    def place(self, arrays: "Sequence[np.ndarray[Any, Any]]") -> "tuple[Any, ...]":
        """Put the arrays on the device and keep their shapes for ``analysis``."""
        import jax

        placed = super().place(arrays)
        self._arguments = tuple(
            jax.ShapeDtypeStruct(array.shape, array.dtype, sharding=array.sharding)
            for array in placed
        )
        return placed

    def analysis(self) -> "dict[str, float | int | None]":
        """Return XLA's own memory and cost analysis of the program.

        Runs after the first result and the counters: it compiles the program again, from
        the cache where that is possible. Empty where the candidate jits inner functions,
        whose arguments are not the candidate's own.
        """
        if len(self._wrapped) != 1:
            return {}
        try:
            compiled = self._wrapped[0].lower(*self._arguments).compile()
        except (TypeError, NotImplementedError, RuntimeError):
            return {}
        return analyse(compiled)


def analyse(compiled: "Any") -> "dict[str, float | int | None]":
    """Return XLA's memory and cost analysis of a compiled program, empty where it gives none."""
    try:
        cost, memory = compiled.cost_analysis() or {}, compiled.memory_analysis()
    except (TypeError, NotImplementedError, RuntimeError):
        return {}
    found: dict[str, float | int | None] = {
        "cost_flops": cost.get("flops"),
        "cost_accessed_bytes": cost.get("bytes accessed"),
    }
    for name in ("argument", "output", "temp", "alias", "generated_code"):
        value = getattr(memory, f"{name}_size_in_bytes", None)
        found[f"{name}_bytes"] = value
    return found
