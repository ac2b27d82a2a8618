"""Honest pairs of candidates pass the check of answers, and wrong ones do not, of each kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest

from coldwarm.functions import sensitivity
from coldwarm.worker import gate

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Array = np.ndarray[Any, Any]
Job = tuple["Callable[..., Any]", "Callable[[np.random.Generator], list[Array]]"]


def normal(*shape: int) -> Callable[[np.random.Generator], list[Array]]:
    return lambda rng: [rng.standard_normal(shape)]


def symmetric(rng: np.random.Generator) -> list[Array]:
    a = rng.standard_normal((40, 40))
    return [a + a.T]


def units(rng: np.random.Generator) -> list[Array]:
    """Positions in metres, velocities in metres a year: one array, numbers of all sizes."""
    return [np.concatenate([rng.uniform(1e11, 1e12, 50), rng.uniform(1e-9, 1e-7, 50)])]


def softmax(x: Array) -> Array:
    e = np.exp(x - x.max(-1, keepdims=True))
    shares: Array = e / e.sum(-1, keepdims=True)
    return shares


def pendulum(start: Array) -> Array:
    """Some steps of a double-well oscillator, by Runge's and Kutta's method."""

    def slope(state: Array) -> Array:
        place, speed = state
        return np.stack([speed, place - place * place * place])

    state = start
    step = start.dtype.type(0.05)
    for _ in range(200):
        first = slope(state)
        second = slope(state + step / 2 * first)
        third = slope(state + step / 2 * second)
        fourth = slope(state + step * third)
        state = state + step / 6 * (first + 2 * second + 2 * third + fourth)
    return state


def area(points: Array) -> Array:
    """A Monte Carlo mean of numbers that both sides are given."""
    inside = np.exp(-(points * points).sum(0))
    return np.array([inside.mean(), inside.std()], points.dtype)


JOBS: dict[str, Job] = {
    "matmul": (lambda a: a @ a.T, normal(60, 60)),
    "fft of a wave": (
        lambda x: np.fft.fft(np.sin(x).astype(x.dtype)),
        lambda _: [np.linspace(0, 8 * np.pi, 256)],
    ),
    "sum near zero": (lambda x: (x - x.mean()).sum(), normal(5000)),
    "mean removed": (lambda x: x - x.mean(), lambda rng: [1e3 + rng.standard_normal(500)]),
    "eigenvalues": (np.linalg.eigvalsh, symmetric),
    "eigenvectors": (
        lambda a: (v := np.linalg.eigh(a)[1]) * np.sign(v[np.abs(v).argmax(0), range(len(v))]),
        symmetric,
    ),
    "solve": (np.linalg.solve, lambda rng: [*normal(40, 40)(rng), *normal(40)(rng)]),
    "inverse": (lambda a: np.linalg.inv(a) @ a, normal(30, 30)),
    "softmax tails": (softmax, lambda rng: [30 * rng.standard_normal((20, 50))]),
    "log of sums": (
        lambda x: np.log(np.exp(x - x.max()).sum()) + x.max(),
        lambda rng: [100 * rng.standard_normal(1000)],
    ),
    "oscillator": (pendulum, normal(2, 20)),
    "monte carlo": (area, normal(3, 2000)),
    "gradient of a fit": (
        lambda a, b: a.T @ (a @ np.linalg.lstsq(a, b, rcond=None)[0] - b),
        lambda rng: [*normal(80, 5)(rng), *normal(80)(rng)],
    ),
    "correlation": (np.corrcoef, normal(6, 300)),
    "differences": (np.diff, lambda _: [np.linspace(0, 1, 1000)]),
    "running sum": (np.cumsum, normal(3000)),
    "variance": (lambda x: (x * x).mean() - x.mean() ** 2, lambda rng: [5 + rng.normal(size=800)]),
    "mixed units": (lambda x: x * 3 + x / 7, units),
    "convolution": (
        np.convolve,
        lambda rng: [*normal(400)(rng), *normal(31)(rng)],
    ),
    "interpolation": (
        lambda x: np.interp(x, np.arange(11, dtype=x.dtype), np.arange(11, dtype=x.dtype) ** 2),
        lambda rng: [rng.uniform(0, 10, 300)],
    ),
}
SHORT = {
    "eigenvectors",
    "oscillator",
    "softmax tails",
    "log of sums",
    "variance",
    "gradient of a fit",
    "inverse",
}
"""Jobs that nobody does in the shortest types."""


def of(job: str, seed: int) -> tuple[Callable[..., Any], list[Array]]:
    function, make = JOBS[job]
    return function, make(np.random.default_rng(seed))


def flat(out: Any) -> list[Array]:
    return [np.asarray(one) for one in (out if isinstance(out, tuple) else (out,))]


def held(job: str, folder: Path, seed: int = 1) -> str:
    """Write down what a float64 reference answers, and how far that moves."""
    function, given = of(job, seed)
    rng, share = np.random.default_rng(0), sensitivity.tolerance("float64")
    right = flat(function(*given))
    noises = gate.noises(
        lambda: flat(function(*(gate.moved(one, share, rng) for one in given))), right, share
    )
    others = gate.rounded(lambda: flat(function(*given)), right, float(np.finfo("float64").eps))
    named: dict[str, Any] = {f"{gate.NOISE}{n}": one for n, one in enumerate(noises)}
    named.update((f"{gate.ROUNDED}{n}", one) for n, one in enumerate(others))
    np.savez(folder / "answer.npz", *right, **named)
    return str(folder / "answer.npz")


def passes(job: str, out: list[Array], kind: str, folder: Path, seed: int = 1) -> bool:
    allowed = sensitivity.tolerance(kind)
    return bool(gate.check(out, held(job, folder, seed), allowed)["passed"])


@pytest.mark.parametrize("job", JOBS)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_shorter_type_is_right(job: str, seed: int, tmp_path: Path) -> None:
    function, given = of(job, seed)
    assert passes(job, flat(function(*given)), "float64", tmp_path, seed)
    out = flat(function(*(one.astype("float32") for one in given)))
    short = {"c": "complex64", "f": "float32"}
    assert passes(
        job, [one.astype(short[one.dtype.kind]) for one in out], "float32", tmp_path, seed
    )


@pytest.mark.parametrize("job", sorted(JOBS.keys() - SHORT - {"mixed units"}))
@pytest.mark.parametrize("kind", ["float16", "bfloat16"])
def test_inputs_and_outputs_of_half_the_length_are_right(
    job: str, kind: str, tmp_path: Path
) -> None:
    """As mixed precision does it: rounded on the way in and out, computed in float32."""
    short = np.dtype(kind if kind == "float16" else ml_dtypes.bfloat16)
    function, given = of(job, 1)

    def rounded(array: Array) -> Array:
        wide = "complex64" if array.dtype.kind == "c" else "float32"
        if array.dtype.kind == "c":
            return rounded(array.real) + 1j * rounded(array.imag)
        return array.astype("float32").astype(short).astype(wide)

    out = flat(function(*map(rounded, given)))
    assert passes(job, [rounded(one) for one in out], kind, tmp_path)


@pytest.mark.parametrize("job", ["sum near zero", "running sum", "variance", "monte carlo"])
def test_another_order_of_summation_is_right(job: str, tmp_path: Path) -> None:
    function, (given,) = of(job, 1)
    order = np.random.default_rng(5).permutation(given.shape[-1])
    if job == "running sum":
        out: Any = np.array([given[: n + 1][::-1].sum() for n in range(len(given))])
    else:
        out = function(given[..., order])
    assert passes(job, flat(out), "float64", tmp_path)


def ten_times(array: Array) -> Array:
    out = array.copy()
    half = out.reshape(-1)
    half[half.size // 2 :] *= 10
    return out


def zeroed(array: Array) -> Array:
    out = array.copy()
    out.reshape(-1)[-(array.size // 3 or 1) :] = 0
    return out


def nan(array: Array) -> Array:
    out = array.copy()
    out.reshape(-1)[0] = np.nan
    return out


def tail(array: Array) -> Array:
    out = array.copy()
    flat_ = out.reshape(-1)
    flat_[-3:] = flat_[-3:] * 1.5 + np.median(np.abs(flat_))
    return out


WRONG: dict[str, Callable[[Array], Array]] = {
    "other units": ten_times,
    "off by one": lambda a: np.roll(a, 1, -1),
    "transposed": lambda a: np.ascontiguousarray(a[..., ::-1]),
    "of another call": lambda a: a * np.linspace(0.5, 1.5, a.size).reshape(a.shape),
    "partly zero": zeroed,
    "no number": nan,
    "wrong tail": tail,
    "sign": lambda a: -a,
}


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize(
    "job",
    ["matmul", "eigenvalues", "solve", "oscillator", "mixed units", "convolution", "softmax tails"],
)
@pytest.mark.parametrize("kind", ["float64", "float32"])
def test_what_is_wrong_does_not_pass(wrong: str, job: str, kind: str, tmp_path: Path) -> None:
    (right,), _ = gate.stored(held(job, tmp_path))
    assert not passes(job, [WRONG[wrong](right)], kind, tmp_path)


@pytest.mark.parametrize("kind", ["float64", "float32", "float16"])
def test_one_large_number_hides_no_others(kind: str) -> None:
    """GIVEN 49 of 50 numbers that are wrong THEN one of 1e9 beside them changes nothing."""
    reference = np.array([1e9, *np.linspace(1, 2, 49)])
    out = reference * 1.5
    out[0] = reference[0]
    said = gate.compare([out], [reference], sensitivity.tolerance(kind))
    assert said["reason"]["values"]["n_wrong"] == 49


def test_velocities_are_not_hidden_by_positions(tmp_path: Path) -> None:
    (right,), noises = gate.stored(held("mixed units", tmp_path), 1e-4)
    out = right.copy()
    out[50:] *= 10
    said = gate.compare([out], [right], 1e-4, noises=list(noises))
    assert said["reason"]["values"]["n_wrong"] == 50


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([[1.0, 2.0, 3.0]], [1.0, 2.0, 3.0]),
        ([[[1.0, 2.0], [3.0, 4.0]]], [1.0, 2.0, 3.0, 4.0]),
        ([[[1.0, 2.0], [3.0, 4.0]]], [[1.0, 2.0], [3.0, 4.0]]),
        ([1.5], [[1.5]]),
        ([1.5], [[[1.5]]]),
        ([[1.0, 2.0]], [[[1.0], [2.0]]]),
        ([[1.0, 2.0], 5.0], [1.0, 2.0, 5.0]),
        ([7.0, [[1.0, 2.0], [3.0, 4.0]]], [7.0, 1.0, 2.0, 3.0, 4.0]),
        ([[1, 2, 3]], [1, 2, 3]),
        ([["a", "b"]], ["a", "b"]),
    ],
)
def test_lists_and_arrays_of_the_same_numbers_are_one_answer(one: Any, other: Any) -> None:
    left, right = [[np.array(part) for part in side] for side in (one, other)]
    for out, reference in ((left, right), (right, left)):
        noises: list[Array | None] = [
            None if part.dtype.kind == "U" else np.full(part.shape, 1e-9) for part in reference
        ]
        assert gate.compare(out, reference, 0.0, noises=noises)["passed"]
        assert gate.compare(out, reference, 0.0)["passed"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([[1.0, 2.0, 3.0]], [1.0, 3.0, 2.0]),
        ([[[1.0, 2.0], [3.0, 4.0]]], [1.0, 3.0, 2.0, 4.0]),
        ([[1.0, 2.0, 3.0]], [1.0, 2.0]),
        ([[1.0, 2.0]], [1.0, 2.0, 3.0]),
        ([[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]], [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]),
        ([[[1.0, 2.0], [3.0, 4.0]]], [[1.0, 2.0, 3.0, 4.0]]),
        ([[1, 2, 3]], [1, 2, 4]),
        ([["a", "b"]], ["a", "c"]),
        ([[1.0, 2.0]], ["1.0", "2.0"]),
        ([], [1.0]),
    ],
)
def test_other_numbers_or_another_order_are_another_answer(one: Any, other: Any) -> None:
    left, right = [[np.array(part) for part in side] for side in (one, other)]
    assert not gate.compare(left, right, 1e-4)["passed"]
    assert not gate.compare(right, left, 1e-4)["passed"]


@pytest.mark.parametrize(
    ("dtypes", "numbers", "given", "expected"),
    [
        (["float64"], [np.pi], [], "float64"),
        (["float64"], [float(np.float32(np.pi))], [], "float32"),
        (["float64"], [3.0, 0.5, 1e6], [], "float64"),
        (["float64"], [np.pi], ["float32"], "float32"),
        (["float64"], [np.pi], ["int64"], "float64"),
        (["float32"], [1.0], ["float16"], "float32"),
        (["float16", "float64"], [1.0], [], "float16"),
        (["bfloat16"], [1.0], [], "bfloat16"),
        (["int64"], [1], ["float32"], ""),
        (["text"], [], [], ""),
    ],
)
def test_how_precise_an_answer_is(
    dtypes: list[str], numbers: list[float], given: list[str], expected: str
) -> None:
    assert sensitivity.precision_of(dtypes, [np.array(numbers)], given) == expected
