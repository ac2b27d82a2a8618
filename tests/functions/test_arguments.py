"""The arguments of a user's function: whose arrays they are, and how they are handed over."""

from __future__ import annotations

import functools
import types
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from coldwarm.functions import arguments, target, transfer
from coldwarm.functions.arguments import Call, by_position, called, framework_of, from_factory, made
from coldwarm.functions.target import TargetError, resolve
from coldwarm.runner.functions.targets import parse_inputs

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def fit(x: Any, y: Any) -> Any:
    return x + y


def scaled(x: Any, power: int = 2, *, scale: float) -> Any:
    return scale * x**power


def many(x: Any, *rest: Any) -> Any:
    return x, rest


def named(**inputs: Any) -> Any:
    return inputs


def only_by_position(x: Any, /, y: Any) -> Any:
    return x, y


@pytest.mark.parametrize(
    ("function", "inputs", "positional", "by_name"),
    [
        (fit, {"x": 1, "y": 2}, (1, 2), {}),
        (fit, {"y": 2, "x": 1}, (1, 2), {}),
        (fit, {"a": 1, "b": 2}, (1, 2), {}),
        (scaled, {"x": 1, "scale": 2.0}, (1,), {"scale": 2.0}),
        (scaled, {"scale": 2.0, "power": 3, "x": 1}, (1, 3), {"scale": 2.0}),
        (many, {"x": 1, "a": 2, "b": 3}, (1, 2, 3), {}),
        (many, {"a": 1, "b": 2}, (1, 2), {}),
        (only_by_position, {"y": 2, "x": 1}, (1, 2), {}),
        (functools.partial(fit, 1), {"y": 2}, (2,), {}),
        (functools.partial(fit, y=1), {"x": 2}, (2,), {}),
        (np.dot, {"a": 1, "b": 2}, (1, 2), {}),
        (np.add, {"p": 1, "q": 2}, (1, 2), {}),
    ],
)
def test_inputs_go_where_the_signature_has_them(
    function: Callable[..., Any],
    inputs: dict[str, Any],
    positional: tuple[Any, ...],
    by_name: dict[str, Any],
) -> None:
    call = called(inputs, by_position(function, inputs))
    assert (call.positional, call.named) == (positional, by_name)
    assert call.flat == (*positional, *by_name.values())
    assert call.keywords == tuple(by_name)
    function(*call.positional, **call.named)


@pytest.mark.parametrize(
    ("function", "names", "said"),
    [
        (fit, "xyz", "fit takes x, y; there is no input z"),
        (fit, "x", "fit takes x, y; give y as --input, too"),
        (fit, "xz", "fit takes x, y; there is no input z"),
        (fit, "z", "fit takes x, y; there is no input z"),
        (fit, "abc", "fit takes x, y; there is no input a, b, c"),
        (scaled, "x", "scaled takes x, power, scale; give scale as --input, too"),
        (test_inputs_go_where_the_signature_has_them, "a", "give|no input"),
        (lambda: None, "x", "takes no arguments; there is no input x"),
    ],
)
def test_inputs_that_the_function_does_not_take(
    function: Callable[..., Any], names: str, said: str
) -> None:
    with pytest.raises(TargetError, match=said) as caught:
        by_position(function, dict.fromkeys(names, 1))
    assert "\n" not in str(caught.value)


def test_a_copied_call_has_arrays_of_its_own() -> None:
    inputs = {"x": np.zeros(3), "scale": np.ones(2)}
    call = called(inputs, by_position(scaled, inputs))
    copy = call.copied()
    copy.positional[0][:] = 7
    copy.named["scale"][:] = 7
    assert call.flat[0].tolist() == [0, 0, 0]
    assert call.named["scale"].tolist() == [1, 1]


