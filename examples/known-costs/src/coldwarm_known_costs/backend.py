"""A backend whose every cost is known: each step spins on the clock until its time has passed.

It stands in for a framework that compiles at its first call. A step can never be shorter than
its known cost; it is longer by what one reading of the clock takes, unless the operating system
takes the processor away just when a step ends.

This file is loaded by its path into a measured process, before the timed import. So at module
level it imports only what a bare interpreter has loaded, and the interface. Annotations are
quoted, and what they name is imported for type checkers alone.
"""

import time

from coldwarm.backends.base import Backend

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    import numpy as np

# All in milliseconds.
IMPORT_MS = 40
DEVICE_INIT_MS = 10
WRAP_MS = 20
TRACE_MS, LOWER_MS, COMPILE_MS, REST_MS = 30, 40, 60, 20
FIRST_CALL_MS = TRACE_MS + LOWER_MS + COMPILE_MS + REST_MS
SECOND_CALL_MS = 8

STEADY_NS_PER_ELEMENT = 1000
"""A steady call takes so long for each element of its first argument."""
NOISE = (1, 1, 1, 1, 1, 1.5, 1, 1, 1, 1, 1, 1, 1.5, 1, 1, 1)
"""Factors of consecutive steady calls, over and over. Their median is 1, their mean 1.0625,
their 95th percentile 1.5; batches of 16 calls, or a multiple, all take the mean."""

_NS_PER_MS = 1_000_000
_now_ns = time.perf_counter_ns


def _spin_until(deadline_ns: float) -> None:
    """Keep the processor busy: to sleep would end some 0.1 ms late, and let it slow down."""
    while _now_ns() < deadline_ns:
        pass


def _take_ms(milliseconds: int) -> float:
    """Take so long, and return how long it was in seconds."""
    begin_ns = _now_ns()
    _spin_until(begin_ns + milliseconds * _NS_PER_MS)
    return (_now_ns() - begin_ns) / 1e9


class KnownCosts(Backend):
    """A pretended framework on the CPU that compiles at the first call, without a cache."""

    name = "known_costs"
    framework = "known_costs"
    # What must be installed for a case to run: a missing one is a status, not an error.
    modules = ("numpy",)
    # Whose versions are reported.
    distributions = ("coldwarm-known-costs",)
    # One device, so candidates are called ``known_costs``, not ``known_costs_cpu``.
    devices = ("cpu",)
    device_suffix = False
    # It keeps nothing between processes. A framework that does names the owner of its cache
    # here, and gives that cache's counts in ``counters``: they prove the cache mode.
    caches = ()
    compiles = True
    synchronous = True
    sync_policy = "none needed: a call returns a finished array"

    def __init__(self, device: str, threads: "int | None" = None) -> None:
        """Start with nothing compiled."""
        super().__init__(device, threads)
        self._compiles = 0
        self._parts: dict[str, float] = {}

    def import_runtime(self) -> None:
        """Pretend to import a framework."""
        _take_ms(IMPORT_MS)

    def device_init(self) -> None:
        """Pretend to look for devices."""
        _take_ms(DEVICE_INIT_MS)

    def place(self, arrays: "Sequence[np.ndarray[Any, Any]]") -> "tuple[Any, ...]":
        """Return the arrays: the host's memory is the device's."""
        return tuple(arrays)

    def wrap(self, function: "Callable[..., Any]") -> "Callable[..., Any]":
        """Return a function that compiles at its first call."""
        _take_ms(WRAP_MS)
        return _Compiled(self, function).call

    def fetch(self, out: "Any") -> "list[np.ndarray[Any, Any]]":
        """Return the one output there is."""
        return [out]

    def compile(self) -> None:
        """Pretend to compile, and keep the account of it."""
        self._compiles += 1
        self._parts = {
            "trace_s": _take_ms(TRACE_MS),
            "lower_s": _take_ms(LOWER_MS),
            "compile_s": _take_ms(COMPILE_MS),
        }

    def begin_call(self) -> None:
        """Forget the account of earlier calls."""
        self._parts = {}

    def parts(self) -> "Mapping[str, Any]":
        """Return the account; what there is no account of is ``None``, with the reason."""
        return {**self._parts, "cache_read_s": None, "reasons": {"cache_read_s": "it has no cache"}}

    def compiles_so_far(self) -> int:
        """Return how often it compiled: proof that no warm call did."""
        return self._compiles

    def versions(self) -> "dict[str, str]":
        """Return the version of what is measured: NumPy does the adding."""
        import numpy as np  # noqa: PLC0415 - loaded when its phase has come

        return {"numpy": np.__version__}


class _Compiled:
    """A function with known costs: the first call, the second, then a steady one with noise."""

    def __init__(self, backend: KnownCosts, function: "Callable[..., Any]") -> None:
        """Remember what to call."""
        self._backend = backend
        self._function = function
        self._calls = 0

    def call(self, x: "Any") -> "Any":
        """Return the function's result when the time of this call has passed."""
        begin_ns = _now_ns()
        number = self._calls
        self._calls += 1
        if number > 1:
            cost_ns = x.size * STEADY_NS_PER_ELEMENT * NOISE[(number - 2) % len(NOISE)]
        elif number == 1:
            cost_ns = SECOND_CALL_MS * _NS_PER_MS
        else:
            self._backend.compile()
            # The rest has its own beginning: a step before it that took too long does not
            # make it shorter.
            begin_ns, cost_ns = _now_ns(), REST_MS * _NS_PER_MS
        out = self._function(x)
        _spin_until(begin_ns + cost_ns)
        return out
