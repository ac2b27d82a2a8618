"""Tells when a module has been loaded, and changes nothing else about its import.

A finder of modules stands before all others. It finds nothing itself: of the few modules that
are awaited, it lets the others find and load them, and tells when that is done. The module keeps
its own loader, and nothing is imported for it.
"""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any


class Awaited:
    """A finder that tells when modules have been loaded."""

    def __init__(self, told: "Mapping[str, Callable[[], object]]") -> None:
        """Tell of each of these modules, by name, when its import has ended."""
        self._told = told

    def begin(self) -> None:
        """Follow imports from now on."""
        sys.meta_path.insert(0, self)

    def end(self) -> None:
        """Stop following."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(
        self, name: str, path: "Sequence[str] | None" = None, target: "Any" = None
    ) -> "Any":
        """Return what the other finders find, set to tell when it is loaded; mostly ``None``."""
        tell = self._told.get(name)
        if tell is None:
            return None
        for finder in list(sys.meta_path):
            find = getattr(finder, "find_spec", None)
            spec = None if finder is self or find is None else find(name, path, target)
            if spec is not None:
                if spec.loader is not None:
                    spec.loader = _Telling(spec.loader, tell)
                return spec
        return None


def _nothing() -> None:
    """Tell nobody: a module that is loaded again was told of."""


class _Telling:
    """A module's own loader, with a word when the module is there."""

    def __init__(self, loader: "Any", tell: "Callable[[], object]") -> None:
        """Stand before ``loader``."""
        self._loader = loader
        self._tell = tell

    def create_module(self, spec: "Any") -> "Any":
        """Create the module as its loader does."""
        return self._loader.create_module(spec)

    def exec_module(self, module: "Any") -> None:
        """Give the module its own loader back, let that execute it, and tell."""
        module.__spec__.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        tell, self._tell = self._tell, _nothing
        tell()

    def __getattr__(self, name: str) -> "Any":
        """Be the loader in everything else."""
        return getattr(self._loader, name)
