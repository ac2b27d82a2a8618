"""PyTorch: what its own events say about a first call under ``torch.compile``.

TorchDynamo, AOTAutograd and Inductor report the begin and the end of their steps as
events. They arrive at one function of ``torch._dynamo.utils`` that does nothing in the
released PyTorch and that an installation may replace to record them; the account puts
itself there. (A handler of PyTorch's structured log would get the same events, but
having one makes PyTorch render every graph as text, inside the measured call.)

========== =======================================================================
trace      Dynamo: bytecode analysis, symbolic execution, building the guards
lower      AOTAutograd, passes, Inductor's lowering and code generation in Python;
           in an empty cache also making the keys, the futile lookups, the writes
compile    the C++ compiler and Triton: running them or waiting for them, loading
           what they made, benchmarking candidates for a kernel. Also with a filled
           cache the C++ compiler runs once, to check the precompiled header
cache_read making the keys, the lookups, loading code that was found
========== =======================================================================

The rest is what no event covers: guards, dispatch, the execution itself. The child process
in which Inductor tests whether a vector instruction set works has no event of its own and
counts towards the step that asks for it, ``lower`` or ``cache_read``.
"""

import os
import sys

from coldwarm.frameworks.base import PARTS, Watch, described_gpu, versions
from coldwarm.frameworks.spans import SpanAccount
from coldwarm.wire import TYPE_CHECKING, because

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from coldwarm.frameworks.base import Numbers

_UTILS = "torch._dynamo.utils"
_HOOK = "record_chromium_event_internal"
_CODEGEN = "fx_codegen_and_compile"

_PART_OF = {
    "dynamo": "trace_s",
    "entire_frame_compile": "trace_s",
    "backend_compile": "lower_s",
    "entire_backward_compile": "lower_s",
    "compile_file": "compile_s",
    "inductor_codecache_torch_key": "cache_read_s",
    "CacheBase.get_system.triton_key": "cache_read_s",
    "AOTAutogradCache.inductor_load": "cache_read_s",
    "remote_fx_graph_cache_get": "cache_read_s",
}
# Loading what was just compiled, where code is being generated; a cache read elsewhere.
_LOADS = ("PyCodeCache.load_by_key_path", "async_compile.wait")
_COMPILING_STARTS = ("CachingAutotuner.", "async_compile.precompile", "reload_kernel", "benchmark_")
_COMPILING_ENDS = ("_template_autotuning", "_template_precompiling")

# The events of which a call makes one or more when it compiles anything.
_FILE = "compile_file"
_GRAPH = "backend_compile"
_STEPS = ("entire_frame_compile", "entire_backward_compile", _CODEGEN, _FILE)
# The same by PyTorch's own list of durations, where there are no events.
_DURATIONS = ("_compile.compile_inner", "backward._backward_impl", _CODEGEN, _FILE)


class EagerWatch(Watch):
    """PyTorch without its compiler: the driver's cache on a GPU, versions, the device."""

    def counters(self) -> "dict[str, dict[str, Any]]":
        """Return nothing on the CPU; of the driver's cache on a GPU, how it was set up."""
        if self.device != "gpu":
            return {}
        keys = ("requests", "hits", "misses", "writes", "bypasses", "compiles")
        names = ("CUDA_MODULE_LOADING", "CUDA_CACHE_DISABLE", "CUDA_CACHE_PATH")
        # The driver counts nothing: its evidence is the files in its directory.
        return {"cuda": {**dict.fromkeys(keys), "raw": {n: os.environ.get(n) for n in names}}}

    def versions(self) -> "dict[str, str]":
        """Return the versions of PyTorch and of what was loaded with it."""
        cuda = sys.modules["torch"].version.cuda
        driver = {} if cuda is None else {"cuda": str(cuda)}
        return {**versions("torch"), **driver, **versions("numpy", "triton")}

    def gpu(self) -> "dict[str, Any] | None":
        """Return the GPU in use, with its peak of allocated memory."""
        cuda = sys.modules["torch"].cuda
        if not cuda.is_available():
            return None
        name, count = cuda.get_device_name(), cuda.device_count()
        return described_gpu(name, count, cuda.max_memory_allocated())


