"""Functions of the frameworks: what compiles, what is kept, and what cannot be proved."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from coldwarm.contracts.reasons import because

if TYPE_CHECKING:
    from tests.functions.conftest import Desk

pytestmark = pytest.mark.slow

X = ("--input", "x=f32[64]")
COLD, WARM = "--cold-only", "--warm-only"


@pytest.fixture(autouse=True)
def _frameworks(request: pytest.FixtureRequest) -> None:
    for name in ("jax", "numba", "torch"):
        if name in request.node.name:
            pytest.importorskip(name)


def test_jax_compiled_and_eager_and_with_a_donated_argument(desk: Desk) -> None:
    desk.write(
        "of_jax.py",
        """
        import functools
        import jax
        import jax.numpy as jnp

        def eager(x):
            return jnp.sin(x) * 2 + jnp.cos(x) * 2

        jitted = jax.jit(eager)

        @functools.partial(jax.jit, donate_argnums=0)
        def donated(x):
            return jnp.sin(x) * 2 + jnp.cos(x) * 2
        """,
    )
    names = ("eager", "jitted", "donated")
    code, report = desk.report(*(f"of_jax.py:{name}" for name in names), *X)
    assert code == 0, [(one.candidate, one.reason) for one in report.candidates]
    assert [one.status for one in report.candidates] == ["ok"] * 3
    assert desk.own("donated")["renewed"] is True
    assert desk.own("jitted")["renewed"] is False
    for name in names:
        for seen in desk.case(name)["observations"]:
            assert all(judged["proved"] for judged in seen["judgements"].values()), (
                seen["judgements"],
                seen["evidence"],
            )


def test_a_jax_module_with_a_cache_of_its_own_is_never_called_cold(desk: Desk) -> None:
    desk.write(
        "cached.py",
        f"""
        import jax
        jax.config.update("jax_compilation_cache_dir", {str(desk.path / "mine")!r})

        @jax.jit
        def fit(x):
            return x * 2
        """,
    )
    said = desk.refused("cached.py:fit", *X)
    assert said.startswith("fit: cached sets jax.config.jax_compilation_cache_dir by itself")
    assert said.endswith("or give --warm-only")
    code, report = desk.report("cached.py:fit", *X, WARM)
    assert (code, report.candidates[0].ttfr) == (0, {})


def test_numba_with_and_without_its_cache(desk: Desk) -> None:
    desk.write(
        "of_numba.py",
        """
        import numba

        @numba.njit
        def lost(x):
            total = 0.0
            for value in x:
                total += value * value
            return total

        @numba.njit(cache=True)
        def kept(x):
            total = 0.0
            for value in x:
                total += value * value
            return total
        """,
    )
    code, report = desk.report("of_numba.py:lost", "of_numba.py:kept", *X, COLD)
    assert code == 0, [(one.candidate, one.reason) for one in report.candidates]
    lost, kept = report.candidates
    assert because("not_kept", owner="numba") in lost.limitations
    assert not any(reason.code == "not_kept" for reason in kept.limitations)
    least_s: dict[str, float] = {}
    for seen in desk.case("kept")["observations"]:
        assert all(judged["proved"] for judged in seen["judgements"].values()), seen
        parts = seen["first_call_parts"]
        names = ("trace_s", "lower_s", "compile_s", "cache_read_s")
        spent_s = sum(parts[name] or 0.0 for name in names)
        mode = seen["cache_mode"]
        least_s[mode] = min(spent_s, least_s.get(mode, spent_s))
    # Most of a start is import and Numba's own preparations, whatever a cache holds.
    assert least_s["cold_process_warm_cache"] < least_s["cold_process_cold_cache"] / 2


def test_one_module_with_jax_and_torch(desk: Desk) -> None:
    desk.write(
        "both.py",
        """
        import jax.numpy as jnp
        import numpy as np
        import torch

        def of_numpy(x):
            return np.sin(x)

        def of_jax(x):
            return jnp.sin(x)

        def of_torch(x):
            return torch.sin(x)

        def of_either(x):
            return x + 1
        """,
    )
    names = ("of_numpy", "of_jax", "of_torch")
    code, _ = desk.report(*(f"both.py:{name}" for name in names), *X, WARM)
    assert code == 0
    assert [desk.own(name)["placement"] for name in names] == ["numpy", "jax", "torch"]
    said = desk.refused("both.py:of_either", *X, "--out", "two")
    assert "could be of JAX or of PyTorch" in said


def test_a_numba_module_with_a_cache_of_its_own_is_never_called_cold(desk: Desk) -> None:
    desk.write(
        "cached.py",
        f"""
        import os
        os.environ["NUMBA_CACHE_DIR"] = {str(desk.path / "mine")!r}
        import numba

        @numba.njit(cache=True)
        def fit(x):
            return x * 2
        """,
    )
    said = desk.refused("cached.py:fit", *X, COLD)
    assert said.startswith("fit: cached sets NUMBA_CACHE_DIR by itself")
    assert said.endswith("or give --warm-only")


def test_a_function_that_compiles_in_each_call_is_told_what_to_do(desk: Desk) -> None:
    pytest.importorskip("jax")
    desk.write(
        "each.py",
        """
        import jax
        import jax.numpy as jnp

        def each(x):
            return jax.jit(lambda v: jnp.sin(v) @ v.T)(x)
        """,
    )
    done = desk.bench("each.py:each", "--input", "x=f32[50,50]", "--verbose")
    said = " ".join((done.out + done.err).split())
    cure = "build the jitted function once, outside of the function that is called"
    assert "rejected: every call compiled: " in said
    assert said.count(cure) >= 3  # as it happened, at the figure, at the candidate
    assert "every call compiles: a second one with the same arguments compiled 1 program" in said
    lines = [line for line in done.err.splitlines() if "every call compiled" in line]
    assert lines
    assert not any(line.endswith("ok") for line in lines)
    warm = [one for one in desk.case("each")["observations"] if one["blocks"]]
    assert len(warm) <= 2  # no time is spent on what cannot become better
