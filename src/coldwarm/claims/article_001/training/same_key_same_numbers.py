"""The same key gives the same random numbers, in every process."""

ARTICLE = {
    "article": "001",
    "place": "Random Number Generation",
    "figure": "reproduce any random sequence",
}
QUANTITY = "Three draws by keys split from one seed, in two processes."
PROTOCOL = """
Two fresh processes split a key of the seed 42 into three, draw normal numbers with each, outside
jit and inside, and give a hash of all bytes.
"""
RULE = "Confirmed where both hashes are the same in both processes; refuted otherwise."
FACTS = ({"functions": ("drawn", "drawn_again")},)
DOCS = ("https://docs.jax.dev/en/latest/random-numbers.html",)
NOTE = "On one version and one kind of device: another version may draw other numbers."


def drawn():
    """Draw by three keys."""
    return _drawn()


def drawn_again():
    """Draw by the same three keys, in another process."""
    return _drawn()


def _drawn():
    import hashlib

    import jax
    import numpy as np

    def draw(key):
        return jax.random.normal(key, (100,))

    keys = jax.random.split(jax.random.key(42), 3)
    hashes = {}
    for name, function in (("eager", draw), ("jitted", jax.jit(draw))):
        numbers = np.stack([np.asarray(function(key)) for key in keys])
        hashes[name] = hashlib.sha256(numbers.tobytes()).hexdigest()
    return hashes


def judge(seen):
    """Decide by the rule."""
    first, second = (seen.facts(name) for name in ("drawn", "drawn_again"))
    return seen.holds(all(first[name] == second[name] for name in ("eager", "jitted")))