class CompileWatch(EagerWatch):
    """Follows this process's compilations; PyTorch must have loaded Dynamo by itself."""

    counted = ("graphs", "graph_breaks", "kernels")

    def __init__(self, device: str = "cpu") -> None:
        """Start with nothing seen."""
        super().__init__(device)
        self.spans = SpanAccount()
        self._listening = False
        self._listen: Any = None
        self._marked: Numbers = {}
        self._hits_before = 0
        self.reads = False
        """Whether something was read that no count of a cache tells of."""
        self._hit_events = 0
        """Hits by their events: a program can clear PyTorch's counters."""

    def install(self) -> None:
        """Begin to listen, if Dynamo is loaded; otherwise ``begin_call`` does.

        ``torch.compile`` loads what is needed; nothing is imported here, because that would
        take the time of those imports out of the phase they belong to.
        """
        utils = sys.modules.get(_UTILS)
        if self._listening or not hasattr(utils, _HOOK):
            return
        previous = getattr(utils, _HOOK)

        def listen(event: "Mapping[str, Any]") -> None:
            self.on_event(event)
            previous(event)

        vars(listen)["previous"] = previous
        setattr(utils, _HOOK, listen)
        self._listen = listen
        self._listening = True

        def restore() -> None:
            self._listening = False
            if getattr(utils, _HOOK) is listen:
                setattr(utils, _HOOK, previous)

        self._undo.append(restore)

    def intact(self) -> bool:
        """Say whether the events still arrive here, where there are any."""
        hook = getattr(sys.modules.get(_UTILS), _HOOK, None)
        if not self._listening or hook is None:
            return True
        while hook is not None and hook is not self._listen:
            hook = getattr(hook, "previous", None)
        return hook is not None

    def late(self) -> bool:
        """Say whether Dynamo is loaded and has events, and nobody listens to them."""
        return not self._listening and hasattr(sys.modules.get(_UTILS), _HOOK)

    def begin_call(self) -> None:
        """Start the account of a call, and listen from the first time that is possible."""
        self.install()
        self._hits_before = self._caches()[0]
        self.spans.begin()

    def parts(self) -> "dict[str, Any]":
        """Return the exclusive seconds since ``begin``, or why there are none."""
        if not self._listening:
            why = because("no_compile_events" if _UTILS in sys.modules else "no_compiler")
            return {**dict.fromkeys(PARTS), "reasons": dict.fromkeys(PARTS, why)}
        seconds: dict[str, float | None] = dict(self.spans.seconds())
        reasons = {}
        if self._caches()[0] == self._hits_before and not self.reads:
            # Keys that led to nothing were made for the code that was then generated.
            seconds["lower_s"] = (seconds["lower_s"] or 0.0) + (seconds["cache_read_s"] or 0.0)
            seconds["cache_read_s"] = None
            reasons["cache_read_s"] = because("not_read", cache="Inductor's caches")
        return {**seconds, "reasons": reasons}

    def counters(self) -> "dict[str, dict[str, Any]]":
        """Return the counts of Inductor's and AOTAutograd's caches together."""
        return {"inductor": self._counted(), **super().counters()}

    def note(self) -> None:
        """Count up to here alone: these are numbers of PyTorch's own, quickly read."""
        self._marked = self._graphs_and_kernels()

    def numbers(self) -> "Numbers":
        """Return graphs, graph breaks, and the kernels that the graphs call."""
        return self._marked

    def _graphs_and_kernels(self) -> "Numbers":
        if _UTILS not in sys.modules:
            return dict.fromkeys(self.counted, 0)
        told = _counters("stats").get("unique_graphs", 0)
        graphs = self._steps_of(_GRAPH) if self._listening else told
        if graphs > told:  # somebody has cleared PyTorch's counters, which the others are from
            cleared = because("counters_cleared")
            return {**dict.fromkeys(self.counted, cleared), "graphs": graphs}
        metrics = sys.modules.get("torch._inductor.metrics")
        generated = getattr(metrics, "generated_kernel_count", None)
        found: Numbers = {
            "graphs": graphs,
            "graph_breaks": sum(_counters("graph_break").values()),
            "kernels": because("no_inductor"),
        }
        if generated is not None:
            found["kernels"] = generated + _counters("inductor").get("extern_calls", 0)
        return found

    def compiles_so_far(self) -> int:
        """Return how many compile steps this process has made; takes about a microsecond.

        Counted are frames and backward graphs, also those served from a cache on disk, graphs
        for which code was generated, and runs of the C++ compiler: a warm call makes none.
        They are counted as they end: ``torch._dynamo.reset`` clears PyTorch's own lists. What
        is asked for before anything was compiled begins to listen.
        """
        self.install()
        return sum(map(self._steps_of, _STEPS if self._listening else _DURATIONS))

    def _steps_of(self, name: str) -> int:
        return self.spans.closed.get(name, 0) if self._listening else len(_durations(name))

    def _caches(self) -> "tuple[int, int, int]":
        """Return hits, misses and bypasses of Inductor's and AOTAutograd's caches together."""
        hits, misses, bypasses = _hits_misses_bypasses()
        return max(hits, self._hit_events), misses, bypasses

    def _counted(self) -> "dict[str, Any]":
        """Return the standard counters of Inductor's caches, with PyTorch's own under ``raw``.

        ``compiles`` is the number of graphs for which code was generated. A graph that found
        nothing in AOTAutograd's cache and then nothing in Inductor's counts as two misses.
        """
        import resource

        hits, misses, bypasses = self._caches()
        raw: dict[str, Any] = {}
        for group in ("inductor", "aot_autograd", "frames", "stats"):
            raw.update({f"{group}.{name}": value for name, value in _counters(group).items()})
        raw["graph_breaks"] = sum(_counters("graph_break").values())
        raw["compile_file_calls"] = self._steps_of(_FILE)
        raw["precompiled_headers"] = _precompiles_headers()
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        raw["child_cpu_s"] = children.ru_utime + children.ru_stime
        return {
            "requests": hits + misses + bypasses,
            "hits": hits,
            "misses": misses,
            "writes": None,
            "bypasses": bypasses,
            "compiles": self._steps_of(_CODEGEN),
            "raw": raw,
        }

    def on_event(self, event: "Mapping[str, Any]") -> None:
        """Take one event: ``ph`` is ``B`` at the begin of a step and ``E`` at its end."""
        name, kind = event["name"], event["ph"]
        if kind == "B":
            self.spans.open(name, self._part_of(name))
        elif kind == "E":
            hit = (event.get("args") or {}).get("cache_state") == "hit"
            self._hit_events += hit
            self.spans.close(name, "cache_read_s" if hit else None)

    def _part_of(self, name: str) -> "str | None":
        if name in _LOADS:
            generating = self.spans.enclosing(_CODEGEN) is not None
            return "compile_s" if generating else "cache_read_s"
        if name.startswith(_COMPILING_STARTS) or name.endswith(_COMPILING_ENDS):
            return "compile_s"
        return _PART_OF.get(name)