def test_inputs_are_made_of_the_seed_in_their_shapes() -> None:
    texts = ("x=f32[2,3];[4]", "n=i64[5]:range", "b=bool[6]", "c=c64[2]", "s=3", "o=f16[]:ones")
    inputs = parse_inputs(texts)

    def draw(which: int = 0, seed: int = 1) -> dict[str, Any]:
        return made(inputs, np.random.default_rng(seed), which, "numpy")

    first, other = draw(), draw(which=1)
    assert first["x"].shape == (2, 3)
    assert other["x"].shape == (4,)
    assert other["n"].tolist() == [0, 1, 2, 3, 4], "what has one shape keeps it"
    assert {name: str(first[name].dtype) for name in "xnbco"} == {
        "x": "float32",
        "n": "int64",
        "b": "bool",
        "c": "complex64",
        "o": "float16",
    }
    assert first["s"] == 3
    assert float(first["o"]) == 1.0
    assert (draw()["x"] == first["x"]).all()
    assert (draw(seed=2)["x"] != first["x"]).any()


def module(text: str) -> types.ModuleType:
    """Return a module with this source."""
    new = types.ModuleType("of_a_user")
    exec(compile(text, "of_a_user.py", "exec"), vars(new))  # noqa: S102 - written below
    return new


def whose(text: str) -> str:
    made_of = module(text)
    return framework_of(made_of.f, made_of)


def test_a_plain_function_takes_arrays_of_numpy() -> None:
    assert whose("def f(x): return x") == "numpy"
    assert whose("import numpy as np\ndef f(x): return np.sum(x)") == "numpy"


BOTH = "import numpy as np, jax, jax.numpy as jnp, torch\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "framework"),
    [
        ("import jax.numpy as jnp\ndef f(x): return jnp.sum(x)", "jax"),
        ("import jax\ndef f(x): return x @ x", "jax"),
        ("import torch\ndef f(x): return x @ x", "torch"),
        (BOTH + "def f(x): return np.sum(x)", "numpy"),
        (BOTH + "def f(x): return jnp.sum(x)", "jax"),
        (BOTH + "def f(x): return torch.sum(x)", "torch"),
        (BOTH + "def g(x): return torch.sum(x)\ndef f(x): return g(x) + 1", "torch"),
        (BOTH + "def f(x):\n  def inner(y): return jnp.sum(y)\n  return inner(x)", "jax"),
        (BOTH + "def g(x): return x @ x\ng = jax.jit(g)\ndef f(x): return np.asarray(g(x))", "jax"),
        (BOTH + "f = jax.jit(lambda x: x @ x)", "jax"),
        (BOTH + "import functools\nf = functools.partial(jax.jit(lambda y, x: x), 1)", "jax"),
        (BOTH + "f = torch.compile(lambda x: x @ x)", "torch"),
        (BOTH + "class Net(torch.nn.Module): pass\nf = Net()", "torch"),
        (BOTH + "def f(x):\n  if x.sum() > 0: return f(-x)\n  return jnp.sin(x)", "jax"),
        (BOTH + "import numba\nf = numba.njit(lambda x: x)", "numpy"),
    ],
)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the frameworks
def test_a_function_takes_the_arrays_of_the_framework_that_it_uses(
    text: str, framework: str
) -> None:
    for name in ("jax", "torch"):
        pytest.importorskip(name)
    assert whose(text) == framework


@pytest.mark.slow
def test_a_function_that_could_be_of_either_framework_is_asked_about() -> None:
    for name in ("jax", "torch"):
        pytest.importorskip(name)
    with pytest.raises(TargetError, match=r"f could be of JAX or of PyTorch: .*--inputs-as"):
        whose(BOTH + "def f(x): return x @ x")


@pytest.mark.slow
def test_jax_keeps_the_type_that_was_asked_for_or_it_is_refused() -> None:
    pytest.importorskip("jax.numpy")
    assert arguments.place(np.zeros(3, "float32"), "jax", "x").dtype == np.float32
    with pytest.raises(TargetError, match=r"x was asked for as float64.*JAX_ENABLE_X64=1"):
        arguments.place(np.zeros(3), "jax", "x")


