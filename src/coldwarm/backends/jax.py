"""JAX: eager and under ``jax.jit``, on CPU and GPU.

The account of a first call comes from ``jax.monitoring``, whose listeners run in the
thread that compiles. A scalar event opens a span and a duration event closes it; spans
nest (a lowering may trace and compile an inner program), so each is charged with its
*exclusive* time. Nothing of JAX is wrapped: wrapping ``jax.jit`` would change the identity
of functions and cause retraces of its own.
"""

from coldwarm.backends._spans import SpanAccount
from coldwarm.backends.base import Backend, DeviceUnavailableError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, ClassVar

    import numpy as np

_COMPILE = "/jax/core/compile/backend_compile_duration"
_SPANS = {
    "/jax/core/compile/jaxpr_trace_duration": "trace_s",
    "/jax/core/compile/jaxpr_to_mlir_module_duration": "lower_s",
    _COMPILE: "compile_s",
}
_RETRIEVAL = "/jax/compilation_cache/cache_retrieval_time_sec"
_REQUEST = "/jax/compilation_cache/compile_requests_use_cache"
_HIT = "/jax/compilation_cache/cache_hits"
_WRITE = "/jax/compilation_cache/cache_misses"  # fires when an entry is written


class Account:
    """What ``jax.monitoring`` tells: exclusive seconds by part, and counts.

    The part ``compile_s`` of a program found in the cache is the time around the read:
    making the key, and what XLA does with the entry; the read itself is ``cache_read_s``.
    """

    def __init__(self) -> None:
        """Start empty."""
        self.spans = SpanAccount()
        self.requests = self.hits = self.writes = self.compiles = 0
        self.untold = False
        """Whether a step ended of which no beginning was told, as before JAX 0.6.1."""
        self._told = self._read = False

    def on_scalar(self, event: str, _value: float, **_details: "Any") -> None:
        """Open a span."""
        if event in _SPANS:
            self._told = True
            self.spans.open(event, _SPANS[event])

    def on_event(self, event: str, **_details: "Any") -> None:
        """Count a request, a hit or a write."""
        if event == _REQUEST:
            self.requests += 1
        elif event == _HIT:
            self.hits += 1
            span = self.spans.innermost()
            self._read = True
            if span is not None:
                span.marked = True
        elif event == _WRITE:
            self.writes += 1

    def on_duration(self, event: str, seconds: float, **_details: "Any") -> None:
        """Close a span, or charge a cache read apart from the span it happened in."""
        if event == _RETRIEVAL:
            self.spans.move(int(seconds * 1e9), "cache_read_s")
        elif event in _SPANS:
            span = self.spans.innermost()
            self.untold = not self._told
            hit = self._read if span is None else span.marked
            self.spans.close(event)
            if event == _COMPILE:
                self._read = False
                self.compiles += not hit


class _Jax(Backend):
    """What eager and compiled JAX share."""

    framework = "jax"
    modules: "ClassVar[tuple[str, ...]]" = ("jax", "jaxlib")
    distributions: "ClassVar[tuple[str, ...]]" = ("jax", "jaxlib")
    devices = ("cpu", "gpu")
    dtypes = ("f32", "f64", "bf16")
    caches = ("jax",)
    compiles = True
    synchronous = False
    sync_policy = "block_until_ready on every array of the candidate's own output"

    def __init__(self, device: str, threads: "int | None" = None) -> None:
        """Remember where to run; import nothing."""
        super().__init__(device, threads)
        self._account = Account()
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

    def import_runtime(self) -> None:
        """Import JAX."""
        import jax  # noqa: F401 - importing it is what is timed

    def device_init(self) -> None:
        """Ask for the devices, which starts the client."""
        import jax

        try:
            devices = jax.devices("gpu" if self.device == "gpu" else "cpu")
        except RuntimeError as error:
            reason = "gpu_unavailable" if self.device == "gpu" else f"no CPU client: {error}"
            raise DeviceUnavailableError(reason) from error
        self._device = devices[0]

    def watch(self) -> None:
        """Register the listeners."""
        from jax import monitoring

        monitoring.register_event_listener(self._account.on_event)
        monitoring.register_event_duration_secs_listener(self._account.on_duration)
        if hasattr(monitoring, "register_scalar_listener"):
            monitoring.register_scalar_listener(self._account.on_scalar)

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
            import jax

            jax.block_until_ready(out)

    def fetch(self, out: "Any") -> "list[np.ndarray[Any, Any]]":
        """Return host copies of the leaves; bfloat16, which NumPy lacks, as float32."""
        import jax
        import numpy as np

        arrays = [np.asarray(leaf) for leaf in jax.tree.leaves(out)]
        return [a.astype("float32") if a.dtype.name == "bfloat16" else a for a in arrays]

    def begin_call(self) -> None:
        """Start the account of a call."""
        self._account.spans.begin()

    def parts(self) -> "Mapping[str, Any]":
        """Return the exclusive seconds of tracing, lowering, compiling and cache reads."""
        parts: dict[str, Any] = self._account.spans.seconds()
        if self._account.untold:
            why = "JAX before 0.6.1 does not tell when a step begins"
            return {**dict.fromkeys(parts), "reasons": dict.fromkeys(parts, why)}
        if self._reads():
            return parts
        why = "nothing was read from the persistent cache"
        return {**parts, "cache_read_s": None, "reasons": {"cache_read_s": why}}

    def _reads(self) -> bool:
        """Say whether something compiled earlier was read."""
        return self._account.hits > 0

    def counters(self) -> "dict[str, dict[str, Any]]":
        """Return the persistent cache's counts; a miss is a request without a hit."""
        account = self._account
        return {
            "jax": {
                "requests": account.requests,
                "hits": account.hits,
                "misses": account.requests - account.hits,
                "writes": account.writes,
                "bypasses": None,
                "compiles": account.compiles,
                "raw": dict(account.spans.closed),
            }
        }

    def compiles_so_far(self) -> "int | None":
        """Return the programs that XLA compiled or read from the cache.

        A read counts too: a warm window must need neither.
        """
        return self._account.compiles + self._account.hits

    def device_info(self) -> "dict[str, Any]":
        """Return the device as JAX names it; memory where it keeps a count."""
        import jax

        stats = self._device.memory_stats() or {}
        return {
            "platform": self._device.platform,
            "kind": self._device.device_kind,
            "count": len(jax.devices(self._device.platform)),
            "memory_peak_bytes": stats.get("peak_bytes_in_use"),
        }

    def versions(self) -> "dict[str, str]":
        """Return the versions of JAX, jaxlib and NumPy."""
        import jax
        import jaxlib
        import numpy as np

        return {
            "jax": jax.__version__,
            "jaxlib": jaxlib.__version__,
            "numpy": np.__version__,
        }


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
