"""JAX, ahead of time: an exported program, or a serialised executable.

Both are made once, in a process of their own, from the candidate that ``jax_jit`` runs, and
written to a file. The measured process has no use for the candidate's own code: it loads the
file when the function is first called for, so that ``ttfr`` and the first call hold the
loading, as the part ``cache_read``. What the making costs is published beside it.

The exported program is StableHLO, which other machines and later versions of JAX can read: it
is not traced from Python again, but lowered and compiled where it is loaded. The executable
is machine code: nothing is left to compile, and it runs only with the jaxlib and on the kind
of processor that it was made for. Loading either runs what is in the file, so load only what
you trust.
"""

import os

from coldwarm.backends.jax import JaxJit, analyse
from coldwarm.wire import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class _Made(JaxJit):
    """Parts that both have in common: the loading, and its time."""

    like = ("jax_jit",)
    variant = True
    scenarios = False
    prepares = True
    FILE = ""

    def __init__(self, device: str, threads: "int | None" = None) -> None:
        """Remember where to run; import nothing."""
        super().__init__(device, threads)
        self._loaded: Any = None

    def make(
        self, function: "Callable[..., Any]", arguments: "tuple[Any, ...]", directory: str
    ) -> None:
        """Stage the whole candidate as one program, and write what is made of it."""
        import jax

        whole = function if hasattr(function, "lower") else jax.jit(function)
        data = self._serialise(whole, arguments)
        with open(os.path.join(directory, self.FILE), "wb") as file:
            file.write(data)

    def load(self, directory: str) -> "Callable[..., Any]":
        """Read the file and return the function in it."""
        spans = self.watcher.spans
        spans.open("load", "cache_read_s")
        with open(os.path.join(directory, self.FILE), "rb") as file:
            data = file.read()
        self._loaded = self._deserialise(data)
        spans.close("load")
        self.watcher.reads = True
        loaded: Callable[..., Any] = self._loaded
        return loaded

    def _serialise(self, function: "Any", arguments: "tuple[Any, ...]") -> "bytes | bytearray":
        """Return what measured processes load."""
        raise NotImplementedError

    def _deserialise(self, data: bytes) -> "Any":
        """Return the function that was serialised."""
        raise NotImplementedError


class JaxExport(_Made):
    """An exported program: traced ahead of time, lowered and compiled in the fresh process."""

    name = "jax_export"
    modules = ("jax", "jaxlib", "flatbuffers")
    distributions = ("jax", "jaxlib", "flatbuffers")
    FILE = "program.stablehlo"

    def import_runtime(self) -> None:
        """Import JAX and what reads an exported program."""
        super().import_runtime()
        from jax import export  # noqa: F401 - importing is what is timed

    def _serialise(self, function: "Any", arguments: "tuple[Any, ...]") -> bytearray:
        from jax import export

        serialised: bytearray = export.export(function)(*arguments).serialize()
        return serialised

    def _deserialise(self, data: bytes) -> "Any":
        from jax import export

        return self.wrap(export.deserialize(bytearray(data)).call)


class JaxAot(_Made):
    """A serialised executable: compiled ahead of time, nothing left but to load it."""

    name = "jax_aot"
    compiles = False
    FILE = "executable.pickle"

    def import_runtime(self) -> None:
        """Import JAX and what reads an executable."""
        super().import_runtime()
        from jax.experimental import serialize_executable  # noqa: F401 - importing is what is timed

    def _serialise(self, function: "Any", arguments: "tuple[Any, ...]") -> bytes:
        import pickle

        from jax.experimental import serialize_executable

        compiled = function.lower(*arguments).compile()
        return pickle.dumps(serialize_executable.serialize(compiled))

    def _deserialise(self, data: bytes) -> "Any":
        import pickle

        import jax
        from jax.experimental import serialize_executable

        several = len(jax.devices(self._device.platform)) > 1
        # Where there are several devices, it would be loaded for all of them.
        where = {"execution_devices": [self._device]} if several else {}
        made = pickle.loads(data)  # noqa: S301 - written by this run, in a process of its own
        return serialize_executable.deserialize_and_load(*made, **where)

    def analysis(self) -> "dict[str, float | int | None]":
        """Return XLA's own memory and cost analysis, as far as the executable kept it."""
        return {} if self._loaded is None else analyse(self._loaded)
