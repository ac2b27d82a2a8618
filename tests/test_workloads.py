"""Every workload keeps its contract: seeded inputs, a reference, documents, no imports."""

from __future__ import annotations

import ast
import importlib
import pkgutil
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import coldwarm.workloads
from coldwarm.contracts.base import DTYPE_NAMES
from coldwarm.runner import case_list
from coldwarm.worker import candidate

if TYPE_CHECKING:
    from types import ModuleType

FOLDER = Path(coldwarm.workloads.__file__).parent
FOUND = pkgutil.walk_packages([str(FOLDER)], "coldwarm.workloads.")
MODULES = sorted(found.name for found in FOUND if not found.ispkg)
NAMES = [name for name in MODULES if not name.rpartition(".")[2].startswith("_")]
PAIRS = [(name, dtype) for name in NAMES for dtype in importlib.import_module(name).DTYPES]
# What a bare interpreter has loaded anyway, and what the measured side may share.
ALLOWED_IMPORTS = {
    "sys",
    "os",
    "time",
    "builtins",
    "coldwarm.wire",
    "coldwarm.backends.base",
    "coldwarm.workloads",
    "coldwarm.workloads.scenarios",
}

CHAIN = "coldwarm.workloads.matmul_chain"
HOST_DTYPES = {**DTYPE_NAMES, "bf16": "float32"}

Array = np.ndarray[Any, Any]


def load(name: str) -> ModuleType:
    return importlib.import_module(name)


def inputs(workload: ModuleType, dtype: str, seed: int) -> list[Array]:
    """Make the inputs of the smallest size."""
    job = {
        "seed": seed,
        "size": min(workload.SIZES),
        "dtype": dtype,
        "numpy_dtype": HOST_DTYPES[dtype],
    }
    return candidate.make_inputs(workload, job)


@cache
def reference(name: str, dtype: str, seed: int) -> list[Array]:
    """Make the answer once for all backends."""
    workload = load(name)
    arrays = inputs(workload, dtype, seed)
    answer: list[Array] = workload.reference(*(array.astype(np.float64) for array in arrays))
    return answer


@pytest.mark.parametrize(("name", "dtype"), PAIRS)
def test_inputs_are_seeded_and_of_the_asked_type(name: str, dtype: str) -> None:
    workload = load(name)
    first, again, other = (inputs(workload, dtype, seed) for seed in (7, 7, 8))
    for one, same, different in zip(first, again, other, strict=True):
        assert one.dtype.name == HOST_DTYPES[dtype]
        assert one.flags.c_contiguous
        np.testing.assert_array_equal(one, same)
        assert not np.array_equal(one, different)


@pytest.mark.parametrize("name", NAMES)
def test_reference_is_float64_and_finite(name: str) -> None:
    for array in reference(name, "f64", 7):
        assert array.dtype == np.float64
        assert np.isfinite(array).all()


@pytest.mark.parametrize("name", NAMES)
def test_declarations_are_complete(name: str) -> None:
    workload = load(name)
    assert name.rpartition(".")[2] == workload.NAME
    assert workload.SIZES
    assert all(size >= 1 for size in workload.SIZES)
    assert set(workload.TOLERANCE) == set(workload.DTYPES) <= set(DTYPE_NAMES)
    assert workload.SIZE_MEANING
    assert workload.LAYOUT
    baselines = workload.BASELINE
    if isinstance(baselines, str):
        baselines = dict.fromkeys(workload.DTYPES, baselines)
    # NumPy has no bfloat16.
    expected = {"f32": "numpy", "f64": "numpy", "bf16": "torch_eager_cpu"}
    assert baselines == {dtype: expected[dtype] for dtype in workload.DTYPES}
    assert callable(workload.for_numpy)


@pytest.mark.parametrize("name", NAMES)
def test_docstring_is_a_page(name: str) -> None:
    title, _, page = (load(name).__doc__ or "").partition("\n\n")
    assert title.endswith(".")
    assert "\n" not in title
    for part in ("What it stands for:", "What is computed", "What to look at:"):
        assert part in page


@pytest.mark.parametrize("name", MODULES)
def test_module_level_imports_nothing_that_would_be_measured(name: str) -> None:
    tree = ast.parse(Path(load(name).__file__ or "").read_text(encoding="utf-8"))
    imported: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        for inner in ast.walk(node) if not isinstance(node, ast.FunctionDef) else ():
            if isinstance(inner, ast.Import):
                imported.update(alias.name for alias in inner.names)
            elif isinstance(inner, ast.ImportFrom):
                imported.add(inner.module or "")
    assert imported <= ALLOWED_IMPORTS


def test_matmul_chain_refuses_a_size_it_cannot_make_orthogonal() -> None:
    with pytest.raises(ValueError, match="power of two"):
        load(CHAIN).inputs(np.random.default_rng(0), 500, "float32")


def test_matmul_chain_factor_is_orthogonal() -> None:
    _, factor = load(CHAIN).inputs(np.random.default_rng(0), 64, "float64")
    np.testing.assert_allclose(factor @ factor.T, np.eye(64), atol=1e-12)


def test_inputs_in_bfloat16_are_rounded_to_the_nearest_a_tie_to_the_even() -> None:
    step = 2.0**-7
    given = [1, 1 + step, 1 + step / 2, 1 + 3 * step / 2, 1 + 0.51 * step, -1 - 0.49 * step, 0]
    wanted = [1, 1 + step, 1, 1 + 2 * step, 1 + step, -1, 0]
    got = candidate._rounded(np.array(given, "float32"))
    np.testing.assert_array_equal(got, np.array(wanted, "float32"))
    whole = np.arange(3)
    assert candidate._rounded(whole) is whole


def test_inputs_in_bfloat16_are_what_the_frameworks_make_of_them() -> None:
    extended = pytest.importorskip("ml_dtypes", reason="it comes with JAX").bfloat16
    made = np.random.default_rng(0).standard_normal(10_000).astype("float32") * 1e3
    wanted = made.astype(extended).astype("float32")
    np.testing.assert_array_equal(candidate._rounded(made), wanted)


def test_a_case_exists_only_on_backends_that_have_its_dtype() -> None:
    short = {case.backend.name for case in case_list.every_case() if case.dtype == "bf16"}
    assert {"jax_jit", "jax_eager", "torch_eager", "torch_compile"} <= short
    assert not short & {"numpy", "numba"}
