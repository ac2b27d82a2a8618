"""Prices of averages along random paths, the random numbers included.

What it stands for: simulations that spend their time on random numbers, such as propagation of
uncertainties, toy experiments, diffusion and option pricing.

What is computed: n paths of geometric Brownian motion, each from a start of its own, with 16
steps to time 1. For each of 8 strikes K, the mean over paths of ``max(A - K, 0)``, where A is the
average along a path, and the standard error of that mean. A step of a path is
``exp((r - v²/2)·dt + v·√dt·z)`` with rate r, volatility v and a standard normal z.

Every framework has a generator of its own, whose numbers no other makes, so that answers could
be compared as samples only. Here all candidates make the *same* numbers: Threefry-2x32 with
20 rounds (Salmon and others, 2011), which is counter-based and needs only the addition, rotation
and exclusive or of 32-bit integers. It is also what ``jax.random`` uses by default. Word pair c of
path p has the counter (p, c). The upper 23 bits of a word, plus one half, make a uniform number
that both float types hold exactly, and Box and Muller's formulas make two normal ones of two
uniform ones. So the work is equal, integers are exact, and the float64 reference is the answer up
to rounding.

What to look at: about 130 integer operations for two normal numbers. NumPy and eager frameworks
pass over memory for each of them; a compiler keeps the words in registers, and pays for that with
a long body to trace and compile.

A whole word of the key arrives as two numbers of 16 bits, in the arrays' own type, which holds
them exactly. PyTorch, whose unsigned integers know few operations, takes signed ones and masks
what a shift to the right brings in.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from coldwarm.workloads import Array, Function, Generator, Wrap

NAME = "monte_carlo"
SIZES = (16_384, 131_072)
SIZE_MEANING = "n paths of 16 steps"
DTYPES = ("f32", "f64")
LAYOUT = "contiguous arrays: n starts, 8 strikes, rate and volatility, 4 parts of the key"
BASELINE = "numpy"
STEPS = 16
STRIKES = 8
TAU = 6.283185307179586
UNIT = 2.0**-23
"""Distance of two neighbouring uniform numbers."""
PARITY = 0x1BD11BDA
"""Threefry's constant, which keeps an all-zero key from having a zero third word."""
ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
ROUNDS = tuple((i, ROTATIONS[i % 2]) for i in range(5))
"""Five groups of four rounds; after group i, words i+1 and i+2 of the key are added."""

# Largest error of NumPy, JAX, PyTorch (eager and compiled) and Numba at all sizes, five seeds:
# 5.7e-7 in f32, 3.6e-14 in f64, the latter from adding 131,072 payoffs one after another. Seven to
# nine times as much leaves room for other logarithms, cosines and orders of summation. Any other
# random numbers would be off by the statistical error, which is 2e-3 and more.
TOLERANCE = {"f32": 5e-6, "f64": 2.5e-13}


def inputs(rng: "Generator", size: int, dtype: str) -> "list[Array]":
    """Return starts, strikes, rate and volatility, and the key in parts of 16 bits."""
    import numpy as np

    starts = 100 * np.exp(0.05 * rng.standard_normal(size))
    strikes = np.sort(rng.uniform(80, 120, STRIKES))
    market = np.array([rng.uniform(0.01, 0.05), rng.uniform(0.15, 0.3)])
    key = rng.integers(0, 2**16, 4)
    return [array.astype(dtype) for array in (starts, strikes, market, key)]