USER = module(
    "import os\ndef fit(): pass\ndef fit_fast(): pass\ndef _own(): pass\n"
    "class Model:\n  def fit(self): pass\n  size = 3\nnumber = 3\n"
)


def test_a_name_is_found_and_may_have_dots() -> None:
    assert resolve(USER, "fit") is USER.fit
    assert resolve(USER, "Model.fit") is USER.Model.fit
    assert resolve(USER, "os.getcwd") is USER.os.getcwd


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("fitt", r"of_a_user has no 'fitt'; it has fit, fit_fast"),
        ("zzz", r"of_a_user has no 'zzz'; it has fit, fit_fast, Model"),
        ("Model.no", r"of_a_user has no 'Model\.no'"),
        ("fit.", r"of_a_user has no 'fit\.'"),
        ("number", "of_a_user:number is a int, which cannot be called"),
    ],
)
def test_a_name_that_is_not_there(name: str, said: str) -> None:
    with pytest.raises(TargetError, match=said) as caught:
        resolve(USER, name)
    assert "\n" not in str(caught.value)


def test_a_module_without_functions_says_so() -> None:
    with pytest.raises(TargetError, match="has no 'fit', nor any other function"):
        resolve(module("number = 3"), "fit")


def test_what_a_factory_may_return() -> None:
    one = np.ones(2)
    for given, positional, by_name in (
        (fit, (), {}),
        ((fit,), (), {}),
        ((fit, (one, 2)), (one, 2), {}),
        ([fit, [one]], (one,), {}),
        ((scaled, (one,), {"scale": 2}), (one,), {"scale": 2}),
    ):
        function, call, more = from_factory(functools.partial(next, iter([given])))
        assert callable(function)
        assert (call.positional, call.named, list(more)) == (positional, by_name, [])


def test_a_factory_with_a_generator_gives_further_calls() -> None:
    _, call, more = from_factory(lambda: (scaled, ((n,) for n in range(99)), {"scale": 2}))
    assert call.flat == (0, 2)
    assert list(more) == [(n, 2) for n in range(1, 1 + 8)], "so many and no more"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (None, "this one returned a NoneType"),
        (3, "this one returned a int"),
        ((), "this one returned a tuple"),
        ((1, fit), "this one returned a tuple"),
        ((fit, (), {}, 1), "this one returned a tuple"),
        ((fit, np.ones(3)), "its arguments are a ndarray"),
        ((fit, (), 5), "this one's are a int"),
        ((fit, (row for row in np.ones((2, 2)))), "gives tuples of arguments, and gave a ndarray"),
        ((fit, iter(())), "generator of arguments gave none"),
    ],
)
def test_what_a_factory_may_not_return(given: object, said: str) -> None:
    with pytest.raises(TargetError, match=said) as caught:
        from_factory(lambda: given)
    assert "\n" not in str(caught.value)


def test_how_many_arguments_a_function_needs() -> None:
    signature = target.CallSignatureReader
    assert [len(signature(one).wanted) for one in (fit, scaled, many, named)] == [2, 2, 1, 0]
    assert signature(min).bind is None
    assert signature(many).takes_more
    assert not signature(fit).takes_more


def test_the_frameworks_of_arguments_are_known_before_they_are_read(tmp_path: Path) -> None:
    call = Call((1, [np.ones(2)], {"a": "b"}), {"x": (2.5, None)})
    transfer.write(call, str(tmp_path))
    assert transfer.frameworks(str(tmp_path)) == ["numpy"]
    transfer.write(Call((1,), {}), str(tmp_path))
    assert transfer.frameworks(str(tmp_path)) == []


def test_what_is_made_as_it_is_looked_up_is_looked_up_once() -> None:
    seen: list[str] = []

    class Made:
        __name__ = "made"

        def __getattr__(self, name: str) -> object:
            seen.append(name)
            if name != "f":
                raise AttributeError(name)
            return len

    assert resolve(Made(), "f") is len  # type: ignore[arg-type] # it has what is asked of a module
    assert seen == ["f"]
