"""A candidate on its way through a measured process: loaded, given its inputs, stamped by phase.

Inputs are the same on every backend, and for the reference. For bfloat16, which NumPy has not, they
are made in float32 and rounded to values that bfloat16 can hold: placing them loses nothing then,
so that the reference in float64 answers for the very numbers a candidate gets.

Phases are on the runner's clock. Reading ``/proc/self/status`` happens after a phase's end is
stamped and before the next one begins, so it lies outside every window; the text is parsed after
the first result.

The call of a scenario is a whole loop of many steps. Its builder returns a generator function that
yields what each step has computed. Every step is synchronised and stamped by itself; so the first
one gives a time to the first result, as for any other candidate, and the others tell which of them
had to compile.
"""

import os
import sys
import time

from coldwarm.wire import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from types import ModuleType, TracebackType
    from typing import Any

    import numpy as np

    from coldwarm.backends.base import Backend


def load_module(source: "Mapping[str, Any]") -> "ModuleType":
    """Return the module at ``source["path"]`` under the name ``source["module"]``.

    The project's own modules are imported as usual, with their bytecode; a third party's
    is loaded from its file, so that its package need not be importable here.
    """
    name, path = source["module"], source["path"]
    if name.startswith("coldwarm."):
        __import__(name)
        return sys.modules[name]
    # What ``importlib.util`` re-exports, from where a bare interpreter holds it.
    import _frozen_importlib
    import _frozen_importlib_external

    spec = _frozen_importlib_external.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        text = f"{path} is no Python source file"
        raise ImportError(text)
    loaded = _frozen_importlib.module_from_spec(spec)
    sys.modules[name] = loaded
    spec.loader.exec_module(loaded)
    return loaded


def load_backend(job: "Mapping[str, Any]") -> "Backend":
    """Return the job's backend, ready to import its runtime."""
    source = job["backend"]
    kind = getattr(load_module(source), source["object"])
    made: Backend = kind(job["device"], job["threads"])
    made.dtype = job.get("dtype", made.dtype)
    made.keep_all = job.get("cache_settings", "keep_all") == "keep_all"
    return made


def load_workload(job: "Mapping[str, Any]", load_backend: "Backend") -> "Any":
    """Return the job's workload; a user's own function is its backend's."""
    if job.get("function") is None:
        return load_module(job["workload"])
    load_backend.take(job["function"])  # type: ignore[attr-defined] # only coldwarm.functions has such jobs
    return load_backend


def load_builder(
    load_workload: "Any", load_backend: "Backend"
) -> "Callable[..., Callable[..., Any]]":
    """Return the workload's builder for a backend, by the first of its names that is there.

    Raises:
        AttributeError: there is none.
    """
    names = load_backend.builders()
    name = next((name for name in names if hasattr(load_workload, name)), names[-1])
    builder: Callable[..., Callable[..., Any]] = getattr(load_workload, name)
    return builder


_DROPPED_BITS = 16
"""By how many bits of its fraction bfloat16 is shorter than float32."""


def make_inputs(workload: "Any", job: "Mapping[str, Any]") -> "list[np.ndarray[Any, Any]]":
    """Return the host arrays that a job's seed, size and dtype stand for.

    A user's own function has its own arguments, of any type, already placed.
    """
    if job.get("function") is not None:
        own: list[Any] = workload.made(job["seed"])
        return own
    from numpy.random import default_rng

    rng = default_rng(job["seed"])
    arrays: list[np.ndarray[Any, Any]] = workload.inputs(rng, job["size"], job["numpy_dtype"])
    return [_rounded(array) for array in arrays] if job.get("dtype") == "bf16" else arrays


