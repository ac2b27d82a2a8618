"""PyTorch: the watch of events, and with ``-m slow`` real starts with proved caches."""

from __future__ import annotations

import importlib.util
import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from coldwarm.backends.base import DeviceUnavailableError
from coldwarm.backends.torch import TorchCompile, TorchEager
from coldwarm.caches import modes
from coldwarm.contracts.observation import CacheEvidence
from coldwarm.frameworks.spans import SpanAccount
from coldwarm.frameworks.torch import CompileWatch

if TYPE_CHECKING:
    from collections.abc import Callable

    from coldwarm.contracts.base import CacheMode

COLD: CacheMode = "cold_process_cold_cache"
WARM: CacheMode = "cold_process_warm_cache"
needs_torch = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="PyTorch is not installed"
)


class Clock:
    """A clock that the test sets, in ns."""

    def __init__(self) -> None:
        """Begin at 0."""
        self.now_ns = 0

    def __call__(self) -> int:
        """Return the time that was set."""
        return self.now_ns


def watch_with(clock: Clock) -> CompileWatch:
    watch = CompileWatch()
    watch.spans = SpanAccount(clock)
    watch._listening = True
    watch.spans.begin()
    return watch


def play(watch: CompileWatch, clock: Clock, events: list[tuple[int, str, str]]) -> None:
    for second, kind, name in events:
        clock.now_ns = second * 10**9
        hit = kind == "H"
        details = {"cache_state": "hit"} if hit else {}
        watch.on_event({"name": name, "ph": "E" if hit else kind, "args": details})


def test_time_is_exclusive_and_an_empty_cache_has_no_read() -> None:
    clock = Clock()
    watch = watch_with(clock)
    play(
        watch,
        clock,
        [
            (0, "B", "dynamo"),
            (1, "B", "backend_compile"),
            (2, "B", "inductor_codecache_torch_key"),
            (3, "E", "inductor_codecache_torch_key"),
            (4, "B", "fx_codegen_and_compile"),
            (5, "B", "pass.of_a_later_version"),
            (6, "E", "pass.of_a_later_version"),
            (7, "B", "compile_file"),
            (17, "E", "compile_file"),
            (18, "B", "PyCodeCache.load_by_key_path"),
            (20, "E", "PyCodeCache.load_by_key_path"),
            (20, "E", "fx_codegen_and_compile"),
            (21, "E", "backend_compile"),
            (23, "E", "dynamo"),
            (30, "B", "entire_backward_compile"),
            (31, "E", "entire_backward_compile"),
        ],
    )
    parts = watch.parts()
    assert parts["trace_s"] == 3
    assert parts["compile_s"] == 12
    assert parts["lower_s"] == 9  # with the second in which the key was made
    assert parts["cache_read_s"] is None
    assert set(parts["reasons"]) == {"cache_read_s"}


def test_what_a_hit_took_is_a_cache_read() -> None:
    clock = Clock()
    watch = watch_with(clock)
    watch._hits_before = -1  # as if the counters had moved
    play(
        watch,
        clock,
        [
            (0, "B", "dynamo"),
            (1, "B", "backend_compile"),
            (2, "B", "AOTAutogradCache.inductor_load"),
            (3, "B", "PyCodeCache.load_by_key_path"),
            (4, "B", "compile_file"),
            (6, "E", "compile_file"),
            (7, "E", "PyCodeCache.load_by_key_path"),
            (8, "E", "AOTAutogradCache.inductor_load"),
            (10, "H", "backend_compile"),
            (11, "E", "dynamo"),
        ],
    )
    parts = watch.parts()
    assert parts["cache_read_s"] == 7
    assert parts["compile_s"] == 2
    assert parts["lower_s"] == 0
    assert parts["trace_s"] == 2
    assert parts["reasons"] == {}


def test_other_threads_count_only_while_the_caller_has_nothing_open() -> None:
    clock = Clock()
    watch = watch_with(clock)

    def elsewhere(events: list[tuple[int, str, str]]) -> None:
        thread = threading.Thread(target=play, args=(watch, clock, events))
        thread.start()
        thread.join()

    play(watch, clock, [(0, "B", "dynamo")])
    elsewhere([(1, "B", "compile_file"), (5, "E", "compile_file")])
    play(watch, clock, [(6, "E", "dynamo")])
    elsewhere([(10, "B", "entire_backward_compile"), (12, "E", "entire_backward_compile")])
    parts = watch.parts()
    assert (parts["trace_s"], parts["lower_s"], parts["compile_s"]) == (6, 2, 0)


def test_broken_pairs_are_survived() -> None:
    clock = Clock()
    watch = watch_with(clock)
    play(watch, clock, [(1, "E", "never begun"), (2, "B", "dynamo"), (3, "B", "compile_file")])
    play(watch, clock, [(5, "E", "dynamo"), (6, "X", "instant")])
    parts = watch.parts()
    assert (parts["trace_s"], parts["compile_s"]) == (1, 2)


def test_a_torch_without_events_gives_no_parts_but_reasons() -> None:
    parts = CompileWatch().parts()
    assert parts["trace_s"] is None
    assert set(parts["reasons"]) == {"trace_s", "lower_s", "compile_s", "cache_read_s"}


