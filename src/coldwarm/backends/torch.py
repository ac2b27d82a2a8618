"""PyTorch: eager and under ``torch.compile``, on CPU and GPU.

How a first call is divided into parts stands under *How it is watched*.
"""

import os

from coldwarm.backends.base import Backend, DeviceUnavailableError
from coldwarm.frameworks.torch import CompileWatch, EagerWatch, wait
from coldwarm.wire import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, ClassVar

    import numpy as np


class TorchEager(Backend):
    """PyTorch without ``torch.compile``: each operation is dispatched to a ready kernel."""

    name = "torch_eager"
    framework = "torch"
    modules = ("torch",)
    distributions = ("torch",)
    devices: "ClassVar[tuple[str, ...]]" = ("cpu", "gpu")
    dtypes = ("f32", "f64", "bf16")
    sync_policy = (
        "CPU: none needed, calls return finished tensors; GPU: wait for all work of each"
        " device that holds an output of the candidate"
    )
    pools = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    watched_by: "ClassVar[type[EagerWatch]]" = EagerWatch
    watcher: EagerWatch

    def __init__(self, device: str, threads: "int | None" = None) -> None:
        """Remember where to run; import nothing.

        On a GPU calls return before their results are there, and the driver keeps a
        cache of its own, so that ``synchronous`` and ``caches`` differ from the class's.
        """
        super().__init__(device, threads)
        self._torch_device = "cuda" if device == "gpu" else "cpu"
        if device == "gpu":
            vars(self).update(synchronous=False, caches=(*type(self).caches, "cuda"))

    def device_init(self) -> None:
        """Ask for the device; on a GPU create its context, which is the larger part.

        Raises:
            DeviceUnavailableError: there is no GPU that this PyTorch can use.
        """
        import torch

        if self.threads is not None:
            torch.set_num_threads(self.threads)
        if self.device == "gpu":
            if not torch.cuda.is_available():
                raise DeviceUnavailableError("gpu_unavailable")
            torch.cuda.init()
            torch.cuda.synchronize()

    def place(self, arrays: "Sequence[np.ndarray[Any, Any]]") -> "tuple[Any, ...]":
        """Copy the arrays to the device and wait for them."""
        short = self.dtype == "bf16"
        placed = tuple(_tensor(array, self._torch_device, short=short) for array in arrays)
        self.sync(placed)
        return placed

    def sync(self, out: "Any") -> None:
        """Wait for all work of every GPU that holds a tensor of ``out``."""
        wait(_leaves(out))

    def fetch(self, out: "Any") -> "list[np.ndarray[Any, Any]]":
        """Return host copies of the leaves; bfloat16, which NumPy lacks, as float32."""
        return [_array(leaf) for leaf in _leaves(out)]

    def device_info(self) -> "dict[str, Any]":
        """Return the device as PyTorch names it, and on a GPU its peak of allocated memory."""
        gpu = self.watcher.gpu() if self.device == "gpu" else None
        return super().device_info() if gpu is None else gpu


class TorchCompile(TorchEager):
    """PyTorch under ``torch.compile``: traced by Dynamo, compiled by Inductor."""

    name = "torch_compile"
    caches = ("inductor",)
    compiles = True
    watched_by = CompileWatch
    watcher: CompileWatch
    dynamic: "ClassVar[bool | None]" = None
    mode: "ClassVar[str | None]" = None

    @classmethod
    def programs(cls, device: str) -> "tuple[str, ...]":
        """Return the compilers: on the CPU also what Inductor hashes binaries with.

        On a GPU Triton builds the launcher of each kernel with a C compiler: ``CC``, else the
        first of ``gcc`` and ``clang`` that is there.
        """
        if device == "cpu":
            return (os.environ.get("CXX", "g++"), "openssl")
        from shutil import which

        named = os.environ.get("CC", "").split()[:1]
        found = [name for name in ("gcc", "clang") if which(name)]
        return tuple(named or found[:1] or ["gcc"])

    def wrap(self, function: "Callable[..., Any]") -> "Callable[..., Any]":
        """Return ``torch.compile(function)``, which first imports the compiler."""
        import torch

        compiled: Callable[..., Any] = torch.compile(function, dynamic=self.dynamic, mode=self.mode)
        return compiled


class TorchCompileDynamic(TorchCompile):
    """``torch.compile(dynamic=True)``: one program for every size of an array's axes."""

    name = "torch_compile_dynamic"
    like = ("torch_compile",)
    variant = True
    dynamic = True


class TorchCompileReduceOverhead(TorchCompile):
    """``torch.compile(mode="reduce-overhead")``: kernels replayed as one CUDA graph.

    Every replay writes its outputs to the same memory, so a caller who wants to keep one
    copies it. A timed call does not.
    """

    name = "torch_compile_reduce_overhead"
    like = ("torch_compile",)
    variant = True
    scenarios = False  # a loop that keeps its results would find them overwritten
    devices = ("gpu",)
    mode = "reduce-overhead"


def _tensor(array: "np.ndarray[Any, Any]", device: str, *, short: bool) -> "Any":
    """Copy a host array to a tensor of the same type, or floats to bfloat16."""
    import torch

    if short and array.dtype.kind == "f":
        return torch.tensor(array, device=device, dtype=torch.bfloat16)
    return torch.tensor(array, device=device)


def _array(leaf: "Any") -> "np.ndarray[Any, Any]":
    """Copy a tensor, or a number, to a host array."""
    import numpy as np
    import torch

    if not isinstance(leaf, torch.Tensor):
        return np.asarray(leaf)
    host = leaf.detach().to("cpu")
    return np.array((host.float() if host.dtype is torch.bfloat16 else host).numpy())


def _leaves(out: "Any") -> "list[Any]":
    if isinstance(out, dict):
        out = tuple(out.values())
    if isinstance(out, tuple | list):
        return [leaf for item in out for leaf in _leaves(item)]
    return [out]
