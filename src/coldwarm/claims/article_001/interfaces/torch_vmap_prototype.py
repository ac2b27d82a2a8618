"""`torch.vmap` is a prototype."""

ARTICLE = {
    "article": "001",
    "place": "VMAP: The Killer Feature",
    "figure": "still prototype as of 2.0",
}
QUANTITY = "Whether `torch.vmap` calls itself a prototype, or warns, and what it is."
PROTOCOL = """
One process reads the documentation of `torch.vmap`, compares it with `torch.func.vmap`, and calls
it with all warnings recorded.
"""
RULE = """
Confirmed where its documentation says prototype, or a call warns of that. Outdated where neither is
so and it is `torch.func.vmap`, of the stable package. Refuted where neither is so and it is
something else.
"""
FACTS = ({"functions": ("vmap",)},)
DOCS = ("https://docs.pytorch.org/docs/stable/func.whirlwind_tour.html",)


def vmap():
    """Look at `torch.vmap`, and call it."""
    import warnings

    import torch

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        mapped = torch.vmap(lambda x: x * 2 + 1)(torch.arange(3.0))
    said = [str(one.message).lower() for one in caught]
    return {
        "says_prototype": "prototype" in (torch.vmap.__doc__ or "").lower(),
        "warns": any("prototype" in text or "beta" in text for text in said),
        "is_of_torch_func": torch.vmap is torch.func.vmap,
        "works": mapped.tolist() == [1.0, 3.0, 5.0],
    }


def judge(seen):
    """Decide by the rule."""
    shown = seen.facts("vmap")
    if shown["says_prototype"] or shown["warns"]:
        return "confirmed"
    return "outdated" if shown["is_of_torch_func"] else "refuted"
