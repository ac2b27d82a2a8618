"""Frameworks as they arrive: each is watched from the moment its import has ended, however late.

A finder of modules stands before all others. It finds nothing itself: of the few modules that
are awaited, it lets the others find and load them, and tells when that is done. A framework that
came in another way is noticed afterwards; what it did until then was counted by nobody, and is
told so.
"""

import sys

from coldwarm.frameworks.base import WATCHES, Watch, module_of
from coldwarm.wire import TYPE_CHECKING, because

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


_AWAITED = {
    **{framework: framework for framework in WATCHES},
    # What torch.compile loads when it is first asked for; its events arrive there.
    "torch._dynamo.utils": "torch",
}


class Arrivals(Awaited):
    """The watches of all frameworks of this process, those that are still to come too."""

    def __init__(self, device: str = "cpu") -> None:
        """Read the files that know the frameworks, so that no import of a user's has to wait."""
        self.watches: list[Watch] = []
        self.gap: dict[str, Any] | None = None
        """Why counts are not complete; ``None``: they are."""
        self._by_framework: dict[str, Watch] = {}
        self._kinds = {name: getattr(module_of(name), kind) for name, kind in WATCHES.items()}
        self._device = device
        super().__init__({name: self._arriving(framework) for name, framework in _AWAITED.items()})

    def begin(self) -> None:
        """Follow imports from now on; frameworks that are there already are watched at once."""
        super().begin()
        for framework in filter(_is_loaded, WATCHES):
            self._arrived(framework)

    def end(self) -> None:
        """Stop following and watching, and leave everything as it was."""
        super().end()
        for watch in self.watches:
            watch.uninstall()

    def check(self) -> "dict[str, Any] | None":
        """Notice what was missed since the last time; return why counts are not complete.

        What is noticed is watched from now on, so that later counts are complete again.
        """
        gap = None
        for framework in WATCHES:
            watch = self._by_framework.get(framework)
            unwatched = _is_loaded(framework) if watch is None else watch.late()
            if unwatched:
                gap = because("came_unwatched", framework=framework)
            elif watch is not None and not watch.intact():
                gap = because("listeners_removed", framework=framework)
            else:
                continue
            self._arrived(framework)
        self.gap = gap or self.gap
        return gap

    def compiles_so_far(self) -> int | None:
        """Return the programs that all frameworks have compiled or read; ``None``: unknown."""
        if self.check() is not None:
            return None
        return sum(watch.compiles_so_far() for watch in self.watches)

    def mark(self) -> None:
        """Let ``counts`` be of what was compiled up to here."""
        for watch in self.watches:
            watch.mark()

    def counts(self) -> "dict[str, Any]":
        """Return the counts of every framework; where one was not watched, there are none."""
        self.check()
        every = [watch.counts(self.gap) for watch in self.watches]
        return {name: number for counts in every for name, number in counts.items()}

    def counters(self) -> "dict[str, dict[str, Any]]":
        """Return the counts of every framework's cache; incomplete ones are no counts."""
        self.check()
        found: dict[str, dict[str, Any]] = {}
        for watch in self.watches:
            found.update(watch.counters())
        if self.gap is None:
            return found
        unknown = ("requests", "hits", "misses", "writes", "bypasses", "compiles")
        reasons = dict.fromkeys(unknown, self.gap)
        return {
            owner: {**counts, **dict.fromkeys(unknown), "reasons": reasons}
            for owner, counts in found.items()
        }

    def _arriving(self, framework: str) -> "Callable[[], None]":
        return lambda: self._arrived(framework)

    def _arrived(self, framework: str) -> None:
        """Watch a framework that is loaded, or go on with it."""
        watch = self._by_framework.get(framework)
        if watch is None:
            watch = self._by_framework[framework] = self._kinds[framework](self._device)
            self.watches.append(watch)
        elif not watch.intact():
            watch.uninstall()
        watch.install()
        watch.begin_call()


def _is_loaded(framework: str) -> bool:
    """Say whether a framework's import has ended; a stand-in of a user's own is none."""
    spec = getattr(sys.modules.get(framework), "__spec__", None)
    return spec is not None and not getattr(spec, "_initializing", False)