def reference(*arrays: "Array") -> "list[Array]":
    """Return means and standard errors of float64 inputs.

    Integers are 64 bits wide and cut to 32, and paths are walked step by step: neither is as
    in a candidate.
    """
    import numpy as np

    starts, strikes, (rate, volatility), key = arrays
    low, high, low1, high1 = (int(part) for part in key)
    key0, key1 = low + (high << 16), low1 + (high1 << 16)
    dt = 1 / STEPS
    logs, total = np.log(starts), np.zeros_like(starts)
    for pair in range(STEPS // 2):
        words = _threefry_wide(np, key0, key1, np.arange(starts.size, dtype=np.uint64), pair)
        u0, u1 = (((word >> np.uint64(9)) + 0.5) / 2**23 for word in words)
        radius = np.sqrt(-2 * np.log(u0))
        for normal in (radius * np.cos(2 * np.pi * u1), radius * np.sin(2 * np.pi * u1)):
            logs += (rate - volatility**2 / 2) * dt + volatility * np.sqrt(dt) * normal
            total += np.exp(logs)
    payoffs = [np.maximum(total / STEPS - strike, 0) for strike in strikes]
    means = np.array([payoff.mean() for payoff in payoffs])
    return [means, np.array([payoff.std() for payoff in payoffs]) / np.sqrt(starts.size)]


def _threefry_wide(np: "Any", key0: int, key1: int, first: "Any", second: int) -> "tuple[Any, Any]":
    """Encrypt counters with 64-bit integers that are cut to 32 after each addition."""
    mask = np.uint64(0xFFFFFFFF)
    keys = [np.uint64(key) for key in (key0, key1, key0 ^ key1 ^ PARITY)]
    x0, x1 = (first + keys[0]) & mask, (np.uint64(second) + keys[1]) & mask
    for i, rotations in ROUNDS:
        for distance in rotations:
            x0 = (x0 + x1) & mask
            x1 = ((x1 << np.uint64(distance)) | (x1 >> np.uint64(32 - distance))) & mask
            x1 = x1 ^ x0
        x0 = (x0 + keys[(i + 1) % 3]) & mask
        x1 = (x1 + keys[(i + 2) % 3] + np.uint64(i + 1)) & mask
    return x0, np.broadcast_to(x1, x0.shape)


def _threefry(
    x0: "Any", x1: "Any", key0: "Any", key1: "Any", right: "Function" = lambda bits, n: bits >> n
) -> "tuple[Any, Any]":
    """Encrypt counters in arrays of 32-bit integers; ``right`` shifts as if they had no sign."""
    keys = (key0, key1, key0 ^ key1 ^ PARITY)
    x0, x1 = x0 + key0, x1 + key1
    for i, rotations in ROUNDS:
        for distance in rotations:
            x0 = x0 + x1
            x1 = ((x1 << distance) | right(x1, 32 - distance)) ^ x0
        x0 = x0 + keys[(i + 1) % 3]
        x1 = x1 + keys[(i + 2) % 3] + (i + 1)
    return x0, x1


def _prices(np: "Any", starts: "Any", strikes: "Any", market: "Any", key: "Any") -> "Any":
    """Simulate and evaluate with arrays of NumPy or JAX, whose module is ``np``."""
    parts = key.astype(np.uint32)
    paths = np.arange(starts.size, dtype=np.uint32)[None, :]
    pairs = np.arange(STEPS // 2, dtype=np.uint32)[:, None]
    words = _threefry(paths, pairs, parts[0] | parts[1] << 16, parts[2] | parts[3] << 16)
    u0, u1 = (((word >> 9).astype(starts.dtype) + 0.5) * UNIT for word in words)

    radius = np.sqrt(-2 * np.log(u0))
    normals = np.stack((radius * np.cos(TAU * u1), radius * np.sin(TAU * u1)), axis=1)
    drift = (market[0] - market[1] * market[1] / 2) / STEPS
    grown = drift + market[1] / STEPS**0.5 * normals.reshape(STEPS, -1)
    averages = starts * np.exp(np.cumsum(grown, axis=0)).mean(0)

    payoffs = np.maximum(averages - strikes[:, None], 0)
    return payoffs.mean(1), payoffs.std(1) / starts.size**0.5


def for_numpy(wrap: "Wrap") -> "Function":
    """Build the NumPy candidate: arrays of unsigned 32-bit integers, which wrap around."""
    import numpy as np

    def monte_carlo(starts: "Any", strikes: "Any", market: "Any", key: "Any") -> "Any":
        return _prices(np, starts, strikes, market, key)

    return wrap(monte_carlo)


def for_jax(wrap: "Wrap") -> "Function":
    """Build the JAX candidate: the expressions of the NumPy one."""
    import jax.numpy as jnp

    def monte_carlo(starts: "Any", strikes: "Any", market: "Any", key: "Any") -> "Any":
        return _prices(jnp, starts, strikes, market, key)

    return wrap(monte_carlo)


def for_torch(wrap: "Wrap") -> "Function":
    """Build the PyTorch candidate: signed integers, and masks after shifts to the right."""
    import torch

    def right(bits: "Any", distance: int) -> "Any":
        return (bits >> distance) & ((1 << (32 - distance)) - 1)

    def monte_carlo(starts: "Any", strikes: "Any", market: "Any", key: "Any") -> "Any":
        parts = key.to(torch.int32)
        integers = {"dtype": torch.int32, "device": starts.device}
        paths = torch.arange(len(starts), **integers)[None, :]
        pairs = torch.arange(STEPS // 2, **integers)[:, None]
        key0, key1 = parts[0] | parts[1] << 16, parts[2] | parts[3] << 16
        words = _threefry(paths, pairs, key0, key1, right)
        u0, u1 = ((right(word, 9).to(starts.dtype) + 0.5) * UNIT for word in words)

        radius = torch.sqrt(-2 * torch.log(u0))
        normals = torch.stack((radius * torch.cos(TAU * u1), radius * torch.sin(TAU * u1)), dim=1)
        drift = (market[0] - market[1] * market[1] / 2) / STEPS
        grown = drift + market[1] / STEPS**0.5 * normals.reshape(STEPS, -1)
        averages = starts * torch.exp(torch.cumsum(grown, dim=0)).mean(0)

        payoffs = torch.clamp(averages - strikes[:, None], min=0)
        errors = payoffs.std(dim=1, correction=0) / len(starts) ** 0.5
        return payoffs.mean(1), errors

    return wrap(monte_carlo)


def for_numba(wrap: "Wrap") -> "Function":
    """Build the Numba candidate: one path after the other, without arrays.

    Each integer is cut back to 32 bits, because Numba widens what it adds. Sums over paths are
    float64 for both dtypes: in one loop of n additions, float32 would lose digits.
    """
    import numpy as np

    def monte_carlo(starts: "Any", strikes: "Any", market: "Any", key: "Any") -> "Any":
        number, word = starts.dtype.type, np.uint32
        parts = key.astype(np.uint32)
        key0, key1 = word(parts[0] | parts[1] << 16), word(parts[2] | parts[3] << 16)
        keys = (key0, key1, word(key0 ^ key1 ^ word(PARITY)))
        one_half, unit, turn, minus_two = number(0.5), number(UNIT), number(TAU), number(-2)
        drift = (market[0] - market[1] * market[1] * one_half) * number(1 / STEPS)
        scale = market[1] * number(1 / STEPS**0.5)
        sums, squares = np.zeros(strikes.size), np.zeros(strikes.size)
        for path in range(starts.size):
            log, total = number(0), number(0)
            for pair in range(STEPS // 2):
                x0, x1 = word(path + key0), word(pair + key1)
                for i in range(5):
                    for distance in ROTATIONS[i % 2]:
                        x0 = word(x0 + x1)
                        x1 = word(word((x1 << distance) | (x1 >> (32 - distance))) ^ x0)
                    x0 = word(x0 + keys[(i + 1) % 3])
                    x1 = word(x1 + keys[(i + 2) % 3] + i + 1)
                u0 = (number(x0 >> 9) + one_half) * unit
                u1 = (number(x1 >> 9) + one_half) * unit
                radius = np.sqrt(minus_two * np.log(u0))
                log += drift + scale * radius * np.cos(turn * u1)
                total += np.exp(log)
                log += drift + scale * radius * np.sin(turn * u1)
                total += np.exp(log)
            average = starts[path] * total * number(1 / STEPS)
            for k in range(strikes.size):
                payoff = max(average - strikes[k], number(0))
                sums[k] += payoff
                squares[k] += payoff * payoff
        means = sums / starts.size
        errors = np.sqrt((squares / starts.size - means * means) / starts.size)
        return means.astype(starts.dtype), errors.astype(starts.dtype)

    return wrap(monte_carlo)
