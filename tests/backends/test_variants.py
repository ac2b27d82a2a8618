"""Variants of a backend: which candidate of a workload they run, and what they do otherwise."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from coldwarm.backends.jax import JaxJit
from coldwarm.backends.jax_aot import JaxAot, JaxExport
from coldwarm.backends.torch import (
    TorchCompile,
    TorchCompileDynamic,
    TorchCompileReduceOverhead,
    TorchEager,
)
from coldwarm.backends.torch_aot import TorchAot, TorchMegacache
from coldwarm.registry import BackendSpec, Source, WorkloadSpec, backend_spec, workload_spec
from coldwarm.worker import candidate

needs_torch = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="PyTorch is not installed"
)


def workload(*names: str, **fields: object) -> ModuleType:
    """Return a workload with these candidates, each of which returns its own name."""
    made = ModuleType("a_workload")
    for name in names:
        setattr(made, name, lambda _wrap, name=name: name)
    vars(made).update(fields)
    return made


def spec_of(module: ModuleType) -> WorkloadSpec:
    """Return what the module declares, the rest made up."""
    declared = {"NAME": "a", "SIZES": (1,), "DTYPES": (), "TOLERANCE": {}, "LAYOUT": ""}
    vars(module).update(declared, BASELINE="numpy")
    return workload_spec(module, Source("a", Path("a")))


def spec(kind: Any) -> BackendSpec:
    """Return what the class declares."""
    return backend_spec(kind, Source("a", Path("a")))


@pytest.mark.parametrize(
    ("kind", "there", "taken"),
    [
        (TorchCompileDynamic, ("for_torch",), "for_torch"),
        (TorchCompileDynamic, ("for_torch", "for_torch_compile"), "for_torch_compile"),
        (
            TorchCompileDynamic,
            ("for_torch", "for_torch_compile", "for_torch_compile_dynamic"),
            "for_torch_compile_dynamic",
        ),
        (TorchCompileReduceOverhead, ("for_torch", "for_torch_compile"), "for_torch_compile"),
        (TorchCompile, ("for_torch", "for_torch_compile_dynamic"), "for_torch"),
        (TorchEager, ("for_torch", "for_torch_compile"), "for_torch"),
        (TorchAot, ("for_torch", "for_torch_compile"), "for_torch_compile"),
        (TorchMegacache, ("for_torch", "for_torch_aot"), "for_torch"),
        (JaxAot, ("for_jax", "for_jax_jit"), "for_jax_jit"),
        (JaxExport, ("for_jax", "for_jax_aot"), "for_jax"),
        (JaxJit, ("for_jax", "for_jax_aot"), "for_jax"),
    ],
)
def test_a_variant_runs_its_own_candidate_or_that_of_what_it_is_like(
    kind: Any, there: tuple[str, ...], taken: str
) -> None:
    module = workload(*there)
    builder: Any = candidate.load_builder(module, kind("cpu"))
    assert builder(None) == taken
    assert spec_of(module).has(spec(kind))


def test_a_candidate_of_a_variant_is_none_of_the_others() -> None:
    entry = spec_of(workload("for_torch_compile_dynamic"))
    assert entry.has(spec(TorchCompileDynamic))
    assert not entry.has(spec(TorchCompile))
    assert not entry.has(spec(JaxAot))


def test_a_workload_may_say_that_it_has_no_candidate_of_a_variant() -> None:
    module = workload("for_torch", for_torch_compile_dynamic=None)
    entry = spec_of(module)
    assert not entry.has(spec(TorchCompileDynamic))
    assert entry.has(spec(TorchCompile))
    assert entry.has(spec(TorchCompileReduceOverhead))


def test_only_what_can_run_a_scenario_has_a_case_of_one() -> None:
    module = workload("for_jax", "for_torch", SCENARIO=True)
    entry = spec_of(module)
    assert entry.has(spec(JaxJit))
    assert entry.has(spec(TorchCompileDynamic))
    assert not entry.has(spec(JaxAot))
    assert not entry.has(spec(JaxExport))
    assert not entry.has(spec(TorchCompileReduceOverhead))
    assert not entry.has(spec(TorchAot))
    assert not entry.has(spec(TorchMegacache))


@needs_torch
@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (TorchCompile, {"dynamic": None, "mode": None}),
        (TorchCompileDynamic, {"dynamic": True, "mode": None}),
        (TorchCompileReduceOverhead, {"dynamic": None, "mode": "reduce-overhead"}),
    ],
)
def test_each_variant_asks_torch_for_what_its_name_says(
    monkeypatch: pytest.MonkeyPatch, kind: Any, options: dict[str, Any]
) -> None:
    import torch

    asked: dict[str, Any] = {}
    monkeypatch.setattr(torch, "compile", lambda function, **given: asked.update(given))
    kind("cpu").wrap(lambda x: x)
    assert asked == options


@needs_torch
@pytest.mark.slow
def test_an_output_that_is_kept_is_not_overwritten() -> None:
    import torch

    out = (torch.ones(2), torch.zeros(2))
    backend = TorchCompileReduceOverhead("cpu")
    kept = backend.keep(out)
    out[0].fill_(9)
    assert [leaf.tolist() for leaf in backend.fetch(kept)] == [[1, 1], [0, 0]]
