"""Jacobians taken in JAX and PyTorch: by rows or columns, and how many of each there are."""

import sys

from coldwarm.doctor.record import sites
from coldwarm.doctor.record.journal import failed
from coldwarm.wire import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import Any

    from coldwarm.doctor.record.journal import Journal


_NEAR = 12
"""Frames above a helper of JAX's in which the Jacobian is taken."""
_HELPERS = ("_std_basis", "_jacfwd_unravel")
"""Functions of JAX that are called while one is taken: the first by both ways, the second at the
end of ``jacfwd``, when the size of the output is known there too."""


def followed(journal: "Journal") -> "Callable[[], None]":
    """Write of each Jacobian from now on; return what ends that. JAX is loaded."""
    api: Any = sys.modules.get("jax._src.api")
    known: set[Any] = set()
    kept = {name: getattr(api, name) for name in _HELPERS if hasattr(api, name)}

    def noted(helper: "Any") -> "Any":
        def called(*given: "Any", **named: "Any") -> "Any":
            try:
                _note(journal, known, sys._getframe(1))
            except Exception as error:
                failed(journal, error)
            return helper(*given, **named)

        return called

    replaced = {name: noted(helper) for name, helper in kept.items()}
    for name, helper in replaced.items():
        setattr(api, name, helper)

    def stop() -> None:
        for name, helper in replaced.items():
            if getattr(api, name) is helper:
                setattr(api, name, kept[name])

    return stop


_OF_TORCH = "torch._functorch.eager_transforms"
_BASIS, _FORWARD = "_chunked_standard_basis_for_", "_jvp_with_argnums"
"""Functions of PyTorch that are called while one is taken: by ``jacrev``, and by ``jacfwd``."""


def followed_in_torch(journal: "Journal") -> "Callable[[], None]":
    """Write of each Jacobian of ``torch.func`` from now on; return what ends that."""
    space: Any = sys.modules.get(_OF_TORCH)
    known: set[Any] = set()
    kept = {name: getattr(space, name) for name in (_BASIS, _FORWARD) if hasattr(space, name)}

    def noted(name: str) -> "Any":
        def called(*given: "Any", **named: "Any") -> "Any":
            found = kept[name](*given, **named)
            try:
                _note_torch(journal, known, name, sys._getframe(1), found)
            except Exception as error:
                failed(journal, error)
            return found

        return called

    replaced = {name: noted(name) for name in kept}
    for name, helper in replaced.items():
        setattr(space, name, helper)

    def stop() -> None:
        for name, helper in replaced.items():
            if getattr(space, name) is helper:
                setattr(space, name, kept[name])

    return stop


def _note_torch(
    journal: "Journal", known: "set[Any]", name: str, frame: "FrameType", found: "Any"
) -> None:
    """Write once of a Jacobian at a line."""
    by, wanted = ("jacrev", "flat_primals") if name == _BASIS else ("jacfwd", "flat_primals_numels")
    held: dict[str, Any] = {}
    below: FrameType | None = frame
    for _ in range(_NEAR):
        if below is None:
            return
        if below.f_code.co_qualname.startswith(f"{by}.") and wanted in below.f_locals:
            held = below.f_locals
            break
        below = below.f_back
    if not held:
        return
    if name == _BASIS:
        inputs = sum(int(one.numel()) for one in held["flat_primals"])
        outputs = sum(held["flat_output_numels"])
    else:
        leaves = sys.modules["torch"].utils._pytree.tree_leaves(found[1])
        inputs = sum(held["flat_primals_numels"])
        outputs = sum(int(one.numel()) for one in leaves)
    _write(journal, known, "torch", by, (inputs, outputs), below)


def _note(journal: "Journal", known: "set[Any]", frame: "FrameType | None") -> None:
    """Write once of a Jacobian at a line, where its sizes are known by now."""
    for _ in range(_NEAR):
        if frame is None or frame.f_code.co_name == "jacfun":
            break
        frame = frame.f_back
    held = frame.f_locals if frame is not None else {}
    if frame is None or "y" not in held or "dyn_args" not in held:
        return
    by = frame.f_code.co_qualname.partition(".")[0]
    sizes = _size(held["dyn_args"]), _size(held["y"])
    _write(journal, known, "jax", by, sizes, frame)


def _write(  # noqa: PLR0913, PLR0917 - what is told of a Jacobian
    journal: "Journal",
    known: "set[Any]",
    framework: str,
    by: str,
    sizes: "tuple[int, int]",
    frame: "FrameType | None",
) -> None:
    stack = sites.stack(frame)
    key = by, sizes, tuple(stack)
    if stack and key not in known:
        known.add(key)
        n_inputs, n_outputs = sizes
        told = {"framework": framework, "n_inputs": n_inputs, "n_outputs": n_outputs}
        journal.write("jacobian", by=by, stack=stack, **told)


def _size(tree: "Any") -> int:
    """Return how many numbers a tree of arrays has."""
    leaves = sys.modules["jax"].tree_util.tree_leaves(tree)
    return sum(int(getattr(one, "size", 1)) for one in leaves)
