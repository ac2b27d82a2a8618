"""PyTorch, ahead of time: a package with the compiled program, or the entries of its caches.

Both are made once, in a process of their own, from the candidate that ``torch_compile`` runs, and
written to a file. What a measured process reads of it is the part ``cache_read`` of its first call.
What the making costs is published beside it.

The package (AOTInductor) has the whole candidate as machine code, with the gradients that it takes:
nothing is left to compile, and the candidate's own code is not used. It runs only with the PyTorch
and on the kind of processor that it was made for. Loading it asks which vector instructions work,
only to warn of another processor, and on the CPU compiles tests for that. So it is told that none
do, as with ``TORCHINDUCTOR_VEC_ISA_OK=0``; PyTorch's warning of a mismatch then says nothing.

The entries ("mega-cache") are put into the empty caches of a process, which then traces the
candidate and finds them. They have the machine code of a GPU, but not that of a CPU: there the C++
compiler runs again. Loading either runs what is in the file, so load only what you trust.
"""

import os

from coldwarm.backends.torch import TorchCompile
from coldwarm.wire import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class _Made(TorchCompile):
    """What both have in common."""

    like = ("torch_compile",)
    variant = True
    scenarios = False
    prepares = True


class TorchAot(_Made):
    """A compiled package (AOTInductor): nothing left but to load it."""

    name = "torch_aot"
    compiles = False
    FILE = "program.pt2"

    @classmethod
    def programs(cls, device: str) -> "tuple[str, ...]":
        """Return the compilers: the package is C++, also that for a GPU."""
        return tuple(dict.fromkeys((*super().programs(device), *super().programs("cpu"))))

    def import_runtime(self) -> None:
        """Import PyTorch and what reads a package."""
        super().import_runtime()
        import torch._inductor.codecache
        import torch._inductor.package  # noqa: F401 - importing is what is timed

    def wrap(self, function: "Callable[..., Any]") -> "Callable[..., Any]":
        """Return the function: the candidate is compiled as a whole."""
        return function

    def make(
        self, function: "Callable[..., Any]", arguments: "tuple[Any, ...]", directory: str
    ) -> None:
        """Stage the whole candidate as one graph, gradients included, and compile that.

        ``torch.export`` alone takes no graph in which gradients are asked for. Tensors without
        values trace it, so that what depends on values fails, and is not fixed to these ones.
        """
        import torch
        from torch.fx.experimental.proxy_tensor import make_fx

        spans = self.watcher.spans
        spans.open("export", "trace_s")
        graph = make_fx(function, tracing_mode="fake")(*arguments)
        # Without this pass, what is written into an argument would be lost.
        exported = torch.export.export(graph, arguments).run_decompositions({})
        spans.close("export")
        spans.open("package", "lower_s")
        path = os.path.join(directory, self.FILE)
        torch._inductor.aoti_compile_and_package(exported, package_path=path)  # noqa: SLF001 - documented so
        spans.close("package")

    def load(self, directory: str) -> "Callable[..., Any]":
        """Load the package and return its function."""
        from torch._inductor import aoti_load_package, config

        spans = self.watcher.spans
        spans.open("load", "cache_read_s")
        with config.patch({"cpp.vec_isa_ok": False}):
            loaded: Callable[..., Any] = aoti_load_package(os.path.join(directory, self.FILE))
        spans.close("load")
        self.watcher.reads = True
        return loaded

    def counters(self) -> "dict[str, dict[str, Any]]":
        """Return the counts of the caches, which are not used, and that a package is loaded."""
        found = super().counters()
        found["inductor"]["raw"]["loaded_packages"] = int(self.watcher.reads)
        return found


class TorchMegacache(_Made):
    """``torch.compile`` with the entries of its caches from a file ("mega-cache")."""

    name = "torch_megacache"
    replaces = False
    FILE = "artifacts.bin"

    def __init__(self, device: str, threads: "int | None" = None) -> None:
        """Remember where to run; import nothing."""
        super().__init__(device, threads)
        self._n_loaded = 0

    def make(
        self, function: "Callable[..., Any]", arguments: "tuple[Any, ...]", directory: str
    ) -> None:
        """Call the candidate, which compiles it, and write the entries that this made."""
        import torch

        self.sync(function(*arguments))
        saved = torch.compiler.save_cache_artifacts()
        if saved is not None:
            with open(os.path.join(directory, self.FILE), "wb") as file:
                file.write(saved[0])

    def load(self, directory: str) -> None:
        """Put the entries into the caches."""
        import torch

        spans = self.watcher.spans
        spans.open("load", "cache_read_s")
        with open(os.path.join(directory, self.FILE), "rb") as file:
            info = torch.compiler.load_cache_artifacts(file.read())
        spans.close("load")
        self._n_loaded = 0 if info is None else sum(map(len, info.artifacts.values()))

    def counters(self) -> "dict[str, dict[str, Any]]":
        """Return the counts of the caches, and how many entries were put there beforehand."""
        found = super().counters()
        found["inductor"]["raw"]["loaded_artifacts"] = self._n_loaded
        return found
