"""`Traced<ShapedArray…>` in output comes of `print` under jit; `jax.debug.print` has values."""

ARTICLE = {
    "article": "002",
    "place": "Detection cheat sheet: Traced<ShapedArray> in output",
    "figure": "use jax.debug.print()",
}
QUANTITY = "What `print` and `jax.debug.print` write under jit, in three calls."
PROTOCOL = """
One process calls a jitted function with both three times, with the numbers 1, 2 and 3, and reads
what was written.
"""
RULE = """
Refuted where `print` writes values or more than once, or `jax.debug.print` does not write all three
values. Otherwise confirmed where `print` writes `Traced<ShapedArray`, outdated where it writes a
tracer in other words.
"""
FACTS = ({"functions": ("printed",)},)
DOCS = ("https://docs.jax.dev/en/latest/debugging/print_breakpoint.html",)


def printed():
    """Print under jit in both ways."""
    import contextlib
    import io

    import jax
    import jax.numpy as jnp

    @jax.jit
    def double(x):
        print(f"python: {x}")  # noqa: T201 - what is tested
        jax.debug.print("debug: {}", x)
        return x * 2

    told = io.StringIO()
    with contextlib.redirect_stdout(told):
        for value in (1.0, 2.0, 3.0):
            double(jnp.float32(value)).block_until_ready()
        jax.effects_barrier()
    lines = told.getvalue().splitlines()
    by_python = [line for line in lines if line.startswith("python: ")]
    by_debug = [line for line in lines if line.startswith("debug: ")]
    return {
        "python_lines": len(by_python),
        "python_text": by_python[0] if by_python else None,
        "debug_values": sorted(by_debug) == ["debug: 1.0", "debug: 2.0", "debug: 3.0"],
    }


def judge(seen):
    """Decide by the rule."""
    shown = seen.facts("printed")
    text = str(shown["python_text"])
    if shown["python_lines"] != 1 or "Trace" not in text or not shown["debug_values"]:
        return "refuted"
    return "confirmed" if "Traced<ShapedArray" in text else "outdated"