def test_the_device_decides_caches_and_waiting() -> None:
    assert (TorchEager("cpu").caches, TorchEager("cpu").synchronous) == ((), True)
    assert (TorchEager("gpu").caches, TorchEager("gpu").synchronous) == (("cuda",), False)
    assert TorchCompile("cpu").caches == ("inductor",)
    assert list(TorchCompile("gpu").caches) == ["inductor", "cuda"]
    assert set(TorchCompile("gpu").counters()) == {"inductor", "cuda"}
    assert TorchEager.environment("cpu", None) == {}
    assert TorchEager.environment("cpu", 2)["OMP_NUM_THREADS"] == "2"


def proved(name: str, mode: CacheMode, fields: dict[str, Any]) -> bool:
    evidence = CacheEvidence(owner=name, **fields)
    return modes.owner(name).judge(mode, evidence, compiles=True).proved


def test_inductor_is_judged_by_files_counters_and_new_machine_code() -> None:
    cold = {"files_before": 0, "hits": 0, "misses": 3, "bypasses": 0, "compiles": 2}
    cold["files_after"] = 38
    warm = {"files_before": 38, "hits": 3, "misses": 0, "bypasses": 0, "compiles": 0}
    assert proved("inductor", COLD, cold)
    assert not proved("inductor", COLD, {**cold, "files_before": 2})
    assert not proved("inductor", COLD, {**cold, "hits": 1})
    assert not proved("inductor", COLD, {**cold, "misses": 0, "compiles": 0})
    assert not proved("inductor", COLD, {**cold, "misses": 0})
    assert proved("inductor", WARM, {**warm, "new_files": {".lock": 1}})
    assert not proved("inductor", WARM, {**warm, "new_files": {".so": 12}})
    assert not proved("inductor", WARM, {**warm, "new_files": {".gch": 1}})
    assert not proved("inductor", WARM, {**warm, "bypasses": 1})
    assert proved("inductor", "warm_process", cold)


def test_the_driver_is_judged_by_files_alone() -> None:
    assert proved("cuda", COLD, {"files_before": 0})
    assert not proved("cuda", COLD, {"files_before": 1})
    assert not proved("cuda", COLD, {})
    assert proved("cuda", WARM, {"files_before": 0})
    assert not proved("cuda", WARM, {"files_before": 2, "new_files": {"(none)": 1}})


def test_isolation_makes_the_directories_it_names(tmp_path: Path) -> None:
    for owner in (modes.owner("inductor"), modes.owner("cuda")):
        root = tmp_path / owner.name
        root.mkdir()
        named = [Path(value) for value in owner.isolate(root).values() if os.sep in value]
        assert all(path.is_dir() and path.is_relative_to(root) for path in named)
    assert Path(modes.owner("inductor").isolate(tmp_path)["TMPDIR"]).is_dir()


@needs_torch
@pytest.mark.slow
@pytest.mark.parametrize("workload", ["matmul", "mlp_train_step"])
def test_real_starts_prove_their_cache_modes(start: Callable[..., Any], workload: str) -> None:
    arguments = ("inductor", "torch", "TorchCompile", workload, "128", "float32")
    cold, warm = start(*arguments), start(*arguments)
    for one in (cold, warm):
        assert one.parts_s() <= one.said["first_call_s"]
        assert one.said["in_window"] == 0
        assert one.said["error"] < 1e-5
        assert one.said["imported_by_begin_call"] == []
    for mode, right, wrong in ((COLD, cold, warm), (WARM, warm, cold)):
        judged = modes.judge(mode, [right.evidence], compiles=True)
        assert judged.proved, judged.reason
        assert not modes.judge(mode, [wrong.evidence], compiles=True).proved
    parts = cold.said["parts"], warm.said["parts"]
    assert parts[0]["cache_read_s"] is None
    assert parts[0]["lower_s"] > 0.05
    assert parts[1]["cache_read_s"] > 0.05
    assert parts[1]["lower_s"] < 0.05
    if workload == "mlp_train_step":
        assert cold.evidence.new_files[".gch"] == 1
        assert parts[0]["compile_s"] > 10 * parts[1]["compile_s"]


@needs_torch
@pytest.mark.slow
def test_eager_needs_no_cache_and_leaves_none(start: Callable[..., Any]) -> None:
    one = start("inductor", "torch", "TorchEager", "mlp_train_step", "64", "float64")
    assert one.said["counters"] == {}
    assert one.said["in_window"] == 0
    assert one.said["error"] < 1e-13
    assert one.evidence.files_after == 0
    assert one.said["versions"]["torch"]


@needs_torch
@pytest.mark.slow
def test_tensors_are_copies_of_the_same_type() -> None:
    import numpy as np
    import torch

    backend = TorchEager("cpu")
    array = np.arange(3, dtype="float32")
    (tensor,) = backend.place([array])
    array[0] = 9
    assert tensor.tolist() == [0, 1, 2]
    half = torch.tensor([1.5, 2.5], dtype=torch.bfloat16, requires_grad=True)
    out = backend.fetch({"a": (half, [tensor]), "b": 4})
    assert [leaf.dtype.name for leaf in out[:2]] == ["float32", "float32"]
    assert [leaf.tolist() for leaf in out] == [[1.5, 2.5], [0, 1, 2], 4]
    backend.dtype = "bf16"
    short, index = backend.place([np.array([1.5, -2], dtype="float32"), np.arange(2)])
    assert (short.dtype, index.dtype) == (torch.bfloat16, torch.int64)
    assert short.tolist() == [1.5, -2]
    if not torch.cuda.is_available():
        with pytest.raises(DeviceUnavailableError, match="gpu_unavailable"):
            TorchEager("gpu").device_init()
