"""What was compiled, counted: the same in every process, and never guessed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from coldwarm.frameworks import jax_programs
from coldwarm.frameworks.base import Watch
from coldwarm.frameworks.jax import JaxWatch
from coldwarm.frameworks.numba import NumbaWatch
from coldwarm.wire import because

if TYPE_CHECKING:
    from pathlib import Path

    from tests.functions.conftest import Desk

    from coldwarm.contracts.answer import CountVerdict


def jaxpr(*equations: dict[str, Any]) -> SimpleNamespace:
    return SimpleNamespace(eqns=[SimpleNamespace(params=params) for params in equations])


def test_equations_of_inner_programs_count_and_a_shared_one_counts_once() -> None:
    inner = jaxpr({}, {})
    closed = SimpleNamespace(jaxpr=inner, eqns=inner.eqns)
    branches = (closed, SimpleNamespace(jaxpr=jaxpr({}), eqns=[None]))
    assert jax_programs.n_equations(jaxpr({"jaxpr": closed}, {"call": inner}, {})) == 3 + 2
    assert jax_programs.n_equations(jaxpr({"branches": branches, "name": "cond"})) == 1 + 2 + 1


def put_executables(monkeypatch: pytest.MonkeyPatch, *texts: str) -> None:
    """Let JAX have loaded programs of which XLA says this."""

    def one(text: str) -> SimpleNamespace:
        return SimpleNamespace(hlo_modules=lambda: [SimpleNamespace(to_string=lambda: text)])

    client = SimpleNamespace(live_executables=lambda: list(map(one, texts)))
    bridge = SimpleNamespace(_backends={"cpu": client})
    monkeypatch.setitem(sys.modules, "jax._src.xla_bridge", bridge)


HLO = """HloModule jit_f, is_scheduled=true

%fused (p: f32[2]) -> f32[2] {
  %p = f32[2]{0} parameter(0)
  ROOT %sine = f32[2]{0} sine(%p), metadata={op_name="a = b"}
}

