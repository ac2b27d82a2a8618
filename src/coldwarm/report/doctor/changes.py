"""What to change, by pattern."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.stats.doctor.values import have_one_rank, hold_objects, kind_of_types, kind_of_values

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coldwarm.contracts.doctor import Finding
    from coldwarm.stats.doctor.values import TypeKind, ValueKind

PLAIN = "pass it as a plain argument: leave it out of static_argnums and static_argnames"
LAYOUT = "convert to one dtype and layout before the call, or declare the signatures"

CHANGES: dict[str, str] = {
    "varying-static-arg": PLAIN,
    "shape-change": "pad to a few fixed sizes, or sort what is of one size together",
    "dtype-change": "make it of one dtype before the call",
    "weak-type-flip": (
        "start from an array of the dtype that comes back, such as jnp.asarray(0.0, x.dtype)"
    ),
    "tree-change": "give the same keys and lengths in each call; begin with all of them",
    "list-argument": "make it one array with jnp.asarray before the call",
    "numba-signatures": LAYOUT,
    "recompile-by-commitment": (
        "put the argument on its device before the first call, with jax.device_put"
    ),
    "context-change": "set it once, before the first call",
    "transform-of-traced": "apply jit outside of the transformation",
    "fresh-callable": (
        "make the function once, outside of what is called again, and keep what jit returns"
    ),
    "jit-in-loop": "move the function and its jit out of the loop",
    "recompile": "set JAX_EXPLAIN_CACHE_MISSES=1, and JAX says what differed",
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
_STATIC: dict[ValueKind, str] = {
    "whole": (
        "pass it as a plain argument (leave it out of static_argnums and static_argnames); where"
        " it makes a shape, pad to a few fixed sizes"
    ),
    "number": PLAIN,
    "sizes": "pad to a few fixed sizes, so that it takes few values",
    "text": "let it take few values: each of them is compiled for itself",
    "callable": "make the function once, and pass the same one in each call",
    "object": (
        "keep one instance, or give its class __eq__ and __hash__; what changes in it becomes an"
        " argument"
    ),
    "values": "pass what changes in it as an argument of its own",
}
"""Of a static argument, by what its values are."""
_ONE_RANK = "give it one number of dimensions, with reshape before the call"
_NUMBA: dict[TypeKind, str] = {
    "function": "give it one function, or declare a signature with numba.types.FunctionType",
    "length": "pass an array instead of a tuple of changing length",
    "ndim": _ONE_RANK,
    "array": LAYOUT,
    "number": "convert to one type before the call, with int() or float()",
    "omitted": "pass it in each call, with a value of one type",
    "other": "pass values of one type in each call",
}
_TELLS = {
    "jax": CHANGES["recompile"],
    "torch": "set TORCH_LOGS=recompiles, and PyTorch says what differed",
    "numba": "see what its attribute `signatures` has more after each of these calls",
}
"""Where nothing that is watched differed: what shows more, by framework."""
_BY_EVIDENCE = {
    "doctor_draw": "pass a key to the function, and draw with jax.random",
    "doctor_eager_shapes": (
        "pad to one fixed size, with a mask, and put what the loop repeats into one function"
        " under jax.jit"
    ),
    "doctor_new_body": "put what the line is part of under jax.jit, and make that once",
}
"""Where what was seen asks for another change than its pattern does in general."""
_ONE_OBJECT = "make the function or object in it once, such as an optimizer, and keep it"
_IS_ARRAY = "make it an array with jnp.asarray: its value is no part of a program then"
_EACH = {
    "dtype-change",
    "weak-type-flip",
    "numba-signatures",
    "recompile-by-commitment",
    "torch-changing-scalar",
    "varying-static-arg",
}
"""Where the change is said of one argument, and others that changed with it need it, too."""
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
    says, cause = finding.says, finding.cause
    before, now = (cause.before, cause.now) if cause is not None else ("", "")
    known = _torch_change(finding) or _BY_EVIDENCE.get(says.code)
    if known is not None:
        return known
    if says.code == "doctor_new_closure" or (says.code == "doctor_new_function" and says.parts):
        return _with_arguments(finding, before, now)
    change = _change(finding, before, now)
    if finding.pattern not in _EACH:
        return change
    return "; ".join([change, *_of_others(finding, change)])


def _change(finding: Finding, before: str, now: str) -> str:
    """Return what to change of an argument that was one thing, and then another."""
    general = _general(finding.pattern, before, now)
    if finding.pattern == "recompile":
        return _TELLS.get(finding.framework, general)
    if finding.pattern == "numba-signatures":
        return _NUMBA[kind_of_types(before, now)]
    kind = kind_of_values(before, now)
    if finding.pattern != "varying-static-arg":
        return general
    is_number = kind in {"whole", "number"}
    return _IS_ARRAY if is_number and finding.says.code == "doctor_no_array" else _STATIC[kind]


def _general(pattern: str, before: str, now: str) -> str:
    if pattern == "shape-change" and not have_one_rank(before, now):
        return _ONE_RANK
    if pattern == "tree-change" and hold_objects(before, now):
        return _ONE_OBJECT
    return CHANGES.get(pattern, "")


def _of_others(finding: Finding, change: str) -> Iterator[str]:
    """Say what to change of the other arguments that changed."""
    same: list[str] = []
    for one in finding.says.parts:
        name, before, now = (str(one.values.get(at, "")) for at in ("argument", "before", "now"))
        its = _change(finding, before, now) if before or now else change
        if name and its != change:
            yield f"of `{name}`, {its}"
        else:
            same.append(f"`{name}`" if name else "the others")
    if same:
        yield f"the same for {', '.join(same)}"


def _with_arguments(finding: Finding, before: str, now: str) -> str:
    """Return what to change where a function that is made anew holds what changes."""
    says = finding.says
    held = [str(one.values.get("argument", "")) for one in (says, *says.parts)]
    held = held[says.code != "doctor_new_closure" :]
    is_named = all(map(str.isidentifier, held))
    given = ", ".join(f"`{one}`" for one in held) if is_named else "what it holds"
    is_text = bool(before or now) and kind_of_values(before, now) == "text"
    what = "a static argument" if is_text else "an argument"
    change = CHANGES[finding.pattern].partition(", and keep")[0]
    return f"{change}, and give it {given} as {what}: else it keeps the first value"


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
