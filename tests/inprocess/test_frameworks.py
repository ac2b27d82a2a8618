"""``coldwarm.bench`` with functions that are compiled."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.inprocess.test_scripts import run, whole

from coldwarm.frameworks.arrivals import Arrivals
from coldwarm.inprocess import warm_calls
from coldwarm.inprocess.bench import Benchmark

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow


def test_jax_with_a_donated_argument(tmp_path: Path) -> None:
    pytest.importorskip("jax")
    body = """
        import jax, jax.numpy as jnp
        jax.config.update("jax_enable_x64", True)

        def step(w, x):
            return w - 0.1 * jnp.tanh(x @ w).sum(), {"x": x}

        fast = jax.jit(step, donate_argnums=0)

        if __name__ == "__main__":
            w = jnp.ones((8, 8))
            told(bench(fast, w, x=jnp.ones((4, 8))))
            assert not w.is_deleted()
    """
    (told,) = run(tmp_path, body)
    assert whole(told), told["reasons"]
    assert told["name"] == "fast"
    assert told["arguments"] == ["jax float64[8, 8]", "jax float64[4, 8]"]


def test_numba_and_a_tensor(tmp_path: Path) -> None:
    pytest.importorskip("numba")
    pytest.importorskip("torch")
    body = """
        import numba, torch

        @numba.njit(cache=True)
        def total(x):
            found = 0.0
            for one in x:
                found += one
            return found

        def product(x):
            return x @ x

        if __name__ == "__main__":
            told(bench(total, np.ones(100)))
            told(bench(product, torch.ones(4, 4)))
    """
    first, second = run(tmp_path, body)
    assert whole(first), first["reasons"]
    assert whole(second), second["reasons"]
    assert second["arguments"] == ["torch float32[4, 4]"]


def test_blocks_in_which_something_is_compiled_do_not_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    jax = pytest.importorskip("jax")
    monkeypatch.setattr(warm_calls, "_BLOCKS", 3)
    sizes = iter(range(1, 10**6))
    result = Benchmark(cold=False, time_budget_s=2)(
        lambda: jax.jit(lambda x: x + 1)(jax.numpy.ones(next(sizes)))
    )
    assert result.warm is None
    assert "every call compiled" in result.reasons["warm"]
    assert result.in_process is not None
    assert all(block.compiles for block in result.in_process.blocks)


def test_no_listener_stays() -> None:
    jax = pytest.importorskip("jax")
    numba = pytest.importorskip("numba")
    from jax._src import monitoring
    from numba.core import event
    from numba.core.base import BaseContext

    def listeners() -> list[int]:
        kinds = ("event", "event_duration", "scalar")
        by_jax = [len(getattr(monitoring, f"get_{kind}_listeners")()) for kind in kinds]
        return [*by_jax, *filter(None, map(len, event._registered.values()))]

    before, refresh = listeners(), BaseContext.refresh
    arrivals = Arrivals()
    arrivals.begin()
    try:
        assert listeners() > before
        jax.jit(lambda x: 3 * x)(1.0)
        by_jax = arrivals.compiles_so_far()
        numba.njit(lambda x: 3 * x)(1.0)
        both = arrivals.compiles_so_far()
        assert by_jax is not None
        assert both is not None
        assert 1 <= by_jax < both
    finally:
        arrivals.end()
    assert listeners() == before
    assert BaseContext.refresh is refresh


def test_jax_that_only_the_arguments_bring_is_in_the_import(tmp_path: Path) -> None:
    body = """
    def double(x):
        return x * 2

    if __name__ == "__main__":
        import jax.numpy as jnp

        result = bench(double, jnp.ones(64))
        for seen in result.case.observations:
            spans = {phase.name: phase.duration_s for phase in seen.phases}
            print(json.dumps([spans["import"], spans["setup"]]))
    """
    spans = run(tmp_path, body)
    assert spans
    for import_s, setup_s in spans:
        assert import_s > 3 * setup_s


def test_a_function_that_compiles_in_each_call_is_told_so_whatever_the_budget(
    tmp_path: Path,
) -> None:
    pytest.importorskip("jax")
    body = """
        import jax, jax.numpy as jnp

        CALLS = []

        def each(x):
            CALLS.append(1)
            return jax.jit(lambda v: v * 2)(x)

        if __name__ == "__main__":
            result = coldwarm.Benchmark(time_budget_s=15)(each, jnp.ones(10))
            assert len(CALLS) < 300, len(CALLS)
            told(result)
    """
    (told,) = run(tmp_path, body)
    assert "every call compiled" in told["reasons"]["warm"]
    assert "build the jitted function once" in told["reasons"]["warm"]
