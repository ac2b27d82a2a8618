"""Arrays go between JAX and PyTorch by `jax.dlpack.to_dlpack` and `torch.from_dlpack`."""

ARTICLE = {
    "article": "001",
    "place": "FAQ",
    "figure": "jax.dlpack.to_dlpack() and torch.from_dlpack()",
}
QUANTITY = "Whether the functions are there, and whether arrays arrive in both directions."
PROTOCOL = """
One process looks `jax.dlpack.to_dlpack` up, gives an array of JAX to `torch.from_dlpack` and a
tensor to `jax.dlpack.from_dlpack`, and compares numbers and addresses.
"""
RULE = """
Refuted where numbers do not arrive both ways without `to_dlpack`. Otherwise outdated where
`to_dlpack` is gone, confirmed where it is there.
"""
FACTS = ({"functions": ("exchanged",)},)
DOCS = ("https://docs.jax.dev/en/latest/_autosummary/jax.dlpack.from_dlpack.html",)
NOTE = "Arrays now carry the protocol themselves, and are given to `from_dlpack` as they are."


def exchanged():
    """Exchange arrays both ways."""
    import jax
    import jax.dlpack
    import jax.numpy as jnp
    import torch

    ours = jnp.arange(1000.0)
    theirs = torch.from_dlpack(ours)
    tensor = torch.arange(1000.0)
    array = jax.dlpack.from_dlpack(tensor)
    return {
        "has_to_dlpack": hasattr(jax.dlpack, "to_dlpack"),
        "to_torch": theirs.tolist() == ours.tolist(),
        "to_jax": array.tolist() == tensor.tolist(),
        "to_torch_without_copy": theirs.data_ptr() == ours.unsafe_buffer_pointer(),
        "to_jax_without_copy": array.unsafe_buffer_pointer() == tensor.data_ptr(),
    }


def judge(seen):
    """Decide by the rule."""
    shown = seen.facts("exchanged")
    if not (shown.get("to_torch") and shown.get("to_jax")):
        return "refuted"
    return "confirmed" if shown["has_to_dlpack"] else "outdated"