ENTRY %main (x: f32[2]) -> f32[2] {
  %x = f32[2]{0} parameter(0)
  ROOT %f = f32[2]{0} fusion(%x), kind=kLoop, calls=%fused
}
"""


def test_instructions_are_those_of_the_loaded_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    put_executables(monkeypatch, HLO, HLO)
    watch = JaxWatch()
    watch.compiles = 2
    watch.mark()
    put_executables(monkeypatch, HLO, HLO, HLO)
    watch.compiles = 3  # after the mark
    assert watch.counts() == {"programs": 2, "equations": 0, "instructions": 8}


def test_programs_that_are_gone_are_not_counted_as_none(monkeypatch: pytest.MonkeyPatch) -> None:
    put_executables(monkeypatch, HLO)
    watch = JaxWatch()
    watch.compiles, watch.hits = 2, 1
    watch.mark()
    found = watch.counts()
    assert found["programs"] == 3
    assert found["instructions"] == because("programs_gone", n_programs=2)


def test_what_a_version_keeps_elsewhere_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    put_executables(monkeypatch)
    watch = JaxWatch()
    watch.on_scalar("/jax/core/compile/jaxpr_to_mlir_module_duration", 0.0)
    watch.mark()
    assert watch.counts()["equations"] == because("not_told", by="this version of JAX")


def test_a_version_that_lacks_what_is_looked_into_gives_a_reason() -> None:
    class Broken(Watch):
        counted = ("programs",)

        def note(self) -> None:
            raise AttributeError("live_executables")

    watch = Broken()
    watch.mark()
    told = because("exception", error="AttributeError", text="live_executables")
    assert watch.counts() == {"programs": told}
    gap = because("came_unwatched", framework="jax")
    assert watch.counts(gap) == {"programs": gap}


def test_numba_says_nothing_of_what_it_read_or_cannot_name() -> None:
    read, nameless = NumbaWatch(), NumbaWatch()
    read.loads = 1
    nameless.on_start("numba:run_pass", {"name": "translate_bytecode"})
    for watch, told in (
        (read, because("inside_cached", cache="Numba's cache")),
        (nameless, because("not_told", by="numba.vectorize")),
    ):
        watch.mark()
        assert watch.counts() == {"signatures": told, "llvm_lines": told}


def by_name(counts: list[CountVerdict]) -> dict[str, CountVerdict]:
    return {one.name: one for one in counts}


def told(desk: Desk, label: str) -> list[dict[str, int]]:
    """Return the different numbers that processes of a candidate have counted."""
    found: list[dict[str, int]] = []
    for seen in desk.case(label)["observations"]:
        numbers = seen.get("counts", {}).get("numbers", {})
        if numbers and numbers not in found:
            found.append(numbers)
    return found


@pytest.mark.slow
def test_a_bench_guards_programs_of_jax_and_all_processes_count_alike(desk: Desk) -> None:
    pytest.importorskip("jax")
    desk.write(
        "of_jax.py",
        """
        import jax
        import jax.numpy as jnp

        @jax.jit
        def whole(x):
            return jax.lax.fori_loop(0, 10, lambda i, a: jnp.sin(a) * a, x).sum()

        def parts(x):
            return whole(x) + jnp.tanh(x).sum()
        """,
    )
    # A call with another shape compiles again, which only some of the processes make.
    given = ("of_jax.py:whole", "of_jax.py:parts", "--input", "x=f32[32];[40]", "--no-check")
    code, report = desk.report(*given, "--fail-on", "programs:+0,equations:1000%")
    assert code == 1
    assert report.n_failing == 1
    found = by_name(report.counts)
    assert (found["programs"].reference, found["programs"].fails_beyond) == (2, 2)
    assert (found["programs"].count or 0) >= 6
    assert found["equations"].verdict == "more"
    assert found["equations"].fails_beyond is None
    for label in ("whole", "parts"):
        # With empty caches and a further shape; with filled ones and warm, without.
        numbers, few = sorted(told(desk, label), key=lambda one: -one["programs"])
        assert few["programs"] < numbers["programs"]
        assert numbers.keys() == {"programs", "equations", "instructions"}
        assert min(numbers.values()) > 0


@pytest.mark.slow
def test_a_bench_guards_signatures_of_numba(desk: Desk) -> None:
    pytest.importorskip("numba")
    desk.write(
        "of_numba.py",
        """
        import numba
        import numpy as np

        @numba.njit(cache=True)
        def once(x):
            s = 0.0
            for v in x:
                s += v * v
            return s

        @numba.njit(cache=True)
        def both(x):
            return once(x) + once(x.astype(np.float32))
        """,
    )
    given = ("of_numba.py:once", "of_numba.py:both", "--input", "x=f64[100]", "--no-check")
    code, report = desk.report(*given, "--fail-on", "signatures:+1,llvm_lines:1000%")
    assert code == 1
    found = by_name(report.counts)
    assert (found["signatures"].reference, found["signatures"].count) == (1, 3)
    assert found["signatures"].fails_beyond == 2
    assert found["llvm_lines"].verdict == "more"
    filled = [
        seen["counts"]["null_reasons"]
        for seen in desk.case("both")["observations"]
        if seen["cache_mode"] == "cold_process_warm_cache"
    ]
    assert all(one["signatures"]["code"] == "inside_cached" for one in filled)


OF_TORCH = """
    import json
    import torch
    from coldwarm.frameworks.torch import CompileWatch

    @torch.compile
    def broken(x):
        y = torch.sin(x) @ x
        torch._dynamo.graph_break()
        return torch.cos(y)

    watch = CompileWatch()
    watch.install()
    watch.begin_call()
    broken(torch.ones(8, 8))
    watch.mark()
    broken(torch.ones(9, 9))
    found = [watch.counts()]
    watch.mark()
    found.append(watch.counts())
    torch._dynamo.utils.counters.clear()
    watch.mark()
    print(json.dumps([*found, watch.counts()]))
"""


@pytest.mark.slow
def test_graphs_and_kernels_of_torch_are_counted(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    script = tmp_path / "graphs.py"
    script.write_text(textwrap.dedent(OF_TORCH), encoding="utf-8")
    variables = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run(
        [sys.executable, script], env=variables, capture_output=True, timeout=300, check=True
    )
    found, again, cleared = json.loads(done.stdout)
    # A sine, a product that a library computes, a cosine; not what comes after the mark.
    assert found == {"graphs": 2, "graph_breaks": 1, "kernels": 3}
    assert again["graphs"] > 2
    assert cleared["kernels"] == because("counters_cleared")
