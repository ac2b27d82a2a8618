"""Every workload keeps its contract: right answers, untouched inputs, documents, no imports."""

from __future__ import annotations

import ast
import importlib
import pkgutil
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest

import coldwarm.workloads
from coldwarm.contracts.base import DTYPE_NAMES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

FOLDER = Path(coldwarm.workloads.__file__).parent
MODULES = sorted(module.name for module in pkgutil.iter_modules([str(FOLDER)]))
NAMES = [name for name in MODULES if not name.startswith("_")]
PAIRS = [
    (name, dtype)
    for name in NAMES
    for dtype in importlib.import_module(f"coldwarm.workloads.{name}").DTYPES
]
# What a bare interpreter has loaded anyway, and what the measured side may share.
ALLOWED_IMPORTS = {
    "sys",
    "os",
    "time",
    "builtins",
    "coldwarm.wire",
    "coldwarm.backends.base",
    "coldwarm.workloads",
}

Array = np.ndarray[Any, Any]
Function = Callable[..., Any]


class Execution(NamedTuple):
    """How this test runs the candidates of one backend, without the engine."""

    builders: tuple[str, ...]
    wrap: Callable[[Function], Function]
    place: Callable[[Array], Any]
    around: Callable[[], AbstractContextManager[Any]] = nullcontext


def unchanged(given: Any) -> Any:
    """Return what is given, as an eager backend wraps and NumPy places."""
    return given


def numpy_execution() -> Execution:
    return Execution(("for_numpy",), unchanged, unchanged)


def jax_jit_execution() -> Execution:
    jax = pytest.importorskip("jax", reason="jax is not installed")

    @contextmanager
    def both_precisions() -> Iterator[None]:
        before = jax.config.jax_enable_x64
        jax.config.update("jax_enable_x64", val=True)
        try:
            yield
        finally:
            jax.config.update("jax_enable_x64", before)

    return Execution(("for_jax",), jax.jit, jax.device_put, both_precisions)


def jax_eager_execution() -> Execution:
    compiled = jax_jit_execution()
    return compiled._replace(builders=("for_jax_eager", "for_jax"), wrap=unchanged)


def torch_eager_execution() -> Execution:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    return Execution(("for_torch",), unchanged, torch.from_numpy)


def torch_compile_execution() -> Execution:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    return Execution(("for_torch",), torch.compile, torch.from_numpy)


def numba_execution() -> Execution:
    numba = pytest.importorskip("numba", reason="numba is not installed")
    pytest.importorskip("scipy", reason="numba's np.dot needs scipy, which is not installed")
    return Execution(("for_numba",), numba.njit, unchanged)


EXECUTIONS = {
    "numpy": numpy_execution,
    "jax_jit": jax_jit_execution,
    "jax_eager": jax_eager_execution,
    "torch_eager": torch_eager_execution,
    "torch_compile": torch_compile_execution,
    "numba": numba_execution,
}
# torch's compiler takes seconds, and warns about parts of torch itself.
SLOW = (
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
)
BACKENDS = [
    pytest.param(name, marks=SLOW if name == "torch_compile" else ()) for name in EXECUTIONS
]


def load(name: str) -> ModuleType:
    return importlib.import_module(f"coldwarm.workloads.{name}")


def inputs(workload: ModuleType, dtype: str, seed: int) -> list[Array]:
    """Make the inputs of the smallest size."""
    rng = np.random.default_rng(seed)
    arrays: list[Array] = workload.inputs(rng, min(workload.SIZES), DTYPE_NAMES[dtype])
    return arrays


def outputs(out: object) -> list[Array]:
    """Copy what a candidate returned to the host, of a scenario what each of its steps gave."""
    if isinstance(out, Generator):
        return [array for step in out for array in outputs(step)]
    return [np.asarray(each) for each in (out if isinstance(out, tuple) else (out,))]


@cache
def reference(name: str, dtype: str, seed: int) -> list[Array]:
    """Make the answer once for all backends."""
    workload = load(name)
    arrays = inputs(workload, dtype, seed)
    answer: list[Array] = workload.reference(*(array.astype(np.float64) for array in arrays))
    return answer


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("name", "dtype"), PAIRS)
def test_candidate_gives_the_reference_answer(name: str, dtype: str, backend: str) -> None:
    workload, execution = load(name), EXECUTIONS[backend]()
    build = next(getattr(workload, b) for b in execution.builders if hasattr(workload, b))
    answers = []
    with execution.around():
        candidate = build(execution.wrap)
        for seed in (7, 8):
            arrays = inputs(workload, dtype, seed)
            before = [array.copy() for array in arrays]
            got = outputs(candidate(*(execution.place(array) for array in arrays)))
            wanted = reference(name, dtype, seed)

            assert [array.dtype.name for array in got] == [DTYPE_NAMES[dtype]] * len(wanted)
            for one, other in zip(got, wanted, strict=True):
                assert one.shape == other.shape
                scale = np.abs(other).max()
                assert np.abs(one - other).max() <= workload.TOLERANCE[dtype] * scale
            for one, other in zip(arrays, before, strict=True):
                np.testing.assert_array_equal(one, other, "the candidate changed its input")
            answers.append(got)
    for one, other in zip(*answers, strict=True):
        assert not np.array_equal(one, other), "the answer does not depend on the inputs"


@pytest.mark.parametrize(("name", "dtype"), PAIRS)
def test_inputs_are_seeded_and_of_the_asked_type(name: str, dtype: str) -> None:
    workload = load(name)
    first, again, other = (inputs(workload, dtype, seed) for seed in (7, 7, 8))
    for one, same, different in zip(first, again, other, strict=True):
        assert one.dtype.name == DTYPE_NAMES[dtype]
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
    assert name == workload.NAME
    assert workload.SIZES
    assert all(size >= 1 for size in workload.SIZES)
    assert set(workload.TOLERANCE) == set(workload.DTYPES) <= set(DTYPE_NAMES)
    assert workload.SIZE_MEANING
    assert workload.LAYOUT
    assert workload.BASELINE == "numpy"
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
    tree = ast.parse((FOLDER / f"{name}.py").read_text(encoding="utf-8"))
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
        load("matmul_chain").inputs(np.random.default_rng(0), 500, "float32")


def test_matmul_chain_factor_is_orthogonal() -> None:
    _, factor = load("matmul_chain").inputs(np.random.default_rng(0), 64, "float64")
    np.testing.assert_allclose(factor @ factor.T, np.eye(64), atol=1e-12)
