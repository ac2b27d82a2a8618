"""The random numbers of `monte_carlo` are those that Threefry's authors publish."""

from __future__ import annotations

import numpy as np
import pytest

from coldwarm.workloads import monte_carlo

# Known answers of Threefry-2x32 with 20 rounds: key, counter, words.
ONES = 0xFFFFFFFF
KNOWN = [
    ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
    ((ONES, ONES), (ONES, ONES), (0x1CB996FC, 0xBB002BE7)),
    ((0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3), (0xC4923A9C, 0x483DF7A0)),
]


@pytest.mark.parametrize(("key", "counter", "words"), KNOWN)
def test_threefry_gives_the_known_answers(
    key: tuple[int, int], counter: tuple[int, int], words: tuple[int, int]
) -> None:
    narrow = monte_carlo._threefry(
        np.array([counter[0]], np.uint32),
        np.array([counter[1]], np.uint32),
        np.uint32(key[0]),
        np.uint32(key[1]),
    )
    wide = monte_carlo._threefry_wide(np, *key, np.array([counter[0]], np.uint64), counter[1])

    assert tuple(int(word[0]) for word in narrow) == words
    assert tuple(int(word[0]) for word in wide) == words


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_key_survives_the_dtype_that_carries_it(dtype: str) -> None:
    rng = np.random.default_rng(3)
    key = monte_carlo.inputs(rng, 16, dtype)[-1]

    np.testing.assert_array_equal(key, monte_carlo.inputs(np.random.default_rng(3), 16, "f8")[-1])
    assert (key == key.astype(np.uint32)).all()
    assert (key < 2**16).all()
