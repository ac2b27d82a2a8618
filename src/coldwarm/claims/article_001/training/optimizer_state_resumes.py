"""Who saves parameters and optimizer state resumes exactly where training stopped."""

ARTICLE = {
    "article": "001",
    "place": "Optimizer State Management",
    "figure": "resume exactly where you left off",
}
QUANTITY = "The parameters after twenty steps of Adam, run through, and saved and resumed at ten."
PROTOCOL = """
In each framework one process trains a two-layer network for twenty steps, and again with everything
saved to a file after ten and loaded from it: (params, state) as arrays in JAX, where Adam is
written as a pure function, `state_dict()` of model and optimizer in PyTorch.
"""
RULE = """
Confirmed where in both frameworks all parameters are bit for bit the same; refuted otherwise.
"""
FACTS = ({"functions": ("of_jax", "of_torch"), "file": "_optimizer_state.py"},)
DOCS = ("https://docs.jax.dev/en/latest/pytrees.html",)
NOTE = (
    "Adam is written out here, so that nothing besides JAX is needed; Optax keeps the same state."
)


def judge(seen):
    """Decide by the rule."""
    return seen.holds(all(seen.facts(name)["equal"] for name in ("of_jax", "of_torch")))
