"""What to change, by pattern."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from coldwarm.contracts.doctor import Finding

CHANGES: dict[str, str] = {
    "varying-static-arg": (
        "pass it as a plain argument: leave it out of static_argnums and static_argnames"
    ),
    "shape-change": "pad to a few fixed sizes, or sort what is of one size together",
    "dtype-change": "make it of one dtype before the call",
    "weak-type-flip": (
        "start from an array of the dtype that comes back, such as jnp.asarray(0.0, x.dtype)"
    ),
    "tree-change": "give the same keys and lengths in each call; begin with all of them",
    "list-argument": "make it one array with jnp.asarray before the call",
    "numba-signatures": (
        "convert to one dtype and layout before the call, or declare the signatures"
    ),
    "recompile-by-commitment": (
        "put the argument on its device before the first call, with jax.device_put"
    ),
    "context-change": "set it once, before the first call",
    "transform-of-traced": "apply jit outside of the transformation",
    "fresh-callable": (
        "make the function once, outside of what is called again, and keep what jit returns"
    ),
    "jit-in-loop": "move the function and its jit out of the loop",
    "recompile": "look at what changed between the calls",
    "torch-changing-scalar": (
        "pass it as a tensor; a loop or a branch that depends on it goes outside of what is "
        "compiled"
    ),
    "torch-graph-break": (
        "move this out of the compiled function, or write it with what torch.compile can trace"
    ),
    "missing-sync-timing": "wait before the clock is read: jax.block_until_ready(result)",
    "first-call-in-timing": (
        "call once before the clock starts, or give the first call a figure of its own"
    ),
    "host-sync-in-loop": (
        "keep the values on the device and read them after the loop, or every so many steps"
    ),
    "device-transfer-in-loop": "send it once before the loop, with jax.device_put",
    "growing-array-concat": (
        "collect the parts in a list and join them once, or write into an array of full length"
    ),
    "large-constant-capture": "pass the array as an argument",
    "python-loop-unrolled": "use jax.lax.scan or jax.lax.fori_loop for the loop",
    "no-donation": "give the memory away: jax.jit(…, donate_argnums=…)",
    "side-effect-in-traced": "use jax.debug.print, or return the value",
    "traced-branch": "use jax.lax.cond or jnp.where",
    "boolean-mask-index": "use jnp.where(mask, x, 0), or jnp.nonzero with size=",
    "numpy-on-traced": "use jax.numpy inside of jit",
    "traced-shape": "make it a static argument, or work on the full length with a mask",
    "use-after-donation": "use what the function returns, not the argument that was given away",
    "key-not-split-in-loop": "split the key in each turn: key, now = jax.random.split(key)",
    "key-constant-in-loop": "make the key once before the loop, and split it in each turn",
    "no-jit-hot-loop": "put what the loop repeats into one function under jax.jit",
    "numba-cache-closure": "define both functions at the top level of a module",
    "key-reuse": "split the key, and use each part once",
}
"""Each in the words of somebody who has seen the line."""
_BY_EVIDENCE = {
    "doctor_no_array": "make it an array with jnp.asarray: its value is no part of a program then",
    "doctor_new_body": "put what the line is part of under jax.jit, and make that once",
}
"""Where what was seen asks for another change than its pattern does in general."""
_OUT = "move this out of the compiled function"
_OF_DATA = (
    "keep it as a tensor, and choose by it with torch.where; where only arithmetic uses it, "
    "torch._dynamo.config.capture_scalar_outputs = True is enough"
)
"""With an `if` that depends on it, that setting still ends the graph."""
_BREAKS = {
    "Dynamic shape operator": (
        "use torch.where or a mask, which keep the shape, or set "
        "torch._dynamo.config.capture_dynamic_output_shape_ops = True"
    ),
    "Unsupported Tensor.item() call with capture_scalar_outputs=False": _OF_DATA,
    "Data-dependent branching": (
        "choose with torch.where or torch.cond, or move what decides out of the compiled function"
    ),
    "logging.Logger method not supported for non-export cases": _OUT,
    "Failed to trace builtin operator": _OUT,
    "Attempted to call function marked as skipped": _OUT,
}
"""By PyTorch's names of reasons to end a graph; each was tried with PyTorch 2.13."""
_ATTRIBUTES = ("self.", "len(self.")
_ATTRIBUTE = "keep it as a tensor (a buffer), or outside of what is compiled"
_OTHER = "choose by it outside of what is compiled"
_GUARD = "keep what it names the same in each call, or give what changes as a tensor"


def change_of(finding: Finding) -> str:
    """Return what to change."""
    return (
        _torch_change(finding)
        or _BY_EVIDENCE.get(finding.says.code)
        or CHANGES.get(finding.pattern, "")
    )


def _torch_change(finding: Finding) -> str:
    """Return what to change; empty: PyTorch has no reason that asks for other words."""
    if finding.pattern == "torch-graph-break":
        return _BREAKS.get(str(finding.says.values.get("why")), "")
    if finding.pattern == "torch-changing-scalar":
        argument = finding.cause.argument if finding.cause else ""
        if argument.startswith(_ATTRIBUTES):
            return _ATTRIBUTE
        return "" if finding.says.code == "doctor_number" else _OTHER
    return _GUARD if finding.says.code == "doctor_guard" else ""