def _rounded(array: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
    """Return finite float32 numbers rounded to bfloat16, a tie to the even; others as they are.

    The result is float32 still: the upper half of its bits is the bfloat16 number, the lower
    half is zero.
    """
    if array.dtype.name != "float32":
        return array
    bits = array.view("uint32")
    last_kept = (bits >> _DROPPED_BITS) & 1
    below_half = (1 << (_DROPPED_BITS - 1)) - 1
    kept: np.ndarray[Any, Any] = ((bits + below_half + last_kept) >> _DROPPED_BITS) << _DROPPED_BITS
    return kept.view("float32")


# As they were before a program could replace them.
now_ns, process_s = time.perf_counter_ns, time.process_time


def _status() -> "bytes | None":
    """Return this process's memory and switch counts as the kernel words them."""
    try:
        descriptor = os.open("/proc/self/status", os.O_RDONLY)
    except OSError:
        return None
    try:
        return os.read(descriptor, 8192)
    finally:
        os.close(descriptor)


def _field(status: bytes, name: bytes) -> "int | None":
    start = status.find(b"\n" + name + b":")
    if start < 0:
        return None
    return int(status[start + len(name) + 2 :].split(None, 1)[0])


class Phases:
    """The phases so far; use ``with phases("import"): …`` for each."""

    def __init__(self) -> None:
        """Start with no phase and one reading of the counters."""
        self._spans: list[tuple[str, int, int, bytes | None, bytes | None]] = []
        self._name = ""
        self._begin_ns = 0
        self._before = _status()

    def __call__(self, name: str) -> "Phases":
        """Name the phase that the ``with`` block times."""
        self._name = name
        return self

    def __enter__(self) -> None:
        """Stamp the beginning."""
        self._begin_ns = now_ns()

    def __exit__(
        self,
        kind: "type[BaseException] | None",
        error: "BaseException | None",
        trace: "TracebackType | None",
    ) -> None:
        """Stamp the end, also of a phase that raised."""
        end_ns = now_ns()
        after = _status()
        self._spans.append((self._name, self._begin_ns, end_ns, self._before, after))
        self._before = after

    def account(self) -> "list[dict[str, Any]]":
        """Return every phase with its stamps, peak memory and involuntary switches."""
        return [
            {
                "name": name,
                "begin_ns": begin_ns,
                "end_ns": end_ns,
                "peak_rss_bytes": _peak_bytes(after),
                "involuntary_switches": _switches(before, after),
            }
            for name, begin_ns, end_ns, before, after in self._spans
        ]


def _peak_bytes(status: "bytes | None") -> "int | None":
    peak_kib = _field(status, b"VmHWM") if status else None
    return None if peak_kib is None else peak_kib * 1024


def _switches(before: "bytes | None", after: "bytes | None") -> "int | None":
    if not before or not after:
        return None
    name = b"nonvoluntary_ctxt_switches"
    first, last = _field(before, name), _field(after, name)
    return None if first is None or last is None else last - first


def set_up(
    backend: "Backend",
    workload: "Any",
    job: "Mapping[str, Any]",
    phases: Phases,
    imported: "Callable[[], None]" = lambda: None,
) -> "tuple[list[Any], tuple[Any, ...], list[str]]":
    """Go through the phases up to the arguments; return host arrays, arguments, modules imported.

    The modules, where the job lists them. ``imported`` is called after the phase ``import``.
    """
    with phases("import"):
        backend.import_runtime()
    modules = list(sys.modules) if job.get("list_modules") else []
    imported()
    with phases("device_init"):
        backend.device_init()
    backend.watch()
    with phases("setup"):
        arrays = make_inputs(workload, job)
        arguments = backend.place(arrays)
    return arrays, arguments, modules


class Loop:
    """Runs a loop: step by step the first time, and as one call from then on."""

    def __init__(self, backend: "Backend", function: "Callable[..., Iterator[Any]]") -> None:
        """Begin nothing yet; ``function`` takes the placed inputs and yields outputs."""
        self._backend = backend
        self._function = function
        self._steps: Iterator[Any] = iter(())
        self._outputs: list[Any] = []
        self._steps_ns: list[int] = []
        self._compiles = [backend.compiles_so_far()]
        self._parts: Mapping[str, Any] = {}

    def __call__(self, *arguments: "Any") -> "Any":
        """Run the whole loop, each step finished before the next, and return the last output."""
        out = None
        for out in self._function(*arguments):
            if not self._backend.synchronous:
                self._backend.sync(out)
        return out

    def first(self, *arguments: "Any") -> "Any":
        """Begin the loop and return what its first step gives, finished."""
        begin_ns = now_ns()
        self._steps = self._function(*arguments)
        out = self._finished()
        self._steps_ns.append(now_ns() - begin_ns)
        return out

    def remaining(self, first: "Any") -> None:
        """Go through the other steps, each stamped by itself."""
        self._keep(first)
        while True:
            begin_ns = now_ns()
            try:
                out = self._finished()
            except StopIteration:
                return
            self._steps_ns.append(now_ns() - begin_ns)
            self._keep(out)

    def outputs(self, *arguments: "Any") -> "list[Any]":
        """Run the whole loop and return what every step gave, for the gate."""
        kept = []
        for out in self._function(*arguments):
            self._backend.sync(out)
            kept.append(self._backend.keep(out))
        return kept

    def taken(self) -> "list[Any]":
        """Return what the steps of the first time gave, and forget it."""
        kept, self._outputs = self._outputs, []
        return kept

    def ended(self, parts: "Mapping[str, Any]") -> None:
        """Take the parts of the steps after the first one."""
        self._parts = parts

    def account(self) -> "dict[str, Any]":
        """Return each step's ns, the compiles in each, and the parts of all but the first."""
        from itertools import pairwise

        counts = [count for count in self._compiles if count is not None]
        compiles = None
        if len(counts) == len(self._compiles):
            compiles = [after - before for before, after in pairwise(counts)]
        return {"steps_ns": self._steps_ns, "compiles": compiles, "parts": self._parts}

    def _finished(self) -> "Any":
        out = next(self._steps)
        if not self._backend.synchronous:
            self._backend.sync(out)
        return out

    def _keep(self, out: "Any") -> None:
        self._compiles.append(self._backend.compiles_so_far())
        self._outputs.append(self._backend.keep(out))


class Prepared:
    """A candidate after its first two calls."""

    def __init__(
        self,
        job: "Mapping[str, Any]",
        backend: "Backend",
        workload: "Any",
        function: "Callable[..., Any] | None",
        arguments: "tuple[Any, ...]",
    ) -> None:
        """Keep what the warm calls need; what was made ahead of time gives the function later."""
        self.job = job
        self.backend = backend
        self.workload = workload
        self.function: Any = function
        self.arguments = arguments
        self.keywords: tuple[str, ...] = getattr(workload, "keywords", ())
        """Names of the last arguments: those that are given by name."""
        self.renew: Callable[[], tuple[Any, ...]] | None = getattr(workload, "renew", None)
        """Function that gives the arguments anew, where a call uses them up."""
        self.reference_path: str | None = job["reference"]
        self.frozen = False
        """Whether what was there before the blocks is hidden from Python's collector."""
        self.loop: Loop | None = None
        """Loop of a scenario, which is then the function."""
        if function is not None and getattr(workload, "SCENARIO", False):
            self.loop = self.function = Loop(backend, function)

    def fresh(self) -> "tuple[Any, ...]":
        """Return the arguments of the next call; made anew where a call uses them up."""
        if self.renew is not None:
            self.arguments = self.renew()
        return self.arguments

    def dispatched(self, arguments: "tuple[Any, ...]") -> "Any":
        """Call once and return the output, which may not be finished."""
        if not self.keywords:
            return self.function(*arguments)
        n = len(arguments) - len(self.keywords)
        return self.function(*arguments[:n], **dict(zip(self.keywords, arguments[n:], strict=True)))

    def call(self, arguments: "tuple[Any, ...]") -> "Any":
        """Call once and return the finished output."""
        out = self.dispatched(arguments)
        if not self.backend.synchronous:
            self.backend.sync(out)
        return out

    def fetched(self, answer: "Any") -> "list[np.ndarray[Any, Any]]":
        """Return the arrays of an answer, on the host."""
        return self.backend.fetch(answer) if self.loop is None else self.backend.kept(answer)

    def answer(self, arguments: "tuple[Any, ...]") -> "Any":
        """Call once and return all that the gate checks: of a scenario, what each step gave."""
        return self.call(arguments) if self.loop is None else self.loop.outputs(*arguments)
