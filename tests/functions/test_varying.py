"""Arguments with other data: what is changed, what is kept, and what is left as it is."""

from __future__ import annotations

import collections
import dataclasses
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from coldwarm.functions import values, varying
from coldwarm.functions.arguments import Call

RNG = np.random.default_rng(0)
X = RNG.normal(size=50)
TEXT = "The 3 quick foxes jump over 12 lazy dogs"


@dataclasses.dataclass
class Body:
    """Data of a user's own class."""

    mass: float
    places: Any
    name: str = "earth"


class Model:
    """An object with numbers deep inside."""

    def __init__(self) -> None:
        """Hold some."""
        self.inner = SimpleNamespace(weights=X.copy(), bias=0.5)


class Slotted:
    """An object without a dictionary."""

    __slots__ = ("data",)

    def __init__(self) -> None:
        """Hold an array."""
        self.data = X.copy()


Pair = collections.namedtuple("Pair", "first second")  # noqa: PYI024 - a plain one is tried
RECORDS = np.array([(1.5, 2), (2.5, 3)], dtype=[("x", "f8"), ("n", "i4")])


@pytest.mark.parametrize(
    "value",
    [
        3,
        40,
        (3, 5),
        Pair(4, "a name"),
        [5, 1, 4],
        list(range(30)),
        2.5,
        -1e300,
        1 + 2j,
        TEXT,
        "x" * 40,
        {"rate": 0.1, "steps": 5},
        {"steps": 5},
        {2.5, 7.5},
        frozenset({9}),
        X,
        X[::2],
        np.asfortranarray(RNG.normal(size=(4, 5))),
        X.astype("f2"),
        X.astype("c8"),
        np.float32(2.5),
        np.int64(7),
        np.arange(9),
        np.array([5, 0, 7, 7], dtype="u1"),
        np.array([True, False, False]),
        np.array(["2020-01-01", "2021-06-01"], dtype="M8[D]"),
        RECORDS,
        np.array([1.5, "a", None], dtype=object),
        [X, {"y": X}],
        Body(1.0, X),
        Body(0.0, (3, 4)),
        Model(),
        Slotted(),
        SimpleNamespace(alpha=0.5),
        np.random.default_rng(3),
    ],
    ids=lambda value: f"{type(value).__name__}-{str(value)[:12]}",
)
def test_what_has_data_gets_others_and_stays_as_it_was(value: object) -> None:
    before = repr(value), _seen(value)
    one, same, other = (varying._varied(value, number) for number in (0.2, 0.2, 0.7))
    assert one is not value
    assert type(one) is type(value)
    assert _seen(one) != _seen(value)
    assert _seen(one) == _seen(same)
    assert _seen(other) != _seen(value)
    assert (repr(value), _seen(value)) == before


