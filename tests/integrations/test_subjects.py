"""What ``assert_no_recompile`` looks at: found inside of what compiles it, or refused."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import pytest

from coldwarm.errors import UsageError
from coldwarm.integrations.pytest_fixture import MeasureFixture
from coldwarm.integrations.pytest_measured import Measurements

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def guard() -> MeasureFixture:
    return MeasureFixture("test", Measurements)


class Plain:
    """What nothing compiles."""


@pytest.mark.parametrize(
    "given",
    [3, "step", print, str, Plain, Plain(), [len]],
    ids=["number", "text", "built-in", "class", "own class", "object", "list"],
)
def test_what_is_no_function_is_refused_at_once(guard: MeasureFixture, given: Any) -> None:
    said = r"takes a function under jit, torch\.compile or Numba, not "
    with pytest.raises(UsageError, match=said):
        guard.assert_no_recompile(given)


def test_a_function_that_nothing_compiles_is_refused_at_the_end(guard: MeasureFixture) -> None:
    def step(x: int) -> int:
        return x + 1

    said = r"of .*step \(.*test_subjects\.py:\d+\) nothing has been compiled"
    with pytest.raises(UsageError, match=said), guard.assert_no_recompile(step):
        step(1)
    with pytest.raises(ZeroDivisionError), guard.assert_no_recompile(step):
        1 / 0  # noqa: B018 - the error of the block stays


class Adds:
    """An object that is called."""

    def __call__(self, x: Any) -> Any:
        """Add two."""
        return x + 2


class AddsToo(Adds):
    """The same by its base."""


def guarded_jax() -> dict[str, tuple[Any, Callable[..., Any]]]:
    """Return what a test may name, and what it calls."""
    import jax

    def double(x: Any) -> Any:
        return x * 2

    class Model:
        @functools.partial(jax.jit, static_argnums=0)
        def apply(self, x: Any) -> Any:
            return x - 1

    def loss(x: Any) -> Any:
        return x.sum()

    step: Any = jax.jit(double)
    called, gradient = AddsToo(), jax.jit(jax.grad(loss))
    jitted, part, model = jax.jit(called), functools.partial(step), Model()
    return {
        "jit": (step, step),
        "partial": (part, part),
        "method": (model.apply, model.apply),
        "of its class": (Model.apply, model.apply),
        "called": (jitted, jitted),
        "called, inside": (called, jitted),
        "transformed": (gradient, gradient),
        "written": (loss, gradient),
    }


NAMES = ["jit", "partial", "method", "of its class", "called", "called, inside"]


@pytest.mark.parametrize("name", [*NAMES, "transformed", "written"])
def test_a_function_under_jit_is_found(guard: MeasureFixture, name: str) -> None:
    pytest.importorskip("jax")
    import jax.numpy as jnp

    given, call = guarded_jax()[name]
    call(jnp.ones(3))
    with guard.assert_no_recompile(given):
        call(jnp.ones(3))
    with pytest.raises(AssertionError, match="compiled here"), guard.assert_no_recompile(given):
        call(jnp.ones(4))
    with guard.assert_no_recompile(guarded_jax()["jit"][0]):  # another one is none of its concern
        call(jnp.ones(5)) if name not in {"jit", "partial"} else None


def guarded_torch() -> dict[str, tuple[Any, Callable[..., Any]]]:
    """Return the same for PyTorch."""
    import torch

    class Net(torch.nn.Module):  # type: ignore[misc] # PyTorch may be missing
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(3, 4).requires_grad_(requires_grad=False)

        def forward(self, x: Any) -> Any:
            y = self.layer(x)
            torch._dynamo.graph_break()
            return y + y.sum()

    def scaled(x: Any) -> Any:
        return x * 2

    compiled: Any = functools.partial(torch.compile, backend="eager")
    own, function = compiled(Net()), compiled(scaled)
    layers = compiled(torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU()))
    in_place = Net()
    in_place.compile(backend="eager")
    return {
        "module": (own, own),
        "its forward": (own.forward, own),
        "what it was": (own._orig_mod, own),
        "PyTorch's own": (layers, layers),
        "in place": (in_place, in_place),
        "function": (function, function),
        "a method of PyTorch": (own._orig_mod.forward, own),
    }


TORCH = ["module", "its forward", "what it was", "PyTorch's own", "in place", "function"]


@pytest.mark.slow
@pytest.mark.parametrize("name", [*TORCH, "a method of PyTorch"])
def test_a_function_under_torch_compile_is_found(guard: MeasureFixture, name: str) -> None:
    torch: Any = pytest.importorskip("torch")
    given, call = guarded_torch()[name]
    call(torch.ones(2, 3))
    torch._dynamo.reset()  # as many tests do; it removes those who listen
    call(torch.ones(2, 3))
    with guard.assert_no_recompile(given):
        call(torch.ones(2, 3))
    with pytest.raises(AssertionError, match="compiled here"), guard.assert_no_recompile(given):
        call(torch.ones(2, 2, 3))


@pytest.mark.slow
def test_what_pytorch_has_not_written_in_python_is_refused(guard: MeasureFixture) -> None:
    torch: Any = pytest.importorskip("torch")
    with pytest.raises(UsageError, match=r"cannot tell .* from others: it is not written"):
        guard.assert_no_recompile(torch.compile(torch.sin, backend="eager"))


@pytest.mark.slow
def test_the_rest_after_a_graph_break_is_of_its_function(guard: MeasureFixture) -> None:
    torch: Any = pytest.importorskip("torch")

    def scaled(x: Any, scale: list[float]) -> Any:
        y = x + 1
        torch._dynamo.graph_break()
        return y * scale[0]

    step: Any = torch.compile(scaled, backend="eager")
    step(torch.ones(3), [1.0])
    said = r"compiled here(.|\n)*torch_dynamo_resume_in_scaled"
    with pytest.raises(AssertionError, match=said), guard.assert_no_recompile(step):
        step(torch.ones(3), [1.0, 2.0])
