"""A function that a package takes apart before it is compiled is told as it was written."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

from coldwarm.integrations import pytest_compiles
from coldwarm.integrations.pytest_fixture import subject

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.slow
JIT = """
import jax

class Wrapper:
    def __init__(self, function):
        self.__wrapped__ = function

        def fun_wrapped(arrays, others):
            return function(*arrays, **dict(others))

        self.cached = jax.jit(fun_wrapped, static_argnums=1)

    def __call__(self, *args, **kwargs):
        return _call(self, False, args, kwargs)

def _call(jit_wrapper, is_lower, args, kwargs):
    return jit_wrapper.cached(args, tuple(kwargs.items()))
"""
"""What Equinox does, as far as it matters here."""


@pytest.fixture
def wrapped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], Any]:
    folder = tmp_path / "site-packages"
    folder.mkdir()
    (folder / "taken_apart.py").write_text(JIT, encoding="utf-8")
    monkeypatch.syspath_prepend(folder)
    pytest.importorskip("jax")
    import taken_apart  # type: ignore[import-not-found] # it was written just now

    monkeypatch.setitem(sys.modules, "taken_apart", taken_apart)
    wrapper: Callable[[Any], Any] = taken_apart.Wrapper
    return wrapper


def test_arguments_are_those_of_the_call(wrapped: Callable[[Any], Any]) -> None:
    import jax.numpy as jnp

    def step(x: Any, *, scale: float) -> Any:
        return x * scale

    pytest_compiles.begin()
    function = wrapped(step)
    function(jnp.ones(3), scale=2.0)
    place = pytest_compiles.now()
    function(jnp.ones(4), scale=3.0)
    (call,) = pytest_compiles.programs(place, operations=False)
    assert subject(function).has(call)
    assert subject(step).has(call)
    assert (call.arguments, call.static) == ({"x": "f32[4]"}, {"scale": "3.0"})
    told = pytest_compiles.describe_compiles([call], pytest_compiles.since(0))
    assert "`x` is f32[4]; it was f32[3]" in told
    assert "`scale` is 3.0; it was 2.0" in told
