"""Backends that misbehave: one class for each fault, named as the fault is.

A fault is an event of a candidate's life (``import``, ``call 1``, …) and what it does
then. Calls are counted from 1, over the whole process.
"""

import os

from faulty_acts import ACTS, SPOILS  # type: ignore[import-not-found]  # on the path of the run

from coldwarm.backends.base import Backend

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, ClassVar

    import numpy as np


class Faulty(Backend):
    """NumPy with a fault: ``at`` an event, ``act``; ``spoil`` outputs from a call on."""

    framework = "numpy"
    modules = ("numpy",)
    distributions = ("numpy",)
    device_suffix = False
    sync_policy = "none needed"
    at: "ClassVar[str]" = ""
    act: "ClassVar[Callable[[], None] | None]" = None
    spoil: "ClassVar[Callable[[Any], Any] | None]" = None
    spoil_from: "ClassVar[int]" = 1
    mutates: "ClassVar[bool]" = False

    def __init__(self, device: str, threads: "int | None" = None) -> None:
        """Start with no call."""
        super().__init__(device, threads)
        self.calls = 0

    def event(self, name: str) -> None:
        """Do the fault if this is its moment."""
        act = type(self).act
        if name == self.at and act is not None:
            act()

    def import_runtime(self) -> None:
        """Import NumPy."""
        import numpy  # noqa: F401, ICN001 - importing is the phase

        self.event("import")

    def device_init(self) -> None:
        """Have a device, or not."""
        self.event("device_init")

    def place(self, arrays: "Sequence[np.ndarray[Any, Any]]") -> "tuple[Any, ...]":
        """Return the arrays as they are."""
        self.event("place")
        return tuple(arrays)

    def wrap(self, function: "Callable[..., Any]") -> "Callable[..., Any]":
        """Return the function with the fault in it."""
        self.event("wrap")
        spoil = type(self).spoil

        def faulty(array: "np.ndarray[Any, Any]") -> "Any":
            self.calls += 1
            self.event(f"call {self.calls}")
            out = function(array)
            if self.mutates:
                array += 1
            if spoil is not None and self.calls >= self.spoil_from:
                return spoil(out)
            return out

        return faulty

    def fetch(self, out: "Any") -> "list[np.ndarray[Any, Any]]":
        """Return the outputs as a list."""
        return list(out) if isinstance(out, tuple) else [out]

    def versions(self) -> "dict[str, str]":
        """Return NumPy's version."""
        import numpy as np

        return {"numpy": np.__version__}


class Cached(Faulty):
    """A backend that compiles and keeps what it compiled: its counters are the fault.

    It fills the directory that the environment names and counts honestly; a subclass
    lies.
    """

    caches = ("jax",)
    compiles = True

    def watch(self) -> None:
        """Look for the file that an earlier process left."""
        self.entry = os.path.join(os.environ["JAX_COMPILATION_CACHE_DIR"], "entry.bin")  # noqa: PTH118 - as the measured side writes paths
        self.hit = os.path.exists(self.entry)  # noqa: PTH110 - likewise
        self.counted = {"hits": int(self.hit), "misses": int(not self.hit)}
        self.compiled = int(not self.hit)
        with open(self.entry, "ab") as file:  # noqa: PTH123 - likewise
            file.write(b"x")

    def counters(self) -> "dict[str, dict[str, Any]]":
        """Return the counts."""
        return {"jax": {"requests": 1, **self.counted, "compiles": self.compiled, "raw": {}}}

    def compiles_so_far(self) -> "int | None":
        """Return what was compiled."""
        return self.compiled


class HitsWhenEmpty(Cached):
    """Finds something in an empty cache."""

    name = "hits_when_empty"

    def watch(self) -> None:
        """Count a hit, whatever there was."""
        super().watch()
        self.counted["hits"] = 1


class MissesWhenFilled(Cached):
    """Compiles again although the cache is filled."""

    name = "misses_when_filled"

    def watch(self) -> None:
        """Count a miss and a compile, whatever there was."""
        super().watch()
        self.counted, self.compiled = {"hits": int(self.hit), "misses": 1}, 1


class CompilesWhenWarm(Cached):
    """Compiles a program whenever it is asked."""

    name = "compiles_when_warm"

    def compiles_so_far(self) -> "int | None":
        """Count one more."""
        self.compiled += 1
        return self.compiled


class CountsNothing(Cached):
    """Gives no count of hits."""

    name = "counts_nothing"

    def counters(self) -> "dict[str, dict[str, Any]]":
        """Return no count."""
        return {"jax": {"raw": {}}}


class CountsNonsense(Cached):
    """Gives counts that are no numbers."""

    name = "counts_nonsense"

    def counters(self) -> "dict[str, dict[str, Any]]":
        """Return words."""
        return {"jax": {"hits": "plenty", "raw": {}}}


class PartsNonsense(Faulty):
    """Says that a part of the first call took less than no time."""

    name = "parts_nonsense"

    def parts(self) -> "dict[str, Any]":
        """Return a negative duration."""
        return {"trace_s": -1.0, "lower_s": None, "compile_s": None, "cache_read_s": None}


class PartsTooLong(Faulty):
    """Says that a part of the first call took longer than the whole."""

    name = "parts_too_long"

    def parts(self) -> "dict[str, Any]":
        """Return an hour."""
        return {"trace_s": 3600.0, "lower_s": 3600.0, "compile_s": None, "cache_read_s": None}


class NoSuchModule(Faulty):
    """Needs what is not installed."""

    name = "no_such_module"
    modules = ("a_module_that_nobody_has",)


class Honest(Cached):
    """A cache that works."""

    name = "honest"


def _class_name(fault: str) -> str:
    return fault.title().replace("_", "")


def _make(fault: str, **fields: object) -> None:
    name = _class_name(fault)
    globals()[name] = type(name, (Faulty,), {"name": fault, "__module__": __name__, **fields})


for _name, (_at, _act) in ACTS.items():
    _make(_name, at=_at, act=staticmethod(_act))
for _name, (_spoil, _from) in SPOILS.items():
    _make(_name, spoil=staticmethod(_spoil), spoil_from=_from)
_make("mutates", mutates=True)

SLOW = ("leave_thread", "hang", "close_pipes")
"""Faults that only time can show: left to tests of their own."""
CLASSES = {
    **{fault: _class_name(fault) for fault in (*ACTS, *SPOILS, "mutates") if fault not in SLOW},
    **{
        kind.name: kind.__name__
        for kind in (
            HitsWhenEmpty,
            MissesWhenFilled,
            CompilesWhenWarm,
            CountsNothing,
            CountsNonsense,
            PartsNonsense,
            PartsTooLong,
            NoSuchModule,
            Honest,
        )
    },
}
"""Backend name to the class in this file."""
