"""A backend: how one framework prepares, wraps, calls, synchronises and proves.

A backend is one class in one file, named under the entry-point group
``coldwarm.backends``; third parties use the same group. This module runs inside measured
processes, so it imports nothing that a bare interpreter has not loaded already.
"""

import sys

from coldwarm.wire import TYPE_CHECKING, because

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any, ClassVar

    import numpy as np

    from coldwarm.frameworks.base import Watch


_COMPILING = ("jax", "torch", "numba")  # those of ``frameworks``, without loading that


class DeviceUnavailableError(Exception):
    """The device asked for is not there; the message is the reason, ``gpu_unavailable``."""


class Backend:
    """A framework and how it executes.

    The class attributes are declarations that the observing side reads without running
    anything. The methods run in a measured process, in the order in which they stand
    here; none but ``import_runtime`` and those after it may import the framework.
    """

    name: "ClassVar[str]"
    framework: "ClassVar[str]"
    """Which candidates of a workload it runs: ``for_<name>``, else ``for_<framework>``."""
    modules: "ClassVar[tuple[str, ...]]"
    """Import names that must be installed; the first one names the missing dependency."""
    distributions: "ClassVar[tuple[str, ...]]"
    """Installed distributions whose versions are reported; the first one is the main."""
    devices: "ClassVar[tuple[str, ...]]" = ("cpu",)
    dtypes: "ClassVar[tuple[str, ...]]" = ("f32", "f64")
    """The dtypes it can compute in, by their short names; ``bf16`` is the other one there is."""
    device_suffix: "ClassVar[bool]" = True
    """Whether a candidate's name carries the device: ``jax_jit_cpu``, but ``numpy``."""
    caches: "ClassVar[tuple[str, ...]]" = ()
    """Owners of the caches it uses; see ``coldwarm.caches``."""
    compiles: "ClassVar[bool]" = False
    """Whether a first call with empty caches compiles something."""
    synchronous: "ClassVar[bool]" = True
    """Whether a call returns finished results, so that ``sync`` is not needed."""
    sync_policy: "ClassVar[str]"
    """The sync policy in words, for the protocol."""
    like: "ClassVar[tuple[str, ...]]" = ()
    """Backends whose candidates it runs where a workload has none under its own name."""
    variant: "ClassVar[bool]" = False
    """Whether a suite of chosen workloads leaves it out unless it is asked for by name."""
    scenarios: "ClassVar[bool]" = True
    """Whether it runs workloads that say ``SCENARIO = True``: whole loops of many programs."""
    prepares: "ClassVar[bool]" = False
    """Whether something is made ahead of time, in a process of its own: ``make`` and ``load``."""
    replaces: "ClassVar[bool]" = True
    """Whether what is made so stands for the candidate, which measured processes do not build."""

    keeps_on_request: "ClassVar[bool]" = False
    """Whether the framework keeps what it compiles only where ``wrap`` asks for it."""

    pools: "ClassVar[tuple[str, ...]]" = ()
    """Variables that bound the threads of the libraries it calls."""
    watched_by: "ClassVar[type[Watch] | None]" = None
    """The class of ``watcher``."""

    watcher: "Watch | None" = None
    """Observer of the framework, set on creation; ``None``: the methods below tell it all."""
    dtype: str = "f32"
    """Number type of the candidate's computation; set before ``import_runtime``."""

    keep_all: bool = True
    """Whether ``wrap`` asks for what the framework does not keep by itself; set on creation."""

    def __init__(self, device: str, threads: "int | None" = None) -> None:
        """Remember where to run; import nothing."""
        self.device = device
        self.threads = threads
        if self.watched_by is not None:
            self.watcher = self.watched_by(device)

    @classmethod
    def builders(cls) -> "tuple[str, ...]":
        """Return the names under which a workload may have its candidate, the first one wins."""
        return tuple(f"for_{name}" for name in (cls.name, *cls.like, cls.framework))

    @classmethod
    def environment(cls, device: str, threads: "int | None") -> "dict[str, str]":
        """Return variables that must be set before the interpreter starts: of ``pools``."""
        del device
        return {} if threads is None else dict.fromkeys(cls.pools, str(threads))

    @classmethod
    def sharing(cls) -> "dict[str, str]":
        """Return variables that let several processes share a GPU.

        They are set unless the user has set one of them.
        """
        return {}

    @classmethod
    def programs(cls, device: str) -> "tuple[str, ...]":
        """Return the programs that must be on PATH, such as a C++ compiler."""
        del cls, device
        return ()

    def import_runtime(self) -> None:
        """Import the runtime stack alone, by itself ``modules``: the ``import`` phase."""
        for name in self.modules:
            __import__(name)

    def device_init(self) -> None:
        """Query the devices for the first time.

        Raises:
            DeviceUnavailableError: the device is not there.
        """

    def watch(self) -> None:
        """Install listeners and counters. Runs between phases, untimed."""
        if self.watcher is not None:
            self.watcher.install()

    @property
    def builds(self) -> bool:
        """Whether ``build`` makes the candidate and its arguments, in a phase of its own."""
        return False

    def build(self) -> "tuple[Any, ...]":
        """Make the candidate and its arguments, finished; return the arguments."""
        raise NotImplementedError(self.name)

    def place(self, arrays: "Sequence[np.ndarray[Any, Any]]") -> "tuple[Any, ...]":
        """Place host arrays on the device, finished: part of the ``setup`` phase.

        By itself they are given as they are.

        Where ``self.dtype`` is ``bf16``, which NumPy lacks, floats come as float32 holding
        numbers that bfloat16 can hold, and are placed as bfloat16.
        """
        return tuple(arrays)

    def wrap(self, function: "Callable[..., Any]") -> "Callable[..., Any]":
        """Wrap a function for execution: ``jax.jit``, ``torch.compile``, …."""
        return function

    def make(
        self, function: "Callable[..., Any]", arguments: "tuple[Any, ...]", directory: str
    ) -> None:
        """Make what measured processes load, and write it to files in ``directory``.

        Only where ``prepares``: runs once for a case, in a process of its own that has
        gone through the phases up to ``wrap``, between ``begin_call`` and ``parts``.
        """
        raise NotImplementedError(self.name)

    def load(self, directory: str) -> "Callable[..., Any] | None":
        """Load what ``make`` wrote and return the function to call; ``None``: the candidate's own.

        Only where ``prepares``: the ``first_call`` phase of a measured process begins with this.
        Where it ``replaces`` the candidate, that is not built and not given to ``wrap``.
        """
        raise NotImplementedError(self.name)

    def sync(self, out: "Any") -> None:
        """Wait until every array in ``out`` is there."""

    def refuse_unfinished(self, out: "Any") -> None:
        """Refuse an output that is not there, and work that goes on after the call. Untimed.

        Raises:
            Exception: there is such; a dict ``coded_reason`` says what.
        """

    def refuse_pending(self) -> None:
        """Refuse work that goes on after a block of calls; as ``refuse_unfinished``. Untimed."""

    def keep(self, out: "Any") -> "Any":
        """Return copies of an output on the host that later calls leave alone. Untimed.

        They leave the heap as a program has it that keeps nothing.
        """
        return outside_heap(self.fetch(out))

    def kept(self, kept: "Any") -> "list[np.ndarray[Any, Any]]":
        """Return the arrays of what was kept, of several outputs one after the other."""
        return [one for part in kept for one in (part if isinstance(part, list) else [part])]

    def fetch(self, out: "Any") -> "list[np.ndarray[Any, Any]]":
        """Return the outputs on the host, flattened in order; bfloat16 as float32."""
        import numpy as np

        if isinstance(out, tuple | list):
            return [leaf for item in out for leaf in self.fetch(item)]
        return [np.asarray(out)]

    def begin_call(self) -> None:
        """Start the account that ``parts`` gives."""
        if self.watcher is not None:
            self.watcher.begin_call()

    def parts(self) -> "Mapping[str, Any]":
        """Return exclusive seconds since ``begin_call``.

        Keys ``trace_s``, ``lower_s``, ``compile_s``, ``cache_read_s``: a number, or
        ``None`` with the reason under ``reasons[key]``.
        """
        watched = {} if self.watcher is None else self.watcher.parts()
        if watched:
            return watched
        why = because("no_such_step", backend=self.name)
        keys = ("trace_s", "lower_s", "compile_s", "cache_read_s")
        return {**dict.fromkeys(keys), "reasons": dict.fromkeys(keys, why)}

    def counters(self) -> "dict[str, dict[str, Any]]":
        """Return, for each cache owner, this process's counters so far.

        Standard keys ``requests``, ``hits``, ``misses``, ``writes``, ``bypasses``,
        ``compiles`` (numbers, or ``None`` where the framework gives none), and ``raw``
        with the framework's own names.
        """
        return {} if self.watcher is None else self.watcher.counters()

    def mark(self) -> None:
        """Let ``counts`` be of what was compiled up to here. Untimed."""
        if self.watcher is not None:
            self.watcher.mark()

    def counts(self) -> "dict[str, int | Mapping[str, Any]]":
        """Return what was compiled up to ``mark``, counted, by name; see ``CountName``.

        A number, or a coded reason why there is none. Asked for when nothing more is timed.
        """
        return {} if self.watcher is None else self.watcher.counts(self.uncounted())

    def compiles_so_far(self) -> "int | None":
        """Return how many programs this process has compiled; ``None``: unknown. Cheap to ask."""
        if self.watcher is not None:
            return self.watcher.compiles_so_far() if self.watcher.intact() else None
        return 0 if self.uncounted() is None else None

    def uncounted(self) -> "Mapping[str, Any] | None":
        """Return why the programs were not counted; ``None``: they were."""
        if self.watcher is not None:
            lost = because("listeners_removed", framework=self.framework)
            return None if self.watcher.intact() else lost
        strange = [name for name in _COMPILING if name in sys.modules]
        return because("came_unwatched", framework=strange[0]) if strange else None

    def moved(self) -> "list[str]":
        """Return the settings by which a program of a user's own has moved a cache elsewhere."""
        return []

    def analysis(self) -> "dict[str, float | int | None]":
        """Return memory and cost of the compiled program; empty where not given."""
        return {}

    def device_info(self) -> "dict[str, Any]":
        """Return ``platform``, ``kind``, ``count``, ``memory_peak_bytes``."""
        return {"platform": "cpu", "kind": "cpu", "count": 1, "memory_peak_bytes": None}

    def versions(self) -> "dict[str, str]":
        """Return the versions of what was imported."""
        return {} if self.watcher is None else self.watcher.versions()


_ALWAYS_MAPPED = 33 << 20
"""Bytes from which glibc maps an allocation by itself, whatever was freed before: 32 MiB. What of
them is not used is only an address. Nothing else is loaded for it, as that would take heap, too."""


def outside_heap(values: "Iterable[Any]") -> "list[Any]":
    """Return copies of NumPy arrays in memory mapped for them; other values as they are."""
    import numpy as np

    return [_copy(one) if type(one) is np.ndarray else one for one in values]


def _copy(array: "Any") -> "Any":
    import numpy as np

    if array.dtype.hasobject:
        return array.copy()
    mapped = np.empty(array.nbytes + _ALWAYS_MAPPED, np.uint8)
    same = mapped[: array.nbytes].view(array.dtype).reshape(array.shape)
    same[...] = array
    return same
