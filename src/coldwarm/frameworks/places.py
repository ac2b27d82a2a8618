"""Where this process was given its caches, and whether the program has moved one elsewhere.

A process starts with a variable for the folder of each cache. A program can set another one by
itself, in its environment or in the settings of a framework: what it finds there is of no known
state, whatever the folder that it was given shows.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

VARIABLES = (
    "JAX_COMPILATION_CACHE_DIR",
    "NUMBA_CACHE_DIR",
    "TORCHINDUCTOR_CACHE_DIR",
    "TORCH_EXTENSIONS_DIR",
    "TRITON_CACHE_DIR",
    "TRITON_HOME",
    "CUDA_CACHE_PATH",
    "PYTORCH_KERNEL_CACHE_PATH",
    "TMPDIR",
)
"""Of the environment: each names a folder."""
_SETTINGS = (
    # The module, the name in it with dots, and the variable that it begins with.
    ("jax", "config.jax_compilation_cache_dir", "JAX_COMPILATION_CACHE_DIR"),
    ("numba", "config.CACHE_DIR", "NUMBA_CACHE_DIR"),
    ("tempfile", "tempdir", "TMPDIR"),
    ("triton", "knobs.cache.dir", "TRITON_CACHE_DIR"),
)


class Places:
    """The folders that a process was given for its caches."""

    def __init__(self) -> None:
        """Remember what the environment says, before the program can change it."""
        self._given = {name: os.environ.get(name) for name in VARIABLES}

    def moved(self) -> "list[str]":
        """Return the settings that name another folder now, outside of those given."""
        return [name for name, given, now in self._now() if now != given and not self._inside(now)]

    def _now(self) -> "Iterator[tuple[str, str | None, str | None]]":
        for name, given in self._given.items():
            yield name, given, os.environ.get(name)
        for module, path, variable in _SETTINGS:
            found: Any = sys.modules.get(module)
            for part in path.split("."):
                found = getattr(found, part, None)
            given = self._given[variable]
            # What is not set says nothing of its own; no folder at all is a cache turned off.
            yield f"{module}.{path}", given, str(found) if found else given

    def _inside(self, place: "str | None") -> bool:
        if place is None:
            return False
        inner = os.path.realpath(place)
        folders = [os.path.realpath(given) for given in self._given.values() if given]
        return any(inner == folder or inner.startswith(folder + os.sep) for folder in folders)
