"""Profile before optimising, with JAX's profiler."""

ARTICLE = {
    "article": "002",
    "place": "The 10 commandments of JAX performance",
    "figure": "10. Profile before optimizing",
}
QUANTITY = """
In how many of three programs a profile finds the slowest part, and in how many a count of the
operations does.
"""
PROTOCOL = """
Three programs each have a matrix product beside something with fewer operations: a sort of 200,000
numbers, running sums of as many, and a loop of a million turns. Which part is the slowest is found
by jitting each alone (median of seven calls). The profile has the durations of the operations of
one call, summed by the part whose program has them; a guess without it takes the part for which the
compiler counts the most floating-point operations.
"""
RULE = """
Confirmed where the profile finds the slowest part of all three programs, and the count misses that
of one at least. Refuted where the profile misses one, or the count none.
"""
FACTS = ({"functions": ("beside_sort", "beside_sums", "beside_loop")},)
DOCS = ("https://docs.jax.dev/en/latest/profiling.html",)
NOTE = """
On a CPU a profile has the compiler's names of operations, such as `sort` or `reduce-window`, and
not those of the source. They are told apart here by the program of which part alone has them.
"""


def beside_sort():
    """Look for the slowest part of a product and a sort."""
    import jax.numpy as jnp

    return _found({"product": _product(512), "other": jnp.sort})


def beside_sums():
    """Look for the slowest part of a product and running sums."""
    import jax.numpy as jnp

    return _found({"product": _product(128), "other": jnp.cumsum})


def beside_loop():
    """Look for the slowest part of a product and a loop."""
    import jax
    import jax.numpy as jnp

    def loop(x):
        return jax.lax.fori_loop(0, 1_000_000, lambda _, y: jnp.cos(y + 1.0), x[:8])

    return _found({"product": _product(256), "other": loop})


def _product(width):
    import jax.numpy as jnp

    def product(x):
        square = jnp.resize(x, (width, width))
        return square @ square

    return product


def _found(parts):
    import jax
    import jax.numpy as jnp

    x = jnp.sin(jnp.arange(200_000.0))
    programs = {name: jax.jit(part).lower(x).compile() for name, part in parts.items()}
    alone = {name: _seconds(program, x) for name, program in programs.items()}
    counted = {name: one.cost_analysis().get("flops", 0.0) for name, one in programs.items()}
    whole = jax.jit(lambda x: [part(x) for part in parts.values()]).lower(x).compile()
    profiled = _by_part(_profile(whole, x), programs)
    slowest = max(alone, key=lambda name: alone[name])
    return {
        "slowest": slowest,
        "times_as_slow": alone[slowest] / min(alone.values()),
        "profile_finds": max(profiled, key=profiled.get) == slowest,
        "count_finds": max(counted, key=lambda name: counted[name]) == slowest,
    }


def _seconds(program, x):
    import statistics
    import time

    import jax

    jax.block_until_ready(program(x))
    spent = []
    for _ in range(7):
        begin = time.perf_counter()
        jax.block_until_ready(program(x))
        spent.append(time.perf_counter() - begin)
    return statistics.median(spent)


def _profile(program, x):
    """Return the names of a call's operations in the profile, with their seconds."""
    import tempfile
    from pathlib import Path

    import jax

    with tempfile.TemporaryDirectory() as folder:
        with jax.profiler.trace(folder):
            jax.block_until_ready(program(x))
        path = next(Path(folder).rglob("*.xplane.pb"))
        planes = jax.profiler.ProfileData.from_file(str(path)).planes
        events = [event for plane in planes for line in plane.lines for event in line.events]
    return [(event.name, event.duration_ns / 1e9) for event in events]


def _by_part(profile, programs):
    """Sum the seconds of operations whose names are in the program of one part alone."""
    import re

    def stem(name):
        return re.sub(r"\.\d+$", "", name)

    named = {
        part: {stem(name) for name in re.findall(r"%?([\w.-]+) = ", program.as_text())}
        for part, program in programs.items()
    }
    shared = set.intersection(*named.values())
    return {
        part: sum(seconds for name, seconds in profile if stem(name) in names - shared)
        for part, names in named.items()
    }


def judge(seen):
    """Decide by the rule."""
    functions = ("beside_sort", "beside_sums", "beside_loop")
    profile = [seen.fact(function, "profile_finds") for function in functions]
    count = [seen.fact(function, "count_finds") for function in functions]
    return seen.holds(all(profile) and not all(count))