def _seen(value: Any) -> str:
    """Return all content of a value of these tests, as text."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{value.tolist()}"
    if isinstance(value, np.random.Generator):
        return str(value.bit_generator.state)
    if isinstance(value, Slotted):
        return _seen(value.data)
    if isinstance(value, (SimpleNamespace, Model, Body)):
        value = vars(value)
    if isinstance(value, dict):
        value = list(value.items())
    return str([*map(_seen, value)]) if isinstance(value, (list, tuple)) else repr(value)


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        0,
        1,
        0.0,
        float("inf"),
        float("nan"),
        "",
        "mean",
        "data/file of mine.csv".replace(" ", "_"),
        "https://example.org/a?b=12",
        b"bytes",
        len,
        np.zeros(5),
        np.zeros(0),
        np.full(4, np.nan),
        np.ones(3, dtype=bool),
        object(),
        int,
        (),
    ],
    ids=lambda value: f"{type(value).__name__}-{str(value)[:12]}",
)
def test_what_has_none_that_could_be_others_is_the_very_object(value: object) -> None:
    assert varying._varied(value, 0.3) is value


@pytest.mark.parametrize("number", [0.0, 0.31, 0.999])
def test_numbers_keep_what_programs_need(number: float) -> None:
    rows = np.sort(RNG.normal(size=100) * 1e3)
    rows[[3, 50]] = 0.0
    rows.sort()
    made = varying._varied(rows, number)
    assert np.array_equal(np.sign(made), np.sign(rows))
    assert (np.diff(made) >= 0).all()
    assert not np.allclose(made / rows[-1], rows / rows[-1] * made[-1] / rows[-1])  # no scaling
    square = RNG.normal(size=(6, 6))
    square = square @ square.T + 6 * np.eye(6)
    made = varying._varied(square, number)
    assert np.array_equal(made, made.T)
    np.linalg.cholesky(made)
    indices = np.sort(RNG.integers(0, 40, 200))
    made = varying._varied(indices, number)
    assert (np.diff(made) >= 0).all()
    assert (made.min(), made.max()) == (indices.min(), indices.max())
    mask = RNG.random(30) < 0.4
    assert varying._varied(mask, number).sum() == mask.sum()
    places = RNG.permutation(25)
    assert sorted(varying._varied(places, number)) == list(range(25))


def test_arrays_keep_their_layout() -> None:
    given = np.asfortranarray(X.reshape(5, 10))
    made = varying._varied(given, 0.5)
    assert made.flags.f_contiguous == given.flags.f_contiguous
    assert made.dtype == given.dtype


def test_a_text_keeps_its_spaces_cases_and_values() -> None:
    made = varying._varied('{"Done": true, "n": 125, "who": "Ada Byron"}', 0.4)
    assert made.count('"') == 8
    assert "true" in made
    assert [one.isupper() for one in made] == [
        one.isupper() for one in '{"Done": true, "n": 125, "who": "Ada Byron"}'
    ]


def test_tables_of_libraries_get_other_numbers() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"x": X[:5], "n": range(5), "who": list("abcde")})
    kept = frame.copy(deep=True)
    made = varying._varied(frame, 0.5)
    pandas.testing.assert_frame_equal(frame, kept)
    assert not np.allclose(made["x"], frame["x"])
    assert list(made["who"]) == list("abcde")
    series = pandas.Series([1, 5, 9])
    assert not series.equals(varying._varied(series, 0.5))
    polars = pytest.importorskip("polars")
    table = polars.DataFrame({"x": X[:5], "n": range(5), "who": list("abcde")})
    made = varying._varied(table, 0.5)
    assert made.schema == table.schema
    assert not made["x"].equals(table["x"])
    assert made["who"].equals(table["who"])
    assert not varying._varied(table["n"], 0.5).equals(table["n"])
    xarray = pytest.importorskip("xarray")
    grid = xarray.DataArray(X[:6].reshape(2, 3), dims=("a", "b"))
    assert not np.allclose(varying._varied(grid, 0.5).values, grid.values)
    sparse = pytest.importorskip("scipy.sparse")
    matrix = sparse.random(20, 20, 0.2, format="csr", random_state=1)
    made = varying._varied(matrix, 0.5)
    assert np.array_equal(made.indices, matrix.indices)
    assert not np.allclose(made.data, matrix.data)


def test_keys_of_jax_are_others() -> None:
    jax = pytest.importorskip("jax")
    for key in (jax.random.key(3), jax.random.PRNGKey(3)):
        made = varying._varied(key, 0.5)
        assert made.dtype == key.dtype
        assert values.digest([made]) != values.digest([key])


def test_an_argument_says_which_others_there_are() -> None:
    call = Call((X, "mean"), {"n": 12})
    names = varying.names_of(lambda data, how, *, n: (data, how, n), call)
    assert names == ["data", "how", "n"]
    other = varying.given(call, 0.5, names)
    assert (other.named(other.places), other.unchanged) == (["data", "n"], ["how"])
    data, how, n = other.only([2])
    assert (data is X, how) == (True, "mean")
    assert n < 12
    assert varying.names_of(max, Call((1, 2), {})) == ["argument 1", "argument 2"]
