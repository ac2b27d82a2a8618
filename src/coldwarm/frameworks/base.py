"""A watch of a framework, and which frameworks there is a watch for.

A watch runs in the process that computes: a measured one, or the user's own. It imports nothing
of the framework but the part that tells of events, which is loaded with it.
"""

import sys

from coldwarm.wire import TYPE_CHECKING, because

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    Numbers = dict[str, int | Mapping[str, Any]]

PARTS = ("trace_s", "lower_s", "compile_s", "cache_read_s")
"""Parts of the time of a first call, beside the rest."""
WATCHES = {"jax": "JaxWatch", "torch": "CompileWatch", "numba": "NumbaWatch"}
"""By framework, the class here that watches it."""


_LONGEST = 200
"""Characters of an error's message that are passed on."""


class Watch:
    """Follows what one framework does in this process, from ``install`` to ``uninstall``."""

    counted: "tuple[str, ...]" = ()
    """Names of what ``counts`` gives."""

    def __init__(self, device: str = "cpu") -> None:
        """Start with nothing seen; ``device`` is where the computing is done."""
        self.device = device
        self._uncountable: Mapping[str, Any] | None = None
        """Why there are no counts, where what they are from could not be read."""
        self._undo: list[Callable[[], object]] = []

    def install(self) -> None:
        """Begin to listen. The framework has been imported; untimed."""

    def intact(self) -> bool:
        """Say whether everything that was installed is still there; cheap to ask."""
        return True

    def late(self) -> bool:
        """Say whether the framework has loaded what compiles, and nobody listens to that."""
        return False

    def uninstall(self) -> None:
        """Stop listening, and leave the framework as it was."""
        while self._undo:
            self._undo.pop()()

    def begin_call(self) -> None:
        """Start the account that ``parts`` gives."""

    def catch_up(self) -> None:
        """Take note of what no event has told, after a call. Untimed."""

    def parts(self) -> "Mapping[str, Any]":
        """Return exclusive seconds since ``begin_call``, as ``Backend.parts`` has them.

        Empty where the framework has no such steps.
        """
        return {}

    def counters(self) -> "dict[str, dict[str, Any]]":
        """Return, for each cache owner, this process's counters so far."""
        return {}

    def mark(self) -> None:
        """Let ``counts`` be of what was compiled up to here. Untimed."""
        try:
            self.note()
        except Exception as error:  # noqa: BLE001 - another version may lack what is looked into
            self._uncountable = _told(error)

    def counts(self, gap: "Mapping[str, Any] | None" = None) -> "Numbers":
        """Return by name how much was compiled up to ``mark``, or why that is not known.

        Numbers without noise, the same in every process. Asked for when nothing more is timed.
        ``gap``: why what was seen is not all there was.
        """
        why = gap or self._uncountable
        if why is not None:
            return dict.fromkeys(self.counted, why)
        try:
            return self.numbers()
        except Exception as error:  # noqa: BLE001 - as above
            return dict.fromkeys(self.counted, _told(error))

    def note(self) -> None:
        """Keep what ``numbers`` needs of what was compiled up to here. Quick."""

    def numbers(self) -> "Numbers":
        """Return a number, or why there is none, for each name in ``counted``."""
        return {}

    def folded(self) -> "list[str]":
        """Return the programs of which next to nothing is left to do in a call."""
        return []

    def compiles_so_far(self) -> int:
        """Return how many programs were compiled, or read from a cache on disk; cheap to ask."""
        return 0

    def versions(self) -> "dict[str, str]":
        """Return the versions of the framework and of what was loaded with it."""
        return {}

    def gpu(self) -> "dict[str, Any] | None":
        """Return the GPU as the framework names it, as ``Backend.device_info`` has it.

        ``None``: it has none.
        """
        return None


def _told(error: Exception) -> "dict[str, Any]":
    return because("exception", error=type(error).__name__, text=str(error)[:_LONGEST])


def described_gpu(kind: "str | bytes", count: int, peak_bytes: "int | None") -> "dict[str, Any]":
    """Return a GPU as ``Backend.device_info`` has it."""
    return {
        "platform": "gpu",
        "kind": kind.decode() if isinstance(kind, bytes) else str(kind),
        "count": count,
        "memory_peak_bytes": peak_bytes,
    }


def module_of(framework: str) -> "Any":
    """Return the module here that knows a framework, loaded when it is first asked for."""
    name = f"coldwarm.frameworks.{framework}"
    __import__(name)
    return sys.modules[name]


def versions(*names: str) -> "dict[str, str]":
    """Return the versions of modules, of those that are loaded and tell it."""
    found = {name: getattr(sys.modules.get(name), "__version__", None) for name in names}
    return {name: str(version) for name, version in found.items() if isinstance(version, str)}
