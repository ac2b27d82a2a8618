"""Numba: the account of events, and with ``-m slow`` real starts with proved caches."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Any

import pytest

from coldwarm.backends.numba import NumbaBackend
from coldwarm.caches import modes
from coldwarm.frameworks.numba import NumbaWatch, _time_refresh
from coldwarm.frameworks.spans import SpanAccount

if TYPE_CHECKING:
    from collections.abc import Callable

    from coldwarm.contracts.base import CacheMode

COLD: CacheMode = "cold_process_cold_cache"
WARM: CacheMode = "cold_process_warm_cache"
LOCK, COMPILE, STEP = "numba:compiler_lock", "numba:compile", "numba:run_pass"
needs_numba = pytest.mark.skipif(
    importlib.util.find_spec("numba") is None, reason="Numba is not installed"
)


class Player:
    """A watch on a clock that the test sets."""

    def __init__(self) -> None:
        """Begin at 0."""
        self.now_ns = 0
        self.watch = NumbaWatch()
        self.watch.spans = SpanAccount(lambda: self.now_ns)
        self.watch.begin_call()

    def __call__(self, second: int, kind: str, event: str, name: str = "") -> None:
        """Set the clock and let an event happen."""
        self.now_ns = second * 10**9
        act = self.watch.on_start if kind == "B" else self.watch.on_end
        act(event, {"name": name})

    def seconds(self) -> dict[str, float]:
        """Return what the account says."""
        return self.watch.spans.seconds()


def test_passes_after_type_inference_are_lowering_and_llvm_is_compiling() -> None:
    play = Player()
    play(0, "B", LOCK)
    play(1, "B", COMPILE)
    play(2, "B", STEP, "translate_bytecode")
    play(3, "E", STEP, "translate_bytecode")
    play(3, "B", STEP, "nopython_type_inference")
    play(4, "B", LOCK)  # a function that is compiled on the way
    play(4, "B", COMPILE)
    play(4, "B", STEP, "nopython_type_inference")
    play(6, "E", STEP, "nopython_type_inference")
    play(6, "B", STEP, "native_lowering")
    play(9, "E", STEP, "native_lowering")
    play(9, "E", COMPILE)
    play(9, "E", LOCK)
    play(10, "E", STEP, "nopython_type_inference")
    play(10, "B", STEP, "native_lowering")
    play.watch.llvm_ns += 4 * 10**9
    play(16, "E", STEP, "native_lowering")
    play(17, "E", COMPILE)
    play(20, "E", LOCK)
    seconds = play.seconds()
    assert seconds["trace_s"] == 1 + 1 + 2 + 1
    assert seconds["lower_s"] == 1 + 3 + 2 + 1
    assert seconds["compile_s"] == 4 + 1 + 3  # LLVM, the futile lookup, the write
    assert seconds["cache_read_s"] == 0
    assert (play.watch.compiles, play.watch.loads) == (2, 0)


def test_a_load_is_a_cache_read_without_the_target() -> None:
    play = Player()

    class Context:
        def refresh(self) -> None:
            play.now_ns += 5 * 10**9

    _time_refresh(Context, play.watch)
    play(0, "B", LOCK)
    Context().refresh()
    play.watch.llvm_ns += 10**9
    play(7, "E", LOCK)
    assert play.seconds() == {"trace_s": 0, "lower_s": 0, "compile_s": 0, "cache_read_s": 2}
    assert play.watch.target_init_ns == 5 * 10**9
    assert (play.watch.compiles, play.watch.loads) == (0, 1)


def test_declarations() -> None:
    assert NumbaBackend.environment("cpu", None) == {}
    assert NumbaBackend.environment("cpu", 2)["NUMBA_NUM_THREADS"] == "2"
    backend = NumbaBackend("cpu")
    assert backend.compiles_so_far() == 0
    assert backend.parts()["cache_read_s"] is None


@needs_numba
@pytest.mark.slow
def test_real_starts_prove_their_cache_modes(start: Callable[..., Any]) -> None:
    arguments = ("numba", "numba", "NumbaBackend", "matmul", "128", "float64")
    cold, warm = start(*arguments), start(*arguments)
    for one in (cold, warm):
        assert one.parts_s() <= one.said["first_call_s"]
        assert one.said["in_window"] == 0
        assert one.said["error"] < 1e-13
        assert one.said["imported_by_begin_call"] == []
        assert one.said["counters"]["numba"]["raw"]["target_init_s"] > 0.02
    for mode, right, wrong in ((COLD, cold, warm), (WARM, warm, cold)):
        judged = modes.judge(mode, [right.evidence], compiles=True)
        assert judged.proved, judged.reason
        assert not modes.judge(mode, [wrong.evidence], compiles=True).proved
    assert cold.evidence.new_files == {".nbc": 1, ".nbi": 1}
    assert cold.said["parts"]["compile_s"] > 0.02
    assert cold.said["parts"]["cache_read_s"] is None
    assert warm.said["parts"]["cache_read_s"] > 0
    assert warm.said["parts"]["compile_s"] == warm.said["parts"]["lower_s"] == 0
