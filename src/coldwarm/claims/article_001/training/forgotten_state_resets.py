"""A step that forgets to hand on the optimizer state resets the optimizer, and no error says so."""

ARTICLE = {
    "article": "001",
    "place": "Optimizer State Management",
    "figure": "your optimizer resets",
}
QUANTITY = "The parameters after ten steps of Adam whose state is handed on, and is forgotten."
PROTOCOL = """
One process trains with Adam as a pure function: once handing on the state, once giving each step
the initial state, once with Adam made anew before every step. Warnings are recorded.
"""
RULE = """
Confirmed where forgetting gives the same parameters as making Adam anew, others than handing on,
and neither an error nor a warning. Refuted otherwise.
"""
FACTS = ({"functions": ("trained",), "file": "_optimizer_state.py"},)
DOCS = ("https://docs.jax.dev/en/latest/pytrees.html",)


def judge(seen):
    """Decide by the rule."""
    names = ("from_anew", "from_handed_on", "warnings")
    anew, handed_on, warnings = (seen.fact("trained", name) for name in names)
    return seen.holds(anew == 0 < handed_on and warnings == 0)
