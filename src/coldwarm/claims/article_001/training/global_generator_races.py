"""PyTorch's global generator races between threads; keys of JAX do not."""

ARTICLE = {
    "article": "001",
    "place": "Random Number Generation",
    "figure": "global state can cause race conditions",
}
QUANTITY = "In how many runs of two threads a thread draws other numbers than alone."
PROTOCOL = """
In each of 200 runs two new threads set a seed each, or make a key each, and draw 20 times 1,000
normal numbers; what they draw is compared with what the same code draws alone. In free runs nothing
orders the threads. In one forced run a barrier makes both wait until both have set their seeds,
which any schedule may bring about too: it shows that the state is shared, not how often that hurts.
"""
RULE = """
Confirmed where threads of PyTorch draw other numbers than alone in at least one free run, and
threads of JAX in no run. Inconclusive where those of PyTorch do so in the forced run alone. Refuted
where they do so in none, or those of JAX in any.
"""
FACTS = ({"functions": ("of_torch", "of_jax")},)
DOCS = ("https://docs.jax.dev/en/latest/random-numbers.html",)
NOTE = """
A `torch.Generator` for each thread, given to each draw, has no race either. How many free runs
differ depends on the machine and its load.
"""
RUNS, DRAWS, SIZE = 200, 20, 1_000


def of_torch():
    """Seed and draw in threads, and alone."""
    import torch

    def experiment(seed, ready):
        torch.manual_seed(seed)
        ready()
        return [float(torch.randn(SIZE).sum()) for _ in range(DRAWS)]

    return _differing(experiment)


def of_jax():
    """Draw by keys in threads, and alone."""
    import jax

    def experiment(seed, ready):
        keys = jax.random.split(jax.random.key(seed), DRAWS)
        ready()
        return [float(jax.random.normal(key, (SIZE,)).sum()) for key in keys]

    return _differing(experiment)


def _differing(experiment):
    """Return how many free runs differ from what is drawn alone, and whether a forced one does."""
    import threading
    from concurrent.futures import ThreadPoolExecutor

    seeds = (1, 2)
    alone = [experiment(seed, lambda: None) for seed in seeds]

    def differs(ready):
        with ThreadPoolExecutor(len(seeds)) as threads:
            return [*threads.map(lambda seed: experiment(seed, ready), seeds)] != alone

    both = threading.Barrier(len(seeds))
    return {
        "runs": RUNS,
        "differ_free": sum(differs(lambda: None) for _ in range(RUNS)),
        "differ_forced": int(differs(lambda: both.wait(timeout=60))),
    }


def judge(seen):
    """Decide by the rule."""
    free, forced = (seen.fact("of_torch", f"differ_{name}") for name in ("free", "forced"))
    ours = sum(seen.fact("of_jax", f"differ_{name}") for name in ("free", "forced"))
    if ours or not (free or forced):
        return "refuted"
    return "confirmed" if free else "inconclusive"
