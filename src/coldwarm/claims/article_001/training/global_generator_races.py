"""PyTorch's global generator races between threads; keys of JAX do not."""

ARTICLE = {
    "article": "001",
    "place": "Random Number Generation",
    "figure": "global state can cause race conditions",
}
QUANTITY = "Whether two threads with seeds of their own draw what they draw alone."
PROTOCOL = """
In PyTorch, each of two threads sets its seed and draws, in turns that a barrier fixes; in JAX each
has a key. What each draws is compared with what it draws when it is alone.
"""
RULE = """
Confirmed where a thread of PyTorch draws other numbers than alone, and both threads of JAX draw the
same as alone. Refuted otherwise.
"""
FACTS = ({"functions": ("of_torch", "of_jax")},)
DOCS = ("https://docs.jax.dev/en/latest/random-numbers.html",)
NOTE = "A `torch.Generator` for each thread, given to each draw, has no race either."


def of_torch():
    """Seed and draw in two threads, and alone."""
    import threading

    import torch

    def alone(seed):
        torch.manual_seed(seed)
        return torch.randn(100).tolist()

    both_have_seeded = threading.Barrier(2)

    def run(seed):
        torch.manual_seed(seed)
        both_have_seeded.wait(timeout=60)
        return torch.randn(100).tolist()

    return _compared(alone, run)


def of_jax():
    """Draw by a key in two threads, and alone."""
    import threading

    import jax

    def alone(seed):
        return jax.random.normal(jax.random.key(seed), (100,)).tolist()

    both_have_keys = threading.Barrier(2)

    def run(seed):
        key = jax.random.key(seed)
        both_have_keys.wait(timeout=60)
        return jax.random.normal(key, (100,)).tolist()

    return _compared(alone, run)


def _compared(alone, run):
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(2) as pool:
        together = list(pool.map(run, (1, 2)))
    expected = [alone(seed) for seed in (1, 2)]
    return {"as_alone": sum(a == b for a, b in zip(together, expected, strict=True))}


def judge(seen):
    """Decide by the rule."""
    theirs, ours = (seen.fact(name, "as_alone") for name in ("of_torch", "of_jax"))
    return seen.holds(theirs < 2 and ours == 2)
