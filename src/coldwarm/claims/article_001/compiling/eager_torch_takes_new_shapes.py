"""Eager PyTorch takes a new shape without further cost."""

ARTICLE = {
    "article": "001",
    "place": "Compilation Overhead",
    "figure": "PyTorch doesn't care",
}
QUANTITY = "A call of an eager function with a new shape over one with a known shape."
PROTOCOL = """
Six fresh processes call a two-layer network with eight batch sizes, twice each, after a first call.
The median over the sizes of the first call over the second, by process.
"""
RULE = """
Confirmed where a new size takes at most twice as long as a known one in all processes, refuted
where longer in all, otherwise inconclusive.
"""
FACTS = ({"functions": ("sizes",), "processes": 6},)


def sizes():
    """Call an eager function with several sizes."""
    import statistics
    import time

    import torch

    w1, w2 = torch.full((64, 64), 0.01), torch.full((64, 1), 0.01)

    def call_s(x):
        begin = time.perf_counter()
        torch.tanh(x @ w1) @ w2
        return time.perf_counter() - begin

    batches = [torch.ones(n, 64) for n in range(32, 40)]
    for _ in range(20):
        call_s(batches[0])
    pairs = [(call_s(x), call_s(x)) for x in batches[1:]]
    return {"ratio": statistics.median(new / known for new, known in pairs)}


def judge(seen):
    """Decide by the rule."""
    return seen.at_most(seen.over_processes("sizes", "ratio"), 2.0)
