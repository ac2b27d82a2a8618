"""Arguments handed to another process arrive as they were."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from coldwarm.functions import transfer, values
from coldwarm.functions.arguments import Call

if TYPE_CHECKING:
    from pathlib import Path


def sent(folder: Path, *positional: Any, **named: Any) -> Call:
    transfer.write(Call(positional, named), str(folder))
    return transfer.read(str(folder))


def test_plain_values_and_containers(tmp_path: Path) -> None:
    given = (1, True, None, 0.1, "ä\u2028\ud800", 2j, [1, (2.5,)], {"a": {3: 1}}, 10**30)
    call = sent(tmp_path, *given, key="value")
    assert call.positional == given
    assert [type(one) for one in call.positional] == [type(one) for one in given]
    assert call.named == {"key": "value"}
    nan, infinite = sent(tmp_path, math.nan, -math.inf).positional
    assert math.isnan(nan)
    assert infinite == -math.inf


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6, dtype="int16").reshape(2, 3),
        np.asfortranarray(np.ones((3, 2), "complex64")),
        np.float32(1.5),
        np.array(True),  # noqa: FBT003 - an array of it
        np.zeros((0, 3)),
        np.array(["a", "bc"]),
        np.ones((6, 300))[:, 2],
        np.arange(24.0).reshape(4, 6)[::-1, ::2],
        np.arange(24.0).reshape(2, 3, 4).transpose(1, 0, 2),
        np.broadcast_to(np.arange(3.0), (4, 3)),
        np.lib.stride_tricks.sliding_window_view(np.arange(9.0), 3),
        np.arange(5.0)[::-1],
    ],
)
def test_arrays_keep_type_shape_and_order(tmp_path: Path, array: Any) -> None:
    (got,) = sent(tmp_path, array).positional
    assert type(got) is type(array)
    assert got.dtype == array.dtype
    assert np.array_equal(got, array)
    assert got.flags.f_contiguous == array.flags.f_contiguous
    assert not array.size or got.strides == array.strides, "a compiler compiles for a layout"
    assert got.flags.writeable == array.flags.writeable


def test_one_array_given_twice_is_one_array(tmp_path: Path) -> None:
    x = np.ones(3)
    call = sent(tmp_path, x, [x], y=x.copy())
    assert call.positional[0] is call.positional[1][0]
    assert call.named["y"] is not call.positional[0]


def test_what_cannot_be_sent_is_named(tmp_path: Path) -> None:
    with pytest.raises(transfer.UnsendableError, match=r"x\['k'\]\[0\] is a set"):
        sent(tmp_path, x={"k": [{1}]})
    with pytest.raises(transfer.UnsendableError, match="a key of argument 1 is a object"):
        sent(tmp_path, {object(): 1})


@pytest.mark.slow
def test_arrays_of_jax(tmp_path: Path) -> None:
    jax = pytest.importorskip("jax")
    given = (
        jax.numpy.ones((2, 2), "bfloat16"),
        jax.numpy.arange(3),
        jax.numpy.asarray(2.0),
        jax.random.key(7),
    )
    got = sent(tmp_path, *given).positional
    assert [one.dtype for one in got] == [one.dtype for one in given]
    assert [one.weak_type for one in got[:3]] == [one.weak_type for one in given[:3]]
    assert values.digest(list(got)) == values.digest(list(given))


@pytest.mark.slow
def test_tensors_of_torch(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    given = (
        torch.ones(2, 3, dtype=torch.bfloat16),
        torch.arange(4),
        torch.tensor(1.5, requires_grad=True),
    )
    got = sent(tmp_path, *given).positional
    assert [one.dtype for one in got] == [one.dtype for one in given]
    assert [one.requires_grad for one in got] == [False, False, True]
    assert values.digest(list(got)) == values.digest(list(given))
    with pytest.raises(transfer.UnsendableError, match="Linear"):
        sent(tmp_path, torch.nn.Linear(1, 1))