def _hits_misses_bypasses() -> "tuple[int, int, int]":
    """Return the counts of Inductor's and AOTAutograd's caches together."""
    inductor, autograd = _counters("inductor"), _counters("aot_autograd")

    def count(what: str) -> int:
        found = inductor.get(f"fxgraph_cache_{what}", 0) + autograd.get(f"autograd_cache_{what}", 0)
        return int(found)

    return count("hit"), count("miss"), count("bypass")


def _precompiles_headers() -> int | None:
    """Return 1 where Inductor precompiles its C++ headers, 0: not; ``None``: not told."""
    config = sys.modules.get("torch._inductor.config")
    asked = getattr(config, "cpp_cache_precompile_headers", None)
    return None if asked is None else int(bool(asked))


def _counters(group: str) -> "Mapping[str, int]":
    """Return one group of Dynamo's counters without creating it."""
    found: Mapping[str, int] = getattr(sys.modules.get(_UTILS), "counters", {}).get(group, {})
    return found


def _durations(name: str) -> "list[float]":
    """Return PyTorch's own durations of a step, those since they were last cleared."""
    found: list[float] = getattr(sys.modules.get(_UTILS), "compilation_time_metrics", {}).get(
        name, []
    )
    return found


def wait(leaves: "Iterable[Any]") -> None:
    """Wait for all work of every GPU that holds one of the tensors; others are finished."""
    torch = sys.modules["torch"]
    for device in {leaf.device for leaf in leaves if getattr(leaf, "is_cuda", False)}:
        torch.cuda.synchronize(device)


def waiter(tensors: "Iterable[Any]") -> "Callable[[Any], None] | None":
    """Return what waits for all work of the GPUs of such tensors; ``None``: there is none.

    Where this process has used a GPU, and no tensor says which, it is the current one.
    """
    cuda = sys.modules["torch"].cuda
    devices = sorted({one.device.index for one in tensors if getattr(one, "is_cuda", False)})
    if not devices and not cuda.is_initialized():
        return None

    def wait_for_devices(_out: "Any") -> None:
        for device in devices or (None,):
            cuda.synchronize(device)

    return wait_for_devices


def has_used_gpu() -> bool:
    """Say whether a tensor was made on a GPU."""
    cuda = sys.modules["torch"].cuda
    return bool(cuda.is_initialized() and any(map(cuda.max_memory_allocated, _devices(cuda))))


def _devices(cuda: "Any") -> "range":
    return range(cuda.device_count())


def unfinished() -> int:
    """Return how many streams of GPUs, default and current ones, still have work."""
    cuda = sys.modules["torch"].cuda
    if not cuda.is_initialized():
        return 0
    return sum(
        not stream.query()
        for device in _devices(cuda)
        if cuda.memory_reserved(device)
        for stream in {cuda.default_stream(device), cuda.current_stream(device)}
    )
