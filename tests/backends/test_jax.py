"""JAX: the account of its events, and real starts with proved caches."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Any

import pytest

from coldwarm.backends.jax import JaxJit
from coldwarm.caches import modes
from coldwarm.frameworks.jax import JaxWatch
from coldwarm.frameworks.spans import SpanAccount

if TYPE_CHECKING:
    from collections.abc import Callable

    from coldwarm.contracts.base import CacheMode

COLD: CacheMode = "cold_process_cold_cache"
FILLED: CacheMode = "cold_process_warm_cache"
TRACE = "/jax/core/compile/jaxpr_trace_duration"
LOWER = "/jax/core/compile/jaxpr_to_mlir_module_duration"
COMPILE = "/jax/core/compile/backend_compile_duration"
RETRIEVAL = "/jax/compilation_cache/cache_retrieval_time_sec"
HIT = "/jax/compilation_cache/cache_hits"
REQUEST = "/jax/compilation_cache/compile_requests_use_cache"
needs_jax = pytest.mark.skipif(
    importlib.util.find_spec("jax") is None, reason="JAX is not installed"
)


class Player:
    """A watch on a clock that the test sets."""

    def __init__(self) -> None:
        """Begin at 0."""
        self.now_ns = 0
        self.watch = JaxWatch()
        self.watch.spans = SpanAccount(lambda: self.now_ns)
        self.watch.spans.begin()

    def span(self, begin: int, end: int, event: str) -> None:
        """Let a span open and close."""
        self.open(begin, event)
        self.close(end, event)

    def open(self, second: int, event: str) -> None:
        """Let a span open."""
        self.now_ns = second * 10**9
        self.watch.on_scalar(event, 0.0, fun_name="f")

    def close(self, second: int, event: str, seconds: float = 0.0) -> None:
        """Let a span close, or a duration be told."""
        self.now_ns = second * 10**9
        self.watch.on_duration(event, seconds, fun_name="f")


def test_without_beginnings_nothing_is_told_and_a_hit_is_no_compile() -> None:
    """As JAX 0.6.0 has it, which can listen to beginnings and tells of none."""
    play = Player()
    play.close(1, TRACE, 1.0)
    play.watch.on_event(REQUEST)
    play.watch.on_event(HIT)
    play.close(2, COMPILE, 1.0)
    assert (play.watch.untold, play.watch.hits, play.watch.compiles) == (True, 1, 0)
    play.close(3, COMPILE, 1.0)
    assert play.watch.compiles == 1


def test_a_program_compiled_inside_a_trace_is_charged_apart() -> None:
    play = Player()
    play.open(0, TRACE)
    play.span(1, 3, LOWER)
    play.span(3, 7, COMPILE)
    play.close(10, TRACE)
    assert play.watch.spans.seconds() == {
        "trace_s": 4.0,
        "lower_s": 2.0,
        "compile_s": 4.0,
        "cache_read_s": 0.0,
    }
    assert play.watch.compiles == 1


def test_a_program_read_from_the_cache_is_no_compile() -> None:
    play = Player()
    play.open(0, COMPILE)
    play.watch.on_event(REQUEST)
    play.watch.on_event(HIT)
    play.close(3, RETRIEVAL, 2.0)
    play.close(4, COMPILE)
    seconds = play.watch.spans.seconds()
    assert (seconds["cache_read_s"], seconds["compile_s"]) == (2.0, 2.0)
    assert (play.watch.hits, play.watch.compiles) == (1, 0)


def test_unknown_events_are_ignored() -> None:
    play = Player()
    play.watch.on_event("/jax/something/new", keyword="x")
    play.watch.on_duration("/jax/something/new", 1.0)
    play.watch.on_scalar("/jax/something/new", 1.0)
    assert sum(play.watch.spans.seconds().values()) == 0


def test_a_jax_that_tells_no_beginnings_has_no_parts_and_says_why() -> None:
    backend = JaxJit("cpu")
    backend.watcher.on_duration(TRACE, 1.0)
    parts = backend.parts()
    assert parts["trace_s"] is None
    assert parts["reasons"]["trace_s"]["code"] == "begins_not_reported"


@needs_jax
def test_a_filled_cache_is_proved_by_hits_and_a_cold_one_by_compiles(
    start: Callable[..., Any],
) -> None:
    arguments = ("jax", "JaxJit", "mlp_train_step", "128", "float32")
    cold, filled = start("jax", *arguments), start("jax", *arguments)
    for seen, mode in ((cold, COLD), (filled, FILLED)):
        assert modes.judge(mode, [seen.evidence], compiles=True).proved
        assert seen.parts_s() <= seen.said["first_call_s"]
    assert cold.said["parts"]["compile_s"] > filled.said["parts"]["compile_s"]
    assert filled.said["parts"]["cache_read_s"] > 0
    # A start that hits is not cold, whatever it was asked to be.
    assert not modes.judge(COLD, [filled.evidence], compiles=True).proved
    assert not modes.judge(FILLED, [cold.evidence], compiles=True).proved
