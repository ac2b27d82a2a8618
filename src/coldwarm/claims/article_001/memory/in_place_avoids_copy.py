"""PyTorch's in-place operations make no new array."""

ARTICLE = {
    "article": "001",
    "place": "Memory Layout Surprises",
    "figure": "x += 1 avoids this entirely",
}
QUANTITY = "The address of a tensor's memory before and after `x += 1`, and after `x = x + 1`."
PROTOCOL = "One process makes a tensor of a million float32 and compares addresses."
RULE = """
Confirmed where `x += 1` keeps the address and `x = x + 1` does not; refuted where it is otherwise.
"""
FACTS = ({"functions": ("addresses",)},)


def addresses():
    """Add in place, and into a new tensor."""
    import torch

    x = torch.ones(1_000_000)
    before = x.data_ptr()
    x += 1
    in_place = x.data_ptr()
    y = x + 1
    return {"in_place_same": in_place == before, "new_same": y.data_ptr() == before}


def judge(seen):
    """Decide by the rule."""
    shown = seen.facts("addresses")
    return seen.holds(shown["in_place_same"] and not shown["new_same"])
