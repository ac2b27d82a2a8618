"""`x = x + 1` makes a new array outside jit, and no copies inside."""

ARTICLE = {
    "article": "001",
    "place": "Memory Layout Surprises",
    "figure": "burning memory on every update",
}
QUANTITY = (
    "The address of the result outside jit; the bytes of temporary arrays of ten sums inside."
)
PROTOCOL = """
One process adds 1 to an array of a million float32 without jit and compares addresses, then
compiles ten such sums in a row and reads the size of the program's temporary arrays.
"""
RULE = """
Confirmed where the result outside jit has another address, and ten sums inside need less temporary
memory than one array. Refuted where either is not so.
"""
FACTS = ({"functions": ("addresses",)},)
DOCS = ("https://docs.jax.dev/en/latest/jit-compilation.html",)
NOTE = """
Outside jit the old array is freed at once where nothing refers to it any more, so two arrays exist
for a moment rather than one for each update.
"""


def addresses():
    """Add outside jit, and look at a program that adds ten times."""
    import jax
    import jax.numpy as jnp

    before = jnp.ones(1_000_000)
    after = before + 1

    def ten_times(x):
        for _ in range(10):
            x = x + 1
        return x

    memory = jax.jit(ten_times).lower(before).compile().memory_analysis()
    return {
        "same_address": before.unsafe_buffer_pointer() == after.unsafe_buffer_pointer(),
        "array_bytes": before.nbytes,
        "temporary_bytes": memory.temp_size_in_bytes,
    }


def judge(seen):
    """Decide by the rule."""
    copies = not seen.facts("addresses")["same_address"]
    inside = seen.fact("addresses", "temporary_bytes")
    return seen.holds(copies and inside < seen.fact("addresses", "array_bytes"))
